// The user's own data: the options of `compare` for it and `rootstock suggest`.

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
