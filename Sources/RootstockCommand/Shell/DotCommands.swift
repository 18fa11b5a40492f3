import CommandSupport
import Foundation
import Rootstock

/// A command of the shell. Its usage is what `.help` prints, and what says how many arguments there may be.
private struct DotCommand {
    let name: String
    /// What stands in brackets may be left out; a last word `...` stands for more.
    let arguments: String
    let summary: String
    /// Whether an argument may begin with `-`: it is a text, or the command reads options itself.
    var takesDashes = false

    init(_ name: String, _ arguments: String, _ summary: String, takesDashes: Bool = false) {
        (self.name, self.arguments, self.summary, self.takesDashes) = (name, arguments, summary, takesDashes)
    }

    var usage: String { arguments.isEmpty ? name : "\(name) \(arguments)" }

    func check(_ given: [String]) throws {
        let brackets = /\[[^\]]*\]/
        let needed = arguments.replacing(brackets, with: "").split(separator: " ").filter { $0 != "..." }
        let least = needed.count
        let most = arguments.hasSuffix("...") ? .max : least + arguments.matches(of: brackets).count
        if !takesDashes, let option = given.first(where: { $0.count > 1 && $0.hasPrefix("-") }) {
            throw CommandFailure("\(name) has no option \(option); usage: \(usage)")
        }
        guard given.count >= least, given.count <= most || takesDashes else { throw CommandFailure("usage: \(usage)") }
    }
}

extension Shell {
    private static let commands = [
        DotCommand(".backup", "[main] FILE", "Copy the store to a new file"),
        DotCommand(".bail", "on|off", "End a script at its first error (on unless switched off)"),
        DotCommand(".cd", "FOLDER", "Go to another folder"),
        DotCommand(".changes", "on|off", "Show how many rows each statement changed"),
        DotCommand(".databases", "", "List the open files"),
        DotCommand(".dump", "[TABLE]", "Print SQL that makes the tables again"),
        DotCommand(".echo", "on|off", "Show each statement before it runs"),
        DotCommand(".engine", "", "Show the engine under the store"),
        DotCommand(".eqp", "on|off", "Show each statement's plan before its rows"),
        DotCommand(".exit", "[STATUS]", "Leave, with an exit status"),
        DotCommand(".headers", "on|off", "Show column names in the modes that have them on demand"),
        DotCommand(".help", "[COMMAND]", "Show this list"),
        DotCommand(
            ".import", "[--csv|--ascii] [--skip N] FILE TABLE",
            "Read a CSV file, or what .separator tells, into a table",
            takesDashes: true),
        DotCommand(".indexes", "[TABLE]", "List indexes"),
        DotCommand(".limit", "[NAME] [VALUE]", "Show or set a limit of SQLite's on this connection"),
        DotCommand(
            ".mode", "[MODE] [TABLE] [--wrap N] [--wordwrap on|off] [--quote]",
            "Print rows as " + OutputMode.allCases.map(\.rawValue).joined(separator: ", "), takesDashes: true),
        DotCommand(".nullvalue", "TEXT", "Print TEXT for NULL", takesDashes: true),
        DotCommand(".once", "FILE", "Send what the next statement prints to a file, or to |COMMAND"),
        DotCommand(".open", "FILE", "Go on with another file; it tells its engine"),
        DotCommand(".output", "[FILE]", "Send what is printed to a file or |COMMAND, or back to standard output"),
        DotCommand(
            ".parameter", "[set NAME VALUE|unset NAME|list|clear]", "Values for ?1, :name, @name and $name",
            takesDashes: true),
        DotCommand(".print", "[TEXT] ...", "Print the words", takesDashes: true),
        DotCommand(".quit", "", "Leave"),
        DotCommand(".read", "FILE", "Run the statements of a file, or of what |COMMAND prints"),
        DotCommand(".save", "FILE", "The same as .backup"),
        DotCommand(".schema", "[TABLE]", "Print the statements that made the tables"),
        DotCommand(".separator", "COLUMN [ROW]", "Print these texts behind columns and rows", takesDashes: true),
        DotCommand(".shell", "COMMAND ...", "Run a command of the system's", takesDashes: true),
        DotCommand(".show", "", "Show what is set"),
        DotCommand(".stats", "", "Show what the store is made of"),
        DotCommand(".tables", "[PATTERN]", "List tables and views"),
        DotCommand(".timeout", "MILLISECONDS", "Wait so long for a lock"),
        DotCommand(".timer", "on|off", "Show the time that each statement takes"),
        DotCommand(".width", "[N] ...", "Widths of columns in tables; negative: to the right", takesDashes: true),
    ]

