// The result store: every comparison, appended to a store of our own and queried with SQL.
//
// Invariant: a run is written in one transaction or not at all, and no run is ever changed. The whole report is kept as its
// JSON beside the rows made from it, so that nothing is lost that the tables do not have.

import Comparison
import Foundation
import Rootstock

public struct HistoryError: Error, CustomStringConvertible, Sendable {
    public var description: String
    public init(_ description: String) { self.description = description }
}

public struct History {
    private let connection: Connection
    public let path: String
    private static let version = 1

    /// `$XDG_DATA_HOME/rootstock/history.lmdb`, or below `~/.local/share` where that is not set.
    public static func defaultPath(environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        let base: String
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            base = data
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            base = home + "/.local/share"
        } else {
            return nil
        }
        return base + "/rootstock/history.lmdb"
    }

    /// Opens the result store, making it and its folder if they are not there.
    public init(path: String) throws {
        self.path = path
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            connection = try Connection(path: path, engine: .lmdb)
            try connection.execute("PRAGMA foreign_keys = ON")
        } catch {
            throw HistoryError("the history \(path) cannot be opened: \(Self.message(error))")
        }
        try prepareSchema()
    }

    private static func message(_ error: any Error) -> String { (error as? DatabaseError)?.message ?? "\(error)" }

    private func prepareSchema() throws {
        let found = try connection.queryValue("PRAGMA user_version")
        if found == .integer(Int64(Self.version)) { return }
        let tables = try connection.queryValue("SELECT count(*) FROM sqlite_schema")
        guard found == .integer(0), tables == .integer(0) else {
            throw HistoryError(
                "\(path) is not a history of version \(Self.version): name another file with --history, or move it away"
            )
        }
        try connection.executeScript("BEGIN IMMEDIATE; \(Self.schema) PRAGMA user_version = \(Self.version); COMMIT")
    }

    /// The tables, as the documentation shows them.
    static let schema = """
        CREATE TABLE run (
            id INTEGER PRIMARY KEY, date TEXT NOT NULL, command TEXT NOT NULL, revision TEXT, rootstock TEXT NOT NULL,
            build TEXT NOT NULL, sqlite TEXT NOT NULL, lmdb TEXT NOT NULL, processor TEXT, cores INTEGER, kernel TEXT,
            fileSystem TEXT, loadAverage REAL, seed INTEGER, repeats INTEGER, seconds REAL, report TEXT NOT NULL);
        CREATE TABLE size (
            run INTEGER NOT NULL REFERENCES run, suite TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (run, suite)
        ) WITHOUT ROWID;
        CREATE TABLE result (
            run INTEGER NOT NULL REFERENCES run, suite TEXT NOT NULL, name TEXT NOT NULL, engine TEXT NOT NULL,
            configuration TEXT NOT NULL, layer TEXT NOT NULL, copy INTEGER NOT NULL, durability TEXT NOT NULL,
            operations INTEGER, seconds REAL, microseconds REAL, p50 REAL, p90 REAL, p99 REAL, p999 REAL, max REAL,
            processorSeconds REAL, peakResidentBytes INTEGER, bytesWritten INTEGER, syncCalls INTEGER,
            storeBytes INTEGER, checksum TEXT,
            PRIMARY KEY (suite, name, engine, configuration, layer, copy, durability, run)
        ) WITHOUT ROWID;
        CREATE TABLE ratio (
            run INTEGER NOT NULL REFERENCES run, suite TEXT NOT NULL, name TEXT NOT NULL, engine TEXT NOT NULL,
            configuration TEXT NOT NULL, layer TEXT NOT NULL, baseline TEXT NOT NULL, durability TEXT NOT NULL,
            ratio REAL, low REAL, high REAL, isDifferent INTEGER, published REAL);
        CREATE INDEX ratioByCase ON ratio (suite, name, engine, run);
        CREATE TABLE failure (run INTEGER NOT NULL REFERENCES run, suite TEXT, name TEXT, contender TEXT, message TEXT);
        """

    /// Appends a comparison.
    ///
    /// - Returns: Its number.
    @discardableResult
    public func append(_ report: ComparisonReport) throws -> Int64 {
        do {
            try connection.execute("BEGIN IMMEDIATE")
            let run = try write(report)
            try connection.execute("COMMIT")
            return run
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw HistoryError("the history \(path) cannot be written: \(Self.message(error))")
        }
    }

    private func write(_ report: ComparisonReport) throws -> Int64 {
        let environment = report.environment
        func text(_ value: String?) -> Value { value.map(Value.text) ?? .null }
        func real(_ value: Double?) -> Value { value.map(Value.real) ?? .null }
        func integer(_ value: Int?) -> Value { value.map { .integer(Int64($0)) } ?? .null }
        func insert(_ table: String, _ values: [Value]) throws {
            let places = values.map { _ in "?" }.joined(separator: ", ")
            try connection.execute("INSERT INTO \(table) VALUES (\(places))", Arguments(values))
        }
        let number = try connection.queryValue("SELECT coalesce(max(id), 0) + 1 FROM run")
        guard case .integer(let run)? = number else { throw HistoryError("table run has no number to give") }
        try insert(
            "run",
            [
                .integer(run), .text(environment.date), .text(environment.command), text(environment.commit),
                .text(environment.rootstockVersion), .text(environment.build), .text(environment.sqliteVersion),
                .text(environment.lmdbVersion), text(environment.processor), integer(environment.cores),
                .text(environment.kernel), text(environment.fileSystem), real(environment.loadAverage),
                .integer(Int64(environment.seed)), integer(environment.repeats), real(environment.seconds),
                .text(String(decoding: try report.compactJSON(), as: UTF8.self)),
            ])
        for (suite, size) in environment.sizes {
            try insert("size", [.integer(run), .text(suite), integer(size)])
        }
        for result in report.results {
            let (latency, cost) = (result.latency, result.cost)
            try insert(
                "result",
                [
                    .integer(run), .text(result.suite), .text(result.case), .text(result.engine),
                    .text(result.configuration), .text(result.layer.rawValue), integer(result.copy),
                    .text(result.durability.rawValue), integer(result.operations), real(result.seconds),
                    real(result.microsecondsPerOperation), real(latency.p50), real(latency.p90), real(latency.p99),
                    real(latency.p999), real(latency.max), real(cost.processorSeconds), integer(cost.peakResidentBytes),
                    integer(cost.bytesWritten), integer(cost.syncCalls), integer(cost.storeBytes),
                    .text(result.checksum),
                ])
        }
        for ratio in report.ratios + report.layers {
            try insert(
                "ratio",
                [
                    .integer(run), .text(ratio.suite), .text(ratio.case), .text(ratio.engine),
                    .text(ratio.configuration),
                    .text(ratio.layer.rawValue),
                    .text("\(ratio.baseline.engine)/\(ratio.baseline.configuration)"), .text(ratio.durability.rawValue),
                    real(ratio.ratio), real(ratio.low), real(ratio.high), .integer(ratio.isDifferent ? 1 : 0),
                    real(ratio.published),
                ])
        }
        for failure in report.failures {
            try insert(
                "failure",
                [
                    .integer(run), .text(failure.suite), .text(failure.case), .text(failure.contender),
                    .text(failure.message),
                ])
        }
        return run
    }

    /// The newest comparison that this one can be held against: same seed, same sizes of the suites that both have, and
    /// at least one ratio of the same kind.
    ///
    /// - Parameter run: only runs before this number; null: all of them.
    public func last(comparableTo report: ComparisonReport, before run: Int64? = nil) throws -> ComparisonReport? {
        let rows = try connection.query(
            "SELECT report FROM run WHERE seed = ? AND build = ? AND id < ? ORDER BY id DESC",
            [report.environment.seed, report.environment.build, run ?? .max])
        for row in rows {
            let text: String = try row.get(0)
            guard let earlier = try? JSONDecoder().decode(ComparisonReport.self, from: Data(text.utf8)) else {
                continue
            }
            if let changes = try? report.changes(since: earlier), !changes.isEmpty { return earlier }
        }
        return nil
    }
}

extension ComparisonReport {
    fileprivate func compactJSON() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}
