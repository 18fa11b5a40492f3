// The report as one self-contained HTML file: what a manager reads on top, what an opponent checks below.
//
// Invariant: no script, no request to anywhere, nothing that only a colour says. Bars are laid out by the browser from
// percentages computed here; every bar has its figure as text beside it.

import Comparison
import Foundation
import Mustache

extension ComparisonReport {
    public func html() throws -> String {
        let template = try MustacheTemplate(string: HTMLTemplate.page)
        return template.render(HTMLPage(report: self))
    }
}

/// What the template is filled with.
struct HTMLPage {
    var title: String
    var style = HTMLTemplate.style
    var date: String
    var headline: [String]
    var suites: [HTMLSuite]
    var environment: [Fact]
    var configurations: [Fact]
    var command: String
    var warnings: [String]
    var failures: [String]
    var hasNotes: Bool
    var hasConfigurations: Bool
    var legend: [String]

    struct Fact {
        var name: String
        var value: String
    }

    init(report: ComparisonReport) {
        let environment = report.environment
        title = "Comparison: " + report.suiteNames.joined(separator: ", ")
        date = environment.date
        suites = report.suiteNames.map { HTMLSuite(report: report, name: $0) }
        headline = Self.headline(report)
        command = environment.command
        warnings = report.warnings
        failures = report.failures.map { "\($0.suite) \($0.case), \($0.contender): \($0.message)" }
        hasNotes = !warnings.isEmpty || !failures.isEmpty
        legend = report.legend
        configurations = environment.configurations.sorted { $0.key < $1.key }.map {
            Fact(name: $0.key, value: $0.value.isEmpty ? "as SQLite ships" : $0.value.joined(separator: ", "))
        }
        hasConfigurations = !configurations.isEmpty
        self.environment = Self.facts(report)
    }

    private static func facts(_ report: ComparisonReport) -> [Fact] {
        let environment = report.environment
        let sizes = environment.sizes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let facts: [(String, String?)] = [
            ("Processor", environment.processor.map { "\($0), \(environment.cores) cores" }),
            ("Memory", Format.bytes(Int(environment.memoryBytes))), ("System", environment.system),
            ("Kernel", environment.kernel), ("File system", environment.fileSystem),
            ("SQLite", "\(environment.sqliteVersion), \(environment.sqliteSource)"),
            ("SQLite compile options", environment.sqliteCompileOptions.joined(separator: " ")),
            ("LMDB", environment.lmdbVersion), ("Rootstock", environment.rootstockVersion),
            ("Swift", "\(environment.swiftVersion), \(environment.build) build"), ("Commit", environment.commit),
            ("Sizes", sizes), ("Seed", "\(environment.seed)"),
            ("Turns of each engine at each case", report.turnsText),
            ("Clock", String(format: "%.0f ns a reading, not subtracted", environment.clockOverheadNanoseconds)),
            ("Load average at the start", environment.loadAverage.map(rounded)),
            ("Took", environment.seconds.map { String(format: "%.0f s", $0) }),
        ]
        return facts.compactMap { name, value in value.map { Fact(name: name, value: $0) } }
    }

    private static func rounded(_ value: Double) -> String { String(format: "%.2f", value) }

    /// What the figures come to, the losses of the newcomer first.
    private static func headline(_ report: ComparisonReport) -> [String] {
        report.suiteNames.flatMap { suite -> [String] in
            let rivals = report.summaries.filter { $0.suite == suite }.flatMap { summary in
                summary.rivals.map { (summary.name, summary.baseline.engine, $0) }
            }
            let engines = rivals.map { ComparisonReport.name($0.2) }.reduce(into: [String]()) {
                if !$0.contains($1) { $0.append($1) }
            }
            return engines.map { engine in
                let ratios = rivals.filter { ComparisonReport.name($0.2) == engine }
                let slower = ratios.filter { $0.2.ratio.isDifferent && $0.2.ratio.ratio < 1 }
                let faster = ratios.filter { $0.2.ratio.isDifferent && $0.2.ratio.ratio > 1 }
                let same = ratios.count - slower.count - faster.count
                let names = { (list: [(String, String, CaseSummary.Rival)]) in
                    list.isEmpty
                        ? ""
                        : " ("
                            + list.sorted { $0.2.ratio.ratio > $1.2.ratio.ratio }
                            .map { "\($0.0) \(Format.ratio($0.2.ratio.ratio))" }.joined(separator: ", ") + ")"
                }
                let baseline = ratios.first?.1 ?? "sqlite"
                return "\(suite): \(baseline) is faster than \(engine) in \(slower.count) of \(ratios.count) cases"
                    + "\(names(slower)), \(engine) in \(faster.count)\(names(faster)); no difference in \(same)."
            }
        }
    }
}

