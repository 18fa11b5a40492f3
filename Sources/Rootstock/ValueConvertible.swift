/// A type whose values can be stored in, and read back from, one SQL value.
///
/// Conversion is exact or it fails with `nil`. It fails for an integer that does not fit, text where a number is asked for, and NULL where
/// the type has no place for it. The one widening is that of an integer to `Double`, when
/// the double holds it exactly.
public protocol ValueConvertible {
    /// The value that stands for `self` in SQL.
    var databaseValue: Value { get }

    /// The Swift value that `databaseValue` stands for, or `nil` if it stands for none.
    init?(databaseValue: Value)
}

extension Value: ValueConvertible {
    @inlinable public var databaseValue: Value { self }
    @inlinable public init?(databaseValue: Value) { self = databaseValue }
}

extension ValueConvertible where Self: FixedWidthInteger {
    /// An integer. A `UInt64` above `Int64.max`, for which SQL has no integer, traps: store it as text or as a blob.
    @inlinable public var databaseValue: Value { .integer(Int64(self)) }

    @inlinable
    public init?(databaseValue: Value) {
        guard case .integer(let integer) = databaseValue else { return nil }
        self.init(exactly: integer)
    }
}

extension Int: ValueConvertible {}
extension Int8: ValueConvertible {}
extension Int16: ValueConvertible {}
extension Int32: ValueConvertible {}
extension Int64: ValueConvertible {}
extension UInt: ValueConvertible {}
extension UInt8: ValueConvertible {}
extension UInt16: ValueConvertible {}
extension UInt32: ValueConvertible {}
extension UInt64: ValueConvertible {}

extension Bool: ValueConvertible {
    @inlinable public var databaseValue: Value { .integer(self ? 1 : 0) }

    @inlinable
    public init?(databaseValue: Value) {
        guard case .integer(let integer) = databaseValue else { return nil }
        self = integer != 0
    }
}

extension Double: ValueConvertible {
    @inlinable public var databaseValue: Value { .real(self) }

    @inlinable
    public init?(databaseValue: Value) {
        switch databaseValue {
        case .real(let real): self = real
        case .integer(let integer): self.init(exactly: integer)
        default: return nil
        }
    }
}

extension Float: ValueConvertible {
    @inlinable public var databaseValue: Value { .real(Double(self)) }

    @inlinable
    public init?(databaseValue: Value) {
        guard let double = Double(databaseValue: databaseValue) else { return nil }
        self.init(exactly: double)
    }
}

extension String: ValueConvertible {
    @inlinable public var databaseValue: Value { .text(self) }

    @inlinable
    public init?(databaseValue: Value) {
        guard case .text(let text) = databaseValue else { return nil }
        self = text
    }
}

extension Array: ValueConvertible where Element == UInt8 {
    @inlinable public var databaseValue: Value { .blob(self) }

    @inlinable
    public init?(databaseValue: Value) {
        guard case .blob(let bytes) = databaseValue else { return nil }
        self = bytes
    }
}

extension Optional: ValueConvertible where Wrapped: ValueConvertible {
    @inlinable public var databaseValue: Value { self?.databaseValue ?? .null }

    @inlinable
    public init?(databaseValue: Value) {
        if databaseValue.isNull {
            self = Wrapped?.none
        } else if let wrapped = Wrapped(databaseValue: databaseValue) {
            self = Wrapped?.some(wrapped)
        } else {
            return nil
        }
    }
}
