import ArgumentParser
import CommandSupport
import Rootstock

/// `rootstock trees`: lists the trees of an LMDB file.
struct Trees: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trees",
        abstract: "List the trees of an LMDB file.",
        discussion: """
            FILE is any program's LMDB file, or the directory that holds its data.mdb. A line is a tree: its name, its entries, its \
            flags (dupsort, integerkey ...), its depth in pages and its pages. The unnamed tree's entries include a record for each \
            named one.

            CREATE VIRTUAL TABLE t USING kv('FILE', 'tree', key=text, value=text) makes a tree a table.
            """
    )

    @Flag(help: "How rows are printed.")
    var mode: OutputMode = .table

    @Flag(help: "Print column names above the rows; tables and JSON always have them.")
    var header = false

    @Argument(help: "The file.", completion: .file())
    var file: String

    func run() throws {
        let output = StandardOutput()
        do {
            // The list is a table-valued function; any connection of Rootstock's has it.
            let connection = try Connection(path: "trees", engine: .memory)
            let statement = try connection.prepare("SELECT name, entries, flags, depth, pages FROM kv_trees(?)")
            try statement.bind(file, at: 1)
            var printer = mode.printer(RowFormat(header: header))
            try printer.print(statement, to: output)
            try output.flush()
        } catch {
            throw CommandFailure(error)
        }
    }
}
