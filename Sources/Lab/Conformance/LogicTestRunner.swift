import CSQLite
import Rootstock

/// Runs one ``LogicTest`` on a connection and says which records did not answer as they should.
///
/// Values are printed as the original runner prints them: `NULL`; `(empty)` for empty text; `@` for a byte that is no printable
/// ASCII. Integers have 32 bits, reals three digits behind the point.
public struct LogicTestRunner {
    public struct Failure: Sendable, CustomStringConvertible {
        public var line: Int
        public var reason: String
        public var sql: String

        public var description: String { "\(line): \(reason)" + (sql.isEmpty ? "" : "\n    \(sql.prefix(300))") }
    }

    public struct Result: Sendable {
        public var statements = 0
        public var queries = 0
        public var skipped = 0
        /// Queries that compile, fail while they run, and are expected to answer nothing: the original runner passes them.
        public var endedEarly = 0
        public var halted = false
        public var failures: [Failure] = []

        public init() {}
    }

    private let connection: Connection
    /// The name that `skipif` and `onlyif` are about.
    private let database: String
    private let stopsAtFailure: Bool
    private let beginning: (String) -> Void
    private var result = Result()
    private var labels: [String: String] = [:]
    private var hashThreshold = 8

    /// - Parameter beginning: Told of each statement before it runs.
    public init(
        connection: Connection, database: String = "sqlite", stopsAtFailure: Bool = false,
        beginning: @escaping (String) -> Void = { _ in }
    ) {
        self.beginning = beginning
        self.connection = connection
        self.database = database
        self.stopsAtFailure = stopsAtFailure
    }

    public mutating func run(_ test: LogicTest) -> Result {
        for record in test.records {
            let skipped = record.isSkipped(for: database)
            switch record.action {
            case .halt where skipped: continue
            case .halt:
                result.halted = true
                return result
            case .hashThreshold(let threshold): if !skipped { hashThreshold = threshold }
            case .statement where skipped: result.skipped += 1
            case .statement(let sql, let mustFail): statement(record.line, sql, mustFail: mustFail)
            case .query(let query) where skipped:
                result.skipped += 1
                // What it would have answered still holds the queries of the same label.
                checkLabel(of: query, record.line, digest: Self.digest(of: query.expectation))
            case .query(let query): self.query(record.line, query)
            }
            if stopsAtFailure && !result.failures.isEmpty { break }
        }
        return result
    }

    private mutating func fail(_ line: Int, _ reason: String, _ sql: String = "") {
        result.failures.append(Failure(line: line, reason: reason, sql: sql))
    }

    private mutating func statement(_ line: Int, _ sql: String, mustFail: Bool) {
        result.statements += 1
        beginning(sql)
        do {
            try connection.executeScript(sql)
            if mustFail { fail(line, "statement succeeded, error expected", sql) }
        } catch {
            if !mustFail { fail(line, "statement failed: \(message(error))", sql) }
        }
    }

    private mutating func query(_ line: Int, _ query: LogicTest.Query) {
        result.queries += 1
        beginning(query.sql)
        var rows: [[[UInt8]]] = []
        var width = 0
        var compiled = false
        do {
            // Of several statements, the last one's rows count.
            try connection.forEachStatement(in: query.sql) { statement in
                compiled = true
                rows.removeAll()
                width = statement.columnCount
                while try statement.step() {
                    rows.append((0..<min(width, query.types.count)).map { Self.value(statement, $0, query.types[$0]) })
                }
            }
        } catch {
            if compiled, query.label == nil, query.expectation == .values([]) {
                result.endedEarly += 1
            } else {
                fail(line, "query failed: \(message(error))", query.sql)
            }
            return
        }
        guard width == query.types.count else {
            return fail(line, "expected \(query.types.count) columns, got \(width)", query.sql)
        }
        if query.sort == .rows { rows.sort { $0.lexicographicallyPrecedes($1) { $0.lexicographicallyPrecedes($1) } } }
        var values = rows.flatMap { $0 }
        if query.sort == .values { values.sort { $0.lexicographicallyPrecedes($1) } }
        check(values, line, query)
    }

    private mutating func check(_ values: [[UInt8]], _ line: Int, _ query: LogicTest.Query) {
        let digest = Self.digest(of: .values(values))
        checkLabel(of: query, line, digest: digest)
        switch query.expectation {
        case .digest(let count, let md5):
            if values.count != count || md5 != digest {
                fail(
                    line, "expected \(count) values hashing to \(md5), got \(values.count) hashing to \(digest)",
                    query.sql)
            }
        case .values(let expected):
            guard values != expected else { return }
            let at =
                zip(values, expected).enumerated().first { $0.1.0 != $0.1.1 }?.offset
                ?? min(values.count, expected.count)
            func show(_ values: [[UInt8]]) -> String {
                at < values.count ? String(decoding: values[at], as: UTF8.self) : "nothing"
            }
            fail(
                line,
                "expected \(expected.count) values, got \(values.count); at \(at) expected \(show(expected)), got \(show(values))",
                query.sql)
        }
    }

    private mutating func checkLabel(of query: LogicTest.Query, _ line: Int, digest: String) {
        guard let label = query.label else { return }
        let known = labels[label, default: digest]
        labels[label] = known
        if known != digest { fail(line, "the result of label \(label) differs from an earlier one", query.sql) }
    }

    private static func digest(of expectation: LogicTest.Expectation) -> String {
        switch expectation {
        case .digest(_, let md5): return md5
        case .values(let values):
            var md5 = MD5()
            for value in values { md5.update(value + [UInt8(ascii: "\n")]) }
            return md5.hexadecimal()
        }
    }

    private func message(_ error: any Error) -> String { (error as? DatabaseError)?.message ?? "\(error)" }

    private static func value(_ statement: Statement, _ column: Int, _ type: UInt8) -> [UInt8] {
        if statement.isNull(at: column) { return Array("NULL".utf8) }
        switch type {
        case UInt8(ascii: "I"): return Array(String(Int32(truncatingIfNeeded: statement.int64(at: column))).utf8)
        case UInt8(ascii: "R"):
            return withVaList([statement.double(at: column)]) { arguments in
                guard let text = sqlite3_vmprintf("%.3f", arguments) else { return [] }
                defer { sqlite3_free(text) }
                return Array(String(cString: text).utf8)
            }
        default:
            return statement.withUnsafeText(at: column) { bytes in
                let text = bytes.prefix { $0 != 0 }
                return text.isEmpty
                    ? Array("(empty)".utf8) : text.map { (32...126).contains($0) ? $0 : UInt8(ascii: "@") }
            }
        }
    }
}
