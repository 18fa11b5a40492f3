// The plots of the HTML report beside the ratio bars: latency percentiles, costs, and published figures.
//
// Invariant: a plot shows the best native configuration of its case and what stands against it; the tables below it have
// every contender. Whatever a plot draws is said in words or figures next to it.

import Comparison
import Foundation
import Workloads

extension CaseSummary {
    /// What a plot of the case shows, the baseline first.
    var drawn: [MeasuredResult] { [baseline] + rivals.map(\.result) + (floor.map { [$0] } ?? []) }

    /// The short name of a result in a plot.
    func plotName(_ result: MeasuredResult) -> String {
        if result.engine == "sqlite" && result.layer == .cInterface && result.copy == 0 {
            return "native (\(result.configuration))"
        }
        return result.contender.description
    }
}

/// Latency percentiles of a case: one line per contender, as a drawing and as a table.
struct HTMLCurve {
    var name: String
    var lines: [Line]
    var rows: [Row]
    var labels: [Label]
    var grid: [Grid]
    var isWorthDrawing: Bool

    struct Line {
        var contender: String
        var points: String
        var style: String
        var p50: String
        var p99: String
    }
    struct Row {
        var contender: String
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
        var anchor: String
    }
    struct Grid {
        var text: String
        var y: String
        var baseline: String
    }

    // The drawing's own units; the template's view box is 360 by 210.
    static let left = 56.0
    static let right = 348.0
    static let top = 12.0
    static let bottom = 180.0

    init(report: ComparisonReport, summary: CaseSummary, colours: EngineColours) {
        name = summary.name
        let drawn = summary.drawn
        let values = drawn.flatMap { $0.curve.map(\.microseconds) }.filter { $0 > 0 }
        let lowest = log10(values.min() ?? 1).rounded(.down)
        let highest = Swift.max(lowest + 1, log10(values.max() ?? 10).rounded(.up))
        // "Nines" on the x axis: each step to the right is a tenfold rarer operation.
        let nines = { (percentile: Double) in -log10(Swift.max(1 - percentile / 100, 0.00005)) }
        let x = { (percentile: Double) in Self.left + nines(percentile) / nines(100) * (Self.right - Self.left) }
        let y = { (value: Double) in
            Self.bottom - (log10(Swift.max(value, 0.001)) - lowest) / (highest - lowest) * (Self.bottom - Self.top)
        }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        lines = drawn.map { result in
            var points = result.curve.map { (x($0.percentile), y($0.microseconds)) }
            // A curve of one point is a level.
            if points.count == 1 { points = [(Self.left, points[0].1), (Self.right, points[0].1)] }
            return Line(
                contender: summary.plotName(result),
                points: points.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " "),
                style: colours.style(result, in: summary),
                p50: Self.time(result.latency.p50), p99: Self.time(result.latency.p99))
        }
        rows = report.results(suite: summary.suite, case: summary.name).map { result in
            let latency = result.latency
            return Row(
                contender: result.contender.description, p50: Format.significant(latency.p50),
                p90: Format.significant(latency.p90), p99: Format.significant(latency.p99),
                p999: Format.significant(latency.p999), max: Format.significant(latency.max),
                mean: Format.significant(latency.mean))
        }
        labels = [(0.0, "0%"), (90, "90%"), (99, "99%"), (99.9, "99.9%"), (99.99, "99.99%")].map {
            Label(text: $0.1, x: number(x($0.0)), anchor: "middle")
        }
        let decades = Int(highest - lowest)
        let step = Swift.max(1, (decades + 4) / 5)
        grid = stride(from: 0, through: decades, by: step).map { decade in
            let value = pow(10, lowest + Double(decade))
            return Grid(text: Self.time(value), y: number(y(value)), baseline: number(y(value) + 4))
        }
        isWorthDrawing = !values.isEmpty
    }

    /// Microseconds as a person writes them.
    static func time(_ microseconds: Double) -> String {
        switch microseconds {
        case 1e6...: Format.plain(microseconds / 1e6) + " s"
        case 1e3...: Format.plain(microseconds / 1e3) + " ms"
        case 1...: Format.plain(microseconds) + " us"
        default: Format.plain(microseconds * 1e3) + " ns"
        }
    }
}

/// What a case costs on each contender, measure by measure: the longest bar of a measure is its greatest figure.
struct HTMLCost {
    var name: String
    var measures: [Measure]

    struct Measure {
        var name: String
        var bars: [Bar]
    }
    struct Bar {
        var contender: String
        var value: String
        var width: String
        var style: String
    }

