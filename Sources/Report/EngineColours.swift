// One colour an engine in the whole HTML report: bars, strips, curves and costs.
//
// Invariant: native SQLite, or whatever the others are set against, has the first colour. The engines have the next ones, in the
// order in which the report first names them. Behind the last colour they begin again; a name or a key stands beside each.

import Comparison

struct EngineColours {
    /// Colours of the style sheet, the baseline's among them.
    static let count = 10
    private let engines: [String]

    init(_ report: ComparisonReport) {
        engines = report.summaries.flatMap(\.rivals).map(ComparisonReport.name).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// The style of the baseline.
    static let baseline = "line1"

    /// The style of an engine as `ComparisonReport.name` calls it.
    func style(_ engine: String) -> String {
        "line\((engines.firstIndex(of: engine) ?? 0) % (Self.count - 1) + 2)"
    }

    /// The style of a result in a plot of its case. An engine's floor, which is not SQL, has the engine's colour, and a line of dots.
    func style(_ result: MeasuredResult, in summary: CaseSummary) -> String {
        if result.contender == summary.baseline.contender { return Self.baseline }
        if let rival = summary.rivals.first(where: { $0.result.contender == result.contender }) {
            return style(ComparisonReport.name(rival))
        }
        return style(result.engine) + " floor"
    }
}
