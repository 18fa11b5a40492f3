// GRDB on a store: a serial queue around a connection of GRDB whose content is a store, so that GRDB's records, requests and
// rows work on it.
//
// GRDB prepares its SQL itself and has no place where a text could be changed on its way. The INSERT, SELECT, UPDATE and
// DELETE that it writes for records and requests need no change; what SQLite refuses on virtual tables, and every
// definition of schema, goes through `executeStore` and `storeSQL`.
//
// Invariant: nothing is lost without a word. GRDB's own database is never handed out: before a transaction commits, it is
// checked that nothing was made beside the store, in the connection's own memory (`create(table:)` and the migrator of
// GRDB would), and that no table has a DEFAULT which GRDB's INSERT would leave out.

#if GRDB
    import Foundation
    import GRDB
    import Rootstock
    import RootstockTable

    /// A store, for GRDB.
    ///
    /// ```swift
    /// struct Note: Codable, FetchableRecord, PersistableRecord {
    ///     var id: Int64?
    ///     var title: String
    /// }
    /// let queue = try StoreQueue(path: "notes.store", engine: .lmdb)
    /// try queue.write { database in
    ///     try database.executeStore(sql: "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    ///     try Note(id: nil, title: "Groceries").insert(database)
    /// }
    /// let notes = try queue.read { try Note.order(Column("title")).fetchAll($0) }
    /// ```
    ///
    /// Any thread may use it; accesses run one after the other, as with GRDB's `DatabaseQueue`. On engine `sqlite` it is such a
    /// queue on an ordinary database file, with nothing of the following.
    ///
    /// On a store these work: inserting and fetching records, requests with their `fetchAll`, `updateAll` and `deleteAll`,
    /// access by key where the key is an integer (`fetchOne(_:key:)`, `deleteOne(_:key:)`), associations whose columns are
    /// named, and constraints, triggers and foreign keys of the store. `update`, `save` and `delete` of a record find no
    /// primary key, which GRDB reads off the declaration: the first two throw, and `delete` deletes nothing and returns
    /// `false`. Say `filter(...)` with `updateAll` or `deleteAll` instead.
    ///
    /// These need their SQL written out, through ``GRDB/Database/storeSQL(_:)`` or ``GRDB/Database/executeStore(sql:)``:
    /// definitions of schema, `RETURNING` (`updateAndFetch`, `deleteAndFetchAll`), UPSERT. `create(table:)` and
    /// `DatabaseMigrator` are refused when their transaction is to commit; `ValueObservation` hears nothing, since SQLite's
    /// update hook does not.
    public final class StoreQueue: Sendable {
        /// The engine under the store.
        public let engine: Engine
        private let queue: DatabaseQueue
        private let checked = CheckedSchema()

        /// Opens the store at `path`, creating it unless `options` ask for reading only.
        ///
        /// - Parameters:
        ///   - options: As for ``Rootstock/Store``. Reader connections and the statement cache are GRDB's own affair.
        ///   - configuration: GRDB's configuration, whose `prepareDatabase` functions run after the store was opened.
        /// - Throws: `Rootstock.DatabaseError` where the store cannot be opened, and what GRDB throws.
        public init(
            path: String, engine: Engine = .lmdb, options: StoreOptions = StoreOptions(),
            configuration: Configuration = Configuration()
        ) throws {
            self.engine = engine
            try options.validate(for: engine)
            var configuration = configuration
            // GRDB turns foreign keys on by itself, on every engine alike.
            configuration.busyMode = .timeout(TimeInterval(options.busyMilliseconds) / 1000)
            if engine.isNative {
                configuration.readonly = options.readOnly
                let (mode, pragmas) = (options.native.journalMode, options.native.pragmas)
                let durability = options.durability.rawValue
                configuration.prepareDatabase { database in
                    if let mode {
                        let actual = try String.fetchOne(database, sql: "PRAGMA journal_mode = \(mode.rawValue)")
                        guard actual == mode.rawValue else {
                            throw Rootstock.DatabaseError(
                                .error, "journal mode \(mode.rawValue) cannot be had for \(path)")
                        }
                    }
                    for pragma in ["synchronous = \(durability)"] + pragmas {
                        try database.execute(sql: "PRAGMA \(pragma)")
                    }
                }
                queue = try DatabaseQueue(path: path, configuration: configuration)
            } else {
                configuration.prepareDatabase { database in
                    guard let connection = database.sqliteConnection else { return }
                    try FrontDoor.open(connection, path: path, engine: engine, options: options)
                }
                queue = try DatabaseQueue(configuration: configuration)
            }
        }

        /// Runs `body` in a read transaction; it can write nothing.
        public func read<T>(_ body: (Database) throws -> T) throws -> T {
            try queue.writeWithoutTransaction { database in
                try refresh(database)
                return try database.readOnly { try Self.transaction(.deferred, database) { try body(database) } }
            }
        }

        /// Runs `body` in a write transaction: committed when it returns, rolled back when it throws.
        ///
        /// - Throws: Also GRDB's `DatabaseError` with `SQLITE_MISUSE` where the transaction made something beside the store, or a
        ///   table has a column that may be NULL and has a DEFAULT: GRDB names the columns that a record encodes, and on a store
        ///   one that it leaves out would become NULL.
        public func write<T>(_ body: (Database) throws -> T) throws -> T {
            try queue.writeWithoutTransaction { database in
                try refresh(database)
                return try Self.transaction(.immediate, database) {
                    try check(database)
                    let result = try body(database)
                    try check(database)
                    return result
                }
            }
        }

        private static func transaction<T>(
            _ kind: Database.TransactionKind, _ database: Database, _ body: () throws -> T
        ) throws -> T {
            var result: T?
            try database.inTransaction(kind) {
                result = try body()
                return .commit
            }
            guard let result else { preconditionFailure("a transaction ended without its result") }
            return result
        }

        /// Closes the connection; statements and rows of it must be gone.
        public func close() throws { try queue.close() }

        /// Brings the declared schema up to what other connections made of it.
        private func refresh(_ database: Database) throws {
            guard !engine.isNative, let connection = database.sqliteConnection else { return }
            try FrontDoor.refresh(connection)
            let version = try Int.fetchOne(database, sql: "PRAGMA main.schema_version")
            if checked.seen(version) { database.clearSchemaCache() }
        }

        /// Refuses what would be lost, or be written otherwise than on a native database.
        private func check(_ database: Database) throws {
            guard !engine.isNative else { return }
            let version = try Int.fetchOne(database, sql: "PRAGMA main.schema_version")
            guard checked.needsCheck(version) else { return }
            database.clearSchemaCache()
            let names = try String.fetchAll(
                database, sql: database.storeSQL("SELECT type || ' ' || name FROM sqlite_master"))
            let declared = try Row.fetchAll(
                database,
                sql: "SELECT type || ' ' || name, name FROM main.sqlite_master WHERE type IN ('view', 'trigger') "
                    + "OR (type = 'table' AND rootpage <> 0 AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\')")
            let known = Set(names)
            for row in declared {
                let (object, name): (String, String) = (row[0], row[1])
                if object.hasPrefix("table ") || (!known.contains(object) && !name.hasPrefix("rootstock")) {
                    throw Self.refusal(
                        "\(object) was made beside the store, in memory; make it with executeStore(sql: \"CREATE ...\")"
                    )
                }
            }
            for table in names where table.hasPrefix("table ") {
                let name = String(table.dropFirst("table ".count))
                let quoted = "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
                for column in try Row.fetchAll(database, sql: database.storeSQL("PRAGMA table_info(\(quoted))")) {
                    let text: String? = column["dflt_value"]
                    let (isNotNull, key): (Bool, Int) = (column["notnull"], column["pk"])
                    guard let text, text.uppercased() != "NULL", !isNotNull, key == 0 else { continue }
                    let columnName: String = column["name"]
                    throw Self.refusal(
                        "column \(columnName) of table \(name) may be NULL and has a DEFAULT, which GRDB's INSERT would leave out on "
                            + "a store: declare it NOT NULL, or write this store through Rootstock")
                }
            }
            checked.passed(version)
        }

        private static func refusal(_ message: String) -> GRDB.DatabaseError {
            GRDB.DatabaseError(resultCode: .SQLITE_MISUSE, message: message)
        }
    }

    /// Which version of the schema was checked last. Used from within the queue only, under a lock all the same.
    private final class CheckedSchema: @unchecked Sendable {
        private let lock = NSLock()
        private var last: Int?
        private var checked: Int?

        /// Whether the version is another than at the last call.
        func seen(_ version: Int?) -> Bool {
            lock.withLock {
                defer { last = version }
                return last != version
            }
        }
        func needsCheck(_ version: Int?) -> Bool { lock.withLock { checked == nil || checked != version } }
        func passed(_ version: Int?) { lock.withLock { checked = version } }
    }

    extension Database {
        /// The text that does on the store what the one statement of `sql` means, for GRDB's own functions, with the same
        /// arguments. On a native database, the text itself.
        ///
        /// ```swift
        /// let sql = try database.storeSQL("UPDATE note SET title = ? WHERE id = ? RETURNING title")
        /// let title = try String.fetchOne(database, sql: sql, arguments: ["Bread", 1])
        /// ```
        ///
        /// The text is for one use: it may be bound to the schema of the moment.
        ///
        /// - Throws: `Rootstock.DatabaseError` for what a store cannot have, by name, and for text with more than one statement.
        public func storeSQL(_ sql: String) throws -> String {
            let (text, rest) = try rewritten(sql)
            guard FrontDoor.isBlank(rest) else {
                throw Rootstock.DatabaseError(.misuse, "the text holds more than one statement")
            }
            return text
        }

        /// Runs each statement of a text on the store, definitions of schema included. A statement is turned into its form for
        /// the store when those before it have run.
        public func executeStore(sql: String) throws {
            var rest = sql
            while !FrontDoor.isBlank(rest) {
                let (text, behind) = try rewritten(rest)
                let statements = try allStatements(sql: text)
                while let statement = try statements.next() { try statement.execute() }
                guard behind.utf8.count < rest.utf8.count else { break }
                rest = behind
            }
            clearSchemaCache()
        }

        /// Runs the one statement of a text on the store.
        public func executeStore(sql: String, arguments: StatementArguments) throws {
            try execute(sql: storeSQL(sql), arguments: arguments)
        }

        /// The form of the first statement, and what stands behind it.
        private func rewritten(_ sql: String) throws -> (text: String, rest: String) {
            guard let connection = sqliteConnection else { return (sql, "") }
            let bytes = sql.utf8CString
            let rewrite = try bytes.withUnsafeBufferPointer { buffer in
                try FrontDoor.rewrite(connection, UnsafeBufferPointer(rebasing: buffer.dropLast()))
            }
            let utf8 = Array(sql.utf8)
            return (
                rewrite.replacement ?? String(decoding: utf8[..<rewrite.consumed], as: UTF8.self),
                String(decoding: utf8[rewrite.consumed...], as: UTF8.self)
            )
        }
    }
#endif
