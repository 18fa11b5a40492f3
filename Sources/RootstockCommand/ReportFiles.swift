// ReportFiles.swift - the forms of a comparison's report that can be written to a file: options of `compare` and `report`.

import ArgumentParser
import Comparison
import Foundation
import Report

struct ReportFiles: ParsableArguments {
    @Option(help: "Write the report as one self-contained HTML file.")
    var html: String?

    @Option(help: "Write the report as Markdown to this file.")
    var markdown: String?

    @Option(help: "Write the results as CSV to this file.")
    var csv: String?

    var isEmpty: Bool { html == nil && markdown == nil && csv == nil }

    func write(_ report: ComparisonReport) throws {
        if let html { try Data(report.html().utf8).write(to: URL(fileURLWithPath: html)) }
        if let markdown { try Data(report.markdown().utf8).write(to: URL(fileURLWithPath: markdown)) }
        if let csv { try Data(report.csv().utf8).write(to: URL(fileURLWithPath: csv)) }
    }
}
