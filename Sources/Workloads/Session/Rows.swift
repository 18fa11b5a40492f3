// Taking the rows of a statement as answers: what the inner loops of all suites have in common.
//
// Invariant: while the clock runs, a row costs its step, the touch of its columns and, where laps are counted in rows, one
// subtraction; nothing is allocated.

import Rootstock

/// Laps of `lapOperations` rows each.
struct RowLaps {
    private let meter: Meter
    private var left: Int

    init(_ meter: Meter) {
        self.meter = meter
        left = meter.lapOperations
    }

    @inline(__always)
    mutating func row() {
        left -= 1
        if left == 0 {
            meter.lap()
            left = meter.lapOperations
        }
    }
}

extension Session {
    /// Takes every row of a statement that is bound, and readies it for the next time.
    @inline(__always)
    func takeRows(_ statement: RawStatement) throws {
        while try statement.step() { take(statement) }
        try statement.reset()
    }

    /// Goes through every row of a query and takes none: its pages are read, or mapped.
    public func readThrough(_ sql: String) throws {
        let statement = try statement(sql)
        while try statement.step() {}
        try statement.reset()
    }

    /// Measures one pass over every row of a statement that is bound, a lap for each `lapOperations` rows.
    func measureRows(_ statement: RawStatement, _ meter: Meter) throws {
        try measureRows(statement, meter) { take($0) }
    }

    /// Likewise, the rows taken by `body`.
    @inline(__always)
    func measureRows(_ statement: RawStatement, _ meter: Meter, _ body: (RawStatement) -> Void) throws {
        var laps = RowLaps(meter)
        meter.begin()
        while try statement.step() {
            body(statement)
            laps.row()
        }
        try statement.reset()
        meter.end()
    }

    /// Measures a change of the store as one lap.
    func measureChange(_ meter: Meter, _ body: () throws -> Void) throws {
        try prepareToSettle()
        meter.begin()
        try body()
        try settle()
        meter.lap()
        meter.end()
    }

    /// Measures so many repetitions of statements that are read to their end, a lap each.
    func measureRepeated(_ repetitions: Int, _ statements: [RawStatement], _ meter: Meter) throws {
        meter.begin()
        for _ in 0..<repetitions {
            for statement in statements { try takeRows(statement) }
            meter.lap()
        }
        meter.end()
    }
}

/// The parameters of an IN list.
func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ",") }
