// Several comparisons of several engines as one Markdown table: what the documentation shows.
//
// Invariant: each case that has a figure of native SQLite is a row, in the order in which it was run. A ratio without an interval, or whose
// interval holds 1, says so beside it. An engine that a report names and that has no figure in a row is told below, with its reason.

import Comparison

extension ComparisonReport {
    /// A row for each case: native at its best, then each engine's time with the ratio to it.
    public static func engineTable(_ reports: [ComparisonReport]) -> String {
        let summaries = reports.flatMap(\.summaries)
        let engines: [String] = summaries.flatMap(\.rivals).map(name).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
        var columns: [Table.Column] = [
            .init(title: "suite", alignment: .left), .init(title: "case", alignment: .left),
            .init(title: "native us/op", alignment: .right),
        ]
        columns += engines.map { .init(title: $0, alignment: .right) }
        let table = Table(
            columns: columns,
            rows: summaries.map { summary in
                let native = summary.baseline
                let own = native.configuration == "default" ? "" : " (\(native.configuration))"
                return [summary.suite, summary.name, Format.microseconds(native.microsecondsPerOperation) + own]
                    + engines.map { engine in
                        summary.rivals.first { name($0) == engine }.map(cell) ?? "-"
                    }
            })
        var text = table.markdown() + "\n"
        let failures = reports.flatMap(\.failures)
        if !failures.isEmpty {
            text += "Without a figure:\n\n"
            text += failures.map { "- \($0.suite) \($0.case), \($0.contender): \($0.message)\n" }.joined() + "\n"
        }
        for report in reports {
            text += "```\n$ \(report.environment.command)\n\(report.environment.date)\n"
            text += report.environmentLines.joined(separator: "\n") + "\n"
            text += report.warnings.map { "warning: \($0)\n" }.joined() + "```\n\n"
        }
        return text
    }

    /// "1.76, 2.20x", with a word where the ratio is no verdict.
    private static func cell(_ rival: CaseSummary.Rival) -> String {
        let time = Format.microseconds(rival.result.microsecondsPerOperation)
        let ratio = Format.ratio(rival.ratio.ratio)
        return "\(time), \(ratio)" + (rival.ratio.isDifferent ? "" : " \(Format.verdictOfNone(rival.ratio))")
    }
}
