// How the ratios of a suite depend on its size: a table, and a drawing of each case, of a comparison at several sizes.
//
// Invariant: a point is a row of the suite's table, native's best configuration at that size against the engine. Nothing is drawn
// between two sizes but a straight line, and every point has its figure beside it in the table.

import Comparison
import Foundation

/// A case at the sizes that it was run at.
public struct SizeSeries: Sendable {
    public var name: String
    /// Least first.
    public var points: [(size: Int, summary: CaseSummary)]

    /// The engines that stand against the baseline, in the order of the report.
    var rivals: [String] {
        points.flatMap(\.summary.rivals).map(ComparisonReport.name).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// An engine's ratio at each size; null where it has none.
    func ratios(_ rival: String) -> [Ratio?] {
        points.map { point in point.summary.rivals.first { ComparisonReport.name($0) == rival }?.ratio }
    }
}

extension ComparisonReport {
    /// The cases of a suite that ran at several sizes.
    public func sizeSeries(suite: String) -> [SizeSeries] {
        let summaries = summaries.filter { $0.suite == suite }
        var all: [SizeSeries] = []
        for item in cases where item.suite == suite {
            guard let name = item.ofCase, let size = item.size,
                let summary = summaries.first(where: { $0.name == item.case })
            else { continue }
            let at = all.firstIndex { $0.name == name } ?? all.endIndex
            if at == all.endIndex { all.append(SizeSeries(name: name, points: [])) }
            all[at].points.append((size, summary))
        }
        return all.map { series in
            SizeSeries(name: series.name, points: series.points.sorted { $0.size < $1.size })
        }
    }

    /// A row for each case and engine, a column for each size; null where the suite ran at one size.
    public func sizeTable(suite: String) -> Table? {
        let all = sizeSeries(suite: suite)
        let sizes = Set(all.flatMap { $0.points.map(\.size) }).sorted()
        guard sizes.count > 1 else { return nil }
        var columns = [
            Table.Column(title: "native / engine at", alignment: .left), .init(title: "engine", alignment: .left),
        ]
        columns += sizes.map { .init(title: "\($0)", alignment: .right) }
        let rows = all.flatMap { series in
            series.rivals.map { rival in
                let known = Dictionary(
                    zip(series.points.map(\.size), series.ratios(rival)), uniquingKeysWith: { $1 })
                return [series.name, rival]
                    + sizes.map { size in
                        known[size].flatMap { $0 }.map { Format.ratio($0.ratio) + ($0.isDifferent ? "" : " ~") } ?? "-"
                    }
            }
        }
        return Table(columns: columns, rows: rows)
    }
}

/// The ratios of a case by size, as a drawing: sizes from left to right, ratios upwards, both in equal factors.
struct HTMLSizeCurve {
    var name: String
    var lines: [Line]
    var labels: [HTMLCurve.Label]
    var grid: [HTMLCurve.Grid]
    var one: String

    struct Line {
        var engine: String
        var points: String
        var style: String
        var figures: String
    }

    /// Null where there is no line to draw.
    init?(_ series: SizeSeries, colours: EngineColours) {
        let sizes = series.points.map { log10(Double($0.size)) }
        let ratios = series.rivals.flatMap { series.ratios($0) }.compactMap { $0?.ratio }.map { log2($0) }
        guard sizes.count > 1, let first = sizes.first, let last = sizes.last, !ratios.isEmpty else { return nil }
        let low = min(-1, (ratios.min() ?? 0).rounded(.down))
        let high = max(1, (ratios.max() ?? 0).rounded(.up))
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        // A margin keeps the outer labels within the drawing.
        let (left, right) = (HTMLCurve.left + 16, HTMLCurve.right - 16)
        func x(_ size: Double) -> Double { left + (size - first) / (last - first) * (right - left) }
        func y(_ octave: Double) -> Double {
            HTMLCurve.bottom - (octave - low) / (high - low) * (HTMLCurve.bottom - HTMLCurve.top)
        }
        name = series.name
        lines = series.rivals.map { rival in
            let points = zip(zip(sizes, series.points), series.ratios(rival)).compactMap { place, ratio in
                ratio.map { (size: place.0, count: place.1.size, ratio: $0) }
            }
            return Line(
                engine: rival,
                points: points.map { "\(number(x($0.size))),\(number(y(log2($0.ratio.ratio))))" }.joined(
                    separator: " "),
                style: colours.style(rival),
                figures: points.map { "\(Format.ratio($0.ratio.ratio)) at \($0.count)" }.joined(separator: ", "))
        }
        labels = zip(sizes, series.points).map { size, point in
            HTMLCurve.Label(text: "\(point.size)", x: number(x(size)), anchor: "middle")
        }
        let step = max(1, ((high - low) / 5).rounded(.up))
        // From a multiple of the step on, so that 1 is a line with its label.
        grid = stride(from: (low / step).rounded(.up) * step, through: high, by: step).map { octave in
            let text = octave < 0 ? "1/\(Int(exp2(-octave)))" : "\(Int(exp2(octave)))"
            return HTMLCurve.Grid(text: text, y: number(y(octave)), baseline: number(y(octave) + 4))
        }
        one = number(y(0))
    }
}
