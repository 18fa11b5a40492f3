// Migrator.swift - a database's schema, step by step.
//
// Invariant: a step and the record that it ran are one transaction, under the write lock: of several processes one runs it.

/// The steps that bring a database's schema up to date, each run once.
///
/// ```swift
/// var migrator = Migrator()
/// migrator.register("books") { connection in
///     try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
/// }
/// migrator.register("isbn") { connection in
///     try connection.execute("ALTER TABLE book ADD COLUMN isbn TEXT")
/// }
/// try migrator.migrate(store)
/// ```
///
/// The steps that ran stand in the table ``table``. A step that was released is never changed: register another one behind it.
public struct Migrator: Sendable {
    /// The table that holds the names of the steps that ran.
    public static let table = "schema_migration"

    /// Whether a database whose schema is not what the registered steps make of an empty one is erased, with all its rows, and made
    /// anew. For development only.
    public var eraseOnSchemaChange = false

    /// The names of the registered steps, in order.
    public var names: [String] { steps.map(\.name) }

    private struct Step: Sendable {
        var name: String
        var run: @Sendable (Connection) throws -> Void
    }

    private var steps: [Step] = []

    /// A migrator without steps, which makes nothing.
    public init() {}

    /// Adds a step behind those that were registered before. Each has a name of its own, which stays for ever.
    public mutating func register(_ name: String, _ step: @escaping @Sendable (Connection) throws -> Void) {
        precondition(!names.contains(name), "two migrations are named \(name)")
        steps.append(Step(name: name, run: step))
    }

    /// Runs the steps that have not run, up to `last` or all of them, each in a transaction of its own.
    ///
    /// Foreign keys that are enforced are not enforced during a step, so that it may make a table anew that others refer to. The step's end
    /// checks the whole database.
    ///
    /// - Throws: A step's error: it has left nothing behind then, and those before it have run. ``ResultCode/foreignKeyConstraint`` if
    ///   a foreign key leads nowhere at a step's end. ``ResultCode/misuse`` if `last` is not
    ///   registered. ``ResultCode/misuse`` also if another version of the program has made this database: a step that has run is not
    ///   registered, or comes after one that has not run. ``ResultCode/misuse`` for a step that ends its transaction, too.
    public func migrate(_ store: Store, upTo last: String? = nil) throws {
        let wanted = try steps(upTo: last)
        if eraseOnSchemaChange, try schemaHasChanged(in: store) { try store.withConnection { try $0.erase() } }
        let kind = store.writeKind
        for step in wanted where try store.withConnection({ try migrate(step, on: $0, kind) }) { tell(step, store) }
    }

    /// The same for a task.
    public func migrate(_ store: Store, upTo last: String? = nil) async throws {
        let wanted = try steps(upTo: last)
        if eraseOnSchemaChange {
            let options = store.options
            let hasChanged = try await store.withConnection { try self.schemaHasChanged(on: $0, options) }
            if hasChanged { try await store.withConnection { try $0.erase() } }
        }
        let kind = store.writeKind
        for step in wanted where try await store.withConnection({ try self.migrate(step, on: $0, kind) }) {
            tell(step, store)
        }
    }

