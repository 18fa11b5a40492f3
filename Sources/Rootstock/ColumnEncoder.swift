// ColumnEncoder.swift - the columns of an Encodable value.
//
// Invariant: every property gives a column, `nil` included, so that all values of one type make one statement.

import Foundation

/// Collects one column for each key of the value.
package final class ColumnEncoder: Encoder {
    private(set) var columns: [(name: String, value: Value)] = []
    private var hasKeys = false
    package var codingPath: [any CodingKey] { [] }
    package var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The columns of `record`, in the order in which it encodes them.
    package static func columns(of record: some Encodable) throws -> [(name: String, value: Value)] {
        let encoder = ColumnEncoder()
        try record.encode(to: encoder)
        guard encoder.hasKeys else {
            throw DatabaseError(.mismatch, "\(type(of: record)) has no named properties to make columns of")
        }
        return encoder.columns
    }

    package func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        hasKeys = true
        return KeyedEncodingContainer(ColumnsContainer<Key>(encoder: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer { ProbeUnkeyed(probe: ValueProbe()) }
    package func singleValueContainer() -> any SingleValueEncodingContainer { ValueProbe() }

    fileprivate func add(_ name: String, _ value: Value) { columns.append((name, value)) }

    /// `value` as one SQL value: converted, else what it encodes as a single value, else JSON text.
    fileprivate static func sqlValue<T: Encodable>(of value: T) throws -> Value {
        if T.self == UInt64.self { return try integer(value as! UInt64) }
        if T.self == UInt.self { return try integer(value as! UInt) }
        if let convertible = value as? any ValueConvertible { return convertible.databaseValue }
        let probe = ValueProbe()
        try value.encode(to: probe)
        if let single = probe.value, !probe.isComposed { return single }
        return .text(try JSONText.encode(value))
    }
}

private struct ColumnsContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ColumnEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.add(key.stringValue, .null) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        encoder.add(key.stringValue, try ColumnEncoder.sqlValue(of: value))
    }

    func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        encoder.add(key.stringValue, try value.map { try ColumnEncoder.sqlValue(of: $0) } ?? .null)
    }

    func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        KeyedEncodingContainer(ColumnsContainer<Inner>(encoder: encoder))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { ProbeUnkeyed(probe: ValueProbe()) }
    func superEncoder() -> any Encoder { encoder }
    func superEncoder(forKey key: Key) -> any Encoder { encoder }

    func encode(_ value: Bool, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: String, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Double, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Float, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Int, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Int8, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Int16, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Int32, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: Int64, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: UInt, forKey key: Key) throws { encoder.add(key.stringValue, try integer(value)) }
    func encode(_ value: UInt8, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: UInt16, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: UInt32, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encode(_ value: UInt64, forKey key: Key) throws { encoder.add(key.stringValue, try integer(value)) }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: String?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
        encoder.add(key.stringValue, try value.map { try integer($0) } ?? .null)
    }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { encoder.add(key.stringValue, value.databaseValue) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
        encoder.add(key.stringValue, try value.map { try integer($0) } ?? .null)
    }
}

/// An integer that SQL has: ``ValueConvertible`` has no way to refuse it.
private func integer(_ value: some UnsignedInteger) throws -> Value {
    guard let integer = Int64(exactly: value) else {
        throw DatabaseError(
            .mismatch, "\(value) is above the greatest integer of SQL, \(Int64.max): encode it as text or as a blob")
    }
    return .integer(integer)
}

/// Takes a single value, and notes whether there is more than one.
private final class ValueProbe: Encoder, SingleValueEncodingContainer {
    var value: Value?
    var isComposed = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        isComposed = true
        return KeyedEncodingContainer(ProbeKeyed<Key>(probe: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isComposed = true
        return ProbeUnkeyed(probe: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { value = .null }
    func encode(_ value: some Encodable) throws { self.value = try ColumnEncoder.sqlValue(of: value) }
    func encode(_ value: Bool) { self.value = value.databaseValue }
    func encode(_ value: String) { self.value = value.databaseValue }
    func encode(_ value: Double) { self.value = value.databaseValue }
    func encode(_ value: Float) { self.value = value.databaseValue }
    func encode(_ value: Int) { self.value = value.databaseValue }
    func encode(_ value: Int8) { self.value = value.databaseValue }
    func encode(_ value: Int16) { self.value = value.databaseValue }
    func encode(_ value: Int32) { self.value = value.databaseValue }
    func encode(_ value: Int64) { self.value = value.databaseValue }
    func encode(_ value: UInt) throws { self.value = try integer(value) }
    func encode(_ value: UInt8) { self.value = value.databaseValue }
    func encode(_ value: UInt16) { self.value = value.databaseValue }
    func encode(_ value: UInt32) { self.value = value.databaseValue }
    func encode(_ value: UInt64) throws { self.value = try integer(value) }
}

/// Takes what a composed value encodes, and keeps none of it: JSON will.
private struct ProbeKeyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let probe: ValueProbe
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}
    func encode(_ value: some Encodable, forKey key: Key) {}
    func nestedContainer<Inner>(keyedBy type: Inner.Type, forKey key: Key) -> KeyedEncodingContainer<Inner> {
        KeyedEncodingContainer(ProbeKeyed<Inner>(probe: probe))
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { ProbeUnkeyed(probe: probe) }
    func superEncoder() -> any Encoder { probe }
    func superEncoder(forKey key: Key) -> any Encoder { probe }
}

private struct ProbeUnkeyed: UnkeyedEncodingContainer {
    let probe: ValueProbe
    var count = 0
    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() { count += 1 }
    mutating func encode(_ value: some Encodable) { count += 1 }
    func nestedContainer<Inner>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
        KeyedEncodingContainer(ProbeKeyed<Inner>(probe: probe))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { ProbeUnkeyed(probe: probe) }
    func superEncoder() -> any Encoder { probe }
}
