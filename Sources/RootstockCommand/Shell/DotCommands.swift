import CommandSupport
import Foundation
import Rootstock

extension Shell {
    private static let help = """
        .backup FILE           Copy the store to a new file
        .dump [TABLE]          Print SQL that makes the tables again
        .engine                Show the engine under the store
        .eqp on|off            Show each statement's plan before its rows
        .headers on|off        Show column names in the modes that have them on demand
        .help [COMMAND]        Show this list
        .import FILE TABLE     Read a CSV file into a table; --skip N leaves out lines at its start
        .indexes [TABLE]       List indexes
        .mode [MODE] [TABLE]   Print rows as list, column, table, box, markdown, line, quote, tabs, insert, json or csv
        .nullvalue TEXT        Print TEXT for NULL
        .once FILE             Send what the next statement prints to a file
        .open FILE             Go on with another file; it tells its engine
        .output [FILE]         Send what is printed to a file, or back to standard output
        .print TEXT...         Print the words
        .quit                  Leave
        .read FILE             Run the statements of a file
        .schema [TABLE]        Print the statements that made the tables
        .separator TEXT        Print TEXT between the columns of mode list
        .stats                 Show what the store is made of
        .tables [PATTERN]      List tables and views
        .timer on|off          Show the time that each statement takes

        """

    /// Performs a command. False: leave.
    func perform(_ words: [String]) throws -> Bool {
        let name = Self.fullName(of: words[0].lowercased())
        let arguments = Array(words.dropFirst())
        func argument(_ what: String) throws -> String {
            guard let first = arguments.first else { throw CommandFailure("\(name) takes \(what)") }
            return first
        }
        switch name {
        case ".quit", ".exit": return false
        case ".help":
            let lines = Self.help.split(separator: "\n")
            let wanted = lines.filter { $0.dropFirst().hasPrefix(arguments.first.map { $0.drop { $0 == "." } } ?? "") }
            for line in wanted.isEmpty ? lines : wanted { try output.write("\(line)\n".utf8) }
        case ".headers": settings.format.header = try isOn(try argument("on or off"))
        case ".timer": settings.timer = try isOn(try argument("on or off"))
        case ".eqp": settings.explainsPlans = try isOn(try argument("on or off"))
        case ".mode":
            let modes = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
            guard let word = arguments.first else {
                try output.write("current output mode: \(settings.mode.rawValue)\n".utf8)
                break
            }
            guard let mode = OutputMode(rawValue: word) else {
                throw CommandFailure("there is no mode \(word): there are \(modes)")
            }
            settings.mode = mode
            settings.format.table = arguments.count > 1 ? arguments[1] : "table"
            settings.format.csvEnd = "\r\n"
            if mode == .column { settings.format.header = true }
        case ".nullvalue": settings.format.null = try argument("a text")
        case ".separator": settings.format.separator = try argument("a text")
        case ".print": try output.write((arguments.joined(separator: " ") + "\n").utf8)
        case ".output": try redirect(to: arguments.first { $0 != "stdout" })
        case ".once": try redirect(to: try argument("a file"), once: true)
        case ".tables":
            try list("type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", "name", arguments)
        case ".indexes": try list("type = 'index'", "tbl_name", arguments)
        case ".schema": try printSchema(arguments.first)
        case ".read":
            let file = try argument("a file")
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CommandFailure("cannot read \(file)")
            }
            do { try run(script: text) } catch { throw CommandFailure("\(file): \(CommandFailure(error))") }
        case ".open":
            let file = try argument("a file")
            try open(file, engine: Engine.recognized(at: file) ?? Engine.usual(for: file))
        case ".backup": try connection.backup(to: try argument("a new file"))
        case ".engine": try output.write("\(connection.engine)\n".utf8)
        case ".stats": try output.write(InfoText(try connection.storeInfo()).text.utf8)
        case ".dump": try Dump(connection).write(to: output, table: arguments.first)
        case ".import":
            var (names, skip) = (arguments.filter { $0 != "--csv" }, 0)
            if let place = names.firstIndex(of: "--skip"), place + 1 < names.count, let lines = Int(names[place + 1]) {
                skip = max(0, lines)
                names.removeSubrange(place...place + 1)
            }
            guard names.count == 2 else {
                throw CommandFailure(".import takes a CSV file and a table, and --skip N for lines to leave out")
            }
            let count = try CSVImport(connection).read(
                names[0], into: names[1], skip: skip, beforeRow: Self.checkInterruption)
            try output.write("\(count) rows\n".utf8)
        default: throw CommandFailure("there is no command \(words[0]): .help lists them")
        }
        try output.flush()
        return true
    }

    private func isOn(_ word: String) throws -> Bool {
        switch word.lowercased() {
        case "on", "yes", "1": return true
        case "off", "no", "0": return false
        default: throw CommandFailure("\(word) is neither on nor off")
        }
    }

    /// The command that the word is the beginning of, if it is one's only; else the word.
    private static func fullName(of word: String) -> String {
        let other = [".exit": ".quit", ".indices": ".indexes", ".header": ".headers"]
        if let name = other[word] { return name }
        let names = help.split(separator: "\n").map { String($0.prefix { $0 != " " }) }
        let found = names.filter { $0.hasPrefix(word) }
        return names.contains(word) || found.count != 1 ? word : found[0]
    }

    /// Names side by side, as many as 80 columns hold.
    private func list(_ condition: String, _ name: String, _ arguments: [String]) throws {
        let rows = try connection.query(
            "SELECT name FROM sqlite_schema WHERE \(condition) AND (?1 IS NULL OR \(name) LIKE ?1) ORDER BY 1",
            [arguments.first])
        let names = rows.compactMap { if case .text(let name) = $0[0] { name } else { nil } }
        guard let width = names.map(\.count).max() else { return }
        let columns = max(1, 80 / (width + 2))
        let lines = (names.count + columns - 1) / columns
        for line in 0..<lines {
            let side = stride(from: line, to: names.count, by: lines).map { place in
                names[place] + String(repeating: " ", count: width - names[place].count)
            }
            try output.write((side.joined(separator: "  ") + "\n").utf8)
        }
    }

    private func printSchema(_ table: String?) throws {
        let rows = try connection.query(
            "SELECT sql, type, name FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY rowid",
            [table])
        for row in rows {
            guard case .text(let sql) = row[0], case .text(let name) = row[2] else { continue }
            var columns = ""
            if row[1] == .text("view") {
                // What the view is like, unless a table of it is gone.
                let names = (try? connection.query("SELECT name FROM pragma_table_info(?)", [name])) ?? []
                let words = names.compactMap { if case .text(let word) = $0[0] { SQLLiteral.name(word) } else { nil } }
                if !words.isEmpty { columns = "\n/* \(SQLLiteral.name(name))(\(words.joined(separator: ","))) */" }
            }
            try output.write("\(Dump.again(sql))\(columns);\n".utf8)
        }
    }
}
