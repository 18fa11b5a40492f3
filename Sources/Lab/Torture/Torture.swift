// Writers and readers in processes of their own, killed at random, and what must be left of their store.
//
// Invariant: what a writer's log holds was acknowledged, so it is in the store after whatever death: a kill takes nothing in any
// durability class.

import Foundation
import Rootstock

/// A run of the torture.
public struct Torture {
    public struct Plan: Sendable {
        public var folder: URL
        public var engine = "lmdb"
        /// Taken in turn, one from each verification to the next.
        public var durabilities = ["full", "normal", "off"]
        public var seconds = 20.0
        public var writers = 3
        public var readers = 2
        /// Milliseconds between two kills, at most.
        public var interval = 120
        public var seed: UInt64 = 1

        public init(folder: URL) { self.folder = folder }
    }

    /// Figures of a run in which nothing was wrong.
    public struct Figures: Sendable {
        public var kills = 0
        /// Of them: all processes at once.
        public var massacres = 0
        public var transactions = 0
        public var verifications = 0

        public var text: String {
            "\(kills) kills survived, \(massacres) times all processes at once; \(transactions) transactions acknowledged, "
                + "\(verifications) verifications, nothing lost"
        }
    }

    private let plan: Plan
    private let executable: URL
    private var random: Random

    /// The executable must run a ``TortureTask`` when started with its subcommand and the task as JSON.
    public init(_ plan: Plan, executable: URL) {
        self.plan = plan
        self.executable = executable
        random = Random(state: plan.seed)
    }

    private func task(_ role: TortureTask.Role, _ number: Int, _ durability: String, seed: UInt64 = 0) -> TortureTask {
        TortureTask(
            role: role, path: plan.folder.appendingPathComponent("store").path, engine: plan.engine,
            durability: durability, number: number,
            log: plan.folder.appendingPathComponent("acknowledged-\(number)").path, seed: seed)
    }

    private mutating func start(_ role: TortureTask.Role, _ number: Int, _ durability: String) throws -> Process {
        let task = task(role, number, durability, seed: UInt64(random.below(.max)))
        let process = Process()
        process.executableURL = executable
        process.arguments = [
            TortureTask.subcommand, String(decoding: try JSONEncoder().encode(task), as: UTF8.self),
        ]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func end(_ process: Process) throws {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL else {
            throw TortureFault("a process ended by itself with \(process.terminationStatus): see what it said above")
        }
    }

    /// Runs for the plan's seconds. Throws what was wrong; the folder then holds the store and the logs as they were found.
    public mutating func run() throws -> Figures {
        var figures = Figures()
        var durability = 0
        let end = Date().addingTimeInterval(plan.seconds)
        let setup = try task(.writer, 0, plan.durabilities[0]).open()
        try setup.withTransaction { try setup.executeScript(TortureTask.schema) }
        setup.close()
        repeat {
            let name = plan.durabilities[durability % plan.durabilities.count]
            durability += 1
            var processes: [(role: TortureTask.Role, number: Int, process: Process)] = []
            for number in 0..<plan.writers { processes.append((.writer, number, try start(.writer, number, name))) }
            for number in 0..<plan.readers { processes.append((.reader, number, try start(.reader, number, name))) }
            do {
                // Some die while the others go on, and are started again.
                for _ in 0..<random.below(6) {
                    usleep(UInt32((random.below(plan.interval) + 20) * 1000))
                    let victim = random.below(processes.count)
                    try self.end(processes[victim].process)
                    figures.kills += 1
                    processes[victim].process = try start(processes[victim].role, processes[victim].number, name)
                }
                usleep(UInt32((random.below(plan.interval) + 20) * 1000))
            } catch {
                for one in processes { kill(one.process.processIdentifier, SIGKILL) }
                throw error
            }
            // All at once, as near as may be.
            for one in processes { kill(one.process.processIdentifier, SIGKILL) }
            for one in processes { try self.end(one.process) }
            figures.kills += processes.count
            figures.massacres += 1
            try verify(name, &figures)
        } while Date() < end
        figures.transactions = (0..<plan.writers).reduce(0) {
            $0 + AcknowledgementLog.last(path: task(.writer, $1, "full").log).count
        }
        // Where nothing was acknowledged, nothing could be lost: such a run shows nothing.
        guard figures.transactions > 0 else {
            throw TortureFault(
                "no transaction was acknowledged in \(figures.kills) kills, so nothing was tried: give it more time between "
                    + "kills (--interval), or more seconds")
        }
        return figures
    }

    private func verify(_ durability: String, _ figures: inout Figures) throws {
        let connection = try task(.writer, 0, durability).open()
        defer { connection.close() }
        let faults = try connection.integrityFaults()
        guard faults.isEmpty else { throw TortureFault("\(durability): \(faults.joined(separator: "; "))") }
        let progress = try connection.withTransaction { try TortureTask.verify(connection) }
        for writer in 0..<plan.writers {
            let acknowledged = AcknowledgementLog.last(path: task(.writer, writer, durability).log).number
            let done = progress[writer] ?? 0
            // One more can be there: committed, and killed before it was noted.
            guard done == acknowledged || done == acknowledged + 1 else {
                throw TortureFault(
                    "\(durability): \(acknowledged) transactions of writer \(writer) were acknowledged, \(done) are there"
                )
            }
        }
        figures.verifications += 1
    }
}
