// SQL.swift - statement text with its arguments.
//
// Invariant: an interpolated value is bound; only `raw:` and `identifier:` become text.

/// A statement's text together with the arguments of its parameters.
///
/// Interpolation binds a value and never splices it into the text:
///
/// ```swift
/// let books = try connection.query(literal: "SELECT * FROM book WHERE isbn = \(isbn)", as: Book.self)
/// // SELECT * FROM book WHERE isbn = ?
/// ```
///
/// | interpolation | becomes |
/// |---|---|
/// | `\(value)` | `?`, and `value` its argument |
/// | `\(list: values)` | `(?, ?, ?)`, one parameter for each value: `WHERE id IN \(list: ids)` |
/// | `\(sql)` | the text and the arguments of another `SQL` |
/// | `\(identifier: name)` | the name in double quotes: a table or a column |
/// | `\(raw: text)` | the text as it is: never for what a user typed |
public struct SQL: Hashable, Sendable {
    /// The text, with `?` for each argument.
    public private(set) var text: String

    /// The arguments, in the order of their parameters.
    public private(set) var arguments: [Value]

    /// The text `text`, whose parameters are `?`, with their arguments.
    public init(_ text: String, arguments: [Value] = []) {
        self.text = text
        self.arguments = arguments
    }
}

extension SQL: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(value) }

    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.sql }

    /// Collects the parts of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL("")

        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) { sql.text += literal }

        /// Binds `value`.
        public mutating func appendInterpolation(_ value: some ValueConvertible) {
            sql.text += "?"
            sql.arguments.append(value.databaseValue)
        }

        /// Binds `value`, or NULL.
        public mutating func appendInterpolation(_ value: (some ValueConvertible)?) {
            sql.text += "?"
            sql.arguments.append(value.databaseValue)
        }

        /// Binds each of `values`, in parentheses.
        public mutating func appendInterpolation(list values: some Sequence<some ValueConvertible>) {
            let values = values.map(\.databaseValue)
            sql.text += "(" + values.map { _ in "?" }.joined(separator: ", ") + ")"
            sql.arguments += values
        }

        /// Puts another statement's text in, and binds its arguments.
        public mutating func appendInterpolation(_ other: SQL) {
            sql.text += other.text
            sql.arguments += other.arguments
        }

        /// Puts a name in, quoted.
        ///
        /// SQLite takes a name in quotes that is no column's for a text. Written with its table, it is refused.
        public mutating func appendInterpolation(identifier name: String) { sql.text += SQL.quoted(name) }

        /// Puts text in as it is.
        public mutating func appendInterpolation(raw text: String) { sql.text += text }
    }

    /// `name` as an identifier in double quotes.
    package static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension SQL: CustomStringConvertible {
    /// The text, and the arguments behind it.
    public var description: String { arguments.isEmpty ? text : "\(text) -- \(arguments)" }
}

// MARK: - Changes from Encodable values

extension SQL {
    /// What INSERT does with a row that breaks a constraint, as `INSERT OR ...` has it.
    public enum ConflictClause: String, Hashable, Sendable, CaseIterable {
        case abort, fail, ignore, replace, rollback
    }

    /// `INSERT INTO table (columns) VALUES (?, ...)`: one column for each property of `record`.
    ///
    /// ```swift
    /// print(try SQL.insert(into: "book", values: book).text)
    /// // INSERT INTO "book" ("id", "title") VALUES (?, ?)
    /// ```
    ///
    /// - Throws: as ``Arguments/init(encoding:)``.
    public static func insert(
        into table: String, or clause: ConflictClause? = nil, values record: some Encodable
    ) throws -> SQL {
        let columns = try ColumnEncoder.columns(of: record)
        let conflict = clause.map { " OR \($0.rawValue.uppercased())" } ?? ""
        var sql = SQL("INSERT\(conflict) INTO \(quoted(table))", arguments: columns.map(\.value))
        if columns.isEmpty {
            sql.text += " DEFAULT VALUES"
        } else {
            let names = columns.map { quoted($0.name) }.joined(separator: ", ")
            sql.text += " (\(names)) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        }
        return sql
    }

    /// `UPDATE table SET column = ?, ... WHERE condition`: one column for each property of `record`.
    ///
    /// - Throws: as ``Arguments/init(encoding:)``; ``ResultCode/mismatch`` if `record` has no property.
    public static func update(_ table: String, set record: some Encodable, where condition: SQL) throws -> SQL {
        let columns = try ColumnEncoder.columns(of: record)
        guard !columns.isEmpty else {
            throw DatabaseError(.mismatch, "nothing to set: \(type(of: record)) encodes no property")
        }
        let changes = columns.map { quoted($0.name) + " = ?" }.joined(separator: ", ")
        return SQL(
            "UPDATE \(quoted(table)) SET \(changes) WHERE \(condition.text)",
            arguments: columns.map(\.value) + condition.arguments)
    }
}

extension Connection {
    /// Inserts one row with a column for each property of `record`.
    ///
    /// Runs ``SQL/insert(into:or:values:)``, which shows the statement. `nil` is NULL, so that an `INTEGER PRIMARY KEY` that is `nil` gets
    /// a rowid.
    ///
    /// - Returns: ``lastInsertRowid``: with ``SQL/ConflictClause/ignore`` it may be that of an earlier row.
    @discardableResult
    public func insert(
        into table: String, or clause: SQL.ConflictClause? = nil, values record: some Encodable
    ) throws -> Int64 {
        try execute(literal: SQL.insert(into: table, or: clause, values: record))
        return lastInsertRowid
    }

    /// Updates the rows that meet `condition`: each property of `record` goes into the column of its name.
    ///
    /// ```swift
    /// try connection.update("book", set: book, where: "id = \(book.id)")
    /// ```
    ///
    /// Runs ``SQL/update(_:set:where:)``, which shows the statement.
    ///
    /// - Returns: How many rows met the condition.
    @discardableResult
    public func update(_ table: String, set record: some Encodable, where condition: SQL) throws -> Int {
        try execute(literal: SQL.update(table, set: record, where: condition))
        return changes
    }
}