struct HTMLSuite {
    var name: String
    var columns: [Cell]
    var rows: [Row]
    var ticks: [Tick]
    var bars: [Bar]
    var hasBars: Bool
    var layerColumns: [Cell]
    var layerRows: [Row]
    var hasLayers: Bool
    var curves: [HTMLCurve]
    var costs: [CostRow]

    struct Cell {
        var text: String
        var style: String
    }
    struct Row { var cells: [Cell] }
    struct Tick {
        var label: String
        var left: String
    }
    struct Bar {
        var name: String
        var what: String
        var verdict: String
        var label: String
        var style: String
        var left: String
        var width: String
        var low: String
        var span: String
        var published: String?
        var publishedLabel: String?
    }
    struct CostRow {
        var name: String
        var contender: String
        var rate: String
        var processor: String
        var resident: String
        var read: String
        var written: String
        var syncs: String
        var faults: String
        var store: String
    }

    init(report: ComparisonReport, name: String) {
        self.name = name
        let table = report.table(suite: name)
        let styles = table.columns.map { $0.alignment == .right ? "number" : "text" }
        columns = zip(table.columns, styles).map { Cell(text: $0.title, style: $1) }
        rows = table.rows.map { row in Row(cells: zip(row, styles).map { Cell(text: $0, style: $1) }) }
        let layers = report.layerTable(suite: name)
        let layerStyles = (layers?.columns ?? []).map { $0.alignment == .right ? "number" : "text" }
        layerColumns = zip(layers?.columns ?? [], layerStyles).map { Cell(text: $0.title, style: $1) }
        layerRows = (layers?.rows ?? []).map { row in
            Row(cells: zip(row, layerStyles).map { Cell(text: $0, style: $1) })
        }
        hasLayers = layers != nil
        let summaries = report.summaries.filter { $0.suite == name }
        let rivals = summaries.flatMap { summary in summary.rivals.map { (summary, $0) } }
        let ratios = rivals.map(\.1.ratio)
        let extremes: [Double] = ratios.map(\.low) + ratios.map(\.high) + ratios.compactMap(\.published)
        let farthest: Double = extremes.map { abs(log2($0)) }.filter(\.isFinite).max() ?? 1
        let octaves: Double = max(1, farthest.rounded(.up))
        // Octave o lies at 50% + o / octaves * 46%: a margin is left for the labels at both ends.
        func position(_ ratio: Double) -> Double { 50 + min(max(log2(ratio) / octaves, -1), 1) * 46 }
        let step: Double = max(1, (octaves / 3).rounded())
        ticks = stride(from: -octaves, through: octaves, by: step).map { octave in
            Tick(label: Self.tickLabel(octave), left: Self.percent(position(exp2(octave))))
        }
        if !ticks.contains(where: { $0.label == "1" }) { ticks.append(Tick(label: "1", left: "50%")) }
        bars = rivals.map { summary, rival in Self.bar(summary, rival, position) }
        hasBars = !bars.isEmpty
        curves = summaries.map { HTMLCurve(report: report, summary: $0) }
        costs = summaries.flatMap { summary in
            report.results(suite: name, case: summary.name).map { Self.cost($0) }
        }
    }

    private static func tickLabel(_ octave: Double) -> String {
        octave < 0 ? "1/" + String(Int(exp2(-octave))) : String(Int(exp2(octave)))
    }

    static func percent(_ value: Double) -> String { String(format: "%.2f%%", value) }

