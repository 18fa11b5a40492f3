// ValueConvertible+Foundation.swift - Foundation's types as SQL values.

import Foundation

extension ValueConvertible where Self: RawRepresentable, RawValue: ValueConvertible {
    /// The raw value's: `enum Genre: String, ValueConvertible` is stored as text.
    public var databaseValue: Value { rawValue.databaseValue }

    public init?(databaseValue: Value) {
        guard let raw = RawValue(databaseValue: databaseValue) else { return nil }
        self.init(rawValue: raw)
    }
}

/// Stored as a blob.
extension Data: ValueConvertible {
    public var databaseValue: Value { .blob(Array(self)) }

    public init?(databaseValue: Value) {
        guard case .blob(let bytes) = databaseValue else { return nil }
        self.init(bytes)
    }
}

/// Stored as a blob of 16 bytes. Text of the form `E621E1F8-C36C-495A-93FC-0C247A3E6E5F` is read, too.
extension UUID: ValueConvertible {
    public var databaseValue: Value { withUnsafeBytes(of: uuid) { .blob(Array($0)) } }

    public init?(databaseValue: Value) {
        switch databaseValue {
        case .text(let text): self.init(uuidString: text)
        case .blob(let bytes) where bytes.count == 16:
            var uuid = UUID().uuid
            withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes) }
            self.init(uuid: uuid)
        default: return nil
        }
    }
}

/// Stored as text: the absolute string.
extension URL: ValueConvertible {
    public var databaseValue: Value { .text(absoluteString) }

    public init?(databaseValue: Value) {
        guard case .text(let text) = databaseValue else { return nil }
        self.init(string: text)
    }
}

/// Stored as text, which loses no digit: `12.50` in a column of type TEXT or BLOB. A column of NUMERIC affinity keeps a number instead.
/// Integers are read, too, and reals as the shortest number that stands for them: 0.1 is 0.1. A number of more digits than a `Decimal` holds,
/// which are 38, is refused. One that is not a number is NULL.
extension Decimal: ValueConvertible {
    public var databaseValue: Value { isNaN ? .null : .text(description) }

    public init?(databaseValue: Value) {
        switch databaseValue {
        case .integer(let integer): self.init(integer)
        // Foundation's own conversion of a real multiplies by ten in binary: 3.133 becomes 3.132999999999999488.
        case .real(let real) where real.isFinite: self.init(exactly: "\(real)")
        case .text(let text): self.init(exactly: text)
        default: return nil
        }
    }

    /// The number that all of `text` is. Foundation takes what stands before the first character that it does not know, and rounds what is
    /// too long.
    private init?(exactly text: String) {
        var rest = Substring(text)
        func digits() -> Substring {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return digits
        }
        func skip(_ characters: String) -> Bool {
            guard let first = rest.first, characters.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip("+-")
        var number = String(digits())
        if skip(".") { number += digits() }
        guard !number.isEmpty else { return nil }
        if skip("eE") {
            _ = skip("+-")
            guard !digits().isEmpty else { return nil }
        }
        let significant = number.drop { $0 == "0" }
        guard rest.isEmpty, significant.reversed().drop(while: { $0 == "0" }).count <= 38 else {
            return nil
        }
        self.init(string: text, locale: Locale(identifier: "en_US_POSIX"))
        if isNaN { return nil }
    }
}

/// Stored as text in UTC, to the millisecond, in a form that SQLite's date functions read: `2026-11-23 07:44:02.125`.
///
/// Read from the text forms of SQLite that hold a date, and from numbers, which are seconds since 1970. A text is `2026-11-23`, or with
/// ` ` or `T` and `07:44`, seconds, a fraction, and `Z` or `+01:00` behind it. ``SecondsSince1970`` stores numbers. A date before year 0 or
/// after year 9999, for which SQLite has no text, is stored as seconds.
extension Date: ValueConvertible {
    public var databaseValue: Value { DateText.text(of: self).map(Value.text) ?? .real(timeIntervalSince1970) }

    public init?(databaseValue: Value) {
        switch databaseValue {
        case .integer(let integer): self.init(timeIntervalSince1970: Double(integer))
        case .real(let real): self.init(timeIntervalSince1970: real)
        case .text(let text):
            guard let date = DateText.date(of: text) else { return nil }
            self = date
        default: return nil
        }
    }
}

/// A point in time that is stored as a number, as SQLite's `unixepoch` has it: seconds since 1970.
///
/// A property or an argument has this type where numbers are wanted; `Date` itself is stored as text.
///
/// ```swift
/// struct Visit: Codable { var page: String, at: SecondsSince1970, left: SecondsSince1970? }
/// try connection.insert(into: "visit", values: Visit(page: "home", at: SecondsSince1970(Date()), left: nil))
/// ```
///
/// Whole seconds are stored as an integer, others as a real, which is exact to the microsecond. Numbers are read, and nothing else.
public struct SecondsSince1970: ValueConvertible, Codable, Hashable, Sendable {
    /// The point in time.
    public var date: Date

    /// The number that stands for `date`.
    public init(_ date: Date) { self.date = date }

    public var databaseValue: Value {
        let seconds = date.timeIntervalSince1970
        return Int64(exactly: seconds).map(Value.integer) ?? .real(seconds)
    }

    public init?(databaseValue: Value) {
        guard let seconds = Double(databaseValue: databaseValue) else { return nil }
        self.init(Date(timeIntervalSince1970: seconds))
    }

    public init(from decoder: any Decoder) throws {
        self.init(Date(timeIntervalSince1970: try decoder.singleValueContainer().decode(Double.self)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date.timeIntervalSince1970)
    }
}
