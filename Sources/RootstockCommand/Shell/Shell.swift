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
    }

    private(set) var path: String
    private(set) var connection: Connection
    let options: StoreOptions
    private(set) var output = StandardOutput()
    /// Whether the output goes back to where it was behind the next statement or command.
    private var isRedirectedOnce = false
    var settings: Settings

    // Unchecked: the prompt's thread sets them, and the handler runs there or finds one word.

    /// The connection at work, for SIGINT.
    nonisolated(unsafe) private static var running: Connection?
    /// Whether Ctrl-C was typed since this was last cleared.
    nonisolated(unsafe) private static var isInterrupted = false

    init(path: String, engine: Engine, options: StoreOptions, settings: Settings) throws {
        self.path = path
        self.options = options
        self.settings = settings
        connection = try Connection(path: path, engine: engine, options: options)
    }

    /// Goes on with another file.
    func open(_ path: String, engine: Engine) throws {
        let other = try Connection(path: path, engine: engine, options: options)
        connection.close()
        (self.path, connection) = (path, other)
    }

    /// Sends what is printed to a file, made anew; `nil`: to standard output.
    func redirect(to file: String?, once: Bool = false) throws {
        try output.flush()
        output = try file.map { try StandardOutput(rewriting: $0) } ?? StandardOutput()
        isRedirectedOnce = once
    }

    private func endRedirection() throws {
        if isRedirectedOnce { try redirect(to: nil) }
    }

    // MARK: Scripts

    /// Runs a script to its end; the first error ends it. False: it said `.quit`.
    @discardableResult func run(script: String) throws -> Bool {
        var pieces = Pieces()
        var line = 0
        for text in Pieces.lines(of: script) {
            line += 1
            switch pieces.add(text, line: line) {
            case .nothing: continue
            case .command(let words):
                do {
                    guard try perform(interruptible: words) else {
                        try output.flush()
                        return false
                    }
                } catch {
                    let isLong = script.dropLast(script.last == "\n" ? 1 : 0).contains("\n")
                    throw CommandFailure(isLong ? "line \(line): \(CommandFailure(error))" : "\(CommandFailure(error))")
                }
            case .statements(let sql, let first): try run(sql, in: script, firstLine: first)
            }
        }
        if case .statements(let sql, let first) = pieces.rest() { try run(sql, in: script, firstLine: first) }
        try output.flush()
        return true
    }

    private func run(_ sql: String, in script: String, firstLine: Int) throws {
        var position = 0
        do {
            try run(sql, position: &position)
        } catch {
            if error is CommandFailure { throw error }
            // As of the script: the statement may stand far down in it.
            let before = Pieces.lines(of: script).prefix(firstLine - 1)
            let offset = before.reduce(0) { $0 + $1.utf8.count + 1 }
            throw CommandFailure(
                "\(SQLCommand.failure(error, in: script, at: offset + position))\(place(of: error))")
        }
    }

    /// Runs every statement of the text and prints its rows.
    func run(_ sql: String, position: inout Int) throws {
        Self.running = connection
        defer { Self.running = nil }
        defer { try? endRedirection() }
        try connection.forEachStatement(in: sql, position: &position) { statement in
            try Self.checkInterruption()
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
            if settings.timer {
                let after = Self.processorTime()
                let line = String(
                    format: "Run Time: real %.3f user %.6f sys %.6f\n", Date().timeIntervalSince(started),
                    after.user - before.user, after.system - before.system)
                try output.write(line.utf8)
            }
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
        signal(SIGINT) { _ in
            Shell.isInterrupted = true
            Shell.running?.interrupt()
        }
        let warning = editor.hasEditing ? "" : " Lines have no editing: libedit (Debian: libedit2) is not there."
        print("Rootstock \(Version.rootstock), SQLite \(Version.sqlite); \(path) on engine \(connection.engine).")
        print("Statements end with a semicolon; .help lists the commands, .quit leaves.\(warning)")
        var pieces = Pieces()
        while true {
            Self.isInterrupted = false
            guard let line = editor.line(prompt: pieces.isEmpty ? "rootstock> " : "      ...> ") else {
                guard Self.isInterrupted else { break }
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
        Self.running = connection
        defer { Self.running = nil }
        let goesOn = try perform(words)
        if words[0] != ".once" { try endRedirection() }
        return goesOn
    }

    /// `interrupt` ends the statement that runs; this ends what goes on from one to the next.
    static func checkInterruption() throws {
        if isInterrupted { throw CommandFailure("interrupted") }
    }

    private func told(_ error: any Error) -> String { "Error: \(CommandFailure(error))\(place(of: error))" }

    /// The statement's line, and below it where SQLite stopped; nothing where SQLite does not tell.
    private func place(of error: any Error) -> String {
        guard let error = error as? DatabaseError, let sql = error.sql else { return "" }
        // SQLite tells a place in the text that it got; it is the user's where the word that it names stands there.
        let offset = Int(sqlite3_error_offset(connection.handle))
        let bytes = Array(sql.utf8)
        let named =
            error.message.split(separator: "\"").dropFirst().first.map(String.init)
            ?? error.message.components(separatedBy: ": ").last ?? ""
        guard offset >= 0, offset < bytes.count, bytes[offset...].starts(with: named.utf8) else { return "" }
        let newline = UInt8(ascii: "\n")
        let lineStart = bytes[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let lineEnd = bytes[offset...].firstIndex(of: newline) ?? bytes.count
        // Of a long line what stands around the place, whole characters.
        let before = String(decoding: bytes[lineStart..<offset], as: UTF8.self).suffix(50)
        let rest = String(decoding: bytes[offset..<lineEnd], as: UTF8.self).prefix(78 - before.count)
        let blanks = String(repeating: " ", count: before.count)
        let mark = before.count < 34 ? "\(blanks)^--- error here" : "\(blanks.dropLast(14))error here ---^"
        return "\n  \(before)\(rest)\n  \(mark)"
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

/// Lines put together to statements: a line that begins with a dot between them is a command.
struct Pieces {
    enum Piece {
        case nothing
        case command([String])
        case statements(String, firstLine: Int)
    }

    private var text = ""
    private var firstLine = 1

    var isEmpty: Bool { text.allSatisfy(\.isWhitespace) }

    mutating func add(_ line: String, line number: Int) -> Piece {
        if isEmpty {
            if line.hasPrefix(".") { return .command(Self.words(of: line)) }
            firstLine = number
            text = ""
        }
        text += line + "\n"
        guard line.contains(";"), sqlite3_complete(text) != 0 else { return .nothing }
        return rest()
    }

    /// What there is, whole or not.
    mutating func rest() -> Piece {
        defer { text = "" }
        return isEmpty ? .nothing : .statements(text, firstLine: firstLine)
    }

    /// Its lines, by the byte: of a carriage return and a newline Swift makes one character.
    static func lines(of script: String) -> [String] {
        script.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }

    /// Words between blanks; quotes keep blanks together.
    static func words(of line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in line {
            if let open = quote {
                if character == open { quote = nil } else { word?.append(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }
}
