// RandomIsolationTests.swift - several connections, their transactions interleaved at random, on a store and on plain SQLite in WAL
// mode at once: after each step the same result code, the same rows, the same transaction state.
//
// ROOTSTOCK_TEST_SEED runs one program again, ROOTSTOCK_TEST_SECONDS says for how long programs are drawn.

import CSQLite
import Foundation
import TestSupport
import Testing

/// One step of one connection.
struct Step: CustomStringConvertible {
    enum Action {
        case run(String)
        case open(Int, String)
        case step(Int, Int)
        case close(Int)
    }
    let connection: Int
    let action: Action

    var description: String {
        switch action {
        case .run(let sql): "\(connection): \(sql)"
        case .open(let slot, let sql): "\(connection): open \(slot) \(sql)"
        case .step(let slot, let count): "\(connection): step \(slot) \(count)"
        case .close(let slot): "\(connection): close \(slot)"
        }
    }
}

/// What a program may use besides plain reads and writes.
struct Features: OptionSet {
    let rawValue: Int
    /// SELECTs that stay open while other statements run.
    static let cursors = Features(rawValue: 1)
    /// CREATE, DROP and ALTER.
    static let schema = Features(rawValue: 2)
    /// Each connection to the store in a process of its own.
    static let processes = Features(rawValue: 4)
}

struct ProgramGenerator {
    var random: SeededGenerator
    let connections: Int
    let features: Features

    mutating func step() -> Step {
        let connection = random.number(0...connections - 1)
        let roll = random.number(0...99)
        let action: Step.Action
        switch roll {
        case 0..<12: action = .run(random.pick(["BEGIN", "BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"]))
        case 12..<22: action = .run("COMMIT")
        case 22..<27: action = .run("ROLLBACK")
        case 27..<35: action = .run("SAVEPOINT " + random.pick(["a", "b", "c"]))
        case 35..<40: action = .run("RELEASE " + random.pick(["a", "b", "c"]))
        case 40..<46: action = .run("ROLLBACK TO " + random.pick(["a", "b", "c"]))
        case 46..<64: action = .run(read())
        case 64..<86: action = .run(write())
        case 86..<96 where features.contains(.cursors):
            let slot = random.number(0...1)
            action = random.pick([.open(slot, read()), .step(slot, random.number(1...4)), .step(slot, 2), .close(slot)])
        case 96... where features.contains(.schema): action = .run(schema())
        default: action = .run(random.once(in: 2) ? read() : write())
        }
        return Step(connection: connection, action: action)
    }

    private mutating func key() -> Int { random.number(1...12) }

    private mutating func read() -> String {
        switch random.number(0...6) {
        case 0: "SELECT count(*), sum(b) FROM t"
        case 1: "SELECT a, b FROM t ORDER BY a"
        case 2: "SELECT a, b FROM t WHERE b >= \(key()) ORDER BY b, a"
        case 3: "SELECT b FROM t WHERE a = \(key())"
        case 4: "SELECT k, v FROM w ORDER BY k"
        case 5: "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM w)"
        default: "SELECT a, k FROM t JOIN w ON v = b ORDER BY a, k"
        }
    }

    private mutating func write() -> String {
        switch random.number(0...8) {
        case 0: "INSERT INTO t VALUES (\(key()), \(key()))"
        case 1: "INSERT OR REPLACE INTO t VALUES (\(key()), \(key()))"
        case 2: "INSERT OR IGNORE INTO t VALUES (\(key()), \(key())), (\(key()), \(key()))"
        case 3: "UPDATE t SET b = b + 1 WHERE a > \(key())"
        case 4: "DELETE FROM t WHERE b < \(key() / 3)"
        case 5: "INSERT OR REPLACE INTO w VALUES ('k\(key())', \(key()))"
        case 6: "DELETE FROM w WHERE v = \(key())"
        case 7: "UPDATE w SET v = v + 1"
        default: "INSERT INTO t(b) SELECT v FROM w WHERE v < \(key())"
        }
    }

