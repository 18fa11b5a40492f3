// The report as text: terminal, Markdown, CSV and JSON.
//
// Invariant: each writer is a pure function of the report. Colour is the caller's word (it knows whether it writes to a
// terminal), and without colour the text says the same.

import Comparison
import Foundation

extension ComparisonReport {
    // MARK: Terminal

    /// - Parameter costs: whether the table of costs is wanted too.
    public func terminalText(colour: Bool, costs: Bool = false) -> String {
        var text = environmentLines.joined(separator: "\n") + "\n"
        for suite in suiteNames {
            text += "\n" + (colour ? "\u{1B}[1m\(suite)\u{1B}[0m" : suite) + "\n"
            text += table(suite: suite).terminalText()
            if let sizes = sizeTable(suite: suite) {
                text += "\nby size (~: no difference, or too few turns)\n" + sizes.terminalText()
            }
            if let layers = layerTable(suite: suite) { text += "\nlayers\n" + layers.terminalText() }
            if costs { text += "\ncosts\n" + costTable(suite: suite).terminalText() }
        }
        text += "\n" + legend.joined(separator: "\n") + "\n"
        if !answer.isEmpty { text += "\n" + answer.map { Self.wrapped($0, width: 110) }.joined(separator: "\n") + "\n" }
        for warning in warnings { text += "warning: \(warning)\n" }
        for failure in failures {
            text += "failed: \(failure.suite) \(failure.case) \(failure.contender): \(failure.message)\n"
        }
        return text
    }

    /// A paragraph in lines of at most `width` characters.
    static func wrapped(_ text: String, width: Int) -> String {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return (lines + [line]).joined(separator: "\n") + "\n"
    }

    /// How many turns there were: a number, or the least and the most.
    var turnsText: String {
        let counts = results.map(\.samples.count)
        guard let least = counts.min(), let most = counts.max(), least != most else { return "\(environment.repeats)" }
        return "\(least) to \(most)"
    }

    /// Changes since an earlier comparison, those beyond noise first.
    public static func text(of changes: [Change]) -> String {
        let order: [Change.Verdict] = [.worse, .better, .same, .undecided]
        let sorted = order.flatMap { verdict in changes.filter { $0.verdict == verdict } }
        let titles = ["suite", "case", "engine", "before", "now", "change"]
        let table = Table(
            columns: titles.enumerated().map { .init(title: $1, alignment: $0 < 3 ? .left : .right) },
            rows: sorted.map { change in
                [
                    change.suite, change.case, "\(change.engine) against \(change.baseline.configuration)",
                    Format.ratio(change.before), Format.ratio(change.now),
                    [.same: "within noise", .undecided: "too few turns"][change.verdict] ?? change.verdict.rawValue,
                ]
            })
        return "\nsince the earlier comparison\n" + table.terminalText()
    }

    var environmentLines: [String] {
        return [
            [
                environment.processor, "\(environment.cores) cores", Format.bytes(Int(environment.memoryBytes)),
                environment.kernel,
            ]
            .compactMap { $0 }.joined(separator: ", "),
            [
                "SQLite \(environment.sqliteVersion)", environment.lmdbVersion,
                "Rootstock \(environment.rootstockVersion)",
                "\(environment.build) build", environment.commit.map { "commit \($0)" },
            ]
            .compactMap { $0 }.joined(separator: ", "),
            "size: \(environment.sizesText); seed \(environment.seed); turns of each: \(turnsText); clock "
                + "\(String(format: "%.0f", environment.clockOverheadNanoseconds)) ns a reading, not subtracted",
        ] + [spentText, memoryText].compactMap { $0 }
    }

    /// Where the time of the comparison went; null in reports that do not say.
    var spentText: String? {
        guard let spent, let all = environment.seconds else { return nil }
        let parts = [
            ("measured", spent.measured), ("around it (processes, warm-up, copies, hashes)", spent.around),
            ("warm-up rounds", spent.warmUps), ("filling stores", spent.preparing), ("other", spent.other),
        ]
        return "took \(String(format: "%.0f", all)) s: "
            + parts.map { "\($0.0) \(String(format: "%.0f", $0.1))" }.joined(separator: ", ")
    }

