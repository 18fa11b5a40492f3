// RowDecoder.swift - Decodable values from the rows of a statement, read in place.
//
// Invariant: a value is decoded exactly or not at all, as ValueConvertible has it.

import Foundation

/// Makes values of one type from the rows of one result. What is found by name is found once a result.
final class RowDecoding: Decoder {
    let statement: Statement
    private let names: [String]
    private let hasPoints: Bool
    private var positions: [String: Int] = [:]
    let codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Lookups of the first row, in order: a type's decoder asks for its keys in the same order for each row.
    @exclusivity(unchecked) private var order: [(name: String, column: Int?)] = []
    @exclusivity(unchecked) private var next = 0

    /// After the first step: a schema that changed since the statement was prepared has been taken in by then.
    init(_ statement: Statement) {
        self.statement = statement
        names = statement.columnNames
        hasPoints = names.contains { $0.utf8.contains(UInt8(ascii: ".")) }
    }

    /// The row that the statement stands on, as a `T`.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        next = 0
        do {
            // The row itself is the decoder: none is made for each row.
            return try T(from: self)
        } catch is NotSingle {
            return try json(type, at: 0)
        } catch let error as DecodingError {
            throw DatabaseError(.mismatch, error.told)
        }
    }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer<Key>(row: self, prefix: "", codingPath: []))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotSingle() }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ColumnDecoder(row: self, column: 0, codingPath: [])
    }

    /// The position of the first column so named, compared as SQLite does.
    func column(named name: String) -> Int? {
        if next < order.count, order[next].name == name {
            next += 1
            return order[next - 1].column
        }
        let found = positions[name] ?? names.firstIndex(of: name) ?? names.firstIndex { equalInSQL($0, name) }
        positions[name] = found
        if next == order.count { order.append((name, found)) } else { order[next] = (name, found) }
        next += 1
        return found
    }

    /// The columns whose names begin with that of a property and a point.
    func columns(under name: String) -> [Int] {
        guard hasPoints else { return [] }
        let prefix = name + "."
        return names.indices.filter { names[$0].hasPrefix(prefix) }
    }

    func isNull(_ column: Int) -> Bool { statement.isNull(at: column) }

    /// The column's value as a `T`, exactly. Inlined, so that each caller has it for its own type: without, Swift looks up `T?` at run time,
    /// which costs more than the value.
    @inline(__always)
    func value<T: ValueConvertible>(_ column: Int, as type: T.Type) throws(DatabaseError) -> T {
        guard column < names.count else { throw outOfRange(column) }
        let value = statement.value(at: column)
        guard let converted = T(databaseValue: value) else { throw mismatch(column, value, type) }
        return converted
    }

    @inline(never)
    private func outOfRange(_ column: Int) -> DatabaseError {
        DatabaseError(.range, "no column \(column): the row has \(names.count), counted from 0")
    }

    @inline(never)
    private func mismatch(_ column: Int, _ value: Value, _ type: Any.Type) -> DatabaseError {
        DatabaseError(.mismatch, "column \(names[column]) holds \(value.told), not \(type)")
    }

    /// The column's value as a `T`: converted, else decoded as a single value, else from JSON text.
    func decode<T: Decodable>(
        _ type: T.Type, at column: Int, path: @autoclosure () -> [any CodingKey]
    ) throws -> T {
        try single(type, at: column, path: path()) ?? json(type, at: column)
    }

    /// The column's value as a `T`: converted, else decoded as a single value; `nil` if a `T` is more than one.
    func single<T: Decodable>(
        _ type: T.Type, at column: Int, path: @autoclosure () -> [any CodingKey]
    ) throws -> T? {
        if let convertible = type as? any ValueConvertible.Type {
            return .some(try convert(convertible, at: column) as! T)  // the same type
        }
        do {
            return .some(try T(from: ColumnDecoder(row: self, column: column, codingPath: path())))
        } catch is NotSingle {
            return nil
        }
    }

    private func convert<T: ValueConvertible>(_ type: T.Type, at column: Int) throws(DatabaseError) -> Any {
        try value(column, as: type)
    }

    /// A `T` from the column's JSON text.
    func json<T: Decodable>(_ type: T.Type, at column: Int) throws -> T {
        guard column < names.count else { throw outOfRange(column) }
        let value = statement.value(at: column)
        do {
            switch value {
            case .text(let text): return try JSONText.decode(type, from: Data(text.utf8))
            case .blob(let bytes): return try JSONText.decode(type, from: Data(bytes))
            default:
                throw DatabaseError(.mismatch, "column \(names[column]) holds \(value.storageClass), not JSON text")
            }
        } catch let error as DecodingError {
            throw DatabaseError(.mismatch, "column \(names[column]) holds no \(type) as JSON text: \(error)")
        }
    }
}

extension DecodingError {
    /// What a type's own decoding says, such as that of an enum, and of which column.
    fileprivate var told: String {
        switch self {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "column \(path): \(context.debugDescription)"
        @unknown default: return "\(self)"
        }
    }
}

