// RowMeter.swift - how far a long piece of work is: a line with its rate, and the time left where the end is known.

import Foundation

package struct RowMeter {
    private let what: String
    private let total: Int?
    private let start = Date()
    private var shown = Date()

    package init(_ what: String, of total: Int? = nil) {
        self.what = what
        self.total = total
    }

    /// The line to show after `count` rows, or `nil` if the last one is younger than a fifth of a second.
    package mutating func line(after count: Int) -> String? {
        // Looking at the clock costs more than some rows do.
        guard count & 1023 == 0 else { return nil }
        let now = Date()
        guard now.timeIntervalSince(shown) > 0.2 else { return nil }
        shown = now
        let rate = Double(count) / max(now.timeIntervalSince(start), 0.001)
        guard let total, total > 0 else { return "\(what): \(count) rows, \(Int(rate)) rows/s" }
        let left = Double(max(0, total - count)) / rate
        return "\(what): \(count) of \(total) rows, \(Int(rate)) rows/s, \(Int(left.rounded(.up))) s left"
    }
}
