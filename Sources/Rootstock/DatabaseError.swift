import CSQLite

/// What went wrong, in SQLite's terms on every engine.
///
/// The message is SQLite's own (`UNIQUE constraint failed: note.title`), whichever engine found the fault.
///
/// ```swift
/// do {
///     try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
/// } catch let error where error.extendedCode == .uniqueConstraint {
///     // there is one already
/// }
/// ```
public struct DatabaseError: Error, Hashable, Sendable {
    /// The primary result code, such as ``ResultCode/constraint``.
    public var code: ResultCode { extendedCode.primary }

    /// The extended result code, such as ``ResultCode/uniqueConstraint``. Equal to ``code`` where SQLite has no finer one.
    public let extendedCode: ResultCode

    /// SQLite's message.
    public let message: String

    /// The statement that failed, as the caller wrote it. `nil` where no statement was involved.
    public let sql: String?

    /// An error of a program's own, as a function or a closure may throw it.
    ///
    /// - Parameters:
    ///   - extendedCode: The result code, primary or extended.
    ///   - message: What is wrong; `nil` for SQLite's words for the code.
    ///   - sql: The statement that failed.
    public init(_ extendedCode: ResultCode, _ message: String? = nil, sql: String? = nil) {
        self.extendedCode = extendedCode
        self.message = message ?? String(cString: sqlite3_errstr(extendedCode.rawValue))
        self.sql = sql
    }

    /// The error that `database` holds after a call that returned `code`.
    init(_ code: Int32, database: OpaquePointer?, sql: String? = nil) {
        // The connection's own record is finer than the code returned, unless the call left none (SQLITE_MISUSE does).
        let recorded = database.map { sqlite3_extended_errcode($0) } ?? code
        let belongs = recorded & 0xff == code & 0xff
        self.init(
            ResultCode(rawValue: belongs ? recorded : code),
            belongs ? database.map { String(cString: sqlite3_errmsg($0)) } : nil,
            sql: sql)
    }
}

extension DatabaseError: CustomStringConvertible {
    public var description: String {
        let fault = "\(message) (\(extendedCode))"
        return sql.map { "\(fault) in: \($0)" } ?? fault
    }
}
