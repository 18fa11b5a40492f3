import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

/// `rootstock export`: a store as a SQLite database, or a table or query of it as CSV.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a store as a SQLite database, or a table as CSV.",
        discussion: """
            The database is one that any SQLite program opens. Every row is read on both sides and compared. Interrupted, no \
            file is left, and a file that exists is never overwritten.

            rootstock export app.lmdb app.sqlite
            rootstock export app.lmdb books.csv --table book
            rootstock export app.lmdb lent.csv --query "SELECT title, lent FROM book WHERE lent > 0"

            CSV has a first line with the columns' names. NULL is written as nothing and the empty text as "".
            """)

    @OptionGroup var engineOption: EngineOption

    @Option(help: "Write this table, or view, as CSV.")
    var table: String?

    @Option(help: ArgumentHelp("Write what this query returns as CSV.", valueName: "SQL"))
    var query: String?

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Argument(help: "The file to make.", completion: .file())
    var to: String

    func validate() throws {
        if table != nil && query != nil { throw ValidationError("--table and --query exclude each other.") }
        if table == nil && query == nil && to.lowercased().hasSuffix(".csv") {
            throw ValidationError("A CSV file holds one table or query: --table NAME or --query SQL.")
        }
    }

    func run() throws {
        let engine = try engineOption.engine(forExisting: store)
        guard let sql = query ?? table.map({ "SELECT * FROM \(SQL.quoted($0))" }) else {
            let options = StoreOptions(durability: .full)
            return try DatabaseCopy(from: store, fromEngine: engine, to: to, engine: .sqlite, options: options).run()
        }
        do {
            var options = StoreOptions()
            options.readOnly = true
            let connection = try Connection(path: store, engine: engine, options: options)
            try PartialFile.checkNew(to)
            let file = PartialFile(for: to)
            try file.checkTarget()
            try Interruption.takingBack(file.remove) {
                do {
                    let output = try StandardOutput(path: file.path)
                    let statement = try connection.prepare(sql)
                    guard statement.isReadOnly, statement.columnCount > 0 else {
                        throw CommandFailure("--query takes a SELECT")
                    }
                    try CSVPrinter(format: RowFormat(header: true), isFile: true).print(statement, to: output)
                    try output.close()
                    try file.publish()
                } catch {
                    file.remove()
                    throw error
                }
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}
