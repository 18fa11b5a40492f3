// Soak.swift - a store that lives long: random work from several connections, compared with a native twin, for as long as one
// likes. What must not grow is watched.
//
// Invariant: every statement that changes the twin's tables is run on both sides and must end alike on both. Whatever differs, is
// unsound or grows ends the run, which tells what it was and the seed that led there.

import Foundation
import Rootstock

/// What is run, on what, for how long.
public struct SoakOptions: Sendable {
    public var engine: Engine = .lmdb
    /// A directory for the files, which are removed at the end if all went well.
    public var directory: String
    public var seconds: Double = 15
    public var seed: UInt64 = 1
    /// Rows that the tables are held around.
    public var rows = 1500

    public init(directory: String) { self.directory = directory }
}

/// What was done, and what it took.
public struct SoakReport: Codable, Sendable {
    public var seed: UInt64
    public var seconds = 0.0
    public var statements = 0
    public var refusedStatements = 0
    public var rolledBack = 0
    public var comparisons = 0
    public var checks = 0
    public var vacuums = 0
    public var backups = 0
    public var reopenings = 0
    public var schemaChanges = 0
    public var transfers = 0
    public var balances = 0
    public var samples: [SoakSample] = []
}

/// What the process and its store took at a moment.
public struct SoakSample: Codable, Sendable {
    public var seconds: Double
    /// Size of the store's file after a VACUUM; 0 on an engine without files.
    public var fileBytes: Int
    /// Memory of the process that is not a mapped file.
    public var memoryBytes: Int
    public var descriptors: Int
}

/// What went wrong, and how to have it again.
public struct SoakFailure: Error, CustomStringConvertible {
    public let description: String
    init(_ text: String, seed: UInt64) { description = "\(text) (seed \(seed))" }
}

/// SplitMix64, as the tests use it.
struct SoakGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func once(in count: Int) -> Bool { number(1...count) == 1 }
    mutating func pick<T>(_ from: [T]) -> T { from[number(0...from.count - 1)] }
}

public final class Soak {
    let options: SoakOptions
    var random: SoakGenerator
    public internal(set) var report: SoakReport
    var connections: [Connection] = []
    var twin: Connection
    /// Tables beside `t` and `w`, and indexes, that come and go.
    var passingTables: [String] = []
    var passingIndexes: [String] = []
    var namesGiven = 0
    let started = Date()
    var path: String { options.directory + "/soak.store" }

    public init(_ options: SoakOptions) throws {
        self.options = options
        random = SoakGenerator(seed: options.seed)
        report = SoakReport(seed: options.seed)
        try FileManager.default.createDirectory(atPath: options.directory, withIntermediateDirectories: true)
        twin = try Connection(path: ":memory:", engine: .sqlite)
        for _ in 0..<3 { connections.append(try open()) }
        try createTables()
    }

    func open() throws -> Connection {
        var storeOptions = StoreOptions(durability: .off)
        storeOptions.busyTimeout = .seconds(60)
        return try Connection(path: path, engine: options.engine, options: storeOptions)
    }

    func failure(_ text: String) -> SoakFailure { SoakFailure(text, seed: options.seed) }

    /// Runs until the time is up. What stays open meanwhile: two threads with connections of their own.
    public func run() throws {
        let bystanders = try Bystanders(options: options, path: path)
        var outcome: Result<Void, any Error> = .success(())
        do {
            try takeSample()
            while elapsed < options.seconds {
                try round()
                if let failure = bystanders.failure { throw self.failure(failure) }
            }
        } catch { outcome = .failure(error) }
        (report.transfers, report.balances) = bystanders.stop()
        if let failure = bystanders.failure { throw self.failure(failure) }
        try outcome.get()
        try compare()
        try check()
        report.seconds = elapsed
        try judgeGrowth()
    }

    public var elapsed: Double { Date().timeIntervalSince(started) }

    /// A while of changes, then what is done now and then.
    private func round() throws {
        for _ in 0..<random.number(10...40) { try transactionOrStatement() }
        if random.once(in: 4) { try schemaChange() }
        if random.once(in: 3) { try snapshotWhileOthersWrite() }
        if random.once(in: 5) { try reopen() }
        if random.once(in: 10) { try backup() }
        if random.once(in: 3) { try compare() }
        if random.once(in: 12) { try check() }
        if random.once(in: 6) { try vacuum() }
        let interval = min(60, max(0.2, options.seconds / 60))
        if elapsed - (report.samples.last?.seconds ?? 0) >= interval { try takeSample() }
    }

    // MARK: Both sides

    /// Runs the statement on both sides; they must end alike.
    func both(_ connection: Connection, _ sql: String, _ arguments: Arguments = []) throws {
        report.statements += 1
        let theirs = Self.outcome(twin, sql, arguments)
        let ours = Self.outcome(connection, sql, arguments)
        if ours != theirs { throw failure("\(sql) \(arguments): the twin says \(theirs), the store \(ours)") }
        if theirs.hasPrefix("error") { report.refusedStatements += 1 }
    }

    static func outcome(_ connection: Connection, _ sql: String, _ arguments: Arguments) -> String {
        do {
            let rows = try connection.query(sql, arguments)
            let isChange = ["INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) }
            return "\(isChange ? connection.changes : 0) changes, \(rows.map(\.values))"
        } catch {
            return "error \(error.extendedCode.rawValue & 0xff) \(error.message)"
        }
    }

    /// The rows of every table and through every index must be the same.
    func compare() throws {
        report.comparisons += 1
        let connection = random.pick(connections)
        var queries = [
            "SELECT * FROM t ORDER BY id", "SELECT * FROM w ORDER BY k, n",
            "SELECT id FROM t WHERE a >= '' ORDER BY a, id",
            "SELECT id FROM t WHERE b > 0 ORDER BY b, id", "SELECT count(*), max(rowid) FROM log",
            "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' AND name <> 'account' ORDER BY name",
        ]
        queries += passingTables.map { "SELECT rowid, * FROM \($0) ORDER BY rowid" }
        for query in queries {
            let (theirs, ours) = (try twin.query(query), try connection.query(query))
            if theirs.map(\.values) != ours.map(\.values) {
                throw failure("\(query): the twin has \(theirs.count) rows, the store \(ours.count), and they differ")
            }
        }
    }

    func check() throws {
        report.checks += 1
        let faults = try random.pick(connections).integrityFaults()
        if !faults.isEmpty { throw failure("integrity_check: \(faults.prefix(3))") }
    }
}
