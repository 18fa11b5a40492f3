import ArgumentParser
import Rootstock

/// `rootstock sql`: runs statements on a store and prints what they return.
struct SQLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sql",
        abstract: "Run SQL on a store and print the rows.",
        discussion: """
            The statements are the arguments after PATH, each of which may hold several, or else standard input. They run one \
            after the other on one connection, each in a transaction of its own unless the SQL says otherwise. The \
            first error ends the command with status 1; what ran before keeps its effect.

            The output is that of the sqlite3 shell in the mode of the same name.
            """
    )

    @Option(help: "The engine under the store.")
    var engine: Engine = .lmdb

    @Option(help: "What a commit survives: off, normal or full.")
    var durability: StoreOptions.Durability = .full

    @Flag(help: "Make a new store with a checksum for every entry; an existing one must have them.")
    var checksum = false

    @Flag(help: "Open an existing store and write nothing.")
    var readOnly = false

    @Flag(help: "How rows are printed.")
    var mode: OutputMode = .list

    @Flag(help: "Print column names above the rows; tables and JSON always have them.")
    var header = false

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    @Argument(help: ArgumentHelp("Statements; standard input if there are none.", valueName: "SQL"))
    var statements: [String] = []

    func run() throws {
        var options = StoreOptions(durability: durability)
        options.readOnly = readOnly
        options.checksum = checksum
        let output = StandardOutput()
        do {
            let connection = try Connection(path: path, engine: engine, options: options)
            for script in statements.isEmpty ? [try StandardInput.readAll()] : statements {
                try connection.forEachStatement(in: script) { statement in
                    var printer = mode.printer(header: header)
                    try printer.print(statement, to: output)
                }
            }
            try output.flush()
        } catch {
            // What was printed belongs before the error; if it cannot be, the first error is still the one to tell.
            try? output.flush()
            throw CommandFailure(error)
        }
    }
}