    /// How the greatest store compares with the memory it may be kept in: what is read from memory says little of a disk.
    var memoryText: String? {
        guard let greatest = results.compactMap(\.cost.storeBytes).max(), greatest > 0 else { return nil }
        let memory = Int(min(environment.memoryBytes, environment.memoryLimitBytes ?? environment.memoryBytes))
        let text = "greatest store \(Format.bytes(greatest)), memory \(Format.bytes(memory))"
        if let within = environment.within { return text + "; each measuring process ran within `\(within)`" }
        return greatest < memory / 2
            ? text + ": reads are from the page cache, except in cases and runs that say otherwise" : text
    }

    var legend: [String] {
        var lines = [
            "us/op: microseconds of wall time an operation, the median turn's. Ratios are time of the left over time of the right: "
                + "above 1 means the right one is faster."
        ]
        if environment.configurations.count > 1 {
            lines.append(
                "best of: the native configuration whose median was least in that row; the ratio is against it. Each one's pragmas "
                    + "stand in the report, its turns in the JSON.")
        }
        if ratios.contains(where: { $0.interval == nil }) {
            lines.append(
                "too few turns: fewer than four of one side give no 95% interval, and the ratio beside it no verdict.")
        }
        if let alike = selfComparison {
            lines.append(
                "An engine against itself: \(alike.same) of \(alike.rows) rows say \"no difference\" "
                    + "(\(String(format: "%.1f", Double(alike.same) / Double(alike.rows) * 100))%).")
        }
        if !publishedSources.isEmpty {
            lines.append("published: " + publishedSources.joined(separator: "; ") + " (other machines; the ratio only)")
        }
        return lines
    }

    // MARK: Markdown

    public func markdown() -> String {
        var text = "# Comparison\n\n"
        text += environmentLines.map { "* \($0)\n" }.joined()
        text += "* SQLite compile options: \(environment.sqliteCompileOptions.joined(separator: " "))\n"
        for (name, settings) in environment.configurations.sorted(by: { $0.key < $1.key }) {
            text += "* native `\(name)`: \(settings.isEmpty ? "as SQLite ships" : settings.joined(separator: ", "))\n"
        }
        text += "* `\(environment.command)`\n"
        if !answer.isEmpty { text += "\n## Answer\n\n" + answer.joined(separator: "\n\n") + "\n" }
        for suite in suiteNames {
            text += "\n## \(suite)\n\n" + table(suite: suite).markdown()
            if let sizes = sizeTable(suite: suite) {
                text += "\n### By size\n\n" + sizes.markdown() + "\n~: no difference, or too few turns\n"
            }
            if let layers = layerTable(suite: suite) { text += "\n### Layers\n\n" + layers.markdown() }
            text += "\n### Costs\n\n" + costTable(suite: suite).markdown() + "\n\(Self.costLegend)\n"
        }
        text += "\n" + legend.joined(separator: "\n") + "\n"
        text += publishedMarkdown
        if !warnings.isEmpty { text += "\n" + warnings.map { "* warning: \($0)\n" }.joined() }
        if !failures.isEmpty {
            text += "\n"
            text += failures.map { "* failed: \($0.suite) \($0.case) \($0.contender): \($0.message)\n" }.joined()
        }
        return text
    }

    /// Published ratios beside ours, and why ours falls short where it does.
    private var publishedMarkdown: String {
        let found = summaries
        let published = HTMLPublished.all(self)
        guard !published.isEmpty else { return "" }
        let titles = ["case", "systems", "their ratio", "ours", "source"]
        let table = Table(
            columns: titles.enumerated().map { .init(title: $1, alignment: $0 == 2 || $0 == 3 ? .right : .left) },
            rows: published.map { [$0.name, $0.pair, $0.theirs, $0.ours, $0.source] })
        var text = "\n## Published figures beside ours\n\n" + table.markdown()
        let reasons = HTMLReason.all(found)
        if !reasons.isEmpty {
            text += "\n### Where ours falls short, and why\n\n"
            text += reasons.map { "* **\($0.name)** (\($0.figures)): \($0.text)\n" }.joined()
        }
        return text
    }

