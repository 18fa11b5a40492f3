import CSQLite
import RootstockEngine
import RootstockTable

/// The C front door of a store on an engine other than `sqlite`: opening it, and turning SQL text into what runs on it.
///
/// Everything here is a thin reading of `rootstock.h`; the contracts are written there.
enum FrontDoor {
    /// What became of the first statement of a text.
    struct Rewrite {
        /// The text to prepare instead, or `nil` where nothing has to change.
        var replacement: String?
        /// Bytes of the source up to behind the statement.
        var consumed: Int
    }

    static var version: String { String(cString: rootstock_version()) }

    static func open(
        _ database: OpaquePointer, path: String, engine: Engine, options: StoreOptions
    ) throws(DatabaseError) {
        Engine.registerBuiltIns()
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_open(database, path, engine.name, options.frontDoorJSON, nil, &message)
        defer { sqlite3_free(message) }
        if code != SQLITE_OK { throw DatabaseError(ResultCode(rawValue: code), text(message)) }
    }

    static func rewrite(
        _ database: OpaquePointer, _ sql: UnsafeBufferPointer<CChar>
    ) throws(DatabaseError) -> Rewrite {
        var replacement: UnsafeMutablePointer<CChar>?
        var message: UnsafeMutablePointer<CChar>?
        var tail: UnsafePointer<CChar>?
        let code = rootstock_rewrite(
            database, sql.baseAddress, Int32(clamping: sql.count), &replacement, &tail, &message)
        defer {
            sqlite3_free(replacement)
            sqlite3_free(message)
        }
        if code != SQLITE_OK { throw DatabaseError(ResultCode(rawValue: code), text(message)) }
        let consumed = tail.flatMap { tail in sql.baseAddress.map { tail - $0 } } ?? sql.count
        return Rewrite(replacement: text(replacement), consumed: consumed)
    }

    /// How many cursors of the connection read; `nil` without a store. Lives as long as the connection.
    static func openCursors(_ database: OpaquePointer) -> UnsafePointer<Int32>? { rootstock_open_cursors(database) }

    /// Behind the first step of a query that opened no cursor.
    static func holdSnapshot(_ database: OpaquePointer, goesOn: Bool) {
        rootstock_hold_snapshot(database, goesOn ? 1 : 0)
    }

    /// Whether the statement reads only, whatever it was turned into.
    static func isReadOnly(_ statement: OpaquePointer) -> Bool { rootstock_stmt_readonly(statement) != 0 }

    /// Whether the statement as it was written has columns, whatever it was turned into.
    static func hasColumns(_ statement: OpaquePointer) -> Bool { rootstock_column_count(statement) > 0 }

    /// The declared type of a statement's column, whatever the statement was turned into.
    static func declaredType(_ statement: OpaquePointer, column: Int) -> String? {
        rootstock_column_decltype(statement, Int32(column)).map { String(cString: $0) }
    }

    /// Whether what a statement was turned into calls something of ours that writes.
    static func writes(_ replacement: String) -> Bool {
        let call = "SELECT 1 WHERE rootstock_"
        if replacement.hasPrefix(call) {
            return !replacement.hasPrefix(call + "commit(") && !replacement.hasPrefix(call + "vacuum_into(")
        }
        return replacement.hasPrefix("SELECT ") && replacement.contains(" FROM rootstock_returning(")
    }

    /// Brings the declared schema up to the store's, and tells its state: what a text was turned into holds while that is the same.
    @inline(__always)
    static func schemaState(_ database: OpaquePointer) throws(DatabaseError) -> UInt64 {
        var state: UInt64 = 0
        let code = rootstock_schema_state(database, &state)
        // Statements of this connection are running: the schema they run on stays until they end.
        if code != SQLITE_OK, code & 0xff != SQLITE_LOCKED { throw DatabaseError(code, database: database) }
        return state
    }

    static func lastError(_ database: OpaquePointer) -> Int32 { rootstock_last_error(database) }

    private static func text(_ pointer: UnsafeMutablePointer<CChar>?) -> String? {
        pointer.map { String(cString: $0) }
    }
}
