import ArgumentParser
import CommandSupport
import Foundation
import Parity
import Rootstock
import RootstockEngine
import RootstockEngineTest

/// `rootstock engine-test`: holds an engine against the contract of the plug.
struct EngineTest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engine-test",
        abstract: "Test an engine against the contract of rootstock_engine.h, and its SQL against native SQLite.",
        discussion: """
            Runs each rule of the contract in a process of its own, on new stores in a temporary folder. The rules cover order, \
            sizes, snapshots, cursors, optional functions, random operations against a model, durability by killing the writer \
            and by power losses, several processes, and a full disk. For a broken rule it prints the sentence of the contract and \
            the expected result. The command then ends with status 1. A rule about what the engine does not claim is skipped, and \
            says so.

            Then it runs SQL scripts on the engine and on native SQLite. Each statement has to give the same rows, columns, error \
            and changes. A script is a rule named sql.SCRIPT. Those that come with Rootstock run unless --scripts names others. A \
            file in the sqllogictest format is a rule sqllogictest.FILE. A failure names the statement and both answers.

            rootstock --load-engine libshelf.so engine-test shelf
            rootstock engine-test lmdb --only sql. --scripts queries.sql --scripts sqllogictest/
            """)

    @Option(help: ArgumentHelp("Only rules whose name starts so; 'sql.' is every SQL script.", valueName: "rule"))
    var only: String?

    @Option(
        help: ArgumentHelp(
            "Scripts, or folders of them: .sql, and .test or .slt in the sqllogictest format. May be given several times.",
            valueName: "path"), completion: .file())
    var scripts: [String] = []

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
        let scripts = try EngineTestScripts(engine: engine, scripts: scripts, only: only)
        let results = EngineTestResults(verbose: verbose)
        try withExtendedLifetime(results) {
            try (only ?? "").withCString { prefix in
                var options = rootstock_engine_test_options()
                options.only = only == nil ? nil : prefix
                options.seed = seed
                options.rounds = rounds
                options.seconds = patience
                options.context = Unmanaged.passUnretained(results).toOpaque()
                options.report = { context, result in
                    Unmanaged<EngineTestResults>.fromOpaque(context!).takeUnretainedValue().add(result!.pointee)
                }
                if rootstock_engine_test(table, &options) < 0, errno != ENOENT || scripts.files.isEmpty {
                    throw cannotRun()
                }
                for file in scripts.files {
                    guard let progress = ScriptProgress() else { throw cannotRun() }
                    results.script = (file, progress)
                    guard scripts.run(file, &options, progress) else { throw cannotRun() }
                }
            }
        }
        try results.finish(engine: "\(engine) \(String(cString: table.pointee.version))")
        if results.failures > 0 { throw ExitCode.failure }
    }

    private func cannotRun() -> CommandFailure {
        CommandFailure(
            errno == ENOENT
                ? "there is no rule \(only ?? "")" : "the test cannot run: \(String(cString: strerror(errno)))")
    }
}

/// What the rules said, printed as they say it.
private final class EngineTestResults {
    private struct Counts {
        var held = 0
        var broken = 0
        var skipped = 0
        var statements = 0
        var leftOut = 0
    }

    /// The script that runs; nil while the contract's rules do.
    var script: (file: ScriptFile, progress: ScriptProgress)?
    private(set) var failures = 0
    private let verbose: Bool
    private let output = StandardOutput()
    /// Of the contract's rules under nil.
    private var counts: [ScriptFile.Kind?: Counts] = [:]

    init(verbose: Bool) { self.verbose = verbose }

    func add(_ result: rootstock_engine_test_result) {
        let name = String(cString: result.rule)
        let words = String(cString: result.words)
        var own = counts[script?.file.kind, default: Counts()]
        if let script {
            own.statements += script.progress.counts.statements
            own.leftOut += script.progress.counts.leftOut
        }
        switch result.outcome {
        case ROOTSTOCK_ENGINE_TEST_FAILED: own.broken += 1
        case ROOTSTOCK_ENGINE_TEST_SKIPPED: own.skipped += 1
        default: own.held += 1
        }
        counts[script?.file.kind] = own
        var text = ""
        switch result.outcome {
        case ROOTSTOCK_ENGINE_TEST_FAILED:
            failures += 1
            text = "\(name): broken\n"
            if let script {
                // The script's own words, or, where its process was ended, those of who waited for it.
                text +=
                    words.hasPrefix(script.file.path)
                    ? "  \(words)"
                    : "  \(script.file.path)\n  statement: \(script.progress.statement.shownStatement)\n  expected \(words)\n"
            } else {
                text += "  the contract: \(String(cString: result.sentence))\n  expected \(words)\n"
            }
        case ROOTSTOCK_ENGINE_TEST_SKIPPED: text = "\(name): skipped, \(words)\n"
        default: text = verbose ? "\(name): ok, \(Int(result.seconds * 1000)) ms\n" : ""
        }
        // Whoever pipes it away loses the rest of the words, and not the status.
        try? output.write(text.utf8)
        try? output.flush()
    }

    func finish(engine: String) throws {
        if let rules = counts[nil] {
            let text = "\(engine): \(rules.held) rules hold, \(rules.broken) broken, \(rules.skipped) skipped\n"
            try output.write(text.utf8)
        }
        for (kind, name, thing) in [
            (ScriptFile.Kind.sql, "SQL scripts", "statements"),
            (ScriptFile.Kind.sqllogictest, "sqllogictest files", "records"),
        ] {
            guard let scripts = counts[kind] else { continue }
            var text = "\(engine): \(scripts.held) \(name) answer as native SQLite, \(scripts.broken) do not: "
            text += "\(scripts.statements) \(thing)"
            if scripts.leftOut > 0 {
                text += ", \(scripts.leftOut) not compared (PRAGMA freelist_count: the engine has no compact)"
            }
            try output.write("\(text)\n".utf8)
        }
        try output.flush()
    }
}
