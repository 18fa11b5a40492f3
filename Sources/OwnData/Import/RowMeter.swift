// RowMeter.swift - how far a long piece of work is: a line with its rate, and the time left where the end is known.

import Foundation
import Rootstock

package struct RowMeter {
    private let what: String
    private let total: Int?
    /// Of the first question, and the rows by then: what came before is no part of the rate.
    private var start: (time: Date, count: Int)?
    private var shown = Date.distantPast

    package init(_ what: String, of total: Int? = nil) {
        self.what = what
        self.total = total
    }

    /// The line to show after `count` rows, or `nil` if the last one is younger than a fifth of a second.
    package mutating func line(after count: Int) -> String? {
        // Looking at the clock costs more than some rows do.
        count & 1023 == 0 ? line(at: count) : nil
    }

    /// The same for a caller that asks seldom.
    package mutating func line(at count: Int) -> String? {
        let now = Date()
        guard let start else {
            (self.start, shown) = ((now, count), now)
            return nil
        }
        guard now.timeIntervalSince(shown) > 0.2 else { return nil }
        shown = now
        let rate = Double(max(1, count - start.count)) / max(now.timeIntervalSince(start.time), 0.001)
        guard let total, total > 0 else { return "\(what): \(count) rows, \(Int(rate)) rows/s" }
        let left = Double(max(0, total - count)) / rate
        return "\(what): \(count) of \(total) rows, \(Int(rate)) rows/s, \(Int(left.rounded(.up))) s left"
    }
}

/// The lines of a copy: what it does, how far it is, and in which table.
package struct CopyLines {
    private let engine: Engine
    private var importing: RowMeter
    private var comparing: RowMeter

    package init(engine: Engine, rows: Int) {
        self.engine = engine
        importing = RowMeter("\(engine): importing", of: rows)
        comparing = RowMeter("\(engine): comparing", of: rows)
    }

    /// The line to show for `step`, if there is one to show.
    package mutating func line(for step: StoreCopier.Step) -> String? {
        switch step {
        case .importing(let rows, let table): importing.line(at: rows).map { "\($0), table \(table)" }
        case .building(let index): "\(engine): index \(index)"
        case .comparing(let rows, let table): comparing.line(at: rows).map { "\($0), table \(table)" }
        }
    }
}

extension StoreCopier {
    /// Fills an empty store, and shows how far it is.
    func run(into target: Connection, showing progress: (String) -> Void) throws -> CopyReport {
        var lines = CopyLines(engine: target.engine, rows: schema.rows)
        return try run(into: target) { step in
            if let line = lines.line(for: step) { progress(line) }
        }
    }
}
