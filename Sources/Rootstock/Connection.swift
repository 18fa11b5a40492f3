import CSQLite
import Foundation
import RootstockTable

/// One connection to a store: SQL in, rows out.
///
/// A connection is had from ``Store/read(_:)-4mrkd`` and ``Store/write(_:)-6fr01``, or opened by itself where one thread does all the work:
///
/// ```swift
/// let connection = try Connection(path: "notes.store", engine: .lmdb)
/// try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
/// try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
/// let titles = try connection.query("SELECT title FROM note ORDER BY id")
/// ```
///
/// A connection is used by one thread at a time and is not `Sendable`. On engine `lmdb`, a write transaction is ended by the
/// thread that began it.
public final class Connection {
    /// The engine under the connection.
    public let engine: Engine

    /// Whether its write transactions go on beside others, which may be in their way.
    let hasManyWriters: Bool

    /// The path that was opened.
    public let path: String

    /// Whether the connection was opened for reading only.
    public let isReadOnly: Bool

    /// Whether every statement that would write is refused with ``ResultCode/readOnly``.
    @exclusivity(unchecked) private(set) var refusesWrites: Bool

    /// Belongs to one thread at a time, as all of this does, so that nothing is gained by watching for overlapping uses.
    @exclusivity(unchecked) private(set) var database: OpaquePointer?

    /// Whether SQLite runs the statements as they were written, without the front door.
    let isNative: Bool

    /// Shared with the connection that took this one over: only the one with the database uses it.
    let cache: StatementCache

    /// The last of the `Statement` objects that exist, which form a list: what ``Store`` resets when a connection comes back with some
    /// of them forgotten.
    @exclusivity(unchecked) var lastStatement: Unmanaged<Statement>?

    /// The statements that begin and end a store's transactions, kept.
    var frame = TransactionFrame()

    /// The asynchronous call that has the connection now.
    @exclusivity(unchecked) @usableFromInline var call: PoolCall?

    /// How many cursors of the store read; `nil` without a store, and once the connection is closed.
    @exclusivity(unchecked) @usableFromInline private(set) var openCursors: UnsafePointer<Int32>?

    /// SQLite's busy timeout in milliseconds; `nil` once the application may have set another.
    @exclusivity(unchecked) var knownBusyTimeout: Int32?

    /// Who is told of the statements that run now: see ``readingTables(_:)``.
    @exclusivity(unchecked) var namesRead: NameBox?

    /// What SQLite measures statements for.
    @exclusivity(unchecked) var slowStatements: SlowStatementBox?

    /// Who is told what the connection does.
    let log: LogHook?

    /// Whether another object has taken the connection over, because this one was kept beyond its closure.
    private(set) var isSpent = false

    /// Opens the store at `path`, creating it unless `options` ask for reading only.
    ///
    /// - Parameters:
    ///   - path: The store's file.
    ///   - engine: The engine under the connection; `nil` for the file's, as in ``Store/init(path:engine:options:)``. Unlike a store, a
    ///     connection leaves a SQLite file that it makes in SQLite's own journal mode.
    ///   - options: How the store is opened.
    public convenience init(path: String, engine: Engine? = nil, options: StoreOptions = StoreOptions())
        throws(DatabaseError)
    {
        try self.init(path: path, engine: Engine.chosen(engine, for: path), options: options, queryOnly: false)
    }

