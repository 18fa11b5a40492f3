// Arguments.swift - what a statement's parameters are bound to.

import CSQLite

/// The arguments of one statement, by position or by name.
///
/// Written as they are, from any ``ValueConvertible`` values:
///
/// ```swift
/// try connection.execute("INSERT INTO book (id, title, published) VALUES (?, ?, ?)", [id, title, date])
/// let book = try connection.queryOne("SELECT * FROM book WHERE id = :id", ["id": id], as: Book.self)
/// ```
///
/// A name is given with its prefix (`:id`, `@id`, `$id`), or without one where the statement uses `:`. Binding fails with
/// ``ResultCode/range`` unless there is one argument for each parameter of the statement.
public struct Arguments: Hashable, Sendable {
    /// The values, in order. With its module, since a type that dictionary literals make has a `Value` of its own.
    @usableFromInline let values: [Rootstock.Value]

    /// Their names, as many; `nil` where the arguments go by position.
    @usableFromInline let names: [String]?

    @inlinable
    package init(values: [Rootstock.Value], names: [String]? = nil) {
        self.values = values
        self.names = names
    }

    /// Arguments by position.
    public init(_ values: some Sequence<some ValueConvertible>) {
        self.init(values: values.map(\.databaseValue))
    }

    /// Arguments by name.
    public init(_ values: [String: some ValueConvertible]) {
        self.init(values: values.values.map(\.databaseValue), names: Array(values.keys))
    }

    /// One named argument for each property of `record`, with the property's coding key as its name.
    ///
    /// `nil` is NULL. A property that is no ``ValueConvertible``, such as an array or a struct, becomes JSON text.
    ///
    /// - Throws: ``ResultCode/mismatch`` if `record` has no keys; what its `encode(to:)` throws.
    public init(encoding record: some Encodable) throws {
        let columns = try ColumnEncoder.columns(of: record)
        self.init(values: columns.map(\.value), names: columns.map(\.name))
    }
}

extension Arguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    @inlinable @inline(__always)
    public init(arrayLiteral elements: (any ValueConvertible)?...) {
        // By their indices: `map` copies each element twice before its value is asked for. Inlined, where Swift knows the elements' types:
        // both together spare two thirds of what this costs.
        var values: [Rootstock.Value] = []
        values.reserveCapacity(elements.count)
        for index in elements.indices { values.append(elements[index]?.databaseValue ?? .null) }
        self.init(values: values)
    }

    public init(dictionaryLiteral elements: (String, (any ValueConvertible)?)...) {
        self.init(values: elements.map { $0.1?.databaseValue ?? .null }, names: elements.map(\.0))
    }
}

extension Arguments: CustomStringConvertible {
    public var description: String {
        guard let names else { return "\(values)" }
        return "[" + zip(names, values).map { "\($0): \($1)" }.joined(separator: ", ") + "]"
    }
}

extension Arguments {
    /// Refuses more or fewer arguments than the statement takes.
    func check(count: Int32, sql: String) throws(DatabaseError) {
        guard values.count == count else {
            let wanted = count == 1 ? "1 argument" : "\(count) arguments"
            throw DatabaseError(.range, "the statement takes \(wanted), not \(values.count)", sql: sql)
        }
    }
}

extension Statement {
    /// Binds all arguments.
    ///
    /// - Throws: ``ResultCode/range`` unless there is one argument for each parameter, and each name is in the statement.
    public func bind(_ arguments: Arguments) throws(DatabaseError) {
        let indexes = try arguments.names.map { (names) throws(DatabaseError) in try self.indexes(of: names) }
        if let indexes, let missing = (1..<parameterCount + 1).first(where: { !indexes.contains($0) }) {
            let name = parameterName(at: missing) ?? "number \(missing)"
            throw DatabaseError(.range, "no argument was given for the parameter \(name)", sql: sql)
        }
        try arguments.check(count: sqlite3_bind_parameter_count(pointer), sql: sql)
        guard let indexes else {
            for index in arguments.values.indices { try bind(arguments.values[index], at: index + 1) }
            return
        }
        for (index, value) in zip(indexes, arguments.values) { try bind(value, at: index) }
    }

    /// The parameters with these names: each of them once, or two names would leave a parameter without a value.
    private func indexes(of names: [String]) throws(DatabaseError) -> [Int] {
        var indexes: [Int] = []
        for name in names {
            let index = try index(of: name)
            guard !indexes.contains(index) else {
                throw DatabaseError(.range, "two arguments were given for the parameter \(name)", sql: sql)
            }
            indexes.append(index)
        }
        return indexes
    }

    private func index(of name: String) throws(DatabaseError) -> Int {
        guard let index = parameterIndex(of: name) ?? parameterIndex(of: ":" + name) else {
            throw DatabaseError(.range, "the statement has no parameter named \(name)", sql: sql)
        }
        return index
    }

    /// Binds one argument by name, given with its prefix, or without one where the statement uses `:`.
    ///
    /// - Throws: ``ResultCode/range`` if the statement has no such parameter.
    public func bind(_ value: some ValueConvertible, named name: String) throws(DatabaseError) {
        try bind(value.databaseValue, at: index(of: name))
    }
}