    /// The names of the steps that have run, in order.
    public func applied(on connection: Connection) throws -> [String] {
        let exists = try connection.queryValue(
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?", [Self.table])
        guard exists == 1 else { return [] }
        return try connection.query("SELECT name FROM \(Self.table) ORDER BY position", as: String.self)
    }

    /// Whether the database is at the version of the step `name`: it and all before it have run, and none behind it.
    ///
    /// Without a name, whether it is at the version of this program: all registered steps have run, and no others.
    public func isAt(_ name: String? = nil, on connection: Connection) throws -> Bool {
        try applied(on: connection) == steps(upTo: name).map(\.name)
    }

    // MARK: Steps

    private func steps(upTo last: String?) throws(DatabaseError) -> [Step] {
        guard let last else { return steps }
        guard let index = steps.firstIndex(where: { $0.name == last }) else {
            throw DatabaseError(.misuse, "no migration is named \(last)")
        }
        return Array(steps[...index])
    }

    private func tell(_ step: Step, _ store: Store) {
        store.options.log?(.info, "migration ran", ["path": store.path, "migration": step.name])
    }

    /// Runs `step` in a transaction of its own, at whose end foreign keys hold that held before it.
    ///
    /// - Returns: Whether it ran now.
    private func migrate(_ step: Step, on connection: Connection, _ kind: TransactionKind) throws -> Bool {
        try connection.withoutForeignKeys { wereEnforced in
            try connection.withTransaction(kind) {
                guard try run(step, on: connection) else { return false }
                if wereEnforced, let violation = try connection.foreignKeyViolations().first {
                    throw DatabaseError(.foreignKeyConstraint, "migration \(step.name): \(violation)")
                }
                return true
            }
        }
    }

    /// Runs `step` unless it has run, which another process may have done a moment ago.
    ///
    /// - Returns: Whether it ran now.
    @discardableResult
    private func run(_ step: Step, on connection: Connection) throws -> Bool {
        let applied = try applied(on: connection)
        guard applied.elementsEqual(names.prefix(applied.count)) else {
            let unknown = applied.first { !names.contains($0) }
            throw DatabaseError(
                .misuse,
                unknown.map { "the database has run migration \($0), which this program does not know" }
                    ?? "the database has run its migrations in another order: \(applied.joined(separator: ", "))")
        }
        guard !applied.contains(step.name) else { return false }
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(Self.table) (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, applied TEXT NOT NULL)
            """)
        try step.run(connection)
        guard connection.isInTransaction else {
            throw DatabaseError(.misuse, "migration \(step.name) has ended its transaction: the step is not recorded")
        }
        try connection.execute(
            "INSERT INTO \(Self.table) (name, applied) VALUES (?, strftime('%Y-%m-%d %H:%M:%f', 'now'))", [step.name])
        return true
    }

    // MARK: Development

    private func schemaHasChanged(in store: Store) throws -> Bool {
        try store.withConnection { try schemaHasChanged(on: $0, store.options) }
    }

    /// Whether the steps that have run would now make another schema of an empty database.
    private func schemaHasChanged(on connection: Connection, _ options: StoreOptions) throws -> Bool {
        let applied = try applied(on: connection)
        guard !applied.isEmpty else { return false }
        guard applied.elementsEqual(names.prefix(applied.count)) else { return true }
        let fresh = try connection.blankTwin(options)
        for step in steps.prefix(applied.count) {
            try fresh.withTransaction(.immediate) { _ = try run(step, on: fresh) }
        }
        return try fresh.schemaTexts() != connection.schemaTexts()
    }
}

extension Connection {
    /// An empty database in memory, on the same kind of engine, for steps that call the program's own functions, too.
    fileprivate func blankTwin(_ options: StoreOptions) throws(DatabaseError) -> Connection {
        var twin = StoreOptions()
        twin.functions = options.functions
        twin.collations = options.collations
        twin.native.pragmas = options.native.pragmas
        if engine.isNative { return try Connection(path: ":memory:", engine: .sqlite, options: twin) }
        let name = "rootstock-migrator-\(UInt64.random(in: 0 ... .max))"
        return try Connection(path: name, engine: .memory, options: twin)
    }

    fileprivate func schemaTexts() throws -> [String] {
        try query(
            "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY 1",
            as: String.self)
    }

    /// Drops every view, trigger and table.
    fileprivate func erase() throws {
        try withoutForeignKeys { _ in
            try withTransaction(.immediate) {
                let objects = try query(
                    """
                    SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'trigger', 'table')
                    AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY type = 'table', type = 'view', sql NOT LIKE 'CREATE VIRTUAL%'
                    """)
                for object in objects {
                    let (type, name) = (try object[0, as: String.self], try object[1, as: String.self])
                    try execute("DROP \(type.uppercased()) IF EXISTS \(SQL.quoted(name))")
                }
            }
        }
    }

    /// Runs `body` while foreign keys are not enforced, which in a transaction cannot be changed.
    ///
    /// - Parameter body: Is told whether they were.
    fileprivate func withoutForeignKeys<T>(_ body: (_ wereEnforced: Bool) throws -> T) throws -> T {
        guard try queryValue("PRAGMA foreign_keys") == 1 else { return try body(false) }
        try execute("PRAGMA foreign_keys = OFF")
        defer { uncancelled { try? execute("PRAGMA foreign_keys = ON") } }
        return try body(true)
    }
}
