import CommandSupport
import Rootstock

/// A table, every row in memory until the widths are known.
struct TablePrinter: ResultPrinter {
    /// What the table is drawn with, as the sqlite3 shell draws it.
    struct Style: Sendable {
        /// Left end, between columns, right end, and what fills: above the names, below them, below the rows. `nil`: no rule.
        var top, middle, bottom: (left: String, between: String, right: String, fill: String)?
        var bar: String
        /// Whether rows are kept apart by a rule, or an empty line, where one has several lines.
        var separatesRows = true

        static let ascii = Style(
            top: ("+", "+", "+", "-"), middle: ("+", "+", "+", "-"), bottom: ("+", "+", "+", "-"), bar: "|")
        static let box = Style(
            top: ("┌", "┬", "┐", "─"), middle: ("├", "┼", "┤", "─"), bottom: ("└", "┴", "┘", "─"), bar: "│")
        static let markdown = Style(
            top: nil, middle: ("|", "|", "|", "-"), bottom: nil, bar: "|",
            separatesRows: false)
        /// Without lines: names and a rule below them only where a header is asked for.
        static let column = Style(top: nil, middle: nil, bottom: nil, bar: "")
    }

    let style: Style
    let format: RowFormat
    private var hasLines: Bool { !style.bar.isEmpty }
    /// A cell's lines.
    private typealias Cell = [String]

    func print(_ statement: Statement, to output: StandardOutput) throws {
        var names: Cell = []
        var rows: [[Cell]] = []
        while try statement.step() {
            if names.isEmpty { names = statement.columnNames }
            rows.append((0..<statement.columnCount).map { Self.cell(statement.shellText(at: $0, null: format.null)) })
        }
        guard !rows.isEmpty else { return }

        var widths = names.map { $0.unicodeScalars.count }
        for row in rows {
            for (index, cell) in row.enumerated() {
                widths[index] = cell.reduce(widths[index]) { max($0, $1.unicodeScalars.count) }
            }
        }
        func rule(_ parts: (left: String, between: String, right: String, fill: String)?) -> String {
            guard let parts else { return "" }
            let fills = widths.map { String(repeating: parts.fill, count: $0 + 2) }
            return parts.left + fills.joined(separator: parts.between) + parts.right + "\n"
        }
        // Rows of one line need no rule between them.
        let hasTallRows = rows.contains { $0.contains { $0.count > 1 } }

        if hasLines {
            try output.write(rule(style.top).utf8)
            try output.write(line(names, widths, Self.centred).utf8)
            try output.write(rule(style.middle).utf8)
        } else if format.header {
            try output.write(line(names, widths, Self.flushLeft).utf8)
            try output.write(line(widths.map { String(repeating: "-", count: $0) }, widths, Self.flushLeft).utf8)
        }
        for (index, row) in rows.enumerated() {
            if index > 0 && hasTallRows && style.separatesRows {
                try output.write((hasLines ? rule(style.middle) : "\n").utf8)
            }
            for number in 0..<(row.map(\.count).max() ?? 1) {
                let texts = row.map { number < $0.count ? $0[number] : "" }
                try output.write(line(texts, widths, Self.flushLeft).utf8)
            }
        }
        try output.write(rule(style.bottom).utf8)
    }

    private static func cell(_ text: [UInt8]) -> Cell {
        // A line ends with a newline, a carriage return, or both.
        var scalars = String.UnicodeScalarView()
        var last: Unicode.Scalar?
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if scalar != "\n" || last != "\r" { scalars.append(scalar == "\r" ? "\n" : scalar) }
            last = scalar
        }
        let lines = scalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        // A newline at the end opens no line of its own.
        return (lines.count > 1 && lines.last == "" ? lines.dropLast() : lines).map(expandingTabs)
    }

    private static func expandingTabs(_ line: String) -> String {
        guard line.unicodeScalars.contains("\t") else { return line }
        var result = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            if scalar == "\t" {
                result += Array(repeating: " ", count: 8 - result.count % 8)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private func line(_ texts: [String], _ widths: [Int], _ pad: (String, Int) -> String) -> String {
        guard hasLines else { return zip(texts, widths).map(pad).joined(separator: "  ") + "\n" }
        return style.bar + zip(texts, widths).map { " " + pad($0, $1) + " " + style.bar }.joined() + "\n"
    }

    private static func flushLeft(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: width - text.unicodeScalars.count)
    }

    private static func centred(_ text: String, _ width: Int) -> String {
        let blank = width - text.unicodeScalars.count
        return String(repeating: " ", count: blank / 2) + text + String(repeating: " ", count: blank - blank / 2)
    }
}
