// The answer to "which engine serves me, and at what cost", in words.
//
// Invariant: every sentence is made of figures that stand in the report, and says the losses as plainly as the gains. Too few turns are no
// verdict. Where answers differed or a statement was refused there is no verdict on the mix, but the refusal by name.

import Comparison
import Foundation

extension ComparisonReport {
    /// Paragraphs for a comparison on the user's own data; for any other a sentence an engine.
    public var answer: [String] {
        guard let own = ownData else { return summarySentences }
        var text: [String] = []
        let found = summaries.filter { $0.suite == own.database }
        let engines = results.filter { $0.suite == own.database }.map(\.engine).reduce(into: [String]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        if let mix = found.first(where: { $0.name == Self.mixName }) {
            text += mix.rivals.map { verdict(mix, $0, found.filter { $0.name != Self.mixName }) }
            if mix.rivals.isEmpty, failures.isEmpty {
                text.append(
                    "\(Self.engineName(mix.baseline)) runs \(Self.rate(mix.baseline)) operations of the mix a second; no other "
                        + "engine was set against it.")
            }
        }
        let refused = failures.filter { $0.suite == own.database }
        for contender in refused.map(\.contender).reduce(into: [String](), { if !$0.contains($1) { $0.append($1) } }) {
            let all = refused.filter { $0.contender == contender }
            let parts = all.filter { $0.case != Self.mixName || all.count == 1 }
            text.append(
                "\(contender) did not run all of it: "
                    + parts.map { "\($0.case) (\($0.message))" }.joined(separator: "; ")
                    + ". A mix that holds such an operation has no figure for \(contender).")
        }
        let copies = engines.isEmpty ? "" : " on \(engines.joined(separator: " and "))"
        text.append(
            "The data: \(own.database), \(Format.bytes(own.databaseBytes)), \(own.rows) rows in \(own.tables) tables, "
                + "imported\(copies) and compared row by row with the original, which was only read.")
        if !own.skipped.isEmpty { text.append("Not brought along: " + own.skipped.joined(separator: "; ") + ".") }
        let weights = own.operations.map { "\($0.name) \($0.weight)" }.joined(separator: ", ")
        text.append("The mix, by weight: \(weights).")
        return text
    }

    /// `lmdb is faster than native SQLite at its best in 5 of 8 cases (median 2.4x; reads 4 of 4, writes 1 of 4) and slower in 1
    /// ...`: all suites of the report together.
    private var summarySentences: [String] {
        let writing = Set(cases.filter(\.writes).map { [$0.suite, $0.case] })
        let rivals = summaries.flatMap { summary in
            summary.rivals.map { (summary.baseline, $0, writes: writing.contains([summary.suite, summary.name])) }
        }
        let names = rivals.map { Self.name($0.1) }.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return names.map { name in
            let mine = rivals.filter { Self.name($0.1) == name }
            let baseline = mine[0].0.engine == "sqlite" ? "native SQLite at its best" : mine[0].0.engine
            let ratios = mine.map(\.1.ratio)
            func median(_ factors: [Double]) -> String { Format.ratio(factors.sorted()[factors.count / 2]) }
            func isFaster(_ ratio: Ratio) -> Bool { ratio.isDifferent && ratio.ratio > 1 }
            let faster = ratios.filter(isFaster)
            let slower = ratios.filter { $0.isDifferent && $0.ratio < 1 }
            let undecided = ratios.filter { $0.interval == nil }.count
            let same = ratios.filter { !$0.isDifferent && $0.interval != nil }.count
            var text =
                "\(name) is faster than \(baseline) in \(faster.count) of \(ratios.count) case\(ratios.count == 1 ? "" : "s")"
            if !faster.isEmpty {
                let kinds = [("reads", false), ("writes", true)].compactMap { kind, writes -> String? in
                    let these = mine.filter { $0.writes == writes }
                    return these.isEmpty || these.count == mine.count
                        ? nil : "\(kind) \(these.count { isFaster($0.1.ratio) }) of \(these.count)"
                }
                text +=
                    " (median \(median(faster.map(\.ratio)))\(kinds.isEmpty ? "" : "; ")\(kinds.joined(separator: ", ")))"
            }
            text +=
                " and slower in \(slower.count)"
                + (slower.isEmpty ? "" : " (median \(median(slower.map { 1 / $0.ratio })))")
            if same > 0 { text += "; no difference in \(same)" }
            if undecided > 0 { text += "; too few turns in \(undecided)" }
            text += "."
            let sizes = mine.compactMap { pair -> Double? in
                guard let native = pair.0.cost.storeBytes, let other = pair.1.result.cost.storeBytes, native > 0,
                    other > 0  // an engine that keeps nothing takes no space
                else { return nil }
                return Double(other) / Double(native)
            }.sorted()
            if !sizes.isEmpty { text += " A store takes \(median(sizes)) the space." }
            return text
        }
    }

    static let mixName = "mix"

    private static func rate(_ result: MeasuredResult) -> String {
        let rate = Double(result.operations) / result.seconds
        return rate >= 100 ? String(format: "%.0f", rate) : Format.significant(rate)
    }

    private static func engineName(_ result: MeasuredResult) -> String {
        result.engine == "sqlite" ? "native SQLite (\(result.configuration))" : result.engine
    }

    /// What a run would have needed besides, so that each of the cases has its verdict.
    private func needed(_ cases: [String]) -> String {
        var seconds = 0.0
        // Around the measured time: starting processes, copying stores, hashing answers.
        let overhead = spent.map { $0.measured > 0 ? ($0.measured + $0.around) / $0.measured : 1 } ?? 1
        for name in cases {
            let sides = results(suite: ownData?.database ?? "", case: name)
            let fewest = sides.map(\.samples.count).min() ?? 0
            seconds += sides.reduce(0) { $0 + $1.seconds } * Double(max(0, ratioNeedsTurns - fewest)) * overhead
        }
        let time =
            seconds < 90 ? "\(max(1, Int(seconds.rounded(.up)))) s" : "\(Int((seconds / 60).rounded(.up))) minutes"
        return
            "no verdict under \(ratioNeedsTurns) turns of each engine: about \(time) more with --budget, or --repeat "
            + "\(ratioNeedsTurns) without it"
    }

    private func verdict(_ mix: CaseSummary, _ rival: CaseSummary.Rival, _ parts: [CaseSummary]) -> String {
        let ratio = rival.ratio
        let (native, other) = (Self.engineName(mix.baseline), Self.name(rival))
        let bounds = ratio.interval.map { "95% interval \(Format.bounds($0, " to "))" } ?? ""
        let rates = "\(Self.rate(rival.result)) against \(Self.rate(mix.baseline)) operations a second"
        var text: String
        if ratio.interval == nil {
            text =
                "\(other) reaches \(Format.ratio(ratio.ratio)) of the speed of \(native): \(rates); \(needed([mix.name]))."
        } else if !ratio.isDifferent {
            text =
                "This workload runs alike on \(other) and on \(native): \(rates), no difference beyond noise (\(bounds))."
        } else if ratio.ratio > 1 {
            text =
                "\(other) serves this workload \(Format.ratio(ratio.ratio)) as fast as \(native) at its best: \(rates) "
                + "(\(bounds))."
        } else {
            text =
                "\(native) serves this workload better: \(other) reaches \(Format.ratio(ratio.ratio)) of its speed, \(rates) "
                + "(\(bounds))."
        }
        text +=
            " What \(other) costs beside it: " + Self.costs(mix.baseline, rival.result).joined(separator: ", ") + "."
        let pairs = parts.compactMap { part in
            part.rivals.first { Self.name($0) == other }.map { (part.name, $0.ratio) }
        }
        func list(_ chosen: [(String, Ratio)]) -> String {
            chosen.map { "\($0.0) \(Format.ratio($0.1.ratio))" }.joined(separator: ", ")
        }
        let slower = pairs.filter { $0.1.isDifferent && $0.1.ratio < 1 }.sorted { $0.1.ratio < $1.1.ratio }
        let faster = pairs.filter { $0.1.isDifferent && $0.1.ratio > 1 }.sorted { $0.1.ratio > $1.1.ratio }
        let same = pairs.filter { !$0.1.isDifferent && $0.1.interval != nil }
        let unknown = pairs.filter { $0.1.interval == nil }
        if !slower.isEmpty { text += " Slower on \(other): \(list(slower))." }
        if !faster.isEmpty { text += " Faster: \(list(faster))." }
        if !same.isEmpty { text += " No difference: \(same.map(\.0).joined(separator: ", "))." }
        if !unknown.isEmpty {
            text += " Too few turns to tell: \(list(unknown)) (\(needed(unknown.map(\.0))))."
        }
        return text
    }

    /// What the second costs beside the first, each as both figures and their ratio.
    static func costs(_ first: MeasuredResult, _ second: MeasuredResult) -> [String] {
        func pair(_ what: String, _ a: Double?, _ b: Double?, _ show: (Double) -> String) -> String? {
            guard let a, let b, a > 0 || b > 0 else { return nil }
            let ratio = a > 0 && b > 0 ? " (\(Format.ratio(b / a)))" : ""
            return "\(what) \(show(b)) against \(show(a))\(ratio)"
        }
        let bytes = { (value: Double) in Format.bytes(Int(value)) }
        let micro = { (value: Double) in Format.significant(value) + " us" }
        func each(_ result: MeasuredResult) -> Double { result.cost.processorSeconds * 1e6 / Double(result.operations) }
        return [
            pair("disk", first.cost.storeBytes.map(Double.init), second.cost.storeBytes.map(Double.init), bytes),
            pair(
                "peak memory", first.cost.peakResidentBytes.map(Double.init),
                second.cost.peakResidentBytes.map(Double.init),
                bytes),
            pair("processor time an operation", each(first), each(second), micro),
            pair(
                "bytes written", first.cost.storageBytesWritten.map(Double.init),
                second.cost.storageBytesWritten.map(Double.init), bytes),
            pair(
                "sync calls", first.cost.syncCalls.map(Double.init), second.cost.syncCalls.map(Double.init)
            ) { String(Int($0)) },
        ].compactMap { $0 }
    }
}