    // MARK: CSV

    /// One line per measured result.
    public func csv() -> String {
        let header = [
            "suite", "case", "engine", "configuration", "durability", "layer", "copy", "operations", "seconds",
            "us_per_op",
            "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "mean_us", "user_s", "system_s", "peak_resident_bytes",
            "bytes_read", "bytes_written", "storage_bytes_written", "sync_calls", "minor_faults", "major_faults",
            "store_bytes", "round_trips",
            "checksum", "turns", "best_native_over_this", "interval_low", "interval_high", "verdict",
        ]
        func text(_ value: Int?) -> String { value.map(String.init) ?? "" }
        let lines = results.map { result -> [String] in
            let latency = result.latency
            let cost = result.cost
            return [
                result.suite, result.case, result.engine, result.configuration, result.durability.rawValue,
                result.layer.rawValue, "\(result.copy)", "\(result.operations)", "\(result.seconds)",
                "\(result.microsecondsPerOperation)", "\(latency.p50)", "\(latency.p90)", "\(latency.p99)",
                "\(latency.p999)", "\(latency.max)", "\(latency.mean)", "\(cost.userSeconds)", "\(cost.systemSeconds)",
                text(cost.peakResidentBytes), text(cost.bytesRead), text(cost.bytesWritten),
                text(cost.storageBytesWritten), text(cost.syncCalls), "\(cost.minorFaults)", "\(cost.majorFaults)",
                text(cost.storeBytes), text(cost.roundTrips),
                result.checksum, "\(result.samples.count)",
            ] + ratioFields(result)
        }
        return ([header] + lines).map { $0.map(Self.csvField).joined(separator: ",") + "\n" }.joined()
    }

    /// A result against the row's best native configuration: ratio, interval and verdict, empty for what has none.
    private func ratioFields(_ result: MeasuredResult) -> [String] {
        let found = (ratios + layers).filter {
            $0.suite == result.suite && $0.case == result.case && $0.engine == result.engine
                && $0.configuration == result.configuration && $0.layer == result.layer
                && $0.durability == result.durability
        }
        let best = summaries.first { $0.suite == result.suite && $0.name == result.case }?.baseline.configuration
        guard let ratio = found.first(where: { $0.baseline.configuration == best }),
            result.layer != .cInterface || result.engine != ratio.baseline.engine || result.copy > 0
        else { return ["", "", "", ""] }
        let bounds = ratio.interval.map { ["\($0.lowerBound)", "\($0.upperBound)"] } ?? ["", ""]
        let verdict = ratio.isDifferent ? (ratio.ratio > 1 ? "faster" : "slower") : Format.verdictOfNone(ratio)
        return ["\(ratio.ratio)"] + bounds + [verdict]
    }

    private static func csvField(_ text: String) -> String {
        guard text.contains(where: { ",\"\n\r".contains($0) }) else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }

    // MARK: JSON

    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }
}

extension Table {
    func terminalText() -> String {
        let widths = columns.indices.map { index in
            ([columns[index].title] + rows.map { $0[index] }).map(\.count).max() ?? 0
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (index, cell) in cells.enumerated() {
                let padding = String(repeating: " ", count: widths[index] - cell.count)
                text += columns[index].alignment == .left ? cell + padding : padding + cell
                if index < cells.count - 1 { text += "  " }
            }
            while text.last == " " { text.removeLast() }
            return text + "\n"
        }
        let rule = String(repeating: "-", count: widths.reduce(0, +) + 2 * (widths.count - 1)) + "\n"
        return line(columns.map(\.title)) + rule + rows.map(line).joined()
    }

    func markdown() -> String {
        func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |\n" }
        let rule = line(columns.map { $0.alignment == .left ? "---" : "---:" })
        return line(columns.map(\.title)) + rule
            + rows.map { line($0.map { $0.replacingOccurrences(of: "|", with: "\\|") }) }.joined()
    }
}
