// `rootstock report`: shows the JSON of a comparison again, in any form.

import ArgumentParser
import Comparison
import Foundation
import Report

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show an earlier comparison again, from its JSON.",
        discussion: """
            Prints the tables, or writes the files named. What compare --json wrote holds everything that the other forms \
            show.

            rootstock report engine.json --html engine.html
            """)

    @Argument(help: "What compare --json wrote.", completion: .file())
    var file: String

    @OptionGroup var files: ReportFiles

    func run() throws {
        do {
            let report = try ComparisonReport.read(file)
            if files.isEmpty { print(report.terminalText(colour: isatty(STDOUT_FILENO) == 1), terminator: "") }
            try files.write(report)
        } catch {
            throw CommandFailure(error)
        }
    }
}
