import ArgumentParser
import CommandSupport
import Foundation
import Rootstock
import Soak

/// `rootstock-lab soak`: works a store for as long as one likes, and looks what becomes of it.
struct SoakCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Work a store for a long time, held against a native twin.",
        discussion: """
            Random inserts, updates, deletes, schema changes, reopenings, VACUUMs, backups and checks from several connections, each \
            statement's outcome and every table's rows compared with a native database's, beside threads that move and count money. \
            Ends with status 1 if anything differs, is unsound, or grows: the file, memory, open descriptors.
            """)

    @Option(help: "The engine under the store.")
    var engine: Engine = .lmdb

    @Option(help: "How long, in seconds.")
    var seconds = 60.0

    @Option(help: "What the random choices start from.")
    var seed: UInt64 = 1

    @Flag(help: "Print the report as JSON, samples included.")
    var json = false

    @Argument(
        help: "A directory for the files. A temporary one, removed at the end in any case, unless given.",
        completion: .directory)
    var directory: String?

    func run() throws {
        let place = directory ?? NSTemporaryDirectory() + "rootstock-soak-" + UUID().uuidString
        var options = SoakOptions(directory: place)
        (options.engine, options.seconds, options.seed) = (engine, seconds, seed)
        let output = StandardOutput()
        let isTemporary = directory == nil
        let takeBack: @Sendable () -> Void = { if isTemporary { try? FileManager.default.removeItem(atPath: place) } }
        defer { takeBack() }
        do {
            try Interruption.takingBack(takeBack) {
                let soak = try Soak(options)
                defer { try? output.flush() }
                do { try soak.run() } catch {
                    try print(soak.report, output)
                    throw error
                }
                try print(soak.report, output)
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func print(_ report: SoakReport, _ output: StandardOutput) throws {
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try output.write(encoder.encode(report))
            return try output.write("\n".utf8)
        }
        func range(_ member: (SoakSample) -> Int) -> String {
            let values = report.samples.dropFirst(report.samples.count / 4).map(member)
            return "\(values.min() ?? 0) to \(values.max() ?? 0)"
        }
        try output.write(
            """
            seed \(report.seed), \(Int(report.seconds)) s: \(report.statements) statements (\(report.refusedStatements) refused on both \
            sides, \(report.rolledBack) transactions rolled back), \(report.schemaChanges) schema changes, \(report.vacuums) VACUUMs, \
            \(report.backups) backups, \(report.reopenings) reopenings, \(report.comparisons) comparisons, \(report.checks) checks, \
            \(report.transfers) transfers, \(report.balances) balances
            after the first quarter, \(report.samples.count) samples: file \(range(\.fileBytes)) bytes, memory \
            \(range(\.memoryBytes)) bytes, descriptors \(range(\.descriptors))

            """.utf8)
    }
}
