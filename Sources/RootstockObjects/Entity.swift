// Entity.swift - what an object store knows of a type.

import Rootstock

/// A type whose values are kept in a table, one property a column.
///
/// ```swift
/// struct Book: Entity {
///     static let table = "book"
///     var title: String
///     var author: Reference<Author>?
/// }
/// // CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author INTEGER REFERENCES author, version INTEGER NOT NULL)
/// ```
///
/// Beside the properties the table has two columns of the object store's own: `id`, the INTEGER PRIMARY KEY, and `version`, an integer which grows
/// with each save. An object that was read with another version than the table has now is not saved: ``ObjectError/conflict(table:id:)``.
public protocol Entity: Codable, Sendable {
    /// The table that the values are kept in.
    static var table: String { get }
}

/// Which object another one refers to: the id of a row of `Target`'s table, and nothing else.
public struct Reference<Target: Entity>: Hashable, Sendable {
    /// The row's id.
    public var id: Int64

    /// A reference to the row with this id, which need not be there.
    public init(_ id: Int64) { self.id = id }
}

extension Reference: Codable {
    public init(from decoder: any Decoder) throws { id = try decoder.singleValueContainer().decode(Int64.self) }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }
}

/// A row that binds, as a predicate has it: `"author = \(book.author)"`.
extension Reference: ValueConvertible {
    public var databaseValue: Value { .integer(id) }

    public init?(databaseValue: Value) {
        guard let id = Int64(databaseValue: databaseValue) else { return nil }
        self.id = id
    }
}

/// What an object store does not do.
public enum ObjectError: Error, Hashable, Sendable {
    /// The row has another version than the object, or is gone: somebody else saved it. Nothing of the save was written.
    case conflict(table: String, id: Int64)

    /// There is no such row.
    case gone(table: String, id: Int64)

    /// The object has no row yet, or its context is gone.
    case unsaved(table: String)
}

extension ObjectError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .conflict(let table, let id):
            "row \(id) of \(table) was changed or deleted since the object was read: refresh the object and save again"
        case .gone(let table, let id): "there is no row \(id) of \(table) any more"
        case .unsaved(let table): "the object of \(table) has no row yet, or its context is gone: save it first"
        }
    }
}

/// A row of an entity's table.
struct StoredRow<E: Entity>: Decodable {
    let id: Int64
    let version: Int64
    let values: E

    private enum Column: String, CodingKey { case id, version }

    init(from decoder: any Decoder) throws {
        values = try E(from: decoder)
        let row = try decoder.container(keyedBy: Column.self)
        id = try row.decode(Int64.self, forKey: .id)
        version = try row.decode(Int64.self, forKey: .version)
    }
}

/// The statements of an entity: what the suite `objects` of the comparison runs, too.
package struct EntityStatements: Sendable {
    private let table: String

    package init(table: String) { self.table = SQL.quoted(table) }

    /// All values, in the order of their ids.
    package var all: String { "SELECT * FROM \(table) ORDER BY id" }

    /// All ids, in order.
    package var ids: String { "SELECT id FROM \(table) ORDER BY id" }

    /// The values of one object.
    package var one: String { "SELECT * FROM \(table) WHERE id = ?" }

    /// The values of `count` objects. An id that comes twice asks for nothing more.
    package func several(_ count: Int) -> String {
        "SELECT * FROM \(table) WHERE id IN (\(Self.marks(count))) ORDER BY id"
    }

    /// A new row. Its id may be NULL, which has SQLite choose one.
    package func insert(_ columns: [String]) -> String {
        let names = (["id"] + columns + ["version"]).map(SQL.quoted).joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) VALUES (\(Self.marks(columns.count + 2)))"
    }

    /// Some columns of the row that has an id and a version: their values, the new version, the id, the version.
    package func update(_ columns: [String]) -> String {
        let changes = columns.map { "\(SQL.quoted($0)) = ?, " }.joined()
        return "UPDATE \(table) SET \(changes)version = ? WHERE id = ? AND version = ?"
    }

    /// The row that has an id and a version.
    package var delete: String { "DELETE FROM \(table) WHERE id = ? AND version = ?" }

    private static func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

    /// Some of the table's rows: what, where, in which order.
    func select(_ what: String, where predicate: SQL?, orderBy order: SQL?, limit: Int?, offset: Int) -> SQL {
        var sql: SQL = "SELECT \(raw: what) FROM \(raw: table)"
        if let predicate { sql = "\(sql) WHERE \(predicate)" }
        if let order { sql = "\(sql) ORDER BY \(order)" }
        if let limit {
            sql = "\(sql) LIMIT \(limit) OFFSET \(offset)"
        } else if offset > 0 {
            sql = "\(sql) LIMIT -1 OFFSET \(offset)"
        }
        return sql
    }
}
