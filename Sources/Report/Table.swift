// The summary of a comparison as a table of texts, made once and shown as terminal text, Markdown or HTML.
//
// Invariant: one row per case. The native column is the best native configuration of that row: a claim against a badly
// configured opponent is no claim. A ratio whose interval holds 1 reads "no difference", one without an
// interval "too few turns".

import Comparison
import Foundation

public struct Table: Sendable, Equatable {
    public enum Alignment: Sendable { case left, right }
    public struct Column: Sendable, Equatable {
        public var title: String
        public var alignment: Alignment
    }

    public var columns: [Column]
    public var rows: [[String]]
}

/// A case with its best native result, and what stands against it.
public struct CaseSummary: Sendable {
    public var suite: String
    public var name: String
    public var summary: String
    public var baseline: MeasuredResult
    public var rivals: [Rival]
    public var floor: MeasuredResult?

    public struct Rival: Sendable {
        public var result: MeasuredResult
        public var ratio: Ratio
    }
}

extension ComparisonReport {
    /// Every case that gave figures, in the order in which it was run.
    public var summaries: [CaseSummary] {
        cases.compactMap { item in
            let sql = results(suite: item.suite, case: item.case).filter { $0.layer == .cInterface }
            let ratios = ratios.filter { $0.suite == item.suite && $0.case == item.case }
            let native = sql.filter { result in
                ratios.contains {
                    $0.baseline.engine == result.engine && $0.baseline.configuration == result.configuration
                }
                    && result.copy == 0
            }
            guard let best = (native.isEmpty ? Array(sql.prefix(1)) : native).min(by: { $0.seconds < $1.seconds })
            else {
                return nil
            }
            let rivals = ratios.filter { $0.baseline.configuration == best.configuration }.compactMap { ratio in
                sql.last { $0.engine == ratio.engine && $0.configuration == ratio.configuration }
                    .map { CaseSummary.Rival(result: $0, ratio: ratio) }
            }
            let floor = results(suite: item.suite, case: item.case).first { $0.layer == .floor }
            return CaseSummary(
                suite: item.suite, name: item.case, summary: item.summary, baseline: best, rivals: rivals, floor: floor)
        }
    }

    /// The table of a suite.
    public func table(suite: String) -> Table {
        let summaries = summaries.filter { $0.suite == suite }
        let rivals = rivalNames(summaries)
        let hasFloor = summaries.contains { $0.floor != nil }
        let hasPublished = summaries.contains { $0.rivals.contains { $0.ratio.published != nil } }
        let severalConfigurations = environment.configurations.count > 1
        let native = baselineName(summaries)
        // The control has a turn or two by plan: a column of "too few turns" would say nothing more.
        func hasInterval(_ name: String) -> Bool {
            name != Contender.control
                || summaries.contains { $0.rivals.contains { Self.name($0) == name && $0.ratio.interval != nil } }
        }
        // Of an engine on a server: there they are what time is spent on.
        func hasRoundTrips(_ name: String) -> Bool {
            summaries.contains { $0.rivals.contains { Self.name($0) == name && $0.result.cost.roundTrips != nil } }
        }
        var columns = [Table.Column(title: "case", alignment: .left)]
        columns.append(.init(title: "\(native) us/op", alignment: .right))
        if severalConfigurations { columns.append(.init(title: "best of", alignment: .left)) }
        for rival in rivals {
            columns.append(.init(title: "\(rival) us/op", alignment: .right))
            columns.append(.init(title: "\(native) / \(rival)", alignment: .right))
            if hasInterval(rival) { columns.append(.init(title: "95% interval", alignment: .left)) }
            if hasRoundTrips(rival) { columns.append(.init(title: "\(rival) round trips/op", alignment: .right)) }
        }
        if hasFloor { columns.append(.init(title: "floor us/op", alignment: .right)) }
        if hasPublished { columns.append(.init(title: "published", alignment: .right)) }
        let rows = summaries.map { summary -> [String] in
            var row = [summary.name, Format.microseconds(summary.baseline.microsecondsPerOperation)]
            if severalConfigurations { row.append(summary.baseline.configuration) }
            for name in rivals {
                let rival = summary.rivals.first { Self.name($0) == name }
                if let rival {
                    row.append(Format.microseconds(rival.result.microsecondsPerOperation))
                    row.append(Format.ratio(rival.ratio.ratio))
                    if hasInterval(name) { row.append(Format.interval(rival.ratio)) }
                } else {
                    row += hasInterval(name) ? ["-", "-", "-"] : ["-", "-"]
                }
                if hasRoundTrips(name) {
                    row.append(rival?.result.roundTripsPerOperation.map(Format.significant) ?? "-")
                }
            }
            if hasFloor { row.append(summary.floor.map { Format.microseconds($0.microsecondsPerOperation) } ?? "-") }
            if hasPublished { row.append(summary.rivals.compactMap(\.ratio.published).first.map(Format.ratio) ?? "-") }
            return row
        }
        return Table(columns: columns, rows: rows)
    }

