/// One database on one engine, for a whole program: any thread may use it.
///
/// A store keeps one connection for writing and a few for reading. Writes queue up behind each other. Reads see the last
/// commit. They go on beside a write on every engine but `sqlite` in its rollback journal modes.
///
/// ```swift
/// let store = try Store(path: "notes.store", engine: .lmdb)
/// try store.write { connection in
///     try connection.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
///     try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
/// }
/// let count = try store.read { try $0.queryValue("SELECT count(*) FROM note") }
/// ```
///
/// The connection given to a closure is for that closure: kept beyond the closure's end, it, or a statement of it, fails with
/// ``ResultCode/misuse`` at its next use.
public final class Store: Sendable {
    /// The path that was opened.
    public let path: String

    /// The engine under the store.
    public let engine: Engine

    /// How the store was opened.
    public let options: StoreOptions

    let hub = ChangeHub()
    let writer: ConnectionPool
    let readers: ConnectionPool

    /// Opens the store at `path`, creating it unless `options` ask for reading only.
    ///
    /// - Parameters:
    ///   - path: The store's file.
    ///   - engine: The engine under the store. An existing file tells it by its first bytes. The name of a new one decides
    ///     (``Engine/usual(for:)``): `notes.sqlite` and `notes.db` are SQLite databases, `notes.store` is a store on LMDB.
    ///   - options: How the store is opened.
    /// - Throws: ``ResultCode/cannotOpen``, ``ResultCode/notADatabase`` and the like, with a message that names the path.
    public init(path: String, engine: Engine? = nil, options: StoreOptions = StoreOptions()) throws(DatabaseError) {
        let engine = Engine.chosen(engine, for: path)
        let options = options.completed(for: engine, path: path)
        self.path = path
        self.engine = engine
        self.options = options
        writer = ConnectionPool(path: path, capacity: 1, patience: .milliseconds(Int64(options.busyMilliseconds))) {
            () throws(DatabaseError) in
            try Connection(path: path, engine: engine, options: options, queryOnly: false)
        }
        // The writer comes first: it makes the file and puts it in its journal mode.
        try writer.open()
        // Each native connection to memory is a database of its own, so that there only the writer sees what was written.
        let isPrivate = engine.isNative && (path == ":memory:" || path.isEmpty)
        if isPrivate || options.readerConnections <= 0 {
            readers = writer
        } else {
            readers = ConnectionPool(path: path, capacity: options.readerConnections) { () throws(DatabaseError) in
                try Connection(path: path, engine: engine, options: options, queryOnly: true)
            }
        }
        options.log?(.debug, "store opened", ["path": path, "engine": engine.name])
    }

    deinit { hub.end() }

    /// Runs `body` in a read transaction: all its queries see one snapshot, and it can write nothing.
    ///
    /// Waits for a connection while all of them are in use.
    public func read<T>(_ body: (Connection) throws -> T) throws -> T {
        try readers.withConnection { connection in try connection.withReadTransaction { try body(connection) } }
    }

    /// Runs `body` in a write transaction: committed when it returns, rolled back when it throws.
    ///
    /// Waits for the write that runs before it, in this process or another, for as long as ``StoreOptions/busyTimeout`` says, and
    /// fails with ``ResultCode/busy`` then. A write inside a write of the same store fails with ``ResultCode/misuse``.
    ///
    /// On some engines several write at once (``Engine/Description/hasManyWriters``). There a write that another one was in the way of leaves
    /// nothing behind. `body` is run again, for as long as the timeout says. Then the write fails with ``ResultCode/busySnapshot``.
    @discardableResult
    public func write<T>(_ body: (Connection) throws -> T) throws -> T {
        let asked = ContinuousClock.now
        return try writer.withConnection { connection in
            try hub.watching(connection) {
                try connection.withRetriedTransaction(writeKind, asked: asked, timeout: options.busyTimeout) {
                    try body(connection)
                }
            }
        }
    }

    /// A store opened for reading only has nothing to lock, and each statement that would write is refused.
    var writeKind: TransactionKind { options.readOnly ? .deferred : .immediate }

    /// Runs `body` with the writing connection and no transaction around it: for pragmas, and for transactions of its own.
    ///
    /// Waits for the connection for as long as ``StoreOptions/busyTimeout`` says, and fails with ``ResultCode/busy`` then. A transaction that `body` leaves open is rolled back.
    @discardableResult
    public func withConnection<T>(_ body: (Connection) throws -> T) throws -> T {
        try writer.withConnection { connection in
            try hub.watching(connection) {
                defer { if connection.isInTransaction { try? connection.execute("ROLLBACK") } }
                return try body(connection)
            }
        }
    }

    /// Runs `body` with a reading connection and no transaction around it.
    func withReader<T>(_ body: (Connection) throws -> T) throws -> T {
        try readers.withConnection(body)
    }

    /// Closes the store when its connections have come back; what is asked of it afterwards fails with
    /// ``ResultCode/misuse``, and observations of it end. Closing twice is no error. A store that nobody refers to any more closes itself. Called inside a
    /// closure of the store's, it closes the closure's connection when the closure ends.
    public func close() {
        hub.end()
        readers.close()
        writer.close()
        options.log?(.debug, "store closed", ["path": path])
    }
}

extension Store: CustomStringConvertible {
    public var description: String { "\(engine):\(path)" }
}
