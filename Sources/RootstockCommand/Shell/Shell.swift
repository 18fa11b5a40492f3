import CSQLite
import CommandSupport
import Foundation
import Rootstock

/// Statements and dot-commands, one after the other on one connection: what `rootstock sql` does with its standard input.
final class Shell {
    /// How rows and times are shown.
    struct Settings {
        var mode: OutputMode
        var format: RowFormat
        var timer = false
        var explainsPlans = false
        var showsChanges = false
        var echoes = false
        /// Whether a script ends at its first error.
        var bails = true
        /// Whether `.headers` was given: mode column does not change it then.
        var isHeaderSet = false
        /// Values of `.parameter`, by the parameter's name with its prefix.
        var parameters: [String: Value] = [:]
    }

    private(set) var path: String
    private(set) var connection: Connection
    let options: StoreOptions
    private(set) var output = StandardOutput()
    private(set) var outputName = "stdout"
    /// Whether the output goes back to where it was behind the next statement or command.
    private var isRedirectedOnce = false
    var settings: Settings
    /// The files that `.read` reads now, one named in the other.
    var filesRead: [String] = []
    /// What the command ends with: `.exit` says, or a script that went on after an error.
    var exitStatus: Int32 = 0

    init(path: String, engine: Engine, options: StoreOptions, settings: Settings) throws {
        self.path = path
        self.options = options
        self.settings = settings
        connection = try Connection(path: path, engine: engine, options: options)
    }

    /// Goes on with another file.
    func open(_ path: String, engine: Engine) throws {
        let other = try Connection(path: path, engine: engine, options: options)
        PromptInterrupt.leave()
        connection.close()
        (self.path, connection) = (path, other)
    }

    /// Sends what is printed to a file, made anew, or to `|COMMAND`; `nil`: to standard output.
    func redirect(to file: String?, once: Bool = false) throws {
        // What cannot be written is told once: the output is another one by then.
        let before = output
        (output, outputName, isRedirectedOnce) = (StandardOutput(), "stdout", false)
        try before.flush()
        if let file {
            output =
                try file.hasPrefix("|")
                ? StandardOutput(command: String(file.dropFirst())) : StandardOutput(rewriting: file)
            outputName = file
        }
        isRedirectedOnce = once
    }

    private func endRedirection() throws {
        if isRedirectedOnce { try redirect(to: nil) }
    }

    // MARK: Scripts

    /// Runs a script to its end; the first error ends it unless `.bail off` was said. False: it said `.quit` or `.exit`.
    @discardableResult func run(_ lines: ScriptLines) throws -> Bool {
        var pieces = Pieces()
        while true {
            // A writer that waits for an answer gets it.
            if lines.isWaiting { try output.flush() }
            guard let text = try lines.next() else { break }
            let number = lines.number
            do {
                switch pieces.add(text, line: number) {
                case .nothing: continue
                case .command(let words):
                    if settings.echoes { try output.write((text + "\n").utf8) }
                    do {
                        guard try perform(interruptible: words) else {
                            try output.flush()
                            return false
                        }
                    } catch { throw lines.named(CommandFailure(error), line: number) }
                case .statements(let sql, let first): try run(sql, of: lines, firstLine: first)
                }
            } catch  where !settings.bails {
                try tellAndGoOn(after: error)
            }
        }
        do {
            if case .statements(let sql, let first) = pieces.rest() { try run(sql, of: lines, firstLine: first) }
        } catch  where !settings.bails {
            try tellAndGoOn(after: error)
        }
        try output.flush()
        return true
    }

    private func tellAndGoOn(after error: any Error) throws {
        try output.flush()
        FileHandle.standardError.write(Data("Error: \(CommandFailure(error))\n".utf8))
        exitStatus = 1
    }

    private func run(_ sql: String, of lines: ScriptLines, firstLine: Int) throws {
        var position = 0
        do {
            try run(sql, position: &position)
        } catch let error as DatabaseError {
            throw CommandFailure(
                "\(lines.failure(error, in: sql, at: position, firstLine: firstLine))\(place(of: error))")
        }
    }

