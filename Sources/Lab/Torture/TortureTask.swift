// What the processes of a torture do with their store, and what must be true of it at every moment.
//
// Invariants, whoever dies when: the balances of all accounts add up to the same sum. Each writer's row in `progress` says how
// many transactions it made, and `history` holds exactly the last of them. The number that the writer's log holds is not above
// it.

import Foundation
import Rootstock

/// What one process of a torture does.
public struct TortureTask: Codable, Sendable {
    public enum Role: String, Codable, Sendable { case writer, reader }

    /// The subcommand that a process is started with; its one argument is the task as JSON.
    public static let subcommand = "torture-task"

    public var role: Role
    /// The store's path.
    public var path: String
    public var engine: String
    public var durability: String
    /// Which of the writers, or of the readers.
    public var number: Int
    /// Where a writer notes what was acknowledged.
    public var log: String
    public var seed: UInt64

    static let accounts = 64
    static let sum = 64_000
    static let kept = 200

    var options: StoreOptions {
        var options = StoreOptions(durability: .init(rawValue: durability) ?? .full)
        options.busyTimeout = .seconds(30)
        return options
    }

    func open() throws -> Connection {
        try Connection(path: path, engine: Engine(name: engine), options: options)
    }

    static let schema = """
        CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, filling BLOB);
        CREATE INDEX accountByBalance ON account (balance);
        CREATE TABLE progress (writer INTEGER PRIMARY KEY, done INTEGER NOT NULL);
        CREATE TABLE history (writer INTEGER, number INTEGER, note TEXT UNIQUE, PRIMARY KEY (writer, number)) WITHOUT ROWID;
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(accounts))
            INSERT INTO account SELECT i, \(sum / accounts), NULL FROM n;
        """

    /// Runs until the process is killed.
    public func run() throws {
        let connection = try open()
        var random = Random(state: seed)
        switch role {
        case .writer: try write(connection, &random)
        case .reader: try read(connection, &random)
        }
    }

    private func write(_ connection: Connection, _ random: inout Random) throws {
        var done = try TortureTask.progress(connection, writer: number)
        let noted = AcknowledgementLog.last(path: log).number
        guard done >= noted else { throw TortureFault("writer \(number) was acknowledged \(noted), and is at \(done)") }
        let log = try AcknowledgementLog(path: log)
        // What an earlier life committed, and was killed before it noted: else two such lives would be two transactions.
        if done > noted { try log.note(done) }
        while true {
            try connection.withTransaction(.immediate) {
                done = try TortureTask.progress(connection, writer: number) + 1
                for _ in 0...random.below(3) {
                    let amount = Int64(random.below(100))
                    let from = Int64(random.below(TortureTask.accounts) + 1)
                    let to = Int64(random.below(TortureTask.accounts) + 1)
                    try connection.execute(
                        "UPDATE account SET balance = balance - ? WHERE id = ?", [amount, from])
                    try connection.execute(
                        "UPDATE account SET balance = balance + ?, filling = zeroblob(?) WHERE id = ?",
                        [amount, random.below(9000), to])
                }
                if random.below(8) == 0 {
                    // What is rolled back leaves nothing.
                    try? connection.withSavepoint {
                        try connection.execute("UPDATE account SET balance = balance + 1")
                        throw TortureFault("on purpose")
                    }
                }
                try connection.execute(
                    "INSERT INTO history VALUES (?1, ?2, ?1 || '/' || ?2)",
                    [number, done])
                try connection.execute(
                    "DELETE FROM history WHERE writer = ? AND number <= ?",
                    [number, done - TortureTask.kept])
                try connection.execute(
                    "INSERT INTO progress VALUES (?, ?) ON CONFLICT (writer) DO UPDATE SET done = excluded.done",
                    [number, done])
            }
            try log.note(done)
        }
    }

    private func read(_ connection: Connection, _ random: inout Random) throws {
        var seen: [Int: Int] = [:]
        while true {
            try connection.withTransaction {
                let progress = try TortureTask.verify(connection)
                for (writer, done) in progress where done < seen[writer] ?? 0 {
                    throw TortureFault("writer \(writer) was at \(seen[writer] ?? 0) and is at \(done)")
                }
                seen = progress
            }
            if random.below(4) == 0 { usleep(UInt32(random.below(5000))) }
        }
    }

    static func integer(_ connection: Connection, _ sql: String, _ arguments: Arguments = []) throws -> Int? {
        guard case .integer(let value) = try connection.queryValue(sql, arguments) else { return nil }
        return Int(value)
    }

    static func progress(_ connection: Connection, writer: Int) throws -> Int {
        try integer(connection, "SELECT done FROM progress WHERE writer = ?", [writer]) ?? 0
    }

    /// Throws unless the invariants hold in the snapshot of the transaction. How far each writer is.
    static func verify(_ connection: Connection) throws -> [Int: Int] {
        let sum = try integer(connection, "SELECT sum(balance) FROM account")
        guard sum == self.sum else { throw TortureFault("the balances add up to \(sum ?? 0), not to \(self.sum)") }
        let indexed = try integer(
            connection, "SELECT sum(balance) FROM account INDEXED BY accountByBalance WHERE balance > -1000000000")
        guard indexed == self.sum else { throw TortureFault("by the index the balances add up to \(indexed ?? 0)") }
        var progress: [Int: Int] = [:]
        for row in try connection.query(
            """
            SELECT p.writer, p.done, count(h.number), min(h.number), max(h.number) FROM progress AS p
                LEFT JOIN history AS h ON h.writer = p.writer GROUP BY p.writer
            """)
        {
            let writer = try row.get(0, as: Int.self)
            let done = try row.get(1, as: Int.self)
            let count = try row.get(2, as: Int.self)
            let first = try row.get(3, as: Int.self)
            let last = try row.get(4, as: Int.self)
            guard last == done, first == max(1, done - kept + 1), count == last - first + 1 else {
                throw TortureFault("writer \(writer) is at \(done), and has \(count) rows from \(first) to \(last)")
            }
            progress[writer] = done
        }
        return progress
    }
}

/// What went wrong.
public struct TortureFault: Error, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

/// SplitMix64.
struct Random {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((z ^ (z >> 31)) % UInt64(limit))
    }
}

/// Numbers of acknowledged transactions, one after the other in a file of the writer's own, each on the disk before the next begins.
struct AcknowledgementLog {
    private let descriptor: Int32

    init(path: String) throws {
        descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        if descriptor < 0 { throw TortureFault("cannot open \(path)") }
    }

    func note(_ number: Int) throws {
        var number = UInt64(number)
        guard Foundation.write(descriptor, &number, 8) == 8, fsync(descriptor) == 0 else {
            throw TortureFault("cannot write the log")
        }
    }

    /// The last whole number, and how many there are.
    static func last(path: String) -> (number: Int, count: Int) {
        guard let data = FileManager.default.contents(atPath: path), data.count >= 8 else { return (0, 0) }
        let count = data.count / 8
        let number = data.subdata(in: (count - 1) * 8..<count * 8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return (Int(number), count)
    }
}
