import CSQLite

/// A prepared statement: bind arguments, step through rows, read columns in place.
///
/// ```swift
/// let statement = try connection.prepare("SELECT title FROM note WHERE id > ?")
/// try statement.bind(10, at: 1)
/// while try statement.step() {
///     print(statement.text(at: 0))
/// }
/// ```
///
/// The statement goes back to its connection's cache when the last reference to it is released. It belongs to the thread, or
/// the closure, that its ``Connection`` belongs to.
///
/// Parameters are numbered from 1 and columns from 0, as in SQLite. A column accessor converts as SQLite does: `int64` of a text
/// reads the number at its start. Before the first and after the last row it gives 0, an empty string or NULL.
public final class Statement {
    /// The connection that prepared the statement.
    public let connection: Connection

    /// The text as the caller wrote it.
    public let sql: String

    /// SQLite's statement, for what has no method here. It is reset and may be reused when this object is released.
    public var handle: OpaquePointer {
        guard let pointer else { preconditionFailure(connection.closedError.message) }
        compiled?.isInOtherHands = true
        connection.knownBusyTimeout = nil
        return pointer
    }

    /// SQLite's statement. `nil` once the closure is over that the connection was given to: SQLite's functions answer that with
    /// SQLITE_MISUSE, or with NULL for a column. Belongs to one thread at a time, so that nothing is gained by watching for overlapping uses.
    @exclusivity(unchecked) @usableFromInline private(set) var pointer: OpaquePointer?

    /// `nil` as `pointer` is.
    var compiled: CompiledStatement? { used?.takeUnretainedValue() }

    /// What the cache has lent, or given if it no longer has it: see ``CompiledStatement``.
    @exclusivity(unchecked) private var used: Unmanaged<CompiledStatement>?

    /// Whether it may be a query: a change without RETURNING has no columns.
    @usableFromInline let givesRows: Bool

    /// Whether the first step is behind it.
    @exclusivity(unchecked) @usableFromInline var isRunning = false

    /// The neighbours in the connection's list of statements.
    @exclusivity(unchecked) private var previous: Unmanaged<Statement>?
    @exclusivity(unchecked) private var next: Unmanaged<Statement>?

    /// The statement of the same connection that was made before this one.
    fileprivate var before: Statement? { previous?.takeUnretainedValue() }

    @inline(__always)
    init(connection: Connection, using compiled: Unmanaged<CompiledStatement>) {
        self.connection = connection
        used = compiled
        (sql, pointer, givesRows) = compiled._withUnsafeGuaranteedRef { ($0.sql, $0.handle, $0.hasColumns) }
        previous = connection.lastStatement
        previous?._withUnsafeGuaranteedRef { $0.next = Unmanaged.passUnretained(self) }
        connection.lastStatement = Unmanaged.passUnretained(self)
    }

    deinit { Unmanaged.passUnretained(connection)._withUnsafeGuaranteedRef { retire(to: $0) } }

    /// Gives the statement to `connection`, and has none any more. Doing so twice is no error.
    @inline(__always)
    func retire(to connection: Connection) {
        guard let used else { return }
        // While it can be found: who is told of slow statements is told by the application's text.
        if self.connection.slowStatements != nil { sqlite3_reset(pointer) }
        previous?._withUnsafeGuaranteedRef { $0.next = next }
        if let next {
            next._withUnsafeGuaranteedRef { $0.previous = previous }
        } else {
            self.connection.lastStatement = previous
        }
        (previous, next) = (nil, nil)
        self.used = nil
        pointer = nil
        connection.giveBack(used)
    }

    // MARK: Running

    /// Moves to the next row.
    ///
    /// After the last row the statement is reset by itself: bind and step again to run it anew.
    ///
    /// - Returns: Whether there is a row.
    /// - Throws: What the statement met. It is reset then.
    @inlinable
    public func step() throws(DatabaseError) -> Bool {
        let cursors = givesRows && !isRunning ? connection.openCursors : nil
        let before = cursors?.pointee
        let code = connection.call == nil ? sqlite3_step(pointer) : try connection.step(pointer)
        if let cursors, let before, cursors.pointee <= before { holdSnapshot(code) }
        if code == SQLITE_ROW {
            isRunning = true
            return true
        }
        if code == SQLITE_DONE {
            isRunning = false
            sqlite3_reset(pointer)
            return false
        }
        throw failure(code)
    }

    /// Runs the statement to its end, passing over rows.
    @inlinable
    public func run() throws(DatabaseError) {
        while try step() {}
    }

    /// Gives up the rest of the rows. Bindings stay.
    @inlinable
    public func reset() {
        // The code returned is that of the last step, which has been thrown already.
        isRunning = false
        sqlite3_reset(pointer)
    }

    /// Behind the first step of a query that opened no cursor: it has a snapshot all the same, as SQLite's have.
    @usableFromInline
    func holdSnapshot(_ code: Int32) {
        guard let pointer, let database = connection.database, code == SQLITE_ROW || connection.isInTransaction,
            FrontDoor.isReadOnly(pointer)
        else { return }
        FrontDoor.holdSnapshot(database, goesOn: code == SQLITE_ROW)
    }

