// `rootstock report`: shows the JSON of a comparison again, in any form.

import ArgumentParser
import CommandSupport
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

            --table takes several and prints their headline ratios as one Markdown table, rows where native wins first:

            rootstock report --table results/*.json

            --chart draws the same ratios as one SVG. --engines-table prints each case with all engines that were measured.
            """)

    @Argument(help: "What compare --json wrote.", completion: .file())
    var reports: [String]

    @Flag(help: "Print the headline ratios of all as one Markdown table.")
    var table = false

    @Flag(help: "Print the headline ratios of all as one drawing, in SVG.")
    var chart = false

    @Flag(help: "Print the cases of all as one Markdown table, with a column for each engine.")
    var enginesTable = false

    @Option(help: "With --table or --chart: the engine that native SQLite is held against.")
    var engine = "lmdb"

    @Flag(help: "Print what each contender costs too.")
    var costs = false

    @OptionGroup var files: ReportFiles

    func validate() throws {
        let tables = [table, chart, enginesTable].filter { $0 }.count
        if tables > 1 { throw ValidationError("--table, --chart and --engines-table exclude each other.") }
        if tables > 0 && !files.isEmpty {
            throw ValidationError("--table, --chart and --engines-table print; they write no files.")
        }
        if !files.isEmpty && reports.count > 1 { throw ValidationError("A file is written from one report.") }
    }

    func run() throws {
        do {
            let reports = try reports.map { try ComparisonReport.read($0) }
            if table {
                print(ComparisonReport.headlineTable(reports, engine: engine), terminator: "")
                return
            }
            if enginesTable {
                print(ComparisonReport.engineTable(reports), terminator: "")
                return
            }
            if chart {
                print(ComparisonReport.headlineChart(reports, engine: engine), terminator: "")
                return
            }
            for report in reports {
                if files.isEmpty {
                    print(report.terminalText(colour: isatty(STDOUT_FILENO) == 1, costs: costs), terminator: "")
                }
                try files.write(report)
            }
        } catch {
            throw CommandFailure(error)
        }
    }
}