    /// What each layer of the stack costs, engine by engine; null where only one layer was measured.
    public func layerTable(suite: String) -> Table? {
        let measured = results.filter { $0.suite == suite && $0.copy == 0 }
        let layers = Layer.allCases.filter { layer in measured.contains { $0.layer == layer } }
        guard layers.count > 1 else { return nil }
        var columns = [Table.Column(title: "case", alignment: .left), .init(title: "engine", alignment: .left)]
        columns += layers.map { .init(title: "\($0.rawValue) us/op", alignment: .right) }
        var rows: [[String]] = []
        for item in cases where item.suite == suite {
            let ofCase = measured.filter { $0.case == item.case }
            // What stands on no engine of ours has a row of its own.
            let alone = ofCase.filter { $0.layer == .userDefaults }
            for base in ofCase.filter({ $0.layer == .cInterface }) + alone {
                let stack = layers.map { layer in
                    ofCase.first {
                        $0.layer == layer && $0.engine == base.engine && $0.configuration == base.configuration
                    }
                }
                guard base.layer == .userDefaults || stack.compactMap({ $0 }).count > 1 else { continue }
                rows.append(
                    [item.case, base.layer == .userDefaults ? base.engine : base.contender.description]
                        + stack.map { $0.map { Format.microseconds($0.microsecondsPerOperation) } ?? "-" })
            }
        }
        return Table(columns: columns, rows: rows)
    }

    public var suiteNames: [String] {
        cases.reduce(into: []) { names, item in if !names.contains(item.suite) { names.append(item.suite) } }
    }

    static func name(_ rival: CaseSummary.Rival) -> String {
        rival.result.copy > 0 ? "\(rival.result.engine) again" : rival.result.engine
    }

    private func rivalNames(_ summaries: [CaseSummary]) -> [String] {
        summaries.flatMap(\.rivals).map(Self.name).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private func baselineName(_ summaries: [CaseSummary]) -> String {
        let engine = summaries.first?.baseline.engine ?? "sqlite"
        return engine == "sqlite" ? "native" : engine
    }

    /// What the published column means; empty where there is none.
    public var publishedSources: [String] {
        ratios.compactMap(\.publishedSource).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

enum Format {
    /// Three significant digits.
    static func significant(_ value: Double) -> String {
        let magnitude = abs(value)
        if magnitude >= 100 { return String(format: "%.0f", value) }
        if magnitude >= 10 { return String(format: "%.1f", value) }
        if magnitude >= 1 { return String(format: "%.2f", value) }
        if magnitude >= 0.01 || magnitude == 0 { return String(format: "%.3f", value) }
        // Without an exponent: 0.00041.
        return String(format: "%.*f", Int((-log10(magnitude)).rounded(.down)) + 2, value)
    }

    /// Up to three significant digits, without zeros behind the point.
    static func plain(_ value: Double) -> String { String(format: value >= 1000 ? "%.0f" : "%.3g", value) }

    static func microseconds(_ value: Double) -> String { significant(value) }
    static func ratio(_ value: Double) -> String {
        value < 0.1 ? significant(value) + "x" : String(format: value >= 100 ? "%.0fx" : "%.2fx", value)
    }

    /// A bound near 1 keeps its third digit: on which side of 1 it lies is what matters.
    static func bound(_ value: Double) -> String {
        String(format: abs(value - 1) < 0.005 && value != 1 ? "%.3f" : "%.2f", value)
    }

    /// What a ratio says that is no difference.
    static func verdictOfNone(_ ratio: Ratio) -> String {
        ratio.interval == nil ? "too few turns" : "no difference"
    }

    static func bounds(_ interval: ClosedRange<Double>, _ between: String) -> String {
        bound(interval.lowerBound) + between + bound(interval.upperBound)
    }

    /// The interval, with a word where it holds 1; only words where there is none.
    static func interval(_ ratio: Ratio) -> String {
        guard let interval = ratio.interval else { return verdictOfNone(ratio) }
        return bounds(interval, "-") + (ratio.isDifferent ? "" : " " + verdictOfNone(ratio))
    }

    static func bytes(_ value: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var amount = Double(value)
        var unit = 0
        while amount >= 1024 && unit < units.count - 1 {
            amount /= 1024
            unit += 1
        }
        return unit == 0 ? "\(value) B" : significant(amount) + " " + units[unit]
    }
}