    /// The command that the word is the beginning of, if it is one's only.
    private static func command(_ word: String) throws -> DotCommand {
        let other = [".indices": ".indexes", ".header": ".headers", ".system": ".shell", ".e": ".exit", ".q": ".quit"]
        let name = other[word] ?? word
        let found = commands.filter { $0.name.hasPrefix(name) }
        guard let command = found.first(where: { $0.name == name }) ?? (found.count == 1 ? found[0] : nil) else {
            let which = found.isEmpty ? "" : "; it could be \(found.map(\.name).joined(separator: ", "))"
            throw CommandFailure("there is no command \(word)\(which): .help lists them")
        }
        return command
    }

    /// Whether a command may write to the store by itself.
    static func mayWrite(_ words: [String]) -> Bool {
        [".import", ".read"].contains((try? command(words[0].lowercased()))?.name)
    }

    /// Performs a command. False: leave.
    func perform(_ words: [String]) throws -> Bool {
        let command = try Self.command(words[0].lowercased())
        let arguments = Array(words.dropFirst())
        try command.check(arguments)
        switch command.name {
        case ".quit": return false
        case ".exit":
            guard let status = arguments.isEmpty ? 0 : Int32(arguments[0]) else {
                throw CommandFailure("\(arguments[0]) is no exit status")
            }
            exitStatus = status
            return false
        case ".help": try printHelp(arguments.first)
        case ".bail": settings.bails = try isOn(arguments[0])
        case ".changes": settings.showsChanges = try isOn(arguments[0])
        case ".echo": settings.echoes = try isOn(arguments[0])
        case ".eqp": settings.explainsPlans = try isOn(arguments[0])
        case ".headers": (settings.format.header, settings.isHeaderSet) = (try isOn(arguments[0]), true)
        case ".timer": settings.timer = try isOn(arguments[0])
        case ".limit": try showLimits(arguments)
        case ".timeout":
            guard let time = Int32(arguments[0]), time >= 0 else {
                throw CommandFailure("\(arguments[0]) is no number of milliseconds")
            }
            try connection.execute("PRAGMA busy_timeout = \(time)")
        case ".mode": try setMode(arguments)
        case ".nullvalue": settings.format.null = arguments[0]
        case ".separator":
            settings.format.separator = arguments[0]
            if arguments.count > 1 { settings.format.rowEnd = arguments[1] }
        case ".width":
            settings.format.widths = try arguments.map { word in
                guard let width = Int(word), abs(width) <= 10000 else { throw CommandFailure("\(word) is no width") }
                return width
            }
        case ".parameter": try setParameter(arguments, usage: command.usage)
        case ".print": try output.write((arguments.joined(separator: " ") + "\n").utf8)
        case ".output": try redirect(to: arguments.first { $0 != "stdout" })
        case ".once": try redirect(to: arguments[0], once: true)
        case ".tables":
            try list("type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'", "name", arguments)
        case ".indexes": try list("type = 'index'", "tbl_name", arguments)
        case ".schema": try printSchema(arguments.first)
        case ".databases": try printDatabases()
        case ".show": try printSettings()
        case ".read": return try read(arguments[0])
        case ".open":
            try open(arguments[0], engine: Engine.chosen(nil, for: arguments[0]))
        case ".backup", ".save":
            guard arguments.count == 1 || arguments[0].lowercased() == "main" else {
                throw CommandFailure("usage: \(command.usage)")
            }
            try PartialFile.checkNew(arguments[arguments.count - 1])
            try connection.backup(to: arguments[arguments.count - 1])
        case ".engine": try output.write("\(connection.engine)\n".utf8)
        case ".stats": try output.write(InfoText(try connection.storeInfo()).text.utf8)
        case ".dump": try Dump(connection).write(to: output, table: arguments.first)
        case ".import": try importRows(arguments, usage: command.usage)
        case ".cd":
            guard FileManager.default.changeCurrentDirectoryPath(arguments[0]) else {
                throw CommandFailure("cannot go to \(arguments[0])")
            }
        case ".shell":
            try output.flush()
            let status = system(arguments.joined(separator: " "))
            if status != 0 { throw CommandFailure("the command ends with status \(status >> 8)") }
        default: preconditionFailure("the command \(command.name) is listed and not performed")
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

    private func printHelp(_ word: String?) throws {
        let wanted = Self.commands.filter { $0.name.dropFirst().hasPrefix((word ?? "").drop { $0 == "." }) }
        for command in wanted.isEmpty ? Self.commands : wanted {
            let isShort = command.usage.count < 24
            let gap = String(repeating: " ", count: isShort ? 24 - command.usage.count : 24)
            try output.write("\(command.usage)\(isShort ? "" : "\n")\(gap)\(command.summary)\n".utf8)
        }
    }

    /// `.mode box --wrap 40`: a mode sets separators back, and the width at which tables break their lines.
    private func setMode(_ arguments: [String]) throws {
        guard !arguments.isEmpty else {
            return try output.write("current output mode: \(settings.mode.rawValue)\n".utf8)
        }
        var (names, wrap, breaksAtWords, quotes) = ([String](), 60, false, false)
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word.hasPrefix("--") ? String(word.dropFirst()) : word {
            case "-wrap":
                guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 0 else {
                    throw CommandFailure("--wrap takes a number of characters, 0 for none")
                }
                wrap = number
            case "-wordwrap": breaksAtWords = try isOn(rest.popFirst() ?? "")
            case "-ww": breaksAtWords = true
            case "-quote": quotes = true
            case "-noquote": quotes = false
            case let option where option.hasPrefix("-"): throw CommandFailure(".mode has no option \(word)")
            default: names.append(word)
            }
        }
        guard let word = names.first, let mode = OutputMode(rawValue: word) else {
            let modes = OutputMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure("there is no mode \(names.first ?? ""): there are \(modes)")
        }
        settings.mode = mode
        settings.format.table = names.count > 1 ? names[1] : "table"
        (settings.format.separator, settings.format.rowEnd) = (nil, mode == .csv ? "\r\n" : nil)
        (settings.format.wrap, settings.format.breaksAtWords, settings.format.quotes) = (wrap, breaksAtWords, quotes)
        if mode == .column && !settings.isHeaderSet { settings.format.header = true }
    }

    private func setParameter(_ arguments: [String], usage: String) throws {
        switch (arguments.first, arguments.count) {
        case ("init", 1): break  // there is no table to make
        case ("clear", 1): settings.parameters = [:]
        case ("unset", 2): settings.parameters[arguments[1]] = nil
        case ("list", 1):
            let width = settings.parameters.keys.map(\.count).max() ?? 0
            for (name, value) in settings.parameters.sorted(by: { $0.key < $1.key }) {
                let shown = try connection.queryOne("SELECT quote(?)", [value]).map { $0[0] }
                guard case .text(let text)? = shown else { continue }
                let gap = String(repeating: " ", count: width - name.count)
                try output.write("\(name)\(gap) \(text)\n".utf8)
            }
        case ("set", 3):
            // An expression, or else the text itself.
            let value = try? connection.queryOne("SELECT \(arguments[2])").map { $0[0] }
            settings.parameters[arguments[1]] = value ?? .text(arguments[2])
        default: throw CommandFailure("usage: \(usage)")
        }
    }

    /// False: the file says `.quit`.
    private func read(_ file: String) throws -> Bool {
        guard !filesRead.contains(file) else { throw CommandFailure("\(file) is being read already: it reads itself") }
        filesRead.append(file)
        defer { filesRead.removeLast() }
        let lines = try ScriptLines(path: file)
        do { return try run(lines) } catch { throw CommandFailure("\(file): \(CommandFailure(error))") }
    }

    private func importRows(_ arguments: [String], usage: String) throws {
        var (names, skip) = ([String](), 0)
        var form = CSVReader.Form()
        if let separator = settings.mode == .tabs ? "\t" : settings.format.separator {
            guard separator.utf8.count == 1 else { throw CommandFailure("a file's separator has one byte: .separator") }
            form.separator = separator.utf8.first!
        }
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--csv", "-csv": form = CSVReader.Form()
            case "--ascii", "-ascii": form = .ascii
            case "--skip", "-skip":
                guard let lines = rest.popFirst().flatMap({ Int($0) }), lines >= 0 else {
                    throw CommandFailure("--skip takes a number of lines, 0 or more")
                }
                skip = lines
            case _ where word.hasPrefix("-"): throw CommandFailure(".import has no option \(word); usage: \(usage)")
            default: names.append(word)
            }
        }
        guard names.count == 2 else { throw CommandFailure("usage: \(usage)") }
        let count = try CSVImport(connection, form: form).read(
            names[0], into: names[1], skip: skip, beforeRow: PromptInterrupt.check)
        try output.write("\(counted(count, "row"))\n".utf8)
    }
}
