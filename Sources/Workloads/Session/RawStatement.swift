// A prepared statement at the thinnest: SQLite's C calls with their result codes checked, and nothing else.
//
// Invariant: no call here allocates, copies or retains on the Swift side, so that what an inner loop costs is the engine.
// Bound blobs and text are borrowed (SQLITE_STATIC): the caller keeps them unmoved until the next bind or reset.

import CSQLite

/// A failure inside a workload, with SQLite's own words.
public struct WorkloadError: Error, CustomStringConvertible, Sendable {
    public var message: String
    public var description: String { message }

    public init(_ message: String) { self.message = message }

    init(code: Int32, database: OpaquePointer?, sql: String) {
        let text = database.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "no message"
        message = "\(text) (SQLite result \(code)), in: \(sql.prefix(200))"
    }
}

public struct RawStatement {
    public let handle: OpaquePointer
    public let columnCount: Int32

    /// `handle` is a `sqlite3_stmt *` that outlives this value.
    public init(handle: OpaquePointer) {
        self.handle = handle
        columnCount = sqlite3_column_count(handle)
    }

    private func failure(_ code: Int32) -> WorkloadError {
        let sql = sqlite3_sql(handle).map { String(cString: $0) } ?? ""
        return WorkloadError(code: code, database: sqlite3_db_handle(handle), sql: sql)
    }

    @inline(__always)
    private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    // MARK: Binding

    @inline(__always)
    public func bind(_ index: Int32, blob: UnsafeRawBufferPointer) throws {
        try check(sqlite3_bind_blob(handle, index, blob.baseAddress, Int32(blob.count), nil))
    }

    @inline(__always)
    public func bind(_ index: Int32, key: KeyBuffer) throws {
        try check(sqlite3_bind_blob(handle, index, key.bytes, Int32(key.count), nil))
    }

    @inline(__always)
    public func bind(_ index: Int32, _ number: Int) throws {
        try check(sqlite3_bind_int64(handle, index, Int64(number)))
    }

    @inline(__always)
    public func bind(_ index: Int32, _ number: Double) throws {
        try check(sqlite3_bind_double(handle, index, number))
    }

    @inline(__always)
    public func bind(_ index: Int32, borrowedText text: UnsafeBufferPointer<UInt8>) throws {
        let start = text.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self) }
        try check(sqlite3_bind_text(handle, index, start, Int32(text.count), nil))
    }

    /// Text that SQLite copies: for suites where making the string is part of the work.
    public func bind(_ index: Int32, _ text: String) throws {
        var copy = text
        let code = copy.withUTF8 { utf8 in
            sqlite3_bind_text(
                handle, index, UnsafeRawPointer(utf8.baseAddress)?.assumingMemoryBound(to: CChar.self),
                Int32(utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
        try check(code)
    }

    @inline(__always)
    public func bindNull(_ index: Int32) throws { try check(sqlite3_bind_null(handle, index)) }

    // MARK: Running

    /// Whether there is a row.
    @inline(__always)
    public func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let error = failure(code)
        sqlite3_reset(handle)
        throw error
    }

    @inline(__always)
    public func reset() throws { try check(sqlite3_reset(handle)) }

    /// Runs to the end, whatever rows there are, and resets.
    @inline(__always)
    public func run() throws {
        while try step() {}
        try reset()
    }

    // MARK: Columns

    @inline(__always)
    public func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        // SQLite asks for the pointer first: the length is that of the form the pointer call left.
        let pointer = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, column)))
    }

    @inline(__always)
    public func text(_ column: Int32) -> UnsafeRawBufferPointer {
        let pointer = sqlite3_column_text(handle, column)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(handle, column)))
    }

    public func string(_ column: Int32) -> String { String(decoding: text(column), as: UTF8.self) }

    @inline(__always)
    public func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

    @inline(__always)
    public func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

    /// Bytes of text or blob; 8 for a number, 0 for NULL.
    func byteCount(_ column: Int32) -> Int {
        switch type(column) {
        case SQLITE_TEXT, SQLITE_BLOB: Int(sqlite3_column_bytes(handle, column))
        case SQLITE_NULL: 0
        default: 8
        }
    }

    @inline(__always)
    public func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
}
