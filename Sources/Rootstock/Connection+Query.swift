import CSQLite

extension Connection {
    /// Runs one statement to its end. Rows it may return are passed over.
    ///
    /// ```swift
    /// try connection.execute("UPDATE note SET title = ? WHERE id = ?", ["Shopping", 1])
    /// print(connection.changes)
    /// ```
    public func execute(_ sql: String, _ arguments: Arguments = []) throws(DatabaseError) {
        try checkCancellation()
        guard arguments.names == nil, slowStatements == nil, call == nil || isInTransaction,
            let kept = try takeCached(sql)
        else {
            return try prepare(sql, arguments).run()
        }
        // As a `Statement` does it, without the object.
        defer { giveBack(kept) }
        let handle = kept._withUnsafeGuaranteedRef { $0.handle }
        try arguments.check(count: sqlite3_bind_parameter_count(handle), sql: sql)
        let code = kept._withUnsafeGuaranteedRef { $0.run(arguments.values) }
        let error = code == SQLITE_DONE ? nil : failure(code, sql: sql)
        sqlite3_reset(handle)
        if let error { throw error }
    }

    /// Runs the statements of `script`, separated by semicolons, to their ends.
    ///
    /// The first error ends the script; what ran before keeps its effect, unless the script opened a transaction.
    public func executeScript(_ script: String) throws {
        try forEachStatement(in: script) { try $0.run() }
    }

    /// All rows of a query.
    public func query(_ sql: String, _ arguments: Arguments = []) throws(DatabaseError) -> [Row] {
        let statement = try prepare(sql, arguments)
        var rows: [Row] = []
        guard try statement.step() else { return rows }
        // After the first step: a schema that changed since the statement was prepared has been taken in by then.
        let columns = statement.columns
        repeat { rows.append(statement.row(under: columns)) } while try statement.step()
        return rows
    }

    /// All rows of a query, decoded.
    ///
    /// ```swift
    /// struct Book: Decodable { var id: Int64, title: String, published: Date? }
    /// let books = try connection.query("SELECT * FROM book WHERE title LIKE ?", ["%sea%"], as: Book.self)
    /// ```
    ///
    /// A property takes the column of its coding key; `nil` stands for NULL and for a column that the query does not have. A nested
    /// type takes the columns with its key before a point (`SELECT author.name AS "author.name"`), or else JSON text from the column of its
    /// key, with dates as text. A type without keys, such as `String` or `Date`, takes the first column.
    ///
    /// - Throws: What the query met; ``ResultCode/mismatch`` where a value stands for none of the property's type; what `init(from:)` throws.
    public func query<T: Decodable>(
        _ sql: String, _ arguments: Arguments = [], as type: T.Type
    ) throws -> [T] {
        try cursor(sql, arguments, as: type).collect()
    }

    /// The first row of a query, or `nil` if it has none.
    public func queryOne(_ sql: String, _ arguments: Arguments = []) throws(DatabaseError) -> Row? {
        let statement = try prepare(sql, arguments)
        defer { statement.reset() }
        return try statement.step() ? statement.row : nil
    }

    /// The first row of a query, decoded as in ``query(_:_:as:)``, or `nil` if it has none.
    public func queryOne<T: Decodable>(
        _ sql: String, _ arguments: Arguments = [], as type: T.Type
    ) throws -> T? {
        let rows = try cursor(sql, arguments, as: type)
        defer { rows.close() }
        return try rows.next()
    }

    /// The first column of a query's first row, or `nil` if there is no row.
    ///
    /// ```swift
    /// let count = try connection.queryValue("SELECT count(*) FROM note")
    /// ```
    public func queryValue(_ sql: String, _ arguments: Arguments = []) throws(DatabaseError) -> Value? {
        let statement = try prepare(sql, arguments)
        defer { statement.reset() }
        return try statement.step() ? statement.value(at: 0) : nil
    }

    /// The rows of a query, one at a time.
    public func cursor(_ sql: String, _ arguments: Arguments = []) throws(DatabaseError) -> Cursor<Row> {
        Cursor(rowsOf: try prepare(sql, arguments))
    }

    /// The rows of a query, decoded as in ``query(_:_:as:)``, one at a time.
    public func cursor<T: Decodable>(
        _ sql: String, _ arguments: Arguments = [], as type: T.Type
    ) throws(DatabaseError) -> Cursor<T> {
        Cursor(decoding: try prepare(sql, arguments))
    }

    private func prepare(_ sql: String, _ arguments: Arguments) throws(DatabaseError) -> Statement {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        return statement
    }
}

// MARK: - Literals that bind what is interpolated

extension Connection {
    /// Runs one statement, what is interpolated bound: `execute(literal: "DELETE FROM book WHERE id = \(id)")`.
    public func execute(literal sql: SQL) throws(DatabaseError) {
        try execute(sql.text, Arguments(values: sql.arguments))
    }

    /// All rows of a query, what is interpolated bound.
    public func query(literal sql: SQL) throws(DatabaseError) -> [Row] {
        try query(sql.text, Arguments(values: sql.arguments))
    }

    /// All rows of a query, decoded as in ``query(_:_:as:)``, what is interpolated bound.
    public func query<T: Decodable>(literal sql: SQL, as type: T.Type) throws -> [T] {
        try query(sql.text, Arguments(values: sql.arguments), as: type)
    }

    /// The first row of a query, what is interpolated bound; `nil` if it has none.
    public func queryOne(literal sql: SQL) throws(DatabaseError) -> Row? {
        try queryOne(sql.text, Arguments(values: sql.arguments))
    }

    /// The first row of a query, decoded as in ``query(_:_:as:)``, what is interpolated bound; `nil` if it has none.
    public func queryOne<T: Decodable>(literal sql: SQL, as type: T.Type) throws -> T? {
        try queryOne(sql.text, Arguments(values: sql.arguments), as: type)
    }

    /// The first column of a query's first row, what is interpolated bound; `nil` if there is no row.
    public func queryValue(literal sql: SQL) throws(DatabaseError) -> Value? {
        try queryValue(sql.text, Arguments(values: sql.arguments))
    }

    /// The rows of a query, what is interpolated bound, one at a time.
    public func cursor(literal sql: SQL) throws(DatabaseError) -> Cursor<Row> {
        try cursor(sql.text, Arguments(values: sql.arguments))
    }

    /// The rows of a query, decoded as in ``query(_:_:as:)``, what is interpolated bound, one at a time.
    public func cursor<T: Decodable>(literal sql: SQL, as type: T.Type) throws(DatabaseError) -> Cursor<T> {
        try cursor(sql.text, Arguments(values: sql.arguments), as: type)
    }
}
