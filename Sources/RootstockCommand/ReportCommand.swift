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

    @Option(help: "Write the report as one self-contained HTML file.")
    var html: String?

    @Option(help: "Write the report as Markdown to this file.")
    var markdown: String?

    @Option(help: "Write the results as CSV to this file.")
    var csv: String?

    func run() throws {
        do {
            let report = try ComparisonReport.read(file)
            if html == nil && markdown == nil && csv == nil {
                print(report.terminalText(colour: isatty(STDOUT_FILENO) == 1), terminator: "")
            }
            if let html { try Data(report.html().utf8).write(to: URL(fileURLWithPath: html)) }
            if let markdown { try Data(report.markdown().utf8).write(to: URL(fileURLWithPath: markdown)) }
            if let csv { try Data(report.csv().utf8).write(to: URL(fileURLWithPath: csv)) }
        } catch {
            throw CommandFailure(error)
        }
    }
}
