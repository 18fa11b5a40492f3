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

    private func width(of column: Int) -> Int {
        let own = column < format.widths.count ? format.widths[column] : 0
        return own == 0 ? format.wrap : abs(own)
    }

    private func cell(_ statement: Statement, _ column: Int) -> Cell {
        let text =
            format.quotes
            ? SQLLiteral.value(of: statement, at: column, escapesLines: false)
            : statement.shellText(at: column, null: format.null)
        return CellLines(text: text, width: width(of: column), breaksAtWords: format.breaksAtWords).all
    }

    func print(_ statement: Statement, to output: StandardOutput) throws {
        var names: Cell = []
        var rows: [[Cell]] = []
        while try statement.step() {
            if names.isEmpty {
                // Of a long name the first line.
                names = statement.columnNames.enumerated().map { column, name in
                    CellLines(text: Array(name.utf8), width: width(of: column), breaksAtWords: format.breaksAtWords)
                        .all[0]
                }
            }
            rows.append((0..<statement.columnCount).map { cell(statement, $0) })
        }
        guard !rows.isEmpty else { return }

        var widths = names.enumerated().map { column, name in
            max(name.unicodeScalars.count, column < format.widths.count ? abs(format.widths[column]) : 0)
        }
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
            try output.write(line(names, widths, Self.flush).utf8)
            try output.write(line(widths.map { String(repeating: "-", count: $0) }, widths, Self.flush).utf8)
        }
        for (index, row) in rows.enumerated() {
            if index > 0 && hasTallRows && style.separatesRows {
                try output.write((hasLines ? rule(style.middle) : "\n").utf8)
            }
            for number in 0..<(row.map(\.count).max() ?? 1) {
                let texts = row.map { number < $0.count ? $0[number] : "" }
                try output.write(line(texts, widths, Self.flush).utf8)
            }
        }
        try output.write(rule(style.bottom).utf8)
    }

    private func line(_ texts: [String], _ widths: [Int], _ pad: (String, Int, Bool) -> String) -> String {
        let cells = texts.indices.map { column in
            pad(texts[column], widths[column], column < format.widths.count && format.widths[column] < 0)
        }
        guard hasLines else { return cells.joined(separator: "  ") + "\n" }
        return style.bar + cells.map { " \($0) \(style.bar)" }.joined() + "\n"
    }

    private static func flush(_ text: String, _ width: Int, toTheRight: Bool) -> String {
        let blanks = String(repeating: " ", count: width - text.unicodeScalars.count)
        return toTheRight ? blanks + text : text + blanks
    }

    private static func centred(_ text: String, _ width: Int, _: Bool) -> String {
        let blank = width - text.unicodeScalars.count
        return String(repeating: " ", count: blank / 2) + text + String(repeating: " ", count: blank - blank / 2)
    }
}

/// The lines that a value takes in its column, broken as the sqlite3 shell breaks them: a control character ends a line, and so does
/// the column's width.
private struct CellLines {
    private(set) var all: [String] = []

    /// - Parameter width: 0 for no limit.
    init(text: [UInt8], width: Int, breaksAtWords: Bool) {
        let scalars = Array(String(decoding: text, as: UTF8.self).unicodeScalars)
        let limit = width == 0 ? Int.max : width
        var start = 0
        repeat {
            // Up to the limit, or to a control character.
            var (end, column) = (start, 0)
            while end < scalars.count, column < limit, scalars[end] >= " " || scalars[end] == "\t" {
                column = scalars[end] == "\t" ? min(limit, (column / 8 + 1) * 8) : column + 1
                end += 1
            }
            var next = end
            if column >= limit, breaksAtWords, let place = Self.lastBreak(in: scalars, from: start, to: end) {
                end = place
                next = place
                while next < scalars.count, scalars[next] == " " { next += 1 }
            }
            all.append(Self.shown(scalars[start..<end], limit: limit))
            if next < scalars.count, !(column >= limit && scalars[next] >= " ") {
                next += scalars[next] == "\r" && next + 1 < scalars.count && scalars[next + 1] == "\n" ? 2 : 1
            }
            start = next
        } while start < scalars.count
    }

    private static func shown(_ scalars: ArraySlice<Unicode.Scalar>, limit: Int) -> String {
        var result = String.UnicodeScalarView()
        var column = 0
        for scalar in scalars {
            let width = scalar == "\t" ? min(limit, (column / 8 + 1) * 8) - column : 1
            result.append(contentsOf: repeatElement(scalar == "\t" ? " " : scalar, count: width))
            column += width
        }
        return String(result)
    }

    /// Where a line of whole words ends: behind a blank, or else at a word's edge; `nil` where its second half has neither.
    private static func lastBreak(in scalars: [Unicode.Scalar], from start: Int, to end: Int) -> Int? {
        let half = start + (end - start) / 2
        func isWord(_ place: Int) -> Bool {
            place < scalars.count && scalars[place].isASCII && scalars[place].properties.isAlphabetic
                || place < scalars.count && ("0"..."9").contains(scalars[place])
        }
        let places = stride(from: end, to: half, by: -1)
        return places.first { scalars[$0 - 1].properties.isWhitespace } ?? places.first { isWord($0 - 1) != isWord($0) }
    }
}