    private mutating func schema() -> String {
        random.pick([
            "CREATE TABLE x(a, b)", "DROP TABLE x", "CREATE INDEX i ON t(b, a)", "DROP INDEX i",
            "ALTER TABLE x ADD COLUMN c DEFAULT 3", "INSERT INTO x(a) VALUES (1)", "SELECT * FROM x",
        ])
    }
}

/// A connection's two sides.
private struct Pair {
    let native: Session
    let store: any Connecting
    /// Slots whose statement was open while its connection wrote or rolled back: which rows it gives then is nobody's promise.
    var loose: Set<Int> = []
    /// It has rolled back to a savepoint in this transaction. WAL mode then commits even if nothing is left to be committed, which
    /// other connections' snapshots fall behind; a store does not.
    var hasRolledBack = false
    /// Such a commit of another connection may have made WAL mode's snapshot an old one.
    var mayBeBehind = false
    /// Another connection has changed the schema since this one's transaction began: when plain SQLite notices is an accident.
    var mayBeStale = false
}

struct Mismatch: CustomStringConvertible {
    let step: Step
    let native: Outcome
    let store: Outcome
    var description: String { "\(step)\n    WAL   \(native)\n    store \(store)" }
}

private func isSchema(_ sql: String) -> Bool {
    sql.hasPrefix("CREATE") || sql.hasPrefix("DROP") || sql.hasPrefix("ALTER")
}

private let busySnapshot = SQLITE_BUSY | 2 << 8

/// What the other connections have to know of a step.
private func note(_ sql: String, _ outcome: Outcome, _ connection: Int, _ pairs: inout [Pair]) {
    if sql.hasPrefix("ROLLBACK TO") && outcome.code == SQLITE_OK { pairs[connection].hasRolledBack = true }
    let ended =
        (sql == "COMMIT" || sql.hasPrefix("RELEASE")) && !outcome.inTransaction && pairs[connection].hasRolledBack
    for other in pairs.indices where other != connection {
        if ended { pairs[other].mayBeBehind = true }
        if isSchema(sql) && outcome.code == SQLITE_OK || sql == "COMMIT" { pairs[other].mayBeStale = true }
    }
    if !outcome.inTransaction { pairs[connection].mayBeStale = false }
    if !outcome.inTransaction && sql != "COMMIT" && !sql.hasPrefix("RELEASE") { pairs[connection].mayBeBehind = false }
}

/// Runs the steps on both sides; the first difference, and where it is.
func firstMismatch(_ steps: [Step], engine: String, connections: Int, features: Features) throws -> (Int, Mismatch)? {
    let native = try Database(engine: nil)
    let store = try Database(engine: engine)
    var pairs = try (0..<connections).map { _ in
        Pair(
            native: try native.session(),
            store: features.contains(.processes) ? try store.process() : try store.session())
    }
    defer {
        for pair in pairs {
            pair.native.close()
            pair.store.close()
        }
    }
    for sql in [
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT)", "CREATE INDEX tb ON t(b)",
        "CREATE TABLE w(k TEXT PRIMARY KEY, v INT) WITHOUT ROWID",
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (5, 1)",
        "INSERT INTO w VALUES ('k1', 1), ('k2', 2)",
    ] {
        guard pairs[0].native.run(sql).code == SQLITE_OK, pairs[0].store.run(sql).code == SQLITE_OK else {
            throw Failure(description: sql)
        }
    }
    for (number, step) in steps.enumerated() {
        let pair = pairs[step.connection]
        var outcomes: (Outcome, Outcome)
        var loose = false
        if !pair.native.inTransaction { pairs[step.connection].hasRolledBack = false }
        switch step.action {
        case .run(let sql):
            if isSchema(sql) {
                if pair.native.inTransaction && pair.mayBeStale { continue }
                let look = "SELECT count(*) FROM sqlite_master"
                if !pair.native.inTransaction, pair.native.run(look) != pair.store.run(look) { continue }
            }
            // A transaction begun while a statement was open reads on in its snapshot, on a store until that statement is closed.
            if pair.native.hasOpenStatement && (sql == "BEGIN" || sql.hasPrefix("SAVEPOINT"))
                && !pair.native.inTransaction
            {
                pairs[step.connection].mayBeBehind = true
            }
            let wrote = pair.native.isWriting
            outcomes = (pair.native.run(sql), pair.store.run(sql))
            // Its schema was an old one, which plain SQLite notices with the lock in hand, and keeps that in a transaction.
            if features.contains(.schema), outcomes.0.code == SQLITE_ERROR, !wrote, pair.native.isWriting { return nil }
            note(sql, outcomes.0, step.connection, &pairs)
            if !sql.hasPrefix("SELECT") { pairs[step.connection].loose = [0, 1] }
        case .open(let slot, let sql):
            outcomes = (pair.native.open(slot, sql), pair.store.open(slot, sql))
            pairs[step.connection].loose.remove(slot)
        case .step(let slot, let count):
            loose = pair.loose.contains(slot)
            if loose {
                // Its end may come earlier or later; afterwards it is open on neither side.
                outcomes = (pair.native.step(slot, 1000), pair.store.step(slot, 1000))
                outcomes.0.rows = []
                outcomes.1.rows = []
            } else {
                outcomes = (pair.native.step(slot, count), pair.store.step(slot, count))
            }
        case .close(let slot): outcomes = (pair.native.close(slot), pair.store.close(slot))
        }
        if case .run(let sql) = step.action, sql.hasPrefix("BEGIN "), outcomes.0.code == busySnapshot,
            outcomes.1.code == SQLITE_BUSY
        {
            continue  // with a statement open outside a transaction; SQLite's own code becomes the plain one on the way
        }
        if features.contains(.schema), outcomes.0.code == SQLITE_BUSY, outcomes.1.code == SQLITE_ERROR {
            continue  // plain SQLite asks for the lock before it notices that its schema is an old one
        }
        if pair.mayBeBehind && outcomes.0.code == busySnapshot { return nil }
        if outcomes.0 != outcomes.1 { return (number, Mismatch(step: step, native: outcomes.0, store: outcomes.1)) }
    }
    return nil
}