    init(_ summary: CaseSummary, colours: EngineColours) {
        name = summary.name
        let drawn = summary.drawn
        func measure(
            _ name: String, _ value: (MeasuredResult) -> Double?, _ show: (Double) -> String
        ) -> Measure? {
            let values = drawn.map(value)
            let greatest = values.compactMap { $0 }.max() ?? 0
            guard values.contains(where: { $0 != nil }) else { return nil }
            return Measure(
                name: name,
                bars: zip(drawn, values).map { pair in
                    Bar(
                        contender: summary.plotName(pair.0), value: pair.1.map(show) ?? "not counted",
                        width: HTMLSuite.percent(greatest > 0 ? (pair.1 ?? 0) / greatest * 100 : 0),
                        style: colours.style(pair.0, in: summary))
                })
        }
        let bytes = { (value: Double) in Format.bytes(Int(value)) }
        measures = [
            measure(
                "processor time an operation", { $0.cost.processorSeconds * 1e6 / Double($0.operations) },
                { HTMLCurve.time($0) }),
            measure("peak memory", { $0.cost.peakResidentBytes.map(Double.init) }, bytes),
            measure(
                "bytes written to storage", { ($0.cost.storageBytesWritten ?? $0.cost.bytesWritten).map(Double.init) },
                bytes),
            measure("sync calls", { $0.cost.syncCalls.map(Double.init) }, { String(Int($0)) }),
            measure("size on disk", { $0.cost.storeBytes.map(Double.init) }, bytes),
        ].compactMap { $0 }
    }
}

/// A published ratio beside ours.
struct HTMLPublished {
    var name: String
    var source: String
    var pair: String
    var theirs: String
    var ours: String

    init(_ row: PublishedRow, _ other: PublishedRow.Figure, _ ours: Ratio?) {
        name = row.workload
        source = row.source + (row.dataset.isEmpty ? "" : ", \(row.dataset)")
        pair = "\(row.metric): \(other.system) against \(row.base.system)"
        theirs = Format.ratio(row.ratio(other))
        self.ours = ours.map { "\($0.contenderName) \(Format.ratio($0.ratio))" } ?? "-"
    }

    static func all(_ report: ComparisonReport, suite: String? = nil) -> [HTMLPublished] {
        guard report.environment.within == nil else { return [] }
        return report.summaries.filter { suite == nil || $0.suite == suite }.flatMap { summary in
            PublishedRow.find(suite: summary.suite, workload: summary.name).flatMap { row in
                row.others.map { HTMLPublished(row, $0, report.ratio(beside: $0.system, of: row, summary)) }
            }
        }
    }
}

extension ComparisonReport {
    /// Our ratio that answers to a published one: of the layer that the system is, where it is one and was measured, otherwise
    /// of the engine set against native SQLite. None for figures that are no times, or of another size of the data.
    func ratio(beside system: String, of row: PublishedRow, _ summary: CaseSummary) -> Ratio? {
        guard row.isTime else { return nil }
        if let size = row.size, let ours = environment.sizes[row.suite], ours != size { return nil }
        switch system {
        case "UserDefaults":
            return layers.first {
                $0.suite == row.suite && $0.case == row.workload && $0.layer == .userDefaults
                    && $0.baseline.configuration == summary.baseline.configuration
            }
        case "GRDB", "GRDB (SQL)": return nil  // an object mapper, which no layer here is
        default: break
        }
        return summary.rivals.first { !$0.result.contender.isControl }?.ratio
    }
}

extension Ratio {
    /// Who is set against the baseline, as a column calls it.
    var contenderName: String {
        layer == .userDefaults
            ? layer.rawValue : Contender(engine: engine, configuration: configuration, layer: layer).description
    }
}

extension PublishedRow {
    var isTime: Bool { metric == "time" || metric == "latency" }

    /// The suite's size at which the data is the row's; null where the source has one size only.
    var size: Int? { ["small": 1, "medium": 10, "large": 100][dataset] ?? Int(dataset) }
}

/// Why a ratio of ours falls short of the published one.
struct HTMLReason {
    var name: String
    var figures: String
    var text: String

    static func all(_ summaries: [CaseSummary]) -> [HTMLReason] {
        summaries.flatMap { summary in
            summary.shortfalls.map { rival, published in
                HTMLReason(
                    name: summary.name,
                    figures: "\(Format.ratio(rival.ratio.ratio)) here, \(Format.ratio(published)) published",
                    text: PublishedReason.find(suite: summary.suite, workload: summary.name)
                        ?? "Not known yet; Vendor-notes/sqlightning.md is the place for it.")
            }
        }
    }
}

extension CaseSummary {
    /// Rivals whose ratio lies, with its whole interval, below the published one.
    var shortfalls: [(rival: Rival, published: Double)] {
        rivals.compactMap { rival in
            guard let published = rival.ratio.published, let high = rival.ratio.interval?.upperBound, high < published
            else { return nil }
            return (rival, published)
        }
    }
}
