/// One row of a result, copied out of the statement: it stays good after the next step.
///
/// Where the copy matters, step a ``Statement`` and read its columns in place.
///
/// ```swift
/// for row in try connection.query("SELECT id, title FROM note") {
///     print(row[0], try row["title", as: String.self])
/// }
/// ```
public struct Row: Sendable {
    /// The columns' names, in order: those of the `AS` clauses, or what SQLite makes of the expressions.
    public let columnNames: [String]

    /// The columns' values, in order.
    public let values: [Value]

    /// A row of `values` under `columnNames`, which are as many.
    public init(columnNames: [String], values: [Value]) {
        precondition(columnNames.count == values.count, "a row has one name a value")
        self.columnNames = columnNames
        self.values = values
    }

    /// The value of the first column so named (compared as SQLite does: without case, in ASCII), or `nil` if there is none.
    public subscript(name: String) -> Value? {
        index(of: name).map { values[$0] }
    }

    /// The position of the first column so named, or `nil` if there is none.
    public func index(of name: String) -> Int? {
        columnNames.firstIndex(of: name) ?? columnNames.firstIndex { equalInSQL($0, name) }
    }

    /// The value of the column so named, as a `T`: `try row["title", as: String.self]`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/error`` if there is no such column.
    public subscript<T: ValueConvertible>(name: String, as type: T.Type) -> T {
        get throws(DatabaseError) { try get(name) }
    }

    /// The value at `index`, as a `T`: `try row[0, as: Int.self]`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/range`` if there is no such column.
    public subscript<T: ValueConvertible>(index: Int, as type: T.Type) -> T {
        get throws(DatabaseError) { try get(index) }
    }

    /// The value at `index`, as a `T`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/range`` if there is no such column.
    package func get<T: ValueConvertible>(_ index: Int, as type: T.Type = T.self) throws(DatabaseError) -> T {
        guard values.indices.contains(index) else {
            throw DatabaseError(.range, "no column \(index): the row has \(values.count), counted from 0")
        }
        guard let converted = T(databaseValue: values[index]) else {
            throw DatabaseError(
                .mismatch, "column \(columnNames[index]) holds \(values[index].storageClass), not \(T.self)")
        }
        return converted
    }

    /// The value of the column so named, as a `T`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/error`` if there is no such column.
    package func get<T: ValueConvertible>(_ name: String, as type: T.Type = T.self) throws(DatabaseError) -> T {
        guard let index = index(of: name) else { throw DatabaseError(.error, "no such column: \(name)") }
        return try get(index, as: type)
    }
}

extension Row: Hashable {}

extension Row: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { values.count }
    /// The value at `index`, which is in range: a collection's subscript traps where `row[index, as: Int.self]` throws.
    public subscript(index: Int) -> Value { values[index] }
}

extension Row: CustomStringConvertible {
    public var description: String {
        "[" + zip(columnNames, values).map { "\($0): \($1)" }.joined(separator: ", ") + "]"
    }
}

/// Whether two names are one to SQLite, which folds the case of ASCII letters and of no others.
func equalInSQL(_ first: String, _ second: String) -> Bool {
    func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
    return first.utf8.lazy.map(folded).elementsEqual(second.utf8.lazy.map(folded))
}
