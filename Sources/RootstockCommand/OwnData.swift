// The user's own data: the options of `compare` for it, `rootstock suggest` and `rootstock import`.

import ArgumentParser
import CommandSupport
import Comparison
import Foundation
import OwnData
import Rootstock
import Workloads

struct OwnDataOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A SQLite database or an LMDB store, opened for reading only and imported into each engine.",
            valueName: "file"),
        completion: .file())
    var database: String?

    @Option(
        help: ArgumentHelp("The SQL to run on it, with directives in comments (above).", valueName: "file"),
        completion: .file())
    var workload: String?

    var isAskedFor: Bool { database != nil }

    func validate() throws {
        if (database == nil) != (workload == nil) {
            throw ValidationError(
                "--database and --workload go together; 'rootstock suggest DATABASE' writes a first workload.")
        }
    }

    /// What the user's files come to; null where none were named.
    func plan(
        size: Int?, seed: UInt32, durability: StoreOptions.Durability, in directory: URL, progress: (String) -> Void
    ) throws -> OwnDataPlan? {
        guard let database, let workload else { return nil }
        do {
            return try OwnData.plan(
                database: database, workload: workload, size: size, seed: seed, durability: durability,
                directory: Self.place(in: directory), progress: progress)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Removes what the plan left in a directory that the user named.
    func removeLeftovers(in directory: URL) { try? FileManager.default.removeItem(at: Self.place(in: directory)) }

    private static func place(in directory: URL) -> URL {
        directory.appendingPathComponent("own-data", isDirectory: true)
    }
}

extension OwnDataPlan {
    var item: PlanItem { PlanItem(suite: suite, workloads: suite.workloads, size: suite.defaultSize) }
}

extension OwnDataDescription {
    init(_ plan: OwnDataPlan) {
        self.init(
            database: plan.database, databaseBytes: plan.databaseBytes, tables: plan.tables, rows: plan.rows,
            skipped: plan.skipped,
            operations: plan.operations.map { Operation(name: $0.name, weight: $0.weight, executions: $0.executions) })
    }
}

/// `rootstock suggest`: a first workload for a database.
struct Suggest: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a first workload for a database, from its schema.",
        discussion: """
            Prints reads by key and by unique columns, ranges through indexes, joins along foreign keys, and inserts, updates \
            and deletes in transactions. Each has been tried on a copy of the database and runs as it is; the database itself \
            is only read.

            rootstock suggest app.sqlite > queries.sql
            rootstock compare --database app.sqlite --workload queries.sql
            """)

    @Option(help: "Seed of the values that statements are tried with.")
    var seed: UInt32 = 301

    @Argument(help: "A SQLite database, or an LMDB store.", completion: .file())
    var database: String

    func run() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(
            "rootstock-suggest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: place) }
        let progress = Progress()
        do {
            let takeBack: @Sendable () -> Void = { try? FileManager.default.removeItem(at: place) }
            let text = try Interruption.takingBack(takeBack) {
                try Suggestion.text(database: database, directory: place, seed: seed, progress: progress.show)
            }
            progress.clear()
            let output = StandardOutput()
            try output.write(text.utf8)
            try output.flush()
        } catch {
            progress.clear()
            throw CommandFailure(error)
        }
    }
}

/// `rootstock import`: a SQLite database into a new store, and a store into a database.
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a SQLite database into a new store, or back, and compare the two.",
        discussion: """
            DATABASE may be a store of any engine with files as well: one is recognised by its first bytes, or named with \
            --from. A new store of engine sqlite is an ordinary SQLite database: so what was imported can be had back.

            rootstock import app.sqlite app.lmdb
            rootstock import app.lmdb back.sqlite

            Tables, rows, indexes, views and triggers, AUTOINCREMENT's counters, user_version and application_id come over; \
            then every row is read on both sides and compared. Virtual tables of other modules (full-text search, R-trees) \
            are not kept in a store: they, and what uses them, are named and left out. The database is only read. An import \
            that is interrupted leaves no store.
            """)

    @Option(help: "The engine of DATABASE, where its first bytes are not to decide.")
    var from: Engine?

    @Option(help: "The engine of the new store; sqlite if its name ends in .sqlite, .sqlite3 or .db, and else lmdb.")
    var engine: Engine?

    @Option(help: "What the import survives once it has ended: off, normal or full.")
    var durability: StoreOptions.Durability = .full

    @Flag(help: "Keep a checksum with every entry of the new store.")
    var checksum = false

    @Argument(help: "A SQLite database, or a store.", completion: .file())
    var database: String

    @Argument(help: "The store to make; it must not exist.", completion: .file())
    var store: String

    func run() throws {
        let files = FileManager.default
        guard !files.fileExists(atPath: store) else {
            throw CommandFailure(OwnDataError("\(store) exists: an import makes a new store"))
        }
        let place = files.temporaryDirectory.appendingPathComponent("rootstock-import-\(UUID().uuidString)")
        let progress = Progress()
        defer {
            progress.clear()
            try? files.removeItem(at: place)
        }
        do {
            let engine = engine ?? Engine.usual(for: store)
            let source = try SourceDatabase(path: database, engine: from, scratch: place)
            let schema = try SourceSchema(of: source)
            var options = StoreOptions(durability: durability)
            options.checksum = checksum
            // Half an import is none.
            let file = PartialFile(for: store)
            let takeBack: @Sendable () -> Void = {
                file.remove()
                try? FileManager.default.removeItem(at: place)
            }
            let report = try Interruption.takingBack(takeBack) { [options] in
                do {
                    let connection = try Connection(path: file.path, engine: engine, options: options)
                    defer { connection.close() }
                    let report = try Importer(source: source, schema: schema)
                        .run(into: connection, progress: progress.show)
                    try source.checkUnchanged()
                    connection.close()
                    // Engine memory keeps no file.
                    if engine != .memory { try file.publish() }
                    return report
                } catch {
                    file.remove()
                    throw (error as? DatabaseError).map(file.named) ?? error
                }
            }
            progress.clear()
            let output = StandardOutput()
            for line in report.skipped { try output.write("not imported: \(line)\n".utf8) }
            try output.write("\(report.rows) rows in \(report.tables.count) tables, equal to the original's\n".utf8)
            try output.flush()
        } catch {
            throw CommandFailure(error)
        }
    }
}
