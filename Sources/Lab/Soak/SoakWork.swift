// SoakWork.swift - what is done to the store: rows, schema, snapshots, files.

import Foundation
import Rootstock

extension Soak {
    func createTables() throws {
        let first = connections[0]
        for sql in [
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL CHECK (b < 1e12), c BLOB, d UNIQUE)",
            "CREATE INDEX ta ON t (a, b)", "CREATE INDEX tb ON t (b DESC) WHERE b > 0",
            "CREATE TABLE w (k TEXT, n INT, v, PRIMARY KEY (k, n DESC)) WITHOUT ROWID",
            "CREATE TABLE log (line TEXT)",
            """
            CREATE TRIGGER logged AFTER DELETE ON t WHEN old.id % 50 = 0 BEGIN
                INSERT INTO log VALUES (old.a);
                DELETE FROM log WHERE rowid <= (SELECT max(rowid) - 40 FROM log);
            END
            """,
        ] { try both(first, sql) }
        // Nobody's twin: the bystanders' own, whose sum never changes.
        try first.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT NOT NULL CHECK (balance >= 0))")
        try first.execute(
            "INSERT INTO account WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, 1000 FROM n"
        )
    }

    private func text() -> Value {
        switch random.number(1...20) {
        case 1: .null
        case 2: .text(String(repeating: random.pick(["x", "y"]), count: random.number(400...700)))
        default: .text("a\(random.number(1...300))")
        }
    }

    private func blob() -> Value {
        random.once(in: 60)
            ? .blob([UInt8](repeating: UInt8(random.number(0...255)), count: random.number(5000...30_000)))
            : .blob([UInt8](repeating: 7, count: random.number(0...300)))
    }

    private func real() -> Value { random.once(in: 15) ? .null : .real(Double(random.number(-1000...100_000)) / 8) }

    /// One statement, or some in a transaction that may be undone, in savepoints too.
    func transactionOrStatement() throws {
        let connection = random.pick(connections)
        guard random.once(in: 3) else { return try change(connection) }
        // The store's side waits for the bystanders' writer here, and not in the middle.
        try connection.execute("BEGIN IMMEDIATE")
        try twin.execute("BEGIN IMMEDIATE")
        for _ in 0..<random.number(1...12) { try change(connection) }
        if random.once(in: 4) {
            try both(connection, "SAVEPOINT s")
            for _ in 0..<random.number(1...5) { try change(connection) }
            if random.once(in: 2) { try both(connection, "ROLLBACK TO s") }
            try both(connection, "RELEASE s")
        }
        let end = random.once(in: 5) ? "ROLLBACK" : "COMMIT"
        if end == "ROLLBACK" { report.rolledBack += 1 }
        try connection.execute(end)
        try twin.execute(end)
    }

    private func change(_ connection: Connection) throws {
        let id = Value(random.number(1...options.rows * 2))
        switch random.number(1...14) {
        case 1...4:
            try both(
                connection, "INSERT INTO t (id, a, b, c, d) VALUES (?, ?, ?, ?, ?)",
                [id, text(), real(), blob(), Value(random.number(1...1_000_000))])
        case 5:
            try both(
                connection,
                "INSERT INTO t (a, b) SELECT a || '+', b + 1 FROM t WHERE id BETWEEN ?1 AND ?1 + 60 ORDER BY id", [id])
        case 6:
            try both(
                connection,
                "INSERT INTO t (id, a, b) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET a = excluded.a, b = 1",
                [id, text(), real()])
        case 7: try both(connection, "UPDATE t SET a = ?, b = b / 2 WHERE id BETWEEN ?2 AND ?2 + 20", [text(), id])
        case 8:
            try both(connection, "UPDATE t SET d = ?, c = NULL WHERE a = ?", [Value(random.number(1...500)), text()])
        case 9: try both(connection, "UPDATE OR REPLACE t SET id = id + 1 WHERE id = ?", [id])
        case 10: try both(connection, "DELETE FROM t WHERE id BETWEEN ?1 AND ?1 + 4", [id])
        case 11:
            try both(
                connection, "INSERT OR REPLACE INTO w VALUES (?, ?, ?)", [text(), Value(random.number(1...20)), real()])
        case 12: try both(connection, "DELETE FROM w WHERE n = ? AND k > ?", [Value(random.number(1...20)), text()])
        case 13: try both(connection, "DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY b, id LIMIT 2)")
        default:
            // What is too much goes, so that the store has no reason to grow.
            try both(
                connection, "DELETE FROM t WHERE id NOT IN (SELECT id FROM t ORDER BY id LIMIT ?)",
                [Value(options.rows)])
            if random.once(in: 200) { try both(connection, "DELETE FROM t") }
            if let table = passingTables.last {
                try both(connection, "INSERT INTO \(table) (x) SELECT a FROM t WHERE id < 40 ORDER BY id")
            }
        }
    }

    func schemaChange() throws {
        report.schemaChanges += 1
        let connection = random.pick(connections)
        namesGiven += 1
        switch random.number(1...6) {
        case 1 where passingTables.count < 4:
            passingTables.append("p\(namesGiven)")
            try both(connection, "CREATE TABLE p\(namesGiven) (x, y DEFAULT \(namesGiven))")
        case 2 where !passingTables.isEmpty:
            let table = passingTables.remove(at: random.number(0...passingTables.count - 1))
            try both(connection, "DROP TABLE \(table)")
        case 3 where passingIndexes.count < 3:
            passingIndexes.append("i\(namesGiven)")
            try both(
                connection, "CREATE INDEX i\(namesGiven) ON t (\(random.pick(["b", "a DESC", "length(a)", "d, a"])))")
        case 4 where !passingIndexes.isEmpty:
            let index = passingIndexes.remove(at: random.number(0...passingIndexes.count - 1))
            try both(connection, "DROP INDEX \(index)")
        case 5 where !passingTables.isEmpty:
            try both(connection, "ALTER TABLE \(random.pick(passingTables)) ADD COLUMN z\(namesGiven) DEFAULT 'added'")
        default: try both(connection, "ANALYZE")
        }
    }

    /// A connection reads in a transaction while the others go on; it must see the same at the end as at the beginning.
    func snapshotWhileOthersWrite() throws {
        let reader = try open()
        let query = "SELECT count(*), count(b), max(b), max(a), min(id), sum(id) FROM t"
        try reader.execute("BEGIN")
        let first = try reader.query(query).map(\.values)
        for _ in 0..<random.number(1...10) { try transactionOrStatement() }
        if random.once(in: 3) { try vacuum() }
        if try reader.query(query).map(\.values) != first { throw failure("a snapshot did not stand still") }
        try reader.execute("COMMIT")
        let now = try reader.query(query).map(\.values)
        if try twin.query(query).map(\.values) != now { throw failure("a new snapshot is not the last commit") }
        reader.close()
    }

    func reopen() throws {
        report.reopenings += 1
        // An engine in memory keeps its data as long as some connection is open.
        let all = options.engine != .memory && random.once(in: 3)
        for index in connections.indices where all || index == 0 {
            connections[index].close()
            if !all { connections[index] = try open() }
        }
        if all { for index in connections.indices { connections[index] = try open() } }
        connections.shuffle(using: &random)
    }

    func vacuum() throws {
        report.vacuums += 1
        try random.pick(connections).execute("VACUUM")
    }

    /// The copy is what the last commit was, but for the bystanders' accounts, whose sum must be right.
    func backup() throws {
        guard options.engine != .memory else { return }
        report.backups += 1
        let copy = options.directory + "/backup"
        try random.pick(connections).backup(to: copy)
        let copied = try Connection(path: copy, engine: options.engine, options: StoreOptions(durability: .off))
        let query = "SELECT count(*), count(b), max(b), max(a), min(id), sum(id) FROM t"
        if try copied.query(query).map(\.values) != twin.query(query).map(\.values) {
            throw failure("a backup differs")
        }
        if try copied.queryValue("SELECT sum(balance) FROM account") != 50_000 {
            throw failure("a backup tore a transfer")
        }
        let faults = try copied.integrityFaults()
        if !faults.isEmpty { throw failure("a backup is unsound: \(faults.prefix(3))") }
        copied.close()
        for suffix in ["", "-lock", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
    }
}