extension Value {
    /// The storage class, and what is there unless it is long.
    fileprivate var told: String {
        switch self {
        case .integer(let integer): "integer \(integer)"
        case .real(let real): "real \(real)"
        case .text(let text) where text.utf8.count <= 40: "text '\(text)'"
        default: "\(storageClass)"
        }
    }
}

/// A type asks for keys or elements of a single column.
private struct NotSingle: Error {}

private func mismatch(_ wanted: String, _ path: [any CodingKey]) -> DatabaseError {
    let place = path.isEmpty ? "a row" : path.map(\.stringValue).joined(separator: ".")
    return DatabaseError(.mismatch, "\(place) has named columns, not \(wanted)")
}

/// Those of a row's columns whose names begin with a prefix such as `author.`.
struct RowDecoder: Decoder {
    let row: RowDecoding
    let prefix: String
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowContainer<Key>(row: row, prefix: prefix, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch("a list", codingPath) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw mismatch("one value", codingPath) }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoding
    let prefix: String
    let codingPath: [any CodingKey]

    var allKeys: [Key] {
        row.statement.columnNames.compactMap { name in
            guard name.hasPrefix(prefix) else { return nil }
            return Key(stringValue: String(name.dropFirst(prefix.count).prefix { $0 != "." }))
        }
    }

    private func name(_ key: Key) -> String { prefix.isEmpty ? key.stringValue : prefix + key.stringValue }

    private func column(_ key: Key) -> Int? { row.column(named: name(key)) }

    private func require(_ key: Key) throws(DatabaseError) -> Int {
        guard let column = column(key) else { throw DatabaseError(.error, "no such column: \(name(key))") }
        return column
    }

    @inline(__always)
    private func value<T: ValueConvertible>(_ key: Key) throws -> T { try row.value(require(key), as: T.self) }

    @inline(__always)
    private func optional<T: ValueConvertible>(_ key: Key) throws -> T? {
        guard let column = column(key), !row.isNull(column) else { return nil }
        return try row.value(column, as: T.self)
    }

    func contains(_ key: Key) -> Bool { column(key) != nil || !row.columns(under: name(key)).isEmpty }

    func decodeNil(forKey key: Key) throws -> Bool {
        if let column = column(key) { return row.isNull(column) }
        return row.columns(under: name(key)).allSatisfy { row.isNull($0) }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let column = column(key)
        if let column, let value = try row.single(type, at: column, path: codingPath + [key]) { return value }
        guard row.columns(under: name(key)).isEmpty else { return try composed(type, key) }
        guard let column else { throw DatabaseError(.error, "no such column: \(name(key))") }
        return try row.json(type, at: column)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        let column = column(key)
        if let column {
            if row.isNull(column) { return nil }
            if let value = try row.single(type, at: column, path: codingPath + [key]) { return value }
        }
        let columns = row.columns(under: name(key))
        // The columns of an outer join that found no row are all NULL.
        guard columns.isEmpty else { return columns.allSatisfy(row.isNull) ? nil : try composed(type, key) }
        return try column.map { try row.json(type, at: $0) }
    }

    /// A `T` from the columns whose names begin with the key and a point. They come before JSON text: a column of the key's own name beside them
    /// is what the row was joined by.
    private func composed<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T {
        try T(from: RowDecoder(row: row, prefix: name(key) + ".", codingPath: codingPath + [key]))
    }

    func nestedContainer<Inner>(
        keyedBy type: Inner.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Inner> {
        // Without such columns the keys are the row's own, which is what encoding them made.
        let inner = row.columns(under: name(key)).isEmpty ? prefix : name(key) + "."
        return KeyedDecodingContainer(RowContainer<Inner>(row: row, prefix: inner, codingPath: codingPath + [key]))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw mismatch("a list", codingPath + [key])
    }

    func superDecoder() throws -> any Decoder {
        prefix.isEmpty ? row : RowDecoder(row: row, prefix: prefix, codingPath: codingPath)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        RowDecoder(row: row, prefix: name(key) + ".", codingPath: codingPath + [key])
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try value(key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try value(key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try value(key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try value(key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try value(key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }
}

/// One column as a single value.
private struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
    let row: RowDecoding
    let column: Int
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw NotSingle() }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NotSingle() }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { row.isNull(column) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try row.decode(type, at: column, path: codingPath) }
    func decode(_ type: Bool.Type) throws -> Bool { try row.value(column, as: type) }
    func decode(_ type: String.Type) throws -> String { try row.value(column, as: type) }
    func decode(_ type: Double.Type) throws -> Double { try row.value(column, as: type) }
    func decode(_ type: Float.Type) throws -> Float { try row.value(column, as: type) }
    func decode(_ type: Int.Type) throws -> Int { try row.value(column, as: type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try row.value(column, as: type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try row.value(column, as: type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try row.value(column, as: type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try row.value(column, as: type) }
    func decode(_ type: UInt.Type) throws -> UInt { try row.value(column, as: type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try row.value(column, as: type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try row.value(column, as: type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try row.value(column, as: type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try row.value(column, as: type) }
}
