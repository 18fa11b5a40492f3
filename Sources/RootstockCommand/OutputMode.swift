import ArgumentParser
import CommandSupport
import Rootstock

/// How rows are printed: the sqlite3 shell's modes of these names.
enum OutputMode: String, EnumerableFlag {
    case list, table, box, markdown, line, insert, json, csv

    static func help(for value: OutputMode) -> ArgumentHelp? {
        switch value {
        case .list: "Columns separated by |, NULL as nothing (the default)."
        case .table: "A table drawn in ASCII."
        case .box: "A table drawn with lines."
        case .markdown: "A table in Markdown."
        case .line: "A line for each value, with its column's name."
        case .insert: "An INSERT for each row."
        case .json: "An array of objects for each statement that returns rows."
        case .csv: "Comma-separated values, as RFC 4180 has them."
        }
    }

    /// - Parameter table: the name that the mode insert writes.
    func printer(header: Bool, table: String = "table") -> any ResultPrinter {
        switch self {
        case .list: ListPrinter(header: header)
        case .table: TablePrinter(style: .ascii)
        case .box: TablePrinter(style: .box)
        case .markdown: TablePrinter(style: .markdown)
        case .line: LinePrinter()
        case .insert: InsertPrinter(header: header, table: table)
        case .json: JSONPrinter()
        case .csv: CSVPrinter(header: header)
        }
    }
}

/// Runs one statement and prints its rows.
///
/// A statement without rows prints nothing at all, its column names included: so does the sqlite3 shell, and what the front
/// door makes of a CREATE is a query without rows.
protocol ResultPrinter {
    mutating func print(_ statement: Statement, to output: StandardOutput) throws
}

extension Statement {
    /// A column's text as the sqlite3 shell prints it: SQLite's own conversion, up to the first NUL, nothing for NULL.
    func shellText(at index: Int) -> [UInt8] {
        withUnsafeText(at: index) { Array($0.prefix { $0 != 0 }) }
    }
}

/// `a|b|c`
struct ListPrinter: ResultPrinter {
    let header: Bool

    func print(_ statement: Statement, to output: StandardOutput) throws {
        try printLines(of: statement, to: output, header: header, separator: "|", end: "\n") { $0 }
    }
}

/// `a,"b ""quoted""",c`
struct CSVPrinter: ResultPrinter {
    let header: Bool
    /// Whether the header stands alone, too, where there are no rows: the shell prints nothing then.
    var printsEmpty = false

    func print(_ statement: Statement, to output: StandardOutput) throws {
        try printLines(
            of: statement, to: output, header: header, printsEmpty: printsEmpty, separator: ",", end: "\n",
            field: Self.field)
    }

    /// NULL is nothing at all and the empty text is `""`, so that the two can be told apart.
    private static func field(_ text: [UInt8]?) -> [UInt8] {
        guard let text else { return [] }
        let quote = UInt8(ascii: "\"")
        let isPlain =
            !text.isEmpty
            && text.allSatisfy { byte in
                byte > 0x20 && byte < 0x7f && byte != quote && byte != UInt8(ascii: "'") && byte != UInt8(ascii: ",")
            }
        if isPlain { return text }
        return [quote] + text.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }
}

/// A line a row: what `list` and `csv` have in common. `field` gets `nil` for NULL.
private func printLines(
    of statement: Statement, to output: StandardOutput, header: Bool, printsEmpty: Bool = false,
    separator: StaticString, end: StaticString, field: ([UInt8]?) -> [UInt8]?
) throws {
    func printLine(_ fields: some Sequence<[UInt8]?>) throws {
        for (index, text) in fields.enumerated() {
            if index > 0 { try output.write(separator) }
            try output.write(field(text) ?? [])
        }
        try output.write(end)
    }
    var isFirst = true
    func printHeader() throws { try printLine(statement.columnNames.map { Array($0.utf8) }) }
    while try statement.step() {
        if isFirst && header { try printHeader() }
        isFirst = false
        try printLine(
            (0..<statement.columnCount).lazy.map { statement.isNull(at: $0) ? nil : statement.shellText(at: $0) })
    }
    if isFirst && header && printsEmpty { try printHeader() }
}

