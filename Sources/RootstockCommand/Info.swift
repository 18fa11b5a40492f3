import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

/// `rootstock info`: what a store is made of and what it weighs.
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Show a store's engine, format, tables, pages and readers.",
        discussion: """
            All figures are of one snapshot. The lag is the number of commits since the oldest live snapshot. That snapshot keeps \
            every page replaced since from being reused.
            """)

    @OptionGroup var engineOption: EngineOption

    @Flag(help: "Print one JSON object.")
    var json = false

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    func run() throws {
        var options = StoreOptions()
        options.readOnly = true
        let output = StandardOutput()
        do {
            let connection = try Connection(path: path, engine: engineOption.storeEngine(for: path), options: options)
            let info = try connection.storeInfo()
            if json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                try output.write(encoder.encode(info))
                try output.write("\n")
            } else {
                try output.write(InfoText(info).text.utf8)
            }
            try output.flush()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension StoreInfo {
    /// Which commit a power loss took, and when the store was opened after it.
    var undone: String? {
        guard let undoneCommit, let undoneSeconds else { return nil }
        let time = Date(timeIntervalSince1970: Double(undoneSeconds)).formatted(.iso8601)
        return "commit \(undoneCommit) was undone after a power loss, at \(time)"
    }
}

/// The figures for a reader: a line each, then a table of trees.
struct InfoText {
    let text: String

    init(_ info: StoreInfo) {
        var facts = [
            ("path", info.path),
            ("engine", "\(info.engine)\(info.form.map { ":\($0)" } ?? "") \(info.engineVersion)"),
            ("format", "\(info.format)"),
            ("checksums", info.checksum ? "yes" : "no"),
            ("generation", "\(info.generation)"),
            (
                "file",
                info.pageBytes > 0 ? "\(info.fileBytes) bytes, pages of \(info.pageBytes)" : "\(info.fileBytes) bytes"
            ),
            ("pages", "\(info.usedPages) used, \(info.freePages) free"),
        ]
        if let notice = info.notice { facts.append(("notice", notice)) }
        if let commit = info.lastTransaction { facts.append(("last commit", "\(commit)")) }
        if let readers = info.readers {
            let slots = info.maximumReaders.map { " of \($0)" } ?? ""
            let lag = info.oldestReaderLag ?? 0
            facts.append(
                ("readers", readers == 0 ? "0\(slots)" : "\(readers)\(slots), the oldest \(lag) commits behind"))
        }
        if let roundTrips = info.roundTrips { facts.append(("round trips", "\(roundTrips)")) }
        if let undone = info.undone { facts.append(("undone", undone)) }
        var lines = facts.map { name, value in name.padding(toLength: 13, withPad: " ", startingAt: 0) + value }
        var rows = [["tree", "rows", "pages", "bytes", "depth"]]
        for table in info.tables {
            rows.append([table.name] + Self.cells(table.rows, table.pages, table.bytes, table.depth))
            for index in table.indexes {
                rows.append(["  " + index.name] + Self.cells(index.rows, index.pages, index.bytes, index.depth))
            }
        }
        if rows.count > 1 {
            let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
            lines.append("")
            for row in rows {
                let cells = row.enumerated().map { column, cell in
                    let padding = String(repeating: " ", count: widths[column] - cell.count)
                    return column == 0 ? cell + padding : padding + cell
                }
                lines.append(cells.joined(separator: "  "))
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func cells(_ numbers: Int?...) -> [String] {
        numbers.map { $0.map(String.init) ?? "-" }
    }
}