    /// Runs every statement of the text and prints its rows.
    func run(_ sql: String, position: inout Int) throws {
        do {
            try PromptInterrupt.interrupting(connection) { try runStatements(of: sql, position: &position) }
        } catch {
            // The first error is the one to tell.
            try? endRedirection()
            throw error
        }
        try endRedirection()
    }

    private func runStatements(of sql: String, position: inout Int) throws {
        try connection.forEachStatement(in: sql, position: &position) { statement in
            try PromptInterrupt.check()
            if settings.echoes {
                try output.write((statement.sql.trimmingCharacters(in: .whitespacesAndNewlines) + "\n").utf8)
            }
            try bindParameters(of: statement)
            if settings.explainsPlans { try printPlan(of: statement.sql) }
            let started = Date()
            let before = Self.processorTime()
            if Self.isPlan(statement) {
                var steps: [[Value]] = []
                while try statement.step() { steps.append((0..<4).map { statement.value(at: $0) }) }
                try printPlan(steps)
            } else {
                var printer = settings.mode.printer(settings.format)
                try printer.print(statement, to: output)
            }
            if settings.showsChanges {
                let (changes, total) = (connection.changes, connection.totalChanges)
                try output.write("changes: \(changes)   total_changes: \(total)\n".utf8)
            }
            if settings.timer {
                let after = Self.processorTime()
                let line = String(
                    format: "Run Time: real %.3f user %.6f sys %.6f\n", Date().timeIntervalSince(started),
                    after.user - before.user, after.system - before.system)
                try output.write(line.utf8)
            }
        }
    }

    private func bindParameters(of statement: Statement) throws {
        guard !settings.parameters.isEmpty, statement.parameterCount > 0 else { return }
        for index in 1...statement.parameterCount {
            guard let name = statement.parameterName(at: index), let value = settings.parameters[name] else { continue }
            try statement.bind(value, at: index)
        }
    }

    private static func processorTime() -> (user: Double, system: Double) {
        var usage = rusage()
        #if os(Linux)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #else
            getrusage(RUSAGE_SELF, &usage)
        #endif
        return (usage.ru_utime.seconds, usage.ru_stime.seconds)
    }

