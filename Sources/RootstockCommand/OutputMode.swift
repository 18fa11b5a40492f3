import ArgumentParser
import CommandSupport
import Rootstock

/// How rows are printed: the sqlite3 shell's modes of these names.
enum OutputMode: String, EnumerableFlag {
    case list, column, table, box, markdown, line, quote, tabs, ascii, insert, json, csv, html, tcl

    static func help(for value: OutputMode) -> ArgumentHelp? {
        switch value {
        case .list: "Columns separated by |, NULL as nothing (the default)."
        case .column: "Columns of equal width, without lines."
        case .table: "A table drawn in ASCII."
        case .box: "A table drawn with lines."
        case .markdown: "A table in Markdown."
        case .line: "A line for each value, with its column's name."
        case .quote: "Values as SQL writes them, separated by commas."
        case .tabs: "Columns separated by tabs."
        case .ascii: "Columns and rows ended by the characters 31 and 30."
        case .insert: "An INSERT for each row."
        case .json: "An array of objects for each statement that returns rows."
        case .csv: "Comma-separated values, as RFC 4180 has them."
        case .html: "Rows of an HTML table."
        case .tcl: "Values as strings of C and Tcl, separated by blanks."
        }
    }

    func printer(_ format: RowFormat = RowFormat()) -> any ResultPrinter {
        switch self {
        case .list, .tabs, .ascii:
            ListPrinter(format: format, separator: format.separator ?? separator, end: format.rowEnd ?? rowEnd)
        case .column: TablePrinter(style: .column, format: format)
        case .table: TablePrinter(style: .ascii, format: format)
        case .box: TablePrinter(style: .box, format: format)
        case .markdown: TablePrinter(style: .markdown, format: format)
        case .line: LinePrinter(format: format)
        case .quote: QuotePrinter(format: format)
        case .insert: InsertPrinter(format: format)
        case .json: JSONPrinter()
        case .csv: CSVPrinter(format: format)
        case .html: HTMLPrinter(format: format)
        case .tcl: TclPrinter(format: format)
        }
    }

    /// What stands between columns where `.separator` says nothing.
    var separator: String {
        switch self {
        case .tabs: "\t"
        case .ascii: "\u{1f}"
        case .csv, .quote: ","
        case .tcl: " "
        default: "|"
        }
    }

    /// What ends a row where `.separator` says nothing.
    var rowEnd: String { self == .ascii ? "\u{1e}" : "\n" }

    /// Whether rows are drawn as a table, whose long lines are broken.
    var isTable: Bool { [.column, .table, .box, .markdown].contains(self) }
}

/// What the modes leave open.
struct RowFormat {
    /// Column names in the modes that have them on demand.
    var header = false
    /// The table that the mode insert names.
    var table = "table"
    /// What stands for NULL, but in the modes insert, quote and json.
    var null = ""
    /// Between columns, and behind a row; `nil`: what the mode has.
    var separator: String?
    var rowEnd: String?
    /// After how many characters tables break a line, 0 for never; of each column, where it has a width of its own.
    var wrap = 0
    var widths: [Int] = []
    /// Whether tables break lines between words where they can, and whether they write values as SQL does.
    var breaksAtWords = false
    var quotes = false
}

/// Runs one statement and prints its rows.
///
/// A statement without rows prints nothing at all, no column names either, as in the sqlite3 shell. What the front door makes of
/// a CREATE is a query without rows.
protocol ResultPrinter {
    mutating func print(_ statement: Statement, to output: StandardOutput) throws
}

extension Statement {
    /// A column's text as the sqlite3 shell prints it: SQLite's own conversion, up to the first NUL.
    func shellText(at index: Int, null: String = "") -> [UInt8] {
        isNull(at: index) ? Array(null.utf8) : withUnsafeText(at: index) { Array($0.prefix { $0 != 0 }) }
    }
}

/// `a|b|c`
struct ListPrinter: ResultPrinter {
    let format: RowFormat
    var separator: String
    var end: String

    func print(_ statement: Statement, to output: StandardOutput) throws {
        try printLines(of: statement, to: output, header: format.header, separator: separator, end: end) {
            statement.shellText(at: $0, null: format.null)
        }
    }
}

/// `1,'text',NULL`
struct QuotePrinter: ResultPrinter {
    let format: RowFormat

    func print(_ statement: Statement, to output: StandardOutput) throws {
        try printLines(
            of: statement, to: output, header: format.header, separator: format.separator ?? ",",
            end: format.rowEnd ?? "\n", name: SQLLiteral.text,
            value: { SQLLiteral.value(of: statement, at: $0, escapesLines: false) })
    }
}

/// `a,"b ""quoted""",c`
struct CSVPrinter: ResultPrinter {
    let format: RowFormat
    /// Whether the text is a file that loses nothing. The header stands alone, too, where there are no rows, and a text goes on behind a NUL.
    var isFile = false

