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
/// Integers and reals are read, too.
extension Decimal: ValueConvertible {
    public var databaseValue: Value { .text(description) }

    public init?(databaseValue: Value) {
        switch databaseValue {
        case .integer(let integer): self.init(integer)
        case .real(let real) where real.isFinite: self.init(real)
        case .text(let text):
            // Foundation stops at the first character that it does not know, and takes what stands before it.
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
            self.init(string: text, locale: Locale(identifier: "en_US_POSIX"))
        default: return nil
        }
    }
}

/// Stored as text in UTC, to the millisecond, in a form that SQLite's date functions read: `2026-11-23 07:44:02.125`.
///
/// Read from the text forms of SQLite that hold a date (`2026-11-23`, with ` ` or `T` and `07:44`, seconds, a fraction, and
/// `Z` or `+01:00`), and from numbers, which are seconds since 1970. To store seconds, bind `date.timeIntervalSince1970`. A date before year 0 or
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
