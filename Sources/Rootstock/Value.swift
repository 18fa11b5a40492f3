import CSQLite

/// One SQL value, in one of SQLite's five storage classes.
///
/// Literals make values, so that arguments read as they would in SQL:
///
/// ```swift
/// try connection.execute("INSERT INTO note VALUES (?, ?, ?, ?)", [1, "Groceries", 2.5, nil])
/// ```
///
/// Equality is that of the value held: `1` and `1.0` differ, as `typeof()` tells them apart, and a real that is not a number
/// cannot occur (SQLite stores NULL instead).
public enum Value: Hashable, Sendable {
    /// No value.
    case null
    /// A whole number.
    case integer(Int64)
    /// A number in binary floating point.
    case real(Double)
    /// A text, which SQLite keeps in UTF-8.
    case text(String)
    /// Bytes.
    case blob([UInt8])

    /// Whether this is NULL.
    @inlinable public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .real(value) }
    public init(stringLiteral value: String) { self = .text(value) }
    public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension Value {
    /// The value that stands for `convertible` in SQL.
    public init(_ convertible: some ValueConvertible) {
        self = convertible.databaseValue
    }

    /// The storage class, as SQL's `typeof()` names it.
    public var storageClass: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        }
    }
}

extension Double {
    /// The number as SQLite writes it, with `digits` significant digits: 15 is its conversion of a real to text, and 17 and
    /// more give the same real back when read.
    package func sqlText(digits: Int) -> String {
        if isInfinite { return self < 0 ? "-1e999" : "1e999" }  // literals that SQL and JSON readers take
        return withVaList([self]) { arguments in
            let text = sqlite3_vmprintf("%!.\(digits)g", arguments)
            defer { sqlite3_free(text) }
            guard let text else { preconditionFailure("no memory for a number's text") }
            return String(cString: text)
        }
    }
}