    func print(_ statement: Statement, to output: StandardOutput) throws {
        let separator = format.separator ?? ","
        let mark = Array(separator.utf8)
        try printLines(
            of: statement, to: output, header: format.header, printsEmpty: isFile, separator: separator,
            end: format.rowEnd ?? "\n", name: { String(decoding: Self.field(Array($0.utf8), mark), as: UTF8.self) },
            value: { index in
                if statement.isNull(at: index) { return Array(format.null.utf8) }
                let text = isFile ? statement.withUnsafeText(at: index) { Array($0) } : statement.shellText(at: index)
                return Self.field(text, mark)
            })
    }

    /// NULL is nothing at all and the empty text is `""`, so that the two can be told apart.
    private static func field(_ text: [UInt8], _ separator: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let isPlain =
            !text.isEmpty
            && text.allSatisfy { byte in
                byte > 0x20 && byte < 0x7f && byte != quote && byte != UInt8(ascii: "'")
            } && (separator.isEmpty || text.firstRange(of: separator) == nil)
        if isPlain { return text }
        return [quote] + text.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }
}

/// `"text" "a\tb"`
struct TclPrinter: ResultPrinter {
    let format: RowFormat

    func print(_ statement: Statement, to output: StandardOutput) throws {
        try printLines(
            of: statement, to: output, header: format.header, separator: format.separator ?? " ",
            end: format.rowEnd ?? "\n", name: { String(decoding: Self.string(Array($0.utf8)), as: UTF8.self) },
            value: { Self.string(statement.shellText(at: $0, null: format.null)) })
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        let inner = bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case quote, UInt8(ascii: "\\"): return [UInt8(ascii: "\\"), byte]
            case 0x09: return Array(#"\t"#.utf8)
            case 0x0a: return Array(#"\n"#.utf8)
            case 0x0d: return Array(#"\r"#.utf8)
            case 0x20..<0x7f: return [byte]
            default:
                let digits = String(byte, radix: 8)
                return Array(("\\" + String(repeating: "0", count: 3 - digits.count) + digits).utf8)
            }
        }
        return [quote] + inner + [quote]
    }
}

/// `<TR><TD>a</TD>`, a line a value.
struct HTMLPrinter: ResultPrinter {
    let format: RowFormat

    func print(_ statement: Statement, to output: StandardOutput) throws {
        var isFirst = true
        func printRow(_ tag: String, _ values: [[UInt8]]) throws {
            try output.write("<TR>")
            for value in values {
                try output.write("<\(tag)>".utf8)
                try output.write(Self.escaped(value))
                try output.write("</\(tag)>\n".utf8)
            }
            try output.write("</TR>\n")
        }
        while try statement.step() {
            if isFirst && format.header { try printRow("TH", statement.columnNames.map { Array($0.utf8) }) }
            isFirst = false
            try printRow(
                "TD", (0..<statement.columnCount).map { statement.shellText(at: $0, null: format.null) })
        }
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "\""): Array("&quot;".utf8)
            case UInt8(ascii: "'"): Array("&#39;".utf8)
            default: [byte]
            }
        }
    }
}

/// A line a row: what `list`, `tabs`, `quote`, `csv` and `tcl` have in common.
private func printLines(
    of statement: Statement, to output: StandardOutput, header: Bool, printsEmpty: Bool = false, separator: String,
    end: String, name: (String) -> String = { $0 }, value: (Int) -> [UInt8]
) throws {
    var isFirst = true
    func printHeader() throws {
        try output.write((statement.columnNames.map(name).joined(separator: separator) + end).utf8)
    }
    while try statement.step() {
        if isFirst && header { try printHeader() }
        isFirst = false
        for index in 0..<statement.columnCount {
            if index > 0 { try output.write(separator.utf8) }
            try output.write(value(index))
        }
        try output.write(end.utf8)
    }
    if isFirst && header && printsEmpty { try printHeader() }
}

/// `  a = 1`, and an empty line between rows.
struct LinePrinter: ResultPrinter {
    let format: RowFormat

    func print(_ statement: Statement, to output: StandardOutput) throws {
        var isFirst = true
        while try statement.step() {
            if !isFirst { try output.write("\n") }
            isFirst = false
            let names = statement.columnNames
            let width = names.map(\.count).max().map { max($0, 5) } ?? 5
            for (index, name) in names.enumerated() {
                try output.write("\(String(repeating: " ", count: width - name.count))\(name) = ".utf8)
                try output.write(statement.shellText(at: index, null: format.null))
                try output.write("\n")
            }
        }
    }
}

/// `INSERT INTO "table" VALUES(1,'text');`
struct InsertPrinter: ResultPrinter {
    let format: RowFormat

    func print(_ statement: Statement, to output: StandardOutput) throws {
        let names = statement.columnNames.map(SQLLiteral.name).joined(separator: ",")
        let start = "INSERT INTO \(SQLLiteral.name(format.table))\(format.header ? "(\(names))" : "") VALUES("
        while try statement.step() {
            try output.write(start.utf8)
            for index in 0..<statement.columnCount {
                if index > 0 { try output.write(",") }
                try output.write(SQLLiteral.value(of: statement, at: index))
            }
            try output.write(");\n")
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