    /// With `queryOnly` the connection refuses to write, whatever the file allows.
    init(path: String, engine: Engine, options: StoreOptions, queryOnly: Bool) throws(DatabaseError) {
        try options.validate(for: engine)
        // C's paths end there: another file would be opened.
        guard !path.utf8.contains(0) else {
            throw DatabaseError(.cannotOpen, "a path holds a NUL: \(path.debugDescription)")
        }
        self.engine = engine
        isNative = engine.isNative
        hasManyWriters = engine.capabilities.contains(.manyWriters)
        self.path = path
        isReadOnly = options.readOnly || queryOnly
        refusesWrites = isReadOnly
        cache = StatementCache(capacity: options.statementCacheCapacity)
        log = options.log
        var options = options
        options.readOnly = isReadOnly
        do {
            database =
                try isNative
                ? Connection.openNative(path, options: options, queryOnly: queryOnly)
                : Connection.openStore(path, engine: engine, options: options)
            if isNative { try configureNative(options, queryOnly: queryOnly) }
            openCursors = isNative ? nil : database.flatMap(FrontDoor.openCursors)
            knownBusyTimeout = isNative && !options.native.pragmas.isEmpty ? nil : options.busyMilliseconds
        } catch  where error.code == .notADatabase {
            throw Connection.otherEngine(error, at: path, than: engine)
        }
        if let hook = options.slowStatement { report(hook) }
        for function in options.functions { try add(function) }
        for collation in options.collations { try add(collation) }
        if options.foreignKeys, !isReadOnly { try execute("PRAGMA foreign_keys = ON") }
    }

    /// Opens the SQLite database of `uri` for reading, which says how (`immutable`), and is called by `path`.
    package init(readingURI uri: String, path: String) throws(DatabaseError) {
        engine = .sqlite
        isNative = true
        hasManyWriters = false
        self.path = path
        isReadOnly = true
        refusesWrites = true
        let options = StoreOptions()
        cache = StatementCache(capacity: options.statementCacheCapacity)
        log = nil
        database = try Connection.open(uri, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, options: options)
    }

    /// The connection of `other` as a new object. `other` was kept beyond its closure, as a statement of it may have been: both are refused at
    /// their next use, whatever thread it is on.
    init(takingOver other: Connection) {
        engine = other.engine
        isNative = other.isNative
        hasManyWriters = other.hasManyWriters
        path = other.path
        isReadOnly = other.isReadOnly
        refusesWrites = other.refusesWrites
        database = other.database
        openCursors = other.openCursors
        cache = other.cache
        frame = other.frame
        knownBusyTimeout = other.knownBusyTimeout
        slowStatements = other.slowStatements
        defer { slowStatements?.connection = self }
        log = other.log
        while let statement = other.lastStatement?.takeUnretainedValue() { statement.retire(to: self) }
        other.database = nil
        other.openCursors = nil
        other.frame = TransactionFrame()
        other.isSpent = true
    }

    deinit { close() }

    /// Closes the connection; what is asked of it afterwards fails with ``ResultCode/misuse``.
    ///
    /// Statements that still exist stay usable to their end. Closing twice is no error.
    public func close() {
        guard let database else { return }
        cache.removeAll()
        frame = TransactionFrame()
        sqlite3_close_v2(database)
        self.database = nil
        openCursors = nil
    }

    /// SQLite's connection, for what has no method here.
    ///
    /// On an engine other than `sqlite`, SQL text given to SQLite's own functions must have passed `rootstock_rewrite`.
    public var handle: OpaquePointer {
        guard let database else { preconditionFailure(closedError.message) }
        knownBusyTimeout = nil
        return database
    }
}

extension Connection {
    /// What is wrong with a connection that has no database.
    var closedError: DatabaseError {
        DatabaseError(
            .misuse,
            isSpent
                ? "the connection to \(path) is used outside the closure that it was given to"
                : "the connection to \(path) is closed")
    }
}

// MARK: - State

extension Connection {
    /// Rows that the last INSERT, UPDATE or DELETE changed; 0 once the connection is closed.
    public var changes: Int { database.map { Int(sqlite3_changes64($0)) } ?? 0 }

    /// Rows that all statements changed since the connection was opened, those of triggers included; 0 once it is closed.
    public var totalChanges: Int { database.map { Int(rootstock_total_changes($0)) } ?? 0 }

    /// The rowid of the last row inserted, or 0; 0 once the connection is closed.
    public var lastInsertRowid: Int64 { database.map { sqlite3_last_insert_rowid($0) } ?? 0 }

