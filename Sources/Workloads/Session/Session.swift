// What a workload is given: one open connection on one engine, its statements, its parameters and the hash of its answers.
//
// Invariant: a workload sees no engine name, no file and no configuration. The same code with the same SQL text runs on
// each engine, and whatever differs between two sessions was done before the workload got them.

import CSQLite
import Rootstock

public struct Parameters: Sendable, Codable, Equatable {
    /// The suite's size: entries, objects, articles ...
    public var size: Int
    public var seed: UInt32
    /// Of suite `engine`.
    public var shape: EngineShape

    public init(size: Int, seed: UInt32, shape: EngineShape = .standard) {
        self.size = size
        self.seed = seed
        self.shape = shape
    }

    public func resized(_ size: Int) -> Parameters { Parameters(size: size, seed: seed, shape: shape) }
}

/// How a session's store is opened: what a worker on another thread opens its own connection by.
public struct Connector: Sendable {
    var parameters: Parameters
    var settling: [String]
    var connect: @Sendable () throws -> Connection

    public func session() throws -> Session { try Session(self) }
}

public final class Session {
    public let parameters: Parameters
    /// For workloads of the Swift layer; inner loops of the thin layer use `statement`.
    public private(set) var connection: Connection
    /// Opens the same store once more, from any thread.
    public let connector: Connector
    private var settling: [String] { connector.settling }
    private var cache: [String: (owner: Statement, raw: RawStatement)] = [:]
    private var settlingStatements: [RawStatement] = []

    public var answers = AnswerHash()
    /// Set in the pass that checks the answers; then rows are hashed whole and no time is taken.
    public var isChecking = false

    /// - Parameters:
    ///   - settling: statements of the configuration that belong to a timed write, at its end (LevelDB's: a WAL checkpoint).
    ///   - connect: opens the store, set up as the configuration says, with no statement cache of its own.
    public convenience init(
        parameters: Parameters, settling: [String] = [], connect: @escaping @Sendable () throws -> Connection
    ) throws {
        try self.init(Connector(parameters: parameters, settling: settling, connect: connect))
    }

    init(_ connector: Connector) throws {
        self.connector = connector
        parameters = connector.parameters
        connection = try connector.connect()
    }

    /// The statement of this text, prepared once.
    public func statement(_ sql: String) throws -> RawStatement {
        if let known = cache[sql] { return known.raw }
        let owner = try connection.prepare(sql)
        let raw = RawStatement(handle: owner.handle)
        cache[sql] = (owner, raw)
        return raw
    }

    /// Prepares the statement anew, for workloads that measure that.
    public func withFreshStatement(_ sql: String, _ body: (RawStatement) throws -> Void) throws {
        let owner = try connection.prepare(sql)
        try body(RawStatement(handle: owner.handle))
    }

    /// Statements without parameters or interesting rows: schema, setting up. Never inside measured time.
    public func execute(_ script: String) throws {
        try connection.forEachStatement(in: script) { try $0.run() }
    }

    /// Prepares what `settle` will run; to be called before the clock starts.
    public func prepareToSettle() throws { settlingStatements = try settling.map { try statement($0) } }

    /// What the configuration wants done at the end of a timed write, inside the measured time.
    public func settle() throws {
        for statement in settlingStatements { try statement.run() }
    }

    /// Lets go of the statements and closes the connection.
    public func close() {
        settlingStatements = []
        cache = [:]
        connection.close()
    }

    /// Opens the store again after `close`.
    public func reopen() throws { connection = try connector.connect() }

    // MARK: Answers

    /// Takes a row of blobs as an answer: cheaply while the clock runs, whole when checking.
    @inline(__always)
    public func takeBlobs(_ statement: RawStatement) {
        if isChecking { return take(statement) }
        for column in 0..<statement.columnCount { answers.touch(statement.blob(column)) }
    }

    /// As `takeBlobs`, with every byte read while the clock runs.
    @inline(__always)
    func takeWholeBlobs(_ statement: RawStatement) {
        if isChecking { return take(statement) }
        for column in 0..<statement.columnCount { answers.touchWhole(statement.blob(column)) }
    }

    /// Takes a row of any columns as an answer.
    @inline(__always)
    public func take(_ statement: RawStatement) {
        if isChecking { answers.add(UInt64(statement.columnCount)) }
        for column in 0..<statement.columnCount { take(statement, column) }
    }

    @inline(__always)
    private func take(_ statement: RawStatement, _ column: Int32) {
        let type = statement.type(column)
        switch type {
        case SQLITE_INTEGER:
            let word = UInt64(bitPattern: Int64(statement.integer(column)))
            if isChecking { answers.add(word) } else { answers.touch(word) }
        case SQLITE_FLOAT:
            let word = statement.double(column).bitPattern
            if isChecking { answers.add(word) } else { answers.touch(word) }
        case SQLITE_TEXT:
            let bytes = statement.text(column)
            if isChecking { answers.add(bytes) } else { answers.touch(bytes) }
        case SQLITE_BLOB:
            let bytes = statement.blob(column)
            if isChecking { answers.add(bytes) } else { answers.touch(bytes) }
        default:
            answers.touch(0)
        }
        if isChecking { answers.add(UInt64(type)) }
    }

    /// Takes a column as an answer that arrived as a value of the Swift API.
    func take(_ value: Value) {
        let type: Int32
        switch value {
        case .null:
            type = SQLITE_NULL
            answers.touch(0)
        case .integer(let number):
            type = SQLITE_INTEGER
            take(word: UInt64(bitPattern: number))
        case .real(let number):
            type = SQLITE_FLOAT
            take(word: number.bitPattern)
        case .text(let text):
            type = SQLITE_TEXT
            var copy = text
            copy.withUTF8 { take(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes):
            type = SQLITE_BLOB
            bytes.withUnsafeBytes { take(bytes: $0) }
        }
        if isChecking { answers.add(UInt64(type)) }
    }

    private func take(word: UInt64) { if isChecking { answers.add(word) } else { answers.touch(word) } }
    private func take(bytes: UnsafeRawBufferPointer) {
        if isChecking { answers.add(bytes) } else { answers.touch(bytes) }
    }

    /// Hashes all rows of a query whole: the content of a table after a write.
    public func hashRows(_ sql: String) throws {
        let statement = try statement(sql)
        let wasChecking = isChecking
        isChecking = true
        defer { isChecking = wasChecking }
        while try statement.step() {
            take(statement)
            for column in 0..<statement.columnCount { contentBytes += statement.byteCount(column) }
        }
        try statement.reset()
    }

    /// Bytes of the values that `hashRows` has seen, as SQLite counts them: 8 for a number.
    public private(set) var contentBytes = 0
    public func forgetContentBytes() { contentBytes = 0 }
}
