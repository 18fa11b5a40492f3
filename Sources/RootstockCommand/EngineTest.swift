import ArgumentParser
import CommandSupport
import Foundation
import Rootstock
import RootstockEngine
import RootstockEngineTest

/// `rootstock engine-test`: holds an engine against the contract of the plug.
struct EngineTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine-test",
        abstract: "Hold an engine against the contract of rootstock_engine.h.",
        discussion: """
            Runs each rule of the contract in a process of its own on new stores in a temporary folder: order, sizes, snapshots, \
            cursors, what an engine may offer besides, random operations against a model, durability by killing the writer, \
            several processes, a full disk. A rule that the engine breaks is told with the sentence of the contract and what was \
            expected; the command then ends with status 1. A rule about what the engine does not claim is skipped, and says so.
            """)

    @Option(help: ArgumentHelp("Only rules whose name starts so.", valueName: "rule"))
    var only: String?

    @Option(help: "Where the random rules start from.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How often each random rule runs, each time with the next seed.", valueName: "count"))
    var rounds: UInt32 = 3

    @Option(help: ArgumentHelp("Seconds after which a rule counts as hung.", valueName: "seconds"))
    var patience: UInt32 = 120

    @Flag(help: "Print the rules that hold, too.")
    var verbose = false

    @Argument(help: "The engine's name, as 'rootstock engines' lists it.")
    var engine: Engine

    func validate() throws {
        if seed == 0 { throw ValidationError("--seed takes a number from 1.") }
        if rounds == 0 { throw ValidationError("--rounds takes a number from 1.") }
        if patience == 0 { throw ValidationError("--patience takes a number from 1.") }
    }

    func run() throws {
        let known = Engine.registered
        guard let table = rootstock_engine_find(engine.name) else {
            let names = known.map(\.name).joined(separator: ", ")
            throw CommandFailure(
                "there is no engine \(engine) to test: there are \(names), and --load-engine loads others")
        }
        var results = EngineTestResults(verbose: verbose)
        let failures = withUnsafeMutablePointer(to: &results) { results in
            (only ?? "").withCString { prefix in
                var options = rootstock_engine_test_options()
                options.only = only == nil ? nil : prefix
                options.seed = seed
                options.rounds = rounds
                options.seconds = patience
                options.context = UnsafeMutableRawPointer(results)
                options.report = { context, result in
                    context!.assumingMemoryBound(to: EngineTestResults.self).pointee.add(result!.pointee)
                }
                return rootstock_engine_test(table, &options)
            }
        }
        if failures < 0 {
            throw CommandFailure(
                errno == ENOENT
                    ? "there is no rule \(only ?? "")" : "the test cannot run: \(String(cString: strerror(errno)))")
        }
        try results.finish(engine: "\(engine) \(String(cString: table.pointee.version))")
        if failures > 0 { throw ExitCode.failure }
    }
}

/// What the rules said, printed as they say it.
private struct EngineTestResults {
    let verbose: Bool
    private let output = StandardOutput()
    private var counts: [rootstock_engine_test_outcome.RawValue: Int] = [:]

    init(verbose: Bool) { self.verbose = verbose }

    mutating func add(_ result: rootstock_engine_test_result) {
        counts[result.outcome.rawValue, default: 0] += 1
        let name = String(cString: result.rule)
        let words = String(cString: result.words)
        var text = ""
        switch result.outcome {
        case ROOTSTOCK_ENGINE_TEST_FAILED:
            text = "\(name): broken\n  the contract: \(String(cString: result.sentence))\n  expected \(words)\n"
        case ROOTSTOCK_ENGINE_TEST_SKIPPED: text = "\(name): skipped, \(words)\n"
        default: text = verbose ? "\(name): ok, \(Int(result.seconds * 1000)) ms\n" : ""
        }
        // Whoever pipes it away loses the rest of the words, and not the status.
        try? output.write(text.utf8)
        try? output.flush()
    }

    func finish(engine: String) throws {
        func count(_ outcome: rootstock_engine_test_outcome) -> Int { counts[outcome.rawValue] ?? 0 }
        try output.write(
            "\(engine): \(count(ROOTSTOCK_ENGINE_TEST_PASSED)) rules hold, \(count(ROOTSTOCK_ENGINE_TEST_FAILED)) broken, "
                .utf8)
        try output.write("\(count(ROOTSTOCK_ENGINE_TEST_SKIPPED)) skipped\n".utf8)
        try output.flush()
    }
}
