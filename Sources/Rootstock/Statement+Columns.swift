import CSQLite

extension Statement {
    /// How many columns the result has. 0 for a statement that returns no rows.
    public var columnCount: Int { compiled?.hidesColumns == false ? Int(sqlite3_column_count(pointer)) : 0 }

    /// The columns' names, as of the last step: they can change when the schema does.
    public var columnNames: [String] { columns.names }

    var columns: ColumnNames { compiled?.columns ?? ColumnNames([]) }

    /// Whether the statement leaves the database as it is, as `sqlite3_stmt_readonly` has it of the text as it was written.
    public var isReadOnly: Bool { pointer.map(FrontDoor.isReadOnly) ?? true }

    /// The type with which the column at `index` was declared, if it is a column of a table; `nil` for an expression.
    public func declaredType(at index: Int) -> String? {
        pointer.flatMap { FrontDoor.declaredType($0, column: index) }
    }

    /// Whether the column is NULL.
    @inlinable
    public func isNull(at index: Int) -> Bool {
        sqlite3_column_type(pointer, Int32(index)) == SQLITE_NULL
    }

    /// The column as an integer; 0 for NULL and for what begins with no number.
    @inlinable
    public func int64(at index: Int) -> Int64 {
        sqlite3_column_int64(pointer, Int32(index))
    }

    /// The column as a real; 0 for NULL and for what begins with no number.
    @inlinable
    public func double(at index: Int) -> Double {
        sqlite3_column_double(pointer, Int32(index))
    }

    /// The column as text. Bytes that are no UTF-8 are replaced by U+FFFD; ``withUnsafeText(at:_:)`` shows them as they are.
    public func text(at index: Int) -> String {
        withUnsafeText(at: index) { String(decoding: $0, as: UTF8.self) }
    }

    /// A copy of the column's bytes.
    public func blob(at index: Int) -> [UInt8] {
        withUnsafeBlob(at: index) { Array($0) }
    }

    /// Calls `body` with the column's bytes where they lie: in the engine's memory or SQLite's, valid during the call only.
    @inlinable
    public func withUnsafeBlob<T, E: Error>(
        at index: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> T
    ) throws(E) -> T {
        // The pointer first: asking for it may convert the value, which settles its length.
        let start = sqlite3_column_blob(pointer, Int32(index))
        let count = Int(sqlite3_column_bytes(pointer, Int32(index)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// Calls `body` with the column's UTF-8 bytes where they lie, valid during the call only. NULL has none.
    @inlinable
    public func withUnsafeText<T, E: Error>(
        at index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> T
    ) throws(E) -> T {
        let start = sqlite3_column_text(pointer, Int32(index))
        let count = Int(sqlite3_column_bytes(pointer, Int32(index)))
        return try body(UnsafeBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// The column in its own storage class.
    public func value(at index: Int) -> Value {
        switch sqlite3_column_type(pointer, Int32(index)) {
        case SQLITE_INTEGER: .integer(int64(at: index))
        case SQLITE_FLOAT: .real(double(at: index))
        case SQLITE_TEXT: .text(text(at: index))
        case SQLITE_BLOB: .blob(blob(at: index))
        default: .null
        }
    }

    /// Copies the row out.
    public var row: Row { row(under: columns) }

    func row(under columns: ColumnNames) -> Row {
        Row(columns, columns.names.indices.map { value(at: $0) })
    }
}
