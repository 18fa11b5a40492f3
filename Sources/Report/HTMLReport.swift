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
    var answer: [String]
    var hasAnswer: Bool
    var verdicts: [HTMLVerdict]
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
        date = Self.dateText(environment.date)
        let colours = EngineColours(report)
        suites = report.suiteNames.enumerated().map {
            HTMLSuite(report: report, name: $1, number: $0 + 1, colours: colours)
        }
        verdicts = report.suiteNames.flatMap { HTMLVerdict.all(report, suite: $0, colours: colours) }
        answer = report.answer
        hasAnswer = !answer.isEmpty
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

    /// The date as people write it, to the minute.
    private static func dateText(_ date: String) -> String {
        date.count >= 16 ? date.prefix(10) + " at " + date.dropFirst(11).prefix(5) + " UTC" : date
    }

    private static func facts(_ report: ComparisonReport) -> [Fact] {
        let environment = report.environment
        let facts: [(String, String?)] = [
            ("Processor", environment.processor.map { "\($0), \(environment.cores) cores" }),
            ("Memory", Format.bytes(Int(environment.memoryBytes))), ("System", environment.system),
            ("Kernel", environment.kernel), ("File system", environment.fileSystem),
            ("SQLite", "\(environment.sqliteVersion), \(environment.sqliteSource)"),
            ("SQLite compile options", environment.sqliteCompileOptions.joined(separator: " ")),
            ("LMDB", environment.lmdbVersion), ("Rootstock", environment.rootstockVersion),
            ("Swift", "\(environment.swiftVersion), \(environment.build) build"), ("Commit", environment.commit),
            ("Sizes", environment.sizesText), ("Seed", "\(environment.seed)"),
            ("Turns of each engine at each case", report.turnsText),
            ("Clock", String(format: "%.0f ns a reading, not subtracted", environment.clockOverheadNanoseconds)),
            ("Load average at the start", environment.loadAverage.map(rounded)),
            ("Time", report.spentText ?? environment.seconds.map { String(format: "took %.0f s", $0) }),
            ("Data and memory", report.memoryText),
        ]
        return facts.compactMap { name, value in value.map { Fact(name: name, value: $0) } }
    }

    private static func rounded(_ value: Double) -> String { String(format: "%.2f", value) }
}

/// What a suite comes to for one engine: counts as a strip, and the cases that stand out, the losses first.
struct HTMLVerdict {
    var suite: String
    var sentence: String
    var slower: Int
    var same: Int
    var faster: Int
    var slowerLabel: String
    var sameLabel: String
    var fasterLabel: String
    var label: String
    var details: [String]
    var style: String

    static func all(_ report: ComparisonReport, suite: String, colours: EngineColours) -> [HTMLVerdict] {
        let rivals = report.summaries.filter { $0.suite == suite }.flatMap { summary in
            summary.rivals.map { (name: summary.name, baseline: summary.baseline.engine, rival: $0) }
        }
        let engines = rivals.map { ComparisonReport.name($0.rival) }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        return engines.map { engine in
            let ratios = rivals.filter { ComparisonReport.name($0.rival) == engine }
            let baseline = ratios[0].baseline == "sqlite" ? "native SQLite" : ratios[0].baseline
            return HTMLVerdict(
                suite, engine, baseline, ratios.map { ($0.name, $0.rival.ratio) }, style: colours.style(engine))
        }
    }

