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
    public var columnNames: [String] { columns.names }

    /// One for all rows of a result.
    private let columns: ColumnNames

    /// The columns' values, in order.
    public let values: [Value]

    /// A row of `values` under `columnNames`, which are as many.
    public init(columnNames: [String], values: [Value]) {
        precondition(columnNames.count == values.count, "a row has one name a value")
        self.init(ColumnNames(columnNames), values)
    }

    init(_ columns: ColumnNames, _ values: [Value]) {
        self.columns = columns
        self.values = values
    }

    /// The value of the first column so named (compared as SQLite does: without case, in ASCII), or `nil` if there is none.
    public subscript(name: String) -> Value? {
        index(of: name).map { values[$0] }
    }

    /// The position of the first column so named, or `nil` if there is none.
    public func index(of name: String) -> Int? { columns.index(of: name) }

    /// The value of the column so named, as a `T`: `try row["title", as: String.self]`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/error`` if there is no such column.
    @inlinable
    public subscript<T: ValueConvertible>(name: String, as type: T.Type) -> T {
        get throws(DatabaseError) { try get(name) }
    }

    /// The value at `index`, as a `T`: `try row[0, as: Int.self]`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/range`` if there is no such column.
    @inlinable
    public subscript<T: ValueConvertible>(index: Int, as type: T.Type) -> T {
        get throws(DatabaseError) { try get(index) }
    }

    /// The value at `index`, as a `T`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/range`` if there is no such column.
    @inlinable
    package func get<T: ValueConvertible>(_ index: Int, as type: T.Type = T.self) throws(DatabaseError) -> T {
        // Inlined, so that each caller has it for its own type: else Swift looks up `T?` at run time, which costs more than the value.
        guard index >= 0, index < values.count else { throw outOfRange(index) }
        guard let converted = T(databaseValue: values[index]) else { throw mismatch(index, type) }
        return converted
    }

    @usableFromInline
    func outOfRange(_ index: Int) -> DatabaseError {
        DatabaseError(.range, "no column \(index): the row has \(values.count), counted from 0")
    }

    @usableFromInline
    func mismatch(_ index: Int, _ type: Any.Type) -> DatabaseError {
        DatabaseError(.mismatch, "column \(columnNames[index]) holds \(values[index].storageClass), not \(type)")
    }

    /// The value of the column so named, as a `T`.
    ///
    /// - Throws: ``ResultCode/mismatch`` if the value stands for no `T`; ``ResultCode/error`` if there is no such column.
    @inlinable
    package func get<T: ValueConvertible>(_ name: String, as type: T.Type = T.self) throws(DatabaseError) -> T {
        try get(position(of: name), as: type)
    }

    @usableFromInline
    func position(of name: String) throws(DatabaseError) -> Int {
        guard let index = index(of: name) else { throw DatabaseError(.error, "no such column: \(name)") }
        return index
    }
}

extension Row: Hashable {
    public static func == (first: Row, second: Row) -> Bool {
        first.values == second.values && (first.columns === second.columns || first.columnNames == second.columnNames)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(columnNames)
        hasher.combine(values)
    }
}

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

/// The names of a result's columns, and where each of them is: made once, when the statement is first asked for them.
final class ColumnNames: Sendable {
    let names: [String]

    /// Positions by the hash of their names, each in the first free place from there on; -1 where none is.
    private let places: [(hash: Int, position: Int)]

    init(_ names: [String]) {
        self.names = names
        var size = 1
        while size <= names.count * 2 { size *= 2 }
        var places = [(hash: Int, position: Int)](repeating: (0, -1), count: size)
        for position in names.indices {
            let hash = Self.hash(names[position])
            var place = hash & (size - 1)
            while places[place].position >= 0 { place = (place + 1) & (size - 1) }
            places[place] = (hash, position)
        }
        self.places = places
    }

    /// The position of the first column so named; else of the first whose name is the same to SQLite.
    func index(of name: String) -> Int? {
        var sameInSQL: Int?
        let hash = Self.hash(name)
        var place = hash & (places.count - 1)
        while places[place].position >= 0 {
            let (other, position) = places[place]
            if other == hash {
                if names[position] == name { return position }
                if sameInSQL == nil, equalInSQL(names[position], name) { sameInSQL = position }
            }
            place = (place + 1) & (places.count - 1)
        }
        return sameInSQL
    }

    /// The same for names that are one to SQLite: of the length and three of the bytes, without their case.
    private static func hash(_ name: String) -> Int {
        withUTF8(of: name) { bytes in
            guard let last = bytes.last else { return 0 }
            let (first, middle) = (Int(bytes[0] | 0x20), Int(bytes[bytes.count / 2] | 0x20))
            return bytes.count &+ first &* 31 &+ middle &* 17 &+ Int(last | 0x20) &* 7
        }
    }
}

/// Whether two names are one to SQLite, which folds the case of ASCII letters and of no others.
func equalInSQL(_ first: String, _ second: String) -> Bool {
    func folded(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte }
    return first.utf8.lazy.map(folded).elementsEqual(second.utf8.lazy.map(folded))
}
