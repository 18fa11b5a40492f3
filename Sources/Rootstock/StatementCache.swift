import CSQLite

/// SQLite's statement with what the cache knows of it.
///
/// The invariant: a statement has at most one user, and without one it is reset and has no bindings. The last reference finalizes it.
final class CompiledStatement {
    let handle: OpaquePointer
    let sql: String

    /// Whether the statement may be used again: not if it is bound to a moment's schema.
    let isReusable: Bool

    /// Whether its columns are no result: the front door made a query of a statement that returns nothing.
    let hidesColumns: Bool

    /// Whether it writes by way of the front door, unseen by SQLite.
    let writesUnseen: Bool

    /// Whether running it can change what other texts mean: tables come, go and hide others.
    let changesSchema: Bool

    /// Whether it is a query as the user wrote it: SQLite prepares it anew by itself when the schema has changed.
    let isPlainQuery: Bool

    /// The state of the schema for which the front door judged the text.
    let schemaState: UInt64
    fileprivate var isCached = false
    fileprivate var isInUse = true
    fileprivate var lastUse: UInt64 = 0

    init(
        handle: OpaquePointer, sql: String, isReusable: Bool, hidesColumns: Bool = false, writesUnseen: Bool = false,
        changesSchema: Bool = false, isPlainQuery: Bool = false, schemaState: UInt64 = 0
    ) {
        self.handle = handle
        self.sql = sql
        self.isReusable = isReusable
        self.hidesColumns = hidesColumns
        self.writesUnseen = writesUnseen
        self.changesSchema = changesSchema
        self.isPlainQuery = isPlainQuery
        self.schemaState = schemaState
    }

    deinit { sqlite3_finalize(handle) }

    private var names: [String] = []
    private var namedAtPreparation: Int32 = -1

    /// The columns' names, read again only when SQLite had to prepare the statement anew.
    var columnNames: [String] {
        let preparation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if preparation != namedAtPreparation {
            names = (0..<(hidesColumns ? 0 : sqlite3_column_count(handle))).map { column in
                sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
            }
            namedAtPreparation = preparation
        }
        return names
    }
}

/// Prepared statements of one connection, found again by their SQL text.
///
/// Preparing costs about ten times a point read. Two users of one text at the same time get two statements, so that they never
/// share bindings. Above the capacity, the statement unused for longest leaves.
struct StatementCache {
    private var statements: [String: CompiledStatement] = [:]
    private var clock: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The statement with this text, if it has no user. It has one now.
    mutating func take(_ sql: String) -> CompiledStatement? {
        guard let statement = statements[sql], !statement.isInUse else { return nil }
        statement.isInUse = true
        return statement
    }

    /// Forgets a statement that was taken and is of no more use.
    mutating func remove(_ statement: CompiledStatement) {
        statement.isCached = false
        statements.removeValue(forKey: statement.sql)
    }

    /// Takes back a statement whose user let go of it, and keeps it if it can be used again.
    mutating func giveBack(_ statement: CompiledStatement) {
        guard statement.isReusable, capacity > 0 else { return }
        sqlite3_reset(statement.handle)
        sqlite3_clear_bindings(statement.handle)
        statement.isInUse = false
        clock += 1
        statement.lastUse = clock
        if !statement.isCached { insert(statement) }
    }

    /// Forgets every statement; those that have users end with them.
    mutating func removeAll() {
        for statement in statements.values { statement.isCached = false }
        statements.removeAll()
    }

    private mutating func insert(_ statement: CompiledStatement) {
        if let other = statements[statement.sql] {
            // Of two with the same text the free one is worth more.
            guard other.isInUse else { return }
            other.isCached = false
        }
        statement.isCached = true
        statements[statement.sql] = statement
        if statements.count > capacity, let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) {
            oldest.isCached = false
            statements.removeValue(forKey: oldest.sql)
        }
    }
}