    private static func bar(
        _ summary: CaseSummary, _ rival: CaseSummary.Rival, _ position: (Double) -> Double
    ) -> Bar {
        let ratio = rival.ratio
        let engine = ComparisonReport.name(rival)
        let start = min(position(ratio.ratio), 50)
        let verdict: (String, String)
        if !ratio.isDifferent {
            verdict = ("no difference", "same")
        } else if ratio.ratio > 1 {
            verdict = ("\(engine) faster", "faster")
        } else {
            verdict = ("\(summary.baseline.engine) faster", "slower")
        }
        return Bar(
            name: summary.name, what: summary.summary, verdict: verdict.0,
            label: Format.ratio(ratio.ratio) + " (\(Format.bound(ratio.low)) to \(Format.bound(ratio.high)))",
            style: verdict.1,
            left: percent(start), width: percent(abs(position(ratio.ratio) - 50)), low: percent(position(ratio.low)),
            span: percent(position(ratio.high) - position(ratio.low)),
            published: ratio.published.map { percent(position($0)) },
            publishedLabel: ratio.published.map { "published \(Format.ratio($0))" })
    }

    private static func cost(_ result: MeasuredResult) -> CostRow {
        func bytes(_ value: Int?) -> String { value.map(Format.bytes) ?? "-" }
        let cost = result.cost
        return CostRow(
            name: result.case, contender: result.contender.description,
            rate: String(format: "%.0f", Double(result.operations) / result.seconds),
            processor: Format.significant(cost.processorSeconds * 1e6 / Double(result.operations)),
            resident: bytes(cost.peakResidentBytes), read: bytes(cost.bytesRead), written: bytes(cost.bytesWritten),
            syncs: cost.syncCalls.map(String.init) ?? "-", faults: "\(cost.minorFaults + cost.majorFaults)",
            store: bytes(cost.storeBytes))
    }
}

/// Latency percentiles of a case: one line per contender, as a drawing and as a table.
struct HTMLCurve {
    var name: String
    var lines: [Line]
    var labels: [Label]
    var grid: [Grid]
    var isWorthDrawing: Bool

    struct Line {
        var contender: String
        var points: String
        var number: Int
        var p50: String
        var p90: String
        var p99: String
        var p999: String
        var max: String
        var mean: String
    }
    struct Label {
        var text: String
        var x: String
    }
    struct Grid {
        var text: String
        var y: String
    }

    static let width = 640.0
    static let height = 220.0
    static let left = 60.0
    static let bottom = 190.0

    init(report: ComparisonReport, summary: CaseSummary) {
        name = summary.name
        let results = report.results(suite: summary.suite, case: summary.name)
        let values = results.flatMap { $0.curve.map(\.microseconds) }.filter { $0 > 0 }
        let lowest = log10(values.min() ?? 1).rounded(.down)
        let highest = Swift.max(lowest + 1, log10(values.max() ?? 10).rounded(.up))
        // "Nines" on the x axis: each doubling of width is a tenfold rarer operation.
        let nines = { (percentile: Double) in -log10(Swift.max(1 - percentile / 100, 0.00005)) }
        let x = { (percentile: Double) in Self.left + nines(percentile) / nines(100) * (Self.width - Self.left - 20) }
        let y = { (value: Double) in
            Self.bottom - (log10(Swift.max(value, 0.001)) - lowest) / (highest - lowest) * (Self.bottom - 15)
        }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        lines = results.enumerated().map { index, result in
            let latency = result.latency
            return Line(
                contender: result.contender.description,
                points: result.curve.map { "\(number(x($0.percentile))),\(number(y($0.microseconds)))" }.joined(
                    separator: " "),
                number: index % 4 + 1, p50: Format.significant(latency.p50), p90: Format.significant(latency.p90),
                p99: Format.significant(latency.p99), p999: Format.significant(latency.p999),
                max: Format.significant(latency.max), mean: Format.significant(latency.mean))
        }
        labels = [(0.0, "0%"), (90, "90%"), (99, "99%"), (99.9, "99.9%"), (99.99, "99.99%")].map {
            Label(text: $0.1, x: number(x($0.0)))
        }
        grid = stride(from: lowest, through: highest, by: 1).map { exponent in
            let value = pow(10, exponent)
            let text = value >= 1000 ? String(format: "%.0f ms", value / 1000) : String(format: "%g us", value)
            return Grid(text: text, y: number(y(value)))
        }
        isWorthDrawing = !values.isEmpty
    }
}
