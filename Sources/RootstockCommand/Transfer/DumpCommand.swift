import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

/// `rootstock dump`: a store as SQL text.
struct DumpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dump",
        abstract: "Print a store as SQL, which sqlite3 and 'rootstock sql' run.",
        discussion: """
            One snapshot: writers go on meanwhile. The text is what .dump of the sqlite3 shell prints for the same database.

            rootstock dump app.lmdb > app.sql
            rootstock dump app.lmdb | sqlite3 app.sqlite
            """)

    @OptionGroup var engineOption: EngineOption

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    @Argument(help: "A table, or a pattern as LIKE has it; everything if there is none.")
    var table: String?

    func run() throws {
        let engine = try engineOption.engine(forExisting: path)
        var options = StoreOptions()
        options.readOnly = true
        do {
            let output = StandardOutput()
            try Dump(try Connection(path: path, engine: engine, options: options)).write(to: output, table: table)
            try output.flush()
        } catch {
            throw CommandFailure(error)
        }
    }
}