    @usableFromInline
    func failure(_ code: Int32) -> DatabaseError {
        isRunning = false
        let error = connection.failure(code, sql: sql)
        sqlite3_reset(pointer)
        return error
    }
}

extension Connection {
    /// The text of a statement as the application wrote it; `nil` if it is none of the application's.
    func text(of handle: OpaquePointer) -> String? {
        var statement = lastStatement?.takeUnretainedValue()
        while let current = statement, current.pointer != handle { statement = current.before }
        return statement?.sql
    }
}

// MARK: - Arguments

extension Statement {
    /// How many arguments the statement takes: the largest parameter number in it.
    public var parameterCount: Int { Int(sqlite3_bind_parameter_count(pointer)) }

    /// The number of the parameter `name`, written with its prefix as in the statement (`:id`, `@id`, `$id`), or `nil`.
    public func parameterIndex(of name: String) -> Int? {
        let index = sqlite3_bind_parameter_index(pointer, name)
        return index == 0 ? nil : Int(index)
    }

    /// The name of the parameter `index`, with its prefix (`:id`, `@id`, `$id`, `?2`), or `nil` where it is a mere `?`.
    public func parameterName(at index: Int) -> String? {
        sqlite3_bind_parameter_name(pointer, Int32(index)).map { String(cString: $0) }
    }

    /// Binds one argument.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    @inlinable
    public func bind(_ value: some ValueConvertible, at index: Int) throws(DatabaseError) {
        try bind(value.databaseValue, at: index)
    }

    /// Binds one argument.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    public func bind(_ value: Value, at index: Int) throws(DatabaseError) {
        try check(Rootstock.bind(value, to: pointer, at: Int32(clamping: index)))
    }

    /// Binds NULL.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    @inlinable
    public func bindNull(at index: Int) throws(DatabaseError) {
        try check(sqlite3_bind_null(pointer, Int32(index)))
    }

    /// Binds an integer.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    @inlinable
    public func bind(_ integer: Int64, at index: Int) throws(DatabaseError) {
        try check(sqlite3_bind_int64(pointer, Int32(index), integer))
    }

    /// Binds an integer.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    @inlinable
    public func bind(_ integer: Int, at index: Int) throws(DatabaseError) {
        try check(sqlite3_bind_int64(pointer, Int32(index), Int64(integer)))
    }

    /// Binds a real; one that is not a number is NULL.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    @inlinable
    public func bind(_ real: Double, at index: Int) throws(DatabaseError) {
        try check(sqlite3_bind_double(pointer, Int32(index), real))
    }

    /// Binds a text by copying it.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter. ``ResultCode/tooBig`` if it is too long.
    public func bind(_ text: String, at index: Int) throws(DatabaseError) {
        try check(Rootstock.bind(text, to: pointer, at: Int32(index)))
    }

    /// Binds a blob by copying it.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter. ``ResultCode/tooBig`` if it is too long.
    public func bind(_ bytes: [UInt8], at index: Int) throws(DatabaseError) {
        try check(Rootstock.bind(bytes, to: pointer, at: Int32(index)))
    }

    /// Binds a blob by copying `bytes`.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter. ``ResultCode/tooBig`` if it is too long.
    public func bind(_ bytes: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        try check(bindCopy(bytes, to: pointer, at: Int32(index)))
    }

    /// Makes every argument NULL again.
    public func clearBindings() {
        if let pointer { sqlite3_clear_bindings(pointer) }
    }

    @inlinable
    func check(_ code: Int32) throws(DatabaseError) {
        if code != SQLITE_OK { throw connection.failure(code, sql: sql) }
    }
}

/// Binds a value by copying it, and gives SQLite's code.
func bind(_ value: Value, to statement: OpaquePointer?, at index: Int32) -> Int32 {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .real(let real): sqlite3_bind_double(statement, index, real)
    case .text(let text): bind(text, to: statement, at: index)
    case .blob(let bytes): bind(bytes, to: statement, at: index)
    }
}

private func bind(_ text: String, to statement: OpaquePointer?, at index: Int32) -> Int32 {
    withUTF8(of: text) { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
            // An empty buffer may have no address, which SQLite would take for NULL.
            sqlite3_bind_text64(
                statement, index, characters.baseAddress ?? noBytes, UInt64(characters.count), copyBytes,
                UInt8(SQLITE_UTF8))
        }
    }
}

private func bind(_ bytes: [UInt8], to statement: OpaquePointer?, at index: Int32) -> Int32 {
    bytes.withUnsafeBytes { bindCopy($0, to: statement, at: index) }
}

private func bindCopy(_ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer?, at index: Int32) -> Int32 {
    sqlite3_bind_blob64(
        statement, index, bytes.baseAddress ?? UnsafeRawPointer(noBytes), UInt64(bytes.count), copyBytes)
}

/// SQLITE_TRANSIENT, which is a cast that Swift does not import: SQLite copies before the call returns.
private let copyBytes = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// An address for what has no bytes: nobody reads or writes there.
private var noBytes: UnsafePointer<CChar> {
    UnsafeRawPointer(("" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
}