    private init(
        _ suite: String, _ engine: String, _ baseline: String, _ ratios: [(name: String, ratio: Ratio)], style: String
    ) {
        self.style = style
        let slowest = ratios.filter { $0.ratio.isDifferent && $0.ratio.ratio < 1 }.sorted {
            $0.ratio.ratio < $1.ratio.ratio
        }
        let fastest = ratios.filter { $0.ratio.isDifferent && $0.ratio.ratio > 1 }.sorted {
            $0.ratio.ratio > $1.ratio.ratio
        }
        // Two engines of a suite have a card each.
        self.suite = "\(suite): \(engine)" + (engine == Contender.control ? ", the control" : "")
        slower = slowest.count
        faster = fastest.count
        same = ratios.count - slower - faster
        let undecided = ratios.filter { $0.ratio.interval == nil }.count
        func cases(_ count: Int) -> String { "\(count) case\(count == 1 ? "" : "s")" }
        let best = baseline == "native SQLite" ? ", in its best configuration of each," : ""
        sentence =
            "Of \(cases(ratios.count)) \(baseline)\(best) is faster in \(slower) and \(engine) in \(faster); "
            + (undecided > 0
                ? "no difference in \(same - undecided), too few turns in \(undecided)." : "no difference in \(same).")
        slowerLabel = slower > 0 ? "\(slower)" : ""
        sameLabel = same > 0 ? "\(same)" : ""
        fasterLabel = faster > 0 ? "\(faster)" : ""
        label = "\(baseline) faster in \(slower), no difference in \(same), \(engine) faster in \(faster)"
        func list(_ chosen: [(name: String, ratio: Ratio)], _ factor: (Double) -> Double) -> String {
            let shown = chosen.prefix(4).map { "\($0.name) \(Format.ratio(factor($0.ratio.ratio)))" }
            return shown.joined(separator: ", ") + (chosen.count > 4 ? " and \(chosen.count - 4) more" : "")
        }
        details =
            engine == Contender.control
            ? [
                "The control is SQLite's own B-tree behind the same table layer: what that layer costs apart from the engine."
            ] : []
        if !slowest.isEmpty {
            details.append(
                "\(baseline == "native SQLite" ? "Native SQLite" : baseline) leads most in \(list(slowest) { 1 / $0 })."
            )
        }
        if !fastest.isEmpty { details.append("\(engine) leads most in \(list(fastest) { $0 }).") }
        // A mean of two rows, or of rows that nothing is known of, would be read as a verdict.
        let known = ratios.filter { $0.ratio.interval != nil }
        if known.count >= 4 {
            let mean = exp(known.reduce(0) { $0 + log($1.ratio.ratio) } / Double(known.count))
            let which = known.count == ratios.count ? "" : " \(known.count) with an interval"
            details.append("Geometric mean of the ratios\(which): \(Format.ratio(mean)).")
        }
    }
}

struct HTMLSuite {
    var name: String
    var number: Int
    var columns: [Cell]
    var rows: [Row]
    var ticks: [Tick]
    var keys: [Key]
    var bars: [Bar]
    var hasBars: Bool
    var layerColumns: [Cell]
    var layerRows: [Row]
    var hasLayers: Bool
    var curves: [HTMLCurve]
    var hasCurves: Bool
    var sizeCurves: [HTMLSizeCurve]
    var hasSizeCurves: Bool
    var costs: [HTMLCost]
    var costRows: [CostRow]
    var published: [HTMLPublished]
    var hasPublished: Bool
    var reasons: [HTMLReason]
    var hasReasons: Bool

    struct Cell {
        var text: String
        var style: String
    }
    struct Row {
        var head: String
        var cells: [Cell]
    }
    /// The colour of an engine's bars.
    struct Key {
        var name: String
        var style: String
    }
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
        var one: String
        var left: String
        var width: String
        var interval: Interval?
        var publishedAt: String?
        var publishedLabel: String?

        struct Interval {
            var low: String
            var span: String
        }
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