    private func printPlan(of sql: String) throws {
        let text = sql.trimmingCharacters(in: .whitespacesAndNewlines)
        guard
            ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE", "VALUES"].contains(where: { word in
                text.uppercased().hasPrefix(word)
            })
        else { return }
        try printPlan(connection.query("EXPLAIN QUERY PLAN " + text).map { row in (0..<4).map { row[$0] } })
    }

    /// Whether the statement is an EXPLAIN QUERY PLAN, whose rows are a tree.
    private static func isPlan(_ statement: Statement) -> Bool {
        guard statement.columnNames == ["id", "parent", "notused", "detail"] else { return false }
        let words = Array(statement.sql.utf8CString.dropLast()).withUnsafeBufferPointer { text in
            SQLTokens(text).prefix(3).map {
                String(decoding: text[$0.range].map { UInt8(bitPattern: $0) }, as: UTF8.self).uppercased()
            }
        }
        return words == ["EXPLAIN", "QUERY", "PLAN"]
    }

    private func printPlan(_ steps: [[Value]]) throws {
        guard !steps.isEmpty else { return }
        var depths: [Int: Int] = [0: 0]
        try output.write("QUERY PLAN\n")
        for (index, step) in steps.enumerated() {
            guard case .integer(let id) = step[0], case .integer(let parent) = step[1], case .text(let detail) = step[3]
            else { continue }
            let depth = depths[Int(parent)] ?? 0
            depths[Int(id)] = depth + 1
            let isLast = !steps[(index + 1)...].contains { $0[1] == step[1] }
            try output.write("\(String(repeating: "   ", count: depth))\(isLast ? "`--" : "|--")\(detail)\n".utf8)
        }
    }

    // MARK: The prompt

    /// Asks for statements until the end of the input or `.quit`. After an error or Ctrl-C the prompt comes again.
    func prompt() throws {
        let editor = LineEditor()
        LineEditor.words = { [unowned self] in completions() }
        PromptInterrupt.begin()
        let warning = editor.hasEditing ? "" : " Lines have no editing: libedit (Debian: libedit2) is not there."
        print("Rootstock \(Version.rootstock), SQLite \(Version.sqlite); \(path) on engine \(connection.engine).")
        print("Statements end with a semicolon; .help lists the commands, .quit leaves.\(warning)")
        var pieces = Pieces()
        while true {
            PromptInterrupt.clear()
            guard let line = editor.line(prompt: pieces.isEmpty ? "rootstock> " : "      ...> ") else {
                guard PromptInterrupt.isTyped else { break }
                // Ctrl-C takes back what was typed of a statement.
                print()
                pieces = Pieces()
                continue
            }
            do {
                switch pieces.add(line, line: 1) {
                case .nothing: continue
                case .command(let command):
                    if try !perform(interruptible: command) { return editor.saveHistory() }
                case .statements(let sql, _):
                    var position = 0
                    try run(sql, position: &position)
                }
                try output.flush()
            } catch {
                try? output.flush()
                FileHandle.standardError.write(Data((told(error) + "\n").utf8))
            }
        }
        print()
        editor.saveHistory()
    }

    /// A command that Ctrl-C ends as it does a statement.
    private func perform(interruptible words: [String]) throws -> Bool {
        let goesOn = try PromptInterrupt.interrupting(connection) { try perform(words) }
        if words[0] != ".once" { try endRedirection() }
        return goesOn
    }

    private func told(_ error: any Error) -> String { "Error: \(CommandFailure(error))\(place(of: error))" }

    /// The statement's line, and below it where SQLite stopped; nothing where SQLite does not tell.
    private func place(of error: any Error) -> String {
        guard let error = error as? DatabaseError, let sql = error.sql, let offset = offset(of: error, in: sql) else {
            return ""
        }
        let bytes = Array(sql.utf8)
        let newline = UInt8(ascii: "\n")
        let lineStart = bytes[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[offset...].firstIndex(of: newline) ?? bytes.count
        // Of a long line what stands around the place, whole characters.
        let before = String(decoding: bytes[lineStart..<offset], as: UTF8.self).suffix(50)
        let behind = String(decoding: bytes[offset..<lineEnd], as: UTF8.self).prefix(78 - before.count)
        let blanks = String(repeating: " ", count: before.count)
        let mark = before.count < 25 ? "\(blanks)^--- error here" : "\(blanks.dropLast(14))error here ---^"
        return "\n  \(before)\(behind)\n  \(mark)"
    }

    /// Where SQLite stopped. A store hands SQLite another text than the user's. So a database with the same schema and no
    /// rows gets the user's, and tells the place if it says the same of it.
    private func offset(of said: DatabaseError, in sql: String) -> Int? {
        func known(_ offset: Int32) -> Int? { offset >= 0 && offset < sql.utf8.count ? Int(offset) : nil }
        guard !connection.engine.isNative else { return known(sqlite3_error_offset(connection.handle)) }
        guard said.code == .error, let empty = try? Connection(path: ":memory:", engine: .sqlite) else { return nil }
        let schema = try? connection.query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        for case .text(let text)? in (schema ?? []).map({ $0[0] }) { try? empty.execute(text) }
        do {
            _ = try empty.prepare(sql)
            return nil
        } catch {
            return said.message == error.message ? known(sqlite3_error_offset(empty.handle)) : nil
        }
    }

    private func completions() -> [String] {
        let names =
            try? connection.query(
                "SELECT name FROM sqlite_schema UNION SELECT p.name FROM sqlite_schema s, pragma_table_info(s.name) p "
                    + "WHERE s.type IN ('table', 'view')")
        return Self.keywords + (names ?? []).compactMap { if case .text(let name) = $0[0] { name } else { nil } }
    }

    private static let keywords = (0..<Int(sqlite3_keyword_count())).compactMap { number -> String? in
        var name: UnsafePointer<CChar>?
        var size: Int32 = 0
        guard sqlite3_keyword_name(Int32(number), &name, &size) == SQLITE_OK, let name else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: name, count: Int(size)), as: UTF8.self)
    }
}

extension timeval {
    fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
