// The options of `rootstock compare engine` that change what the suite writes and reads.

import ArgumentParser
import Comparison
import Workloads

struct EngineShapeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Bytes of a key, 16 to 500.", valueName: "bytes"))
    var keySize: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes of a value, 1 to 1,000,000, in every case whose name gives no size (100 otherwise).",
            valueName: "bytes"))
    var valueSize: Int?

    @Option(help: "Connections of case mixed, each on a thread of its own (4 otherwise).")
    var threads: Int?

    @Option(help: ArgumentHelp("The share of case mixed that reads, 0 to 1 (0.95 otherwise).", valueName: "share"))
    var readRatio: Double?

    var isAskedFor: Bool { keySize != nil || valueSize != nil || isOfMixed }

    private var isOfMixed: Bool { threads != nil || readRatio != nil }

    func shape() throws -> EngineShape {
        do {
            return try EngineShape(keyBytes: keySize, valueBytes: valueSize, threads: threads, readRatio: readRatio)
        } catch let error as WorkloadError {
            throw PlanError(error.message)
        }
    }

    /// Refuses options that nothing of what is run would follow.
    func check(suite: String, cases: [String]) throws {
        guard isAskedFor else { return }
        guard suite == Suite.engine.name else {
            throw PlanError(
                "--key-size, --value-size, --threads and --read-ratio are of suite engine; '\(suite)' has its own")
        }
        guard !isOfMixed || cases.contains(where: { $0.lowercased() == "mixed" }) else {
            throw PlanError("--threads and --read-ratio are of case mixed: rootstock compare engine mixed --threads 8")
        }
    }
}