/// Leaves out what the difference does not need.
func shrink(_ steps: [Step], engine: String, connections: Int, features: Features) throws -> [Step] {
    var steps = steps
    var size = max(1, steps.count / 4)
    while true {
        var at = 0
        var changed = false
        while at < steps.count {
            var fewer = steps
            fewer.removeSubrange(at..<min(at + size, steps.count))
            if let (number, _) = try firstMismatch(fewer, engine: engine, connections: connections, features: features)
            {
                steps = Array(fewer[...number])
                changed = true
            } else {
                at += size
            }
        }
        if size == 1 && !changed { return steps }
        size = max(1, size / 2)
    }
}

@Suite struct RandomIsolationTests {
    static let variants: [(String, Features)] = storeEngines.flatMap {
        [($0, Features()), ($0, Features.cursors), ($0, Features.cursors.union(.schema))]
    }
    static let processVariants: [(String, Features)] = ["lmdb", "sqlite-btree"].flatMap {
        engine -> [(String, Features)] in
        [(engine, [.processes, .cursors]), (engine, [.processes, .cursors, .schema])]
    }

    @Test(arguments: variants + processVariants)
    func interleavedTransactionsMeanTheSame(_ engine: String, _ features: Features) throws {
        let seed = SeededGenerator.environmentSeed()
        let until = Date().addingTimeInterval(environmentSeconds(default: 2))
        var programs = 0
        repeat {
            let program = seed &+ UInt64(programs)
            var generator = ProgramGenerator(
                random: SeededGenerator(seed: program), connections: 2 + programs % 3, features: features)
            let steps = (0..<120).map { _ in generator.step() }
            if let (number, _) = try firstMismatch(
                steps, engine: engine, connections: generator.connections, features: features)
            {
                let short = try shrink(
                    Array(steps[...number]), engine: engine, connections: generator.connections, features: features)
                let mismatch = try firstMismatch(
                    short, engine: engine, connections: generator.connections, features: features)
                Issue.record(
                    """
                    seed \(program), engine \(engine), features \(features.rawValue), \(generator.connections) connections:
                    \(short.map { "  \($0)" }.joined(separator: "\n"))
                    \(mismatch?.1.description ?? "the difference went away")
                    """)
                return
            }
            programs += 1
        } while Date() < until && programs < environmentPrograms()
    }
}