    /// Whether a transaction is open.
    public var isInTransaction: Bool { database.map { sqlite3_get_autocommit($0) == 0 } ?? false }

    /// Makes the statement that runs now, on whatever thread, fail with ``ResultCode/interrupt`` as soon as it can.
    public func interrupt() {
        if let database { sqlite3_interrupt(database) }
    }
}

extension Connection {
    /// Runs `body` while nothing can be written, on a connection that may be one for writing.
    func refusingWrites<T>(_ body: () throws -> T) rethrows -> T {
        let before = refusesWrites
        refusesWrites = true
        defer { refusesWrites = before }
        return try body()
    }
}

// MARK: - Opening

extension Connection {
    private static func openNative(
        _ path: String, options: StoreOptions, queryOnly: Bool
    ) throws(DatabaseError) -> OpaquePointer {
        // A reader beside a writer opens for writing too: a write-ahead log is shared memory that it must be able to build.
        let readOnlyFile = options.readOnly && !queryOnly
        let flags = readOnlyFile ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        return try open(path, flags: flags, options: options)
    }

    private static func openStore(
        _ path: String, engine: Engine, options: StoreOptions
    ) throws(DatabaseError) -> OpaquePointer {
        let database = try open(":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options: options)
        do {
            try FrontDoor.open(database, path: path, engine: engine, options: options)
        } catch {
            sqlite3_close_v2(database)
            throw error
        }
        return database
    }

    /// Of a file that is no database of `engine`: whose it is.
    private static func otherEngine(_ error: DatabaseError, at path: String, than engine: Engine) -> DatabaseError {
        if let other = Engine.recognized(at: path), other != engine {
            return DatabaseError(
                error.extendedCode,
                "\(path) is a file of engine \(other), not of \(engine): open it without naming an engine")
        }
        return engine.isNative
            ? DatabaseError(error.extendedCode, "\(path) is no SQLite database: name another file") : error
    }

    /// Why a file cannot be opened, as far as a look at it tells.
    private static func advice(_ path: String, _ flags: Int32) -> String {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { return "; it is a directory: name a file in it" }
            return FileManager.default.isReadableFile(atPath: path) ? "" : "; this user may not read it"
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if !FileManager.default.fileExists(atPath: folder) {
            return "; there is no directory \(folder): make it first"
        }
        return flags & SQLITE_OPEN_CREATE == 0 ? "; there is no such file, and one that is only read is not made" : ""
    }

    private static func open(
        _ path: String, flags: Int32, options: StoreOptions
    ) throws(DatabaseError) -> OpaquePointer {
        var database: OpaquePointer?
        // Every connection is used by one thread at a time, so SQLite needs no mutex of its own.
        let code = sqlite3_open_v2(path, &database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let database else {
            let error = DatabaseError(code, database: database)
            sqlite3_close_v2(database)
            let reason = error.code == .cannotOpen ? advice(path, flags) : ""
            throw DatabaseError(error.extendedCode, "\(error.message): \(path)\(reason)")
        }
        sqlite3_busy_timeout(database, options.busyMilliseconds)
        return database
    }

    /// Runs past the refusal of writes, which is for what the user asks: some of these pragmas count as writes.
    private func configureNative(_ options: StoreOptions, queryOnly: Bool) throws(DatabaseError) {
        if let mode = options.native.journalMode, !isReadOnly {
            let actual = try queryValue("PRAGMA journal_mode = \(mode.rawValue)")
            guard actual == .text(mode.rawValue) else {
                throw DatabaseError(.error, "journal mode \(mode.rawValue) cannot be had for \(path)")
            }
        }
        var pragmas = ["synchronous = \(options.durability.rawValue)"] + options.native.pragmas
        if queryOnly { pragmas.append("query_only = ON") }
        for pragma in pragmas {
            let code = sqlite3_exec(database, "PRAGMA \(pragma)", nil, nil, nil)
            if code != SQLITE_OK { throw DatabaseError(code, database: database, sql: "PRAGMA \(pragma)") }
        }
    }
}
