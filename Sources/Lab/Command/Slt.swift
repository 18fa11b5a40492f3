import ArgumentParser
import CommandSupport
import Conformance
import Foundation
import Rootstock

/// `rootstock-lab slt`: holds an engine to scripts in the sqllogictest format.
struct Slt: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slt",
        abstract: "Run sqllogictest scripts on an engine.",
        discussion: """
            Each file runs on a fresh store. Folders are searched for *.test files. The exit status is 1 if a record of any file \
            did not answer as it should.

            rootstock-lab slt --engine lmdb select1.test
            """
    )

    @Option(help: "The engine under the stores.")
    var engine: Engine = .lmdb

    @Option(help: ArgumentHelp("Name of the database that skipif and onlyif are about.", valueName: "name"))
    var database = "sqlite"

    @Flag(help: "Leave a file at its first failure.")
    var stop = false

    @Option(help: ArgumentHelp("Failures shown of each file.", valueName: "count"))
    var show = 5

    @Argument(help: ArgumentHelp("Scripts, or folders of them.", valueName: "file"), completion: .file())
    var files: [String]

    func run() throws {
        let output = StandardOutput()
        var suite = LogicTestSuite(engine: engine)
        suite.database = database
        suite.stopsAtFailure = stop
        var total = LogicTestRunner.Result()
        var failedFiles = 0
        do {
            let paths = try LogicTestSuite.files(at: files)
            for path in paths {
                let result = try suite.run(file: path)
                try output.write("\(result.failures.isEmpty ? "ok  " : "FAIL") \(path) \(summary(result))\n".utf8)
                for failure in result.failures.prefix(show) { try output.write("  \(path):\(failure)\n".utf8) }
                try output.flush()
                total.statements += result.statements
                total.queries += result.queries
                total.skipped += result.skipped
                total.endedEarly += result.endedEarly
                total.failures += result.failures
                if !result.failures.isEmpty { failedFiles += 1 }
            }
            try output.write(
                "\(paths.count) files, \(failedFiles) with failures on \(engine): \(summary(total))\n".utf8)
            try output.flush()
        } catch {
            try? output.flush()
            throw CommandFailure(error)
        }
        if failedFiles > 0 { throw ExitCode.failure }
    }

    private func summary(_ result: LogicTestRunner.Result) -> String {
        var parts = ["\(result.statements) statements", "\(result.queries) queries"]
        if result.skipped > 0 { parts.append("\(result.skipped) skipped") }
        if result.endedEarly > 0 { parts.append("\(result.endedEarly) ended early") }
        if result.halted { parts.append("halted") }
        parts.append("\(result.failures.count) failed")
        return parts.joined(separator: ", ")
    }
}