/// `  a = 1`, and an empty line between rows.
struct LinePrinter: ResultPrinter {
    func print(_ statement: Statement, to output: StandardOutput) throws {
        var isFirst = true
        while try statement.step() {
            if !isFirst { try output.write("\n") }
            isFirst = false
            let names = statement.columnNames
            let width = names.map(\.count).max().map { max($0, 5) } ?? 5
            for (index, name) in names.enumerated() {
                try output.write("\(String(repeating: " ", count: width - name.count))\(name) = ".utf8)
                try output.write(statement.shellText(at: index))
                try output.write("\n")
            }
        }
    }
}

/// `INSERT INTO "table" VALUES(1,'text');`
struct InsertPrinter: ResultPrinter {
    let header: Bool
    let table: String

    func print(_ statement: Statement, to output: StandardOutput) throws {
        let isPlain = table != "table" && table.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        let columns = header ? "(" + statement.columnNames.map(SQL.quoted).joined(separator: ",") + ")" : ""
        let start = "INSERT INTO \(isPlain ? table : SQL.quoted(table))\(columns) VALUES("
        while try statement.step() {
            let values = (0..<statement.columnCount).map { Self.literal(statement.value(at: $0)) }
            try output.write("\(start)\(values.joined(separator: ",")));\n".utf8)
        }
    }

    private static func literal(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let integer): String(integer)
        case .real(let real): real.isInfinite ? (real > 0 ? "1e999" : "-1e999") : real.sqlText(digits: 20)
        case .text(let text): "'" + text.replacing("'", with: "''") + "'"
        case .blob(let bytes):
            "X'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
        }
    }
}

/// `[{"a":1,"b":"text"}]`
struct JSONPrinter: ResultPrinter {
    func print(_ statement: Statement, to output: StandardOutput) throws {
        var names: [[UInt8]] = []
        while try statement.step() {
            if names.isEmpty {
                names = statement.columnNames.map { Self.string($0.utf8) }
                try output.write("[{")
            } else {
                try output.write(",\n{")
            }
            for (index, name) in names.enumerated() {
                if index > 0 { try output.write(",") }
                try output.write(name)
                try output.write(":")
                try output.write(Self.value(of: statement, at: index))
            }
            try output.write("}")
        }
        if !names.isEmpty { try output.write("]\n") }
    }

    private static func value(of statement: Statement, at index: Int) -> [UInt8] {
        switch statement.value(at: index) {
        case .null: Array("null".utf8)
        case .integer(let integer): Array(String(integer).utf8)
        case .real(let real): Array(real.sqlText(digits: 20).utf8)
        case .text(let text): string(text.utf8)
        // Bytes become the characters U+0000 to U+00FF, all of them escaped that are no ASCII.
        case .blob(let bytes): string(bytes, escapingFrom: 0x7f)
        }
    }

    private static func string(_ bytes: some Sequence<UInt8>, escapingFrom limit: UInt8? = nil) -> [UInt8] {
        var result = [UInt8(ascii: "\"")]
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""): result += #"\""#.utf8
            case UInt8(ascii: "\\"): result += #"\\"#.utf8
            case 0x08: result += #"\b"#.utf8
            case 0x09: result += #"\t"#.utf8
            case 0x0a: result += #"\n"#.utf8
            case 0x0c: result += #"\f"#.utf8
            case 0x0d: result += #"\r"#.utf8
            case 0..<0x20, (limit ?? .max)...:
                let digits = String(byte, radix: 16)
                result += #"\u"#.utf8
                result += String(repeating: "0", count: 4 - digits.count).utf8
                result += digits.utf8
            default: result.append(byte)
            }
        }
        return result + [UInt8(ascii: "\"")]
    }
}
