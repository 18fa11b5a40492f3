import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

/// `rootstock import`: a database into a new store, or the rows of a CSV file into a table.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a SQLite database into a new store, or a CSV file into a table.",
        discussion: """
            A database: tables, rows, indexes, views and triggers, AUTOINCREMENT's counters, user_version and application_id \
            come over. Then every row is read on both sides and compared. Virtual tables of other modules (full-text search, \
            R-trees) are left out, with the triggers and views that use them. The last lines name them. The database is only \
            read. An import that is interrupted leaves no store. The source may be a store of any engine, so that a store is \
            copied to another engine.

            rootstock import app.sqlite app.lmdb
            rootstock import app.lmdb other.store --engine sqlite-btree

            A CSV file (RFC 4180, UTF-8): --table names the table. A new table gets the names of the file's first line, and \
            columns of type TEXT. Into a table that exists every line goes as a row, and --skip 1 leaves out a heading. All rows \
            arrive, or none: a line with too many or too few fields ends the import and is named.

            rootstock import books.csv app.lmdb --table book
            """,
        aliases: ["copy"])

    @Option(help: "The engine of the source. Its first bytes tell, unless this names it.")
    var from: Engine?

    @OptionGroup var engineOption: EngineOption

    @Option(help: "What the import survives once it has ended: off, normal or full.")
    var durability: StoreOptions.Durability = .full

    @Option(help: "Options that the engine of the store alone has: name=value,name=value.")
    var engineOptions: String?

    @Flag(help: "Keep a checksum with every entry of the new store.")
    var checksum = false

    @Option(help: "The table that a CSV file's rows go into.")
    var table: String?

    @Option(help: "Lines at the start of a CSV file that are no rows.")
    var skip = 0

    @Argument(help: "A SQLite database, a store, a CSV file, or |COMMAND that prints one.", completion: .file())
    var source: String

    @Argument(help: "The store: a new one, or for a CSV file one that may exist.", completion: .file())
    var store: String

    func validate() throws {
        if table == nil && skip != 0 { throw ValidationError("--skip is for a CSV file, and goes with --table.") }
        if skip < 0 { throw ValidationError("--skip takes a number of lines, 0 or more.") }
        if table == nil && source.lowercased().hasSuffix(".csv") {
            throw ValidationError("A CSV file's rows need a table: --table NAME.")
        }
        if table != nil && from != nil {
            throw ValidationError("--from is the engine of a database, and no CSV file has one.")
        }
    }

    func run() throws {
        var options = StoreOptions(durability: durability)
        options.checksum = checksum
        options.engineOptions = engineOptions
        guard let table else {
            let engine = engineOption.engine ?? Engine.usual(for: store)
            return try DatabaseCopy(from: source, fromEngine: from, to: store, engine: engine, options: options).run()
        }
        let progress = Progress()
        defer { progress.clear() }
        do {
            // Only then is a store made. A command runs once.
            if !source.hasPrefix("|") { _ = try CSVReader(path: source) }
            let engine = try engineOption.engine(for: store)
            func read(into path: String) throws -> Int {
                let connection = try Connection(path: path, engine: engine, options: options)
                defer { connection.close() }
                return try CSVImport(connection).read(source, into: table, skip: skip, progress: progress.show)
            }
            var count = 0
            let keepsFiles = Engine.descriptions.first { $0.engine == engine }?.keepsFiles ?? true
            if Engine.isSomething(at: store) || !keepsFiles {
                // The store takes back by itself what was not committed.
                let takeBack: @Sendable () -> Void = {}
                count = try Interruption.takingBack(takeBack) { try read(into: store) }
            } else {
                // A new store has its name once all rows are there.
                let file = PartialFile(for: store)
                try Interruption.takingBack(file.remove) {
                    do {
                        count = try read(into: file.path)
                        try file.publish()
                    } catch {
                        file.remove()
                        throw (error as? DatabaseError).map(file.named) ?? error
                    }
                }
            }
            progress.clear()
            print("\(counted(count, "row")) into \(table)")
            PartialFile.tellLeftovers(of: store)
        } catch {
            throw CommandFailure(error)
        }
    }
}
