// The options of `compare` that have to do with earlier comparisons.

import ArgumentParser
import CommandSupport
import Comparison
import Foundation
import History
import Report

struct HistoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The result store that this comparison is appended to.",
            discussion: "A store of engine lmdb: 'rootstock sql' queries it. Without this option it is "
                + "$XDG_DATA_HOME/rootstock/history.lmdb, or ~/.local/share/rootstock/history.lmdb.", valueName: "file"),
        completion: .file())
    var history: String?

    @Flag(help: "Keep nothing of this comparison.")
    var noHistory = false

    @Option(
        help: ArgumentHelp(
            "Show what changed since an earlier comparison, and end with status 2 if a ratio got worse beyond noise.",
            discussion: "The JSON of one, or 'last': the newest in the history with the same seed and sizes.",
            valueName: "last|file"), completion: .file())
    var against: String?

    func validate() throws {
        if noHistory && history != nil { throw ValidationError("--history and --no-history exclude each other.") }
        if noHistory && against == Self.last {
            throw ValidationError("--against last looks into the history: leave out --no-history.")
        }
    }

    private static let last = "last"

    /// A comparison named in a file, read before anything is measured.
    func earlierFile() throws -> ComparisonReport? {
        guard let against, against != Self.last else { return nil }
        do {
            return try ComparisonReport.read(against)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Appends the report, and gives the earlier one that it is to be held against.
    func keep(_ report: ComparisonReport, earlier: ComparisonReport?) throws -> ComparisonReport? {
        var earlier = earlier
        if !noHistory {
            guard let path = history ?? History.defaultPath() else {
                throw CommandFailure(
                    HistoryError("there is no place for the history: name one with --history, or give --no-history"))
            }
            do {
                let store = try History(path: path)
                if against == Self.last { earlier = try store.last(comparableTo: report) }
                try store.append(report)
            } catch {
                throw CommandFailure(error)
            }
        }
        if against == Self.last && earlier == nil {
            FileHandle.standardError.write(
                Data(
                    "The history has no earlier comparison of these suites, sizes and seed: this one is the first.\n"
                        .utf8))
        }
        return earlier
    }

    /// Shows the changes; whether one is for the worse.
    func show(_ report: ComparisonReport, since earlier: ComparisonReport?) throws -> Bool {
        guard let earlier else { return false }
        let changes: [Change]
        do {
            changes = try report.changes(since: earlier)
        } catch {
            throw CommandFailure(error)
        }
        print(ComparisonReport.text(of: changes), terminator: "")
        return changes.contains { $0.verdict == .worse }
    }
}
