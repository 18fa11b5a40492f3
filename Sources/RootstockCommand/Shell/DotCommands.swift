import CommandSupport
import Foundation
import Rootstock

extension Shell {
    private static let help = """
        .backup FILE           Copy the store to a new file
        .dump [TABLE]          Print SQL that makes the tables anew
        .engine                Show the engine under the store
        .eqp on|off            Show each statement's plan before its rows
        .headers on|off        Show column names in the modes list, csv and insert
        .help                  Show this list
        .import FILE TABLE     Read a CSV file into a table, made from the file's first line if it is new
        .indexes [TABLE]       List indexes
        .mode MODE [TABLE]     Print rows as list, csv, json, table, box, markdown, line or insert
        .open FILE             Go on with another file; it tells its engine
        .quit                  Leave
        .read FILE             Run the statements of a file
        .schema [TABLE]        Print the statements that made the tables
        .stats                 Show what the store is made of
        .tables [PATTERN]      List tables and views
        .timer on|off          Show the time that each statement takes

        """

    /// Performs a command. False: leave.
    func perform(_ words: [String]) throws -> Bool {
        let name = words[0].lowercased()
        let arguments = Array(words.dropFirst())
        func argument(_ what: String) throws -> String {
            guard let first = arguments.first else { throw CommandFailure("\(name) takes \(what)") }
            return first
        }
        switch name {
        case ".quit", ".exit": return false
        case ".help": try output.write(Self.help.utf8)
        case ".headers", ".header": settings.header = try isOn(try argument("on or off"))
        case ".timer": settings.timer = try isOn(try argument("on or off"))
        case ".eqp": settings.explainsPlans = try isOn(try argument("on or off"))
        case ".mode":
            let modes = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
            guard let mode = OutputMode(rawValue: try argument("one of \(modes)")) else {
                throw CommandFailure("there is no mode \(arguments[0]): there are \(modes)")
            }
            settings.mode = mode
            if arguments.count > 1 { settings.table = arguments[1] }
        case ".tables":
            try list("type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", "name", arguments)
        case ".indexes", ".indices": try list("type = 'index'", "tbl_name", arguments)
        case ".schema":
            let rows = try connection.query(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY rowid",
                [arguments.first])
            for case .text(let sql) in rows.map({ $0[0] }) { try output.write("\(sql);\n".utf8) }
        case ".read":
            let file = try argument("a file")
            guard let text = try? String(contentsOfFile: file, encoding: .utf8) else {
                throw CommandFailure("cannot read \(file)")
            }
            try run(script: text)
        case ".open":
            let file = try argument("a file")
            try open(file, engine: Engine.recognized(at: file) ?? Engine.usual(for: file))
        case ".backup": try connection.backup(to: try argument("a new file"))
        case ".engine": try output.write("\(connection.engine)\n".utf8)
        case ".stats": try output.write(InfoText(try connection.storeInfo()).text.utf8)
        case ".dump": try Dump(connection).write(to: output, table: arguments.first)
        case ".import":
            guard arguments.count == 2 else { throw CommandFailure(".import takes a CSV file and a table") }
            let count = try CSVImport(connection).read(arguments[0], into: arguments[1])
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

    private func list(_ condition: String, _ name: String, _ arguments: [String]) throws {
        let rows = try connection.query(
            "SELECT name FROM sqlite_schema WHERE \(condition) AND (?1 IS NULL OR \(name) LIKE ?1) ORDER BY 1",
            [arguments.first])
        for case .text(let name) in rows.map({ $0[0] }) { try output.write("\(name)\n".utf8) }
    }
}
