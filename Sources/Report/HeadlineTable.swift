// The headline ratios of several comparisons as one Markdown table: what a README shows.
//
// Invariant: rows where native wins stand first, then those without a difference, then the rest; each group with the row
// furthest from 1 first. Nothing is left out: a row of a report that has a headline is in the table. Turns are those of the
// native configuration and of the engine.

import Comparison

extension ComparisonReport {
    /// One row for each headline ratio against `engine`.
    ///
    /// - Parameter reports: comparisons, whose suites and cases may overlap: then each has its row.
    public static func headlineTable(_ reports: [ComparisonReport], engine: String = "lmdb") -> String {
        let rows = headlineRows(reports, engine)
        let hasSuites = Set(rows.map(\.summary.suite)).count > 1
        let hasControl = rows.contains { $0.control != nil }
        let hasFloor = rows.contains { $0.summary.floor != nil }
        let hasPublished = rows.contains { $0.rival.ratio.published != nil }
        let hasSizes = rows.contains { $0.sizeFactor != nil }
        var columns = hasSuites ? [Table.Column(title: "suite", alignment: .left)] : []
        columns += [
            .init(title: "case", alignment: .left), .init(title: "native us/op (best of)", alignment: .right),
            .init(title: "\(engine) us/op", alignment: .right), .init(title: "native / \(engine)", alignment: .right),
            .init(title: "95% interval", alignment: .left), .init(title: "turns", alignment: .right),
        ]
        if hasControl { columns.append(.init(title: "native / control", alignment: .right)) }
        if hasFloor { columns.append(.init(title: "floor us/op", alignment: .right)) }
        if hasSizes { columns.append(.init(title: "size \(engine) / native", alignment: .right)) }
        if hasPublished { columns.append(.init(title: "published", alignment: .right)) }
        let table = Table(
            columns: columns,
            rows: rows.map { row in
                let (summary, rival) = (row.summary, row.rival)
                var cells = hasSuites ? [summary.suite] : []
                cells += [
                    summary.name,
                    "\(Format.microseconds(summary.baseline.microsecondsPerOperation)) (\(summary.baseline.configuration))",
                    Format.microseconds(rival.result.microsecondsPerOperation), Format.figure(rival.ratio.ratio),
                    Format.interval(rival.ratio),
                    "\(summary.baseline.samples.count)+\(rival.result.samples.count)",
                ]
                if hasControl { cells.append(row.control.map { Format.figure($0.ratio.ratio) } ?? "-") }
                if hasFloor {
                    cells.append(summary.floor.map { Format.microseconds($0.microsecondsPerOperation) } ?? "-")
                }
                if hasSizes { cells.append(row.sizeFactor.map(Format.figure) ?? "-") }
                if hasPublished { cells.append(rival.ratio.published.map(Format.figure) ?? "-") }
                return cells
            })
        return table.markdown() + "\n" + reports.map { $0.headlineSource(engine) }.joined()
    }

    struct HeadlineRow {
        var summary: CaseSummary
        var rival: CaseSummary.Rival
        var control: CaseSummary.Rival?

        /// Disk that the engine's store takes for each byte of native's: what a faster row may cost.
        var sizeFactor: Double? {
            guard let native = summary.baseline.cost.storeBytes, let other = rival.result.cost.storeBytes, native > 0
            else { return nil }
            return Double(other) / Double(native)
        }

        /// Losses, then what is alike, then gains.
        var rank: (Int, Double) {
            let ratio = rival.ratio.ratio
            if !rival.ratio.isDifferent { return (1, ratio) }
            return ratio < 1 ? (0, ratio) : (2, -ratio)
        }
    }

    /// The rows of all, in the table's order.
    static func headlineRows(_ reports: [ComparisonReport], _ engine: String) -> [HeadlineRow] {
        reports.flatMap { $0.headlineRows(engine) }.sorted { $0.rank < $1.rank }
    }

    private func headlineRows(_ engine: String) -> [HeadlineRow] {
        summaries.compactMap { summary in
            summary.rivals.first { $0.result.engine == engine }.map { rival in
                HeadlineRow(
                    summary: summary, rival: rival, control: summary.rivals.first { $0.result.contender.isControl })
            }
        }
    }

    /// Where the rows come from: sizes, turns, machine and command, and what the report warns of.
    private func headlineSource(_ engine: String) -> String {
        let rows = headlineRows(engine)
        guard !rows.isEmpty else { return "No row of this report has native SQLite against \(engine).\n" }
        let native = rows.filter { $0.rank.0 == 0 }.count
        let alike = rows.filter { $0.rank.0 == 1 }.count
        var text = "Of \(rows.count) cases native is faster in \(native), \(engine) in \(rows.count - native - alike), "
        text +=
            "\(alike) show no difference or have too few turns. " + environmentLines.joined(separator: "; ") + ".\n\n"
        text += "```sh\n\(environment.command)\n```\n"
        if !warnings.isEmpty { text += "\n" + warnings.map { "* warning: \($0)\n" }.joined() }
        return text
    }
}

extension Format {
    /// A ratio without its sign.
    static func figure(_ value: Double) -> String { String(ratio(value).dropLast()) }
}
