// The headline ratios of several comparisons as one drawing (SVG): what a README shows.
//
// Invariant: the rows of HeadlineTable, in its order. The scale is logarithmic: twice as fast is as long as half as fast. A bar
// without a verdict is grey; where there were turns enough, a thin line is the 95% interval. Every bar has its figure in words.

import Comparison
import Foundation

extension ComparisonReport {
    /// - Parameter reports: comparisons, whose suites and cases may overlap: then each has its bar.
    public static func headlineChart(_ reports: [ComparisonReport], engine: String = "lmdb") -> String {
        let rows = headlineRows(reports, engine)
        let ratios = rows.map(\.rival.ratio.ratio)
        // Whole powers of two; at least from a half to two.
        let low = min(-1, log2(ratios.min() ?? 1).rounded(.down))
        let high = max(1, min(5, log2(ratios.max() ?? 1).rounded(.up)))
        let (left, right, top, pitch) = (225.0, 630.0, 64.0, 18.0)
        let bottom = top + Double(rows.count) * pitch
        func x(_ ratio: Double) -> Double {
            left + (min(max(log2(ratio), low), high) - low) / (high - low) * (right - left)
        }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }
        let title = "Native SQLite's time over \(engine)'s: the best of native's configurations, one bar a case"
        var text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 \(Int(bottom) + 12)" role="img" aria-label="\(title)">
            <style>
            text{font:12px system-ui,sans-serif;fill:#57606a}.name,.figure{fill:#1b1f24}.grid{stroke:#d0d7de}.one{stroke:#57606a}
            .faster{fill:#0a6b5d}.slower{fill:#a14a00}.same{fill:#8c959f}.interval{stroke:#1b1f24;stroke-width:1.5}
            @media (prefers-color-scheme:dark){text{fill:#9aa4af}.name,.figure{fill:#e6e9ed}.grid{stroke:#343c46}.one{stroke:#9aa4af}
            .faster{fill:#4cc7b0}.slower{fill:#f0a35e}.same{fill:#6b7580}.interval{stroke:#e6e9ed}}
            </style>
            <text class="name" x="8" y="18">\(title)</text>

            """
        let legend = [
            ("faster", "\(engine) faster"), ("slower", "native faster"), ("same", "no difference, or too few turns"),
        ]
        for (index, entry) in legend.enumerated() {
            let start = [8.0, 120, 240][index]
            text += "<rect class=\"\(entry.0)\" x=\"\(number(start))\" y=\"28\" width=\"10\" height=\"10\"/>"
            text += "<text x=\"\(number(start + 15))\" y=\"37\">\(entry.1)</text>\n"
        }
        for power in Int(low)...Int(high) {
            let place = number(x(pow(2, Double(power))))
            let label = power < 0 ? "1/\(1 << -power)" : "\(1 << power)"
            text +=
                "<line class=\"\(power == 0 ? "one" : "grid")\" x1=\"\(place)\" x2=\"\(place)\" y1=\"\(number(top - 4))\" "
            text +=
                "y2=\"\(number(bottom))\"/><text x=\"\(place)\" y=\"\(number(top - 8))\" text-anchor=\"middle\">\(label)</text>\n"
        }
        for (index, row) in rows.enumerated() {
            let ratio = row.rival.ratio
            let y = top + Double(index) * pitch
            let style = row.rank.0 == 1 ? "same" : row.rank.0 == 0 ? "slower" : "faster"
            let (one, end) = (x(1), x(ratio.ratio))
            text +=
                "<text class=\"name\" x=\"8\" y=\"\(number(y + 13))\">\(row.summary.suite) \(row.summary.name)</text>"
            text += "<rect class=\"\(style)\" x=\"\(number(min(one, end)))\" y=\"\(number(y + 3))\" "
            text += "width=\"\(number(max(1, abs(end - one))))\" height=\"12\"/>"
            if let interval = ratio.interval {
                let middle = number(y + 9)
                text +=
                    "<line class=\"interval\" x1=\"\(number(x(interval.lowerBound)))\" x2=\"\(number(x(interval.upperBound)))\" "
                text += "y1=\"\(middle)\" y2=\"\(middle)\"/>"
            }
            text +=
                "<text class=\"figure\" x=\"\(number(right + 10))\" y=\"\(number(y + 13))\">\(Format.figure(ratio.ratio))</text>"
            let bounds = ratio.interval.map { Format.bounds($0, "-") } ?? ""
            text += "<text x=\"\(number(right + 55))\" y=\"\(number(y + 13))\">\(bounds)</text>\n"
        }
        return text + "</svg>\n"
    }
}