    init(report: ComparisonReport, name: String, number: Int, colours: EngineColours) {
        self.name = name
        self.number = number
        let table = report.table(suite: name)
        (columns, rows) = Self.cells(table)
        let layers = report.layerTable(suite: name)
        (layerColumns, layerRows) = layers.map(Self.cells) ?? ([], [])
        hasLayers = layers != nil
        let summaries = report.summaries.filter { $0.suite == name }
        let rivals = summaries.flatMap { summary in summary.rivals.map { (summary, $0) } }
        let ratios = rivals.map(\.1.ratio)
        let extremes: [Double] =
            ratios.map(\.ratio) + ratios.compactMap(\.interval).flatMap { [$0.lowerBound, $0.upperBound] }
            + ratios.compactMap(\.published)
        let octaves = extremes.map { log2($0) }.filter(\.isFinite)
        let lowest: Double = min(-1, (octaves.min() ?? 0).rounded(.down))
        let highest: Double = max(1, (octaves.max() ?? 0).rounded(.up))
        // A margin is left for the labels at both ends.
        func position(_ ratio: Double) -> Double {
            4 + (min(max(log2(ratio), lowest), highest) - lowest) / (highest - lowest) * 92
        }
        let step: Double = max(1, ((highest - lowest) / 6).rounded(.up))
        let below = stride(from: -step, through: lowest, by: -step).reversed()
        ticks = (below + [0] + stride(from: step, through: highest, by: step)).map { octave in
            Tick(label: Self.tickLabel(octave), left: Self.percent(position(exp2(octave))))
        }
        let engines = rivals.map { ComparisonReport.name($0.1) }.reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        // Ranked: an engine's greatest lead first.
        let ranked = engines.flatMap { engine in
            rivals.filter { ComparisonReport.name($0.1) == engine }.sorted { $0.1.ratio.ratio > $1.1.ratio.ratio }
        }
        bars = ranked.map { summary, rival in
            Self.bar(
                summary, rival, position, style: colours.style(ComparisonReport.name(rival)), several: engines.count > 1
            )
        }
        keys =
            [Key(name: "\(summaries.first.map(Self.baselineName) ?? "native") faster", style: EngineColours.baseline)]
            + engines.map { Key(name: "\($0) faster", style: colours.style($0)) }
            + [Key(name: "no verdict", style: "same")]
        hasBars = !bars.isEmpty
        curves = summaries.map { HTMLCurve(report: report, summary: $0, colours: colours) }.filter(\.isWorthDrawing)
        hasCurves = !curves.isEmpty
        sizeCurves = report.sizeSeries(suite: name).compactMap { HTMLSizeCurve($0, colours: colours) }
        hasSizeCurves = !sizeCurves.isEmpty
        costs = summaries.map { HTMLCost($0, colours: colours) }
        costRows = summaries.flatMap { summary in
            report.results(suite: name, case: summary.name).map { Self.cost($0) }
        }
        published = HTMLPublished.all(report, suite: name)
        hasPublished = !published.isEmpty
        reasons = HTMLReason.all(summaries)
        hasReasons = !reasons.isEmpty
    }

    private static func cells(_ table: Table) -> ([Cell], [Row]) {
        let styles = table.columns.map { $0.alignment == .right ? "number" : "text" }
        return (
            zip(table.columns, styles).map { Cell(text: $0.title, style: $1) },
            table.rows.map { row in
                Row(head: row[0], cells: zip(row, styles).dropFirst().map { Cell(text: $0, style: $1) })
            }
        )
    }

    private static func tickLabel(_ octave: Double) -> String {
        octave < 0 ? "1/" + String(Int(exp2(-octave))) : String(Int(exp2(octave)))
    }

    static func percent(_ value: Double) -> String { String(format: "%.2f%%", value) }

    private static func baselineName(_ summary: CaseSummary) -> String {
        summary.baseline.engine == "sqlite" ? "native" : summary.baseline.engine
    }

    private static func bar(
        _ summary: CaseSummary, _ rival: CaseSummary.Rival, _ position: (Double) -> Double, style: String, several: Bool
    ) -> Bar {
        let ratio = rival.ratio
        let engine = ComparisonReport.name(rival)
        let baseline = baselineName(summary)
        let one = position(1)
        let verdict: (String, String)
        if !ratio.isDifferent {
            verdict = (Format.verdictOfNone(ratio), "same")
        } else if ratio.ratio > 1 {
            verdict = ("\(engine) faster", style)
        } else {
            verdict = ("\(baseline) faster", EngineColours.baseline)
        }
        return Bar(
            name: several ? "\(summary.name), \(engine)" : summary.name, what: summary.summary, verdict: verdict.0,
            label: Format.ratio(ratio.ratio) + (ratio.interval.map { " (\(Format.bounds($0, " to ")))" } ?? ""),
            style: verdict.1, one: percent(one), left: percent(min(position(ratio.ratio), one)),
            width: percent(abs(position(ratio.ratio) - one)),
            interval: ratio.interval.map {
                Bar.Interval(
                    low: percent(position($0.lowerBound)),
                    span: percent(position($0.upperBound) - position($0.lowerBound)))
            },
            publishedAt: ratio.published.map { percent(position($0)) },
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
