// `rootstock-lab torture`: kills the processes that use a store, and checks what is left of it.

import ArgumentParser
import CommandSupport
import Comparison
import Foundation
import Rootstock
import Torture

struct TortureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Kill processes that write to a store, and check that nothing acknowledged is lost.",
        discussion: """
            Writers and readers in processes of their own use one store. They are killed at random, some while the others go on, \
            then all at once; then every transaction that a writer had noted as acknowledged must be there, transactions whole, \
            indexes one with their tables. Ends with status 1 and leaves the folder when anything is wrong.

            rootstock-lab torture --seconds 600
            """)

    @Option(help: "Seconds to go on for.")
    var seconds = 20.0

    @Option(help: "Processes that write: 3, or 1 where the engine lets one process have a store open.")
    var writers: Int?

    @Option(help: "Processes that read: 2, or none where the engine lets one process have a store open.")
    var readers: Int?

    @Option(help: "Durability class; all in turn if none is named.")
    var durability: StoreOptions.Durability?

    @Option(help: "Milliseconds between two kills, at most.")
    var interval = 120

    @Option(help: "What is chosen by chance follows from it.")
    var seed: UInt64 = 1

    @Option(help: "The engine under the store.")
    var engine: Engine = .lmdb

    @Option(
        help: "An empty folder for the store and the logs, kept where something was lost; a temporary one otherwise.",
        completion: .directory)
    var folder: String?

    func validate() throws {
        if writers ?? 1 < 1 || readers ?? 0 < 0 || interval < 1 {
            throw ValidationError("There must be a writer, and time between kills.")
        }
    }

    func run() throws {
        let isShared = Engine.descriptions.first { $0.engine == engine }?.sharesProcesses ?? true
        let writers = writers ?? (isShared ? 3 : 1)
        let readers = readers ?? (isShared ? 2 : 0)
        guard isShared || writers + readers == 1 else {
            throw ValidationError("Engine \(engine) lets one process have a store open: --writers 1 --readers 0.")
        }
        let url =
            folder.map { URL(fileURLWithPath: $0) }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-torture-\(UUID().uuidString)")
        let isTemporary = folder == nil
        let takeBack: @Sendable () -> Void = { if isTemporary { try? FileManager.default.removeItem(at: url) } }
        defer { takeBack() }
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            guard try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty else {
                throw ValidationError("\(url.path) is not empty.")
            }
            var plan = Torture.Plan(folder: url)
            plan.engine = engine.name
            if let durability { plan.durabilities = [durability.rawValue] }
            plan.seconds = seconds
            plan.writers = writers
            plan.readers = readers
            plan.interval = interval
            plan.seed = seed
            var torture = Torture(plan, executable: ChildProcess.ownExecutable())
            let figures = try Interruption.takingBack(takeBack) { try torture.run() }
            print("torture: \(figures.text)")
            try FileManager.default.removeItem(at: url)
        } catch let error as ValidationError {
            throw error
        } catch {
            throw CommandFailure(TortureFailure(folder: folder, seed: seed, error: error))
        }
    }
}

/// What was wrong, and where it can be looked at.
private struct TortureFailure: Error, CustomStringConvertible {
    let folder: String?
    let seed: UInt64
    let error: any Error

    var description: String {
        let place =
            folder.map { "the store and the logs are in \($0)" } ?? "--folder FOLDER keeps the store and the logs"
        return "\(CommandFailure(error).description) (seed \(seed); \(place))"
    }
}

/// One process of a torture.
struct TortureTaskCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: TortureTask.subcommand, shouldDisplay: false)

    @Argument var task: String

    func run() throws {
        do {
            try JSONDecoder().decode(TortureTask.self, from: Data(task.utf8)).run()
        } catch {
            throw CommandFailure(error)
        }
    }
}
