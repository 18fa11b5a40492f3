extension Connection {
    /// Runs one statement to its end. Rows it may return are passed over.
    ///
    /// ```swift
    /// try connection.execute("UPDATE note SET title = ? WHERE id = ?", ["Shopping", 1])
    /// print(connection.changes)
    /// ```
    public func execute(_ sql: String, _ arguments: [Value] = []) throws(DatabaseError) {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        try statement.run()
    }

    /// Runs one statement to its end, its arguments given by name.
    public func execute(_ sql: String, _ arguments: [String: Value]) throws(DatabaseError) {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        try statement.run()
    }

    /// Runs the statements of `script`, separated by semicolons, to their ends.
    ///
    /// The first error ends the script; what ran before keeps its effect, unless the script opened a transaction.
    public func executeScript(_ script: String) throws {
        try forEachStatement(in: script) { try $0.run() }
    }

    /// All rows of a query.
    public func query(_ sql: String, _ arguments: [Value] = []) throws(DatabaseError) -> [Row] {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        return try rows(of: statement)
    }

    /// All rows of a query, its arguments given by name.
    public func query(_ sql: String, _ arguments: [String: Value]) throws(DatabaseError) -> [Row] {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        return try rows(of: statement)
    }

    /// The first row of a query, or `nil` if it has none.
    public func queryOne(_ sql: String, _ arguments: [Value] = []) throws(DatabaseError) -> Row? {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        defer { statement.reset() }
        return try statement.step() ? statement.row : nil
    }

    /// The first column of a query's first row, or `nil` if there is no row.
    ///
    /// ```swift
    /// let count = try connection.queryValue("SELECT count(*) FROM note")
    /// ```
    public func queryValue(_ sql: String, _ arguments: [Value] = []) throws(DatabaseError) -> Value? {
        let statement = try prepare(sql)
        try statement.bind(arguments)
        defer { statement.reset() }
        return try statement.step() ? statement.value(at: 0) : nil
    }

    private func rows(of statement: Statement) throws(DatabaseError) -> [Row] {
        var rows: [Row] = []
        guard try statement.step() else { return rows }
        // After the first step: a schema that changed since the statement was prepared has been taken in by then.
        let names = statement.columnNames
        repeat { rows.append(statement.row(under: names)) } while try statement.step()
        return rows
    }
}
