// ReportFiles.swift - the forms of a comparison's report that can be written to a file: options of `compare` and `report`.

import ArgumentParser
import CommandSupport
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
        if let html { try Self.write(Data(report.html().utf8), to: html) }
        if let markdown { try Self.write(Data(report.markdown().utf8), to: markdown) }
        if let csv { try Self.write(Data(report.csv().utf8), to: csv) }
    }

    static func write(_ data: Data, to path: String) throws {
        do {
            try data.write(to: URL(fileURLWithPath: path))
        } catch {
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            throw CommandFailure(
                "\(path) \(isFolder.boolValue ? "is a directory" : "cannot be written"); name a file in a folder that exists"
            )
        }
    }

    /// Refuses a place where no file can be written, before the work of hours is lost there.
    static func check(_ paths: [String?]) throws {
        for path in paths.compactMap({ $0 }) {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            if exists && isFolder.boolValue { throw ValidationError("\(path) is a directory; name a file.") }
            if access(exists ? path : folder, W_OK) != 0 {
                throw ValidationError("\(path) cannot be written; name a file in a folder that exists.")
            }
        }
    }

    var paths: [String?] { [html, markdown, csv] }
}
