import CSQLite
import CommandSupport
import Foundation
import Rootstock

/// What the shell tells of a store: names, definitions, files, and what is set.
extension Shell {
    /// Names side by side, as many as 80 columns hold.
    func list(_ condition: String, _ name: String, _ arguments: [String]) throws {
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

    func printSchema(_ table: String?) throws {
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

    func printDatabases() throws {
        for row in try connection.query("PRAGMA database_list") {
            guard case .text(let name) = row[1] else { continue }
            var file = ""
            if case .text(let path) = row[2] { file = path }
            try output.write("\(name): \(file.isEmpty ? "\"\"" : file) \(options.readOnly ? "r/o" : "r/w")\n".utf8)
        }
    }

    private static let limits = [
        ("length", SQLITE_LIMIT_LENGTH), ("sql_length", SQLITE_LIMIT_SQL_LENGTH), ("column", SQLITE_LIMIT_COLUMN),
        ("expr_depth", SQLITE_LIMIT_EXPR_DEPTH), ("compound_select", SQLITE_LIMIT_COMPOUND_SELECT),
        ("vdbe_op", SQLITE_LIMIT_VDBE_OP), ("function_arg", SQLITE_LIMIT_FUNCTION_ARG),
        ("attached", SQLITE_LIMIT_ATTACHED), ("like_pattern_length", SQLITE_LIMIT_LIKE_PATTERN_LENGTH),
        ("variable_number", SQLITE_LIMIT_VARIABLE_NUMBER), ("trigger_depth", SQLITE_LIMIT_TRIGGER_DEPTH),
        ("worker_threads", SQLITE_LIMIT_WORKER_THREADS),
    ]

    /// `.limit`: all of them, or those whose name begins so; a value sets the only one that does.
    func showLimits(_ arguments: [String]) throws {
        let word = arguments.first?.lowercased() ?? ""
        let exact = Self.limits.filter { $0.0 == word }
        let named = exact.isEmpty ? Self.limits.filter { $0.0.hasPrefix(word) } : exact
        guard !named.isEmpty else {
            let names = Self.limits.map(\.0).joined(separator: ", ")
            throw CommandFailure("there is no limit \(word): there are \(names)")
        }
        if arguments.count > 1 {
            guard named.count == 1 else {
                throw CommandFailure("\(word) could be \(named.map(\.0).joined(separator: ", "))")
            }
            guard let value = Int32(arguments[1]), value >= 0 else {
                throw CommandFailure("\(arguments[1]) is no limit")
            }
            sqlite3_limit(connection.handle, named[0].1, value)
        }
        for (name, limit) in named {
            let value = sqlite3_limit(connection.handle, limit, -1)
            try output.write("\(String(repeating: " ", count: 20 - name.count))\(name) \(value)\n".utf8)
        }
    }

    func printSettings() throws {
        func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
        func literal(_ text: String) -> String {
            let escapes: [Character: String] = [
                "\n": "\\n", "\r": "\\r", "\r\n": "\\r\\n", "\t": "\\t", "\"": "\\\"", "\\": "\\\\",
            ]
            return "\"\(text.map { escapes[$0] ?? String($0) }.joined())\""
        }
        let (mode, format) = (settings.mode, settings.format)
        let wrap =
            mode.isTable
            ? " --wrap \(format.wrap) --wordwrap \(word(format.breaksAtWords))\(format.quotes ? " --quote" : " --noquote")"
            : ""
        let lines = [
            ("echo", word(settings.echoes)), ("eqp", word(settings.explainsPlans)), ("headers", word(format.header)),
            ("mode", mode.rawValue + wrap), ("nullvalue", literal(format.null)), ("output", outputName),
            ("colseparator", literal(format.separator ?? mode.separator)),
            ("rowseparator", literal(format.rowEnd ?? mode.rowEnd)),
            ("bail", word(settings.bails)), ("changes", word(settings.showsChanges)), ("timer", word(settings.timer)),
            ("width", format.widths.map { "\($0)" }.joined(separator: " ")), ("filename", path),
            ("engine", "\(connection.engine)"),
        ]
        for (name, value) in lines {
            try output.write("\(String(repeating: " ", count: 12 - name.count))\(name): \(value)\n".utf8)
        }
    }
}
