import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

/// `rootstock sql`: runs statements on a store and prints what they return.
struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Run SQL on a store and print the rows.",
        discussion: """
            The statements are the arguments after PATH, or else standard input. An argument may hold several. On a terminal there \
            is a prompt, where .help lists the commands.

            Statements run one after the other on one connection, each in a transaction of its own unless the SQL says otherwise. \
            The first error of a script ends the command with status 1, and points at its token. Earlier statements keep their \
            effect. A store that does not exist is made at the prompt, by a statement that writes, or with --create.

            The output is that of the sqlite3 shell in the mode of the same name. Commands of the shell (.tables, .dump, .mode ...) \
            may stand between the statements, as arguments of their own or on lines of their own.
            """
    )

    @OptionGroup var engineOption: EngineOption

    @Option(help: "What a commit survives: off, normal or full.")
    var durability: StoreOptions.Durability = .full

    @Option(help: "Options that the engine alone has: name=value,name=value.")
    var engineOptions: String?

    @Flag(help: "Make a new store with a checksum for every entry; an existing one must have them.")
    var checksum = false

    @Flag(help: "Open an existing store and write nothing.")
    var readOnly = false

    @Flag(help: "Make the store if it does not exist, whatever the statements do.")
    var create = false

    @Flag(help: "How rows are printed.")
    var mode: OutputMode = .list

    @Flag(help: "Print column names above the rows; tables and JSON always have them.")
    var header = false

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    @Argument(help: ArgumentHelp("Statements; standard input if there are none.", valueName: "SQL"))
    var statements: [String] = []

    func validate() throws {
        if create && readOnly { throw ValidationError("--create and --read-only exclude each other.") }
    }

    func run() throws {
        var options = StoreOptions(durability: durability)
        options.readOnly = readOnly
        options.checksum = checksum
        options.engineOptions = engineOptions
        var shell: Shell?
        do {
            let engine = try engineOption.engine(for: path)
            let settings = Shell.Settings(mode: mode, format: RowFormat(header: header))
            func open() throws -> Shell {
                let opened = try Shell(path: path, engine: engine, options: options, settings: settings)
                shell = opened
                return opened
            }
            if statements.isEmpty && isatty(STDIN_FILENO) != 0 {
                try open().prompt()
            } else {
                let texts = statements.isEmpty ? [ScriptLines()] : statements.map { ScriptLines(text: $0) }
                try checkExists(texts, engine)
                let opened = try open()
                for text in texts where try !opened.run(text) { break }
            }
        } catch {
            // What was printed belongs before the error; if it cannot be, the first error is still the one to tell.
            try? shell?.output.flush()
            throw CommandFailure(error)
        }
        if let status = shell?.exitStatus, status != 0 { throw ExitCode(status) }
    }

    /// Refuses to make a store for statements that only read: its name is mistyped, most likely.
    private func checkExists(_ texts: [ScriptLines], _ engine: Engine) throws {
        guard !create, engine != .memory, !path.isEmpty, path != ":memory:",
            !FileManager.default.fileExists(atPath: path), Engine.recognized(at: path) == nil,
            engine.isKnown
        else { return }
        if readOnly { throw CommandFailure("there is no file \(path)") }
        // Nothing is read or written here: statements are only prepared, up to the first one that writes.
        let empty = try Connection(path: ":memory:", engine: engine.isNative ? .sqlite : .memory)
        let missing = "\(path) does not exist; a statement that writes makes it, and so does --create"
        for text in texts {
            var writes = false
            try text.lookingAhead { lines in
                var pieces = Pieces()
                while !writes {
                    let line = try lines.next()
                    let piece = line.map { pieces.add($0, line: lines.number) } ?? pieces.rest()
                    if case .command(let words) = piece { writes = Shell.mayWrite(words) }
                    if case .statements(let sql, let first) = piece {
                        do {
                            writes = try Self.writes(sql, on: empty)
                        } catch let failure as StatementFailure {
                            let told = lines.failure(failure.error, in: sql, at: failure.position, firstLine: first)
                            throw CommandFailure("\(told) (\(missing))")
                        }
                    }
                    if line == nil { break }
                }
            }
            if writes { return }
        }
        throw CommandFailure(missing)
    }

    private struct StatementFailure: Error {
        var error: any Error
        var position: Int
    }

    private static func writes(_ sql: String, on connection: Connection) throws -> Bool {
        struct Found: Error {}
        var position = 0
        do {
            try connection.forEachStatement(in: sql, position: &position) { if !$0.isReadOnly { throw Found() } }
            return false
        } catch is Found {
            return true
        } catch {
            throw StatementFailure(error: error, position: position)
        }
    }
}
