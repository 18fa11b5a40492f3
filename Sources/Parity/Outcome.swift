// Outcome.swift - what one statement did on one target, and how two such outcomes differ.
//
// The comparison is strict: storage classes and not only values, extended error codes and the message, the names of
// columns, changes(), last_insert_rowid() and whether a transaction is open. Order counts where the statement asks for one.

/// One value with its storage class. Reals compare by bit pattern.
package enum Cell: Hashable, Sendable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    package var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let bits): "\(Double(bitPattern: bits))"
        case .text(let bytes):
            bytes.count <= 60
                ? "'" + String(decoding: bytes, as: UTF8.self).replacing("\u{0}", with: "\\0") + "'"
                : "text of \(bytes.count) bytes"
        case .blob(let bytes):
            bytes.count <= 30
                ? "x'" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
                : "blob of \(bytes.count) bytes"
        }
    }
}

package struct Failure: Equatable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    package var code: Int32
    package var message: String

    package init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "error \(code): \(message)" }
}

/// One thing in which two outcomes of a statement part.
package struct Disagreement: Equatable, Sendable, CustomStringConvertible {
    /// "rows", "columns", "result", "changes()"
    package var what: String
    package var expected: String
    package var actual: String

    package init(_ what: String, expected: String, actual: String) {
        self.what = what
        self.expected = expected
        self.actual = actual
    }

    package var description: String { "\(what): expected \(expected), got \(actual)" }
}

package struct Outcome: Equatable, Sendable {
    package var columns: [String] = []
    package var rows: [[Cell]] = []
    package var failure: Failure?
    package var changes: Int64 = 0
    package var lastInsertRowID: Int64 = 0
    /// Whether a transaction is open afterwards.
    package var inTransaction = false

    package init() {}

    package init(failure: Failure) { self.failure = failure }

    /// What differs from the outcome of the same statement elsewhere; empty where nothing does.
    package func differences(from expected: Outcome, ordered: Bool, changesData: Bool) -> [Disagreement] {
        var differences: [Disagreement] = []
        func differ(_ what: String, _ expected: String, _ actual: String) {
            differences.append(Disagreement(what, expected: expected, actual: actual))
        }
        if failure != expected.failure {
            differ("result", expected.failure?.description ?? "success", failure?.description ?? "success")
        }
        if inTransaction != expected.inTransaction {
            differ("transaction", expected.inTransaction ? "open" : "none", inTransaction ? "open" : "none")
        }
        // What a failing statement had answered before is nobody's promise.
        guard failure == nil, expected.failure == nil else { return differences }
        if !sameColumns(as: expected) { differ("columns", "\(expected.columns)", "\(columns)") }
        let (mine, theirs) =
            ordered ? (rows, expected.rows) : (rows.sorted(by: precedes), expected.rows.sorted(by: precedes))
        if mine != theirs {
            let at = zip(mine, theirs).enumerated().first { $1.0 != $1.1 }?.offset ?? min(mine.count, theirs.count)
            differ("rows", Self.shown(theirs, at: at), Self.shown(mine, at: at))
        }
        if changesData {
            if changes != expected.changes { differ("changes()", "\(expected.changes)", "\(changes)") }
            if lastInsertRowID != expected.lastInsertRowID {
                differ("last_insert_rowid()", "\(expected.lastInsertRowID)", "\(lastInsertRowID)")
            }
        }
        return differences
    }

    /// Whether the columns are named alike, with one liberty: a statement that answers nothing may have columns without rows.
    private func sameColumns(as expected: Outcome) -> Bool {
        if expected.columns.isEmpty { return rows.isEmpty }
        guard columns.count == expected.columns.count else { return false }
        return zip(columns, expected.columns).allSatisfy { $0 == $1 }
    }

    private static func shown(_ rows: [[Cell]], at place: Int) -> String {
        let row = place < rows.count ? "row \(place + 1) \(rows[place])" : "no row \(place + 1)"
        return "\(rows.count) \(rows.count == 1 ? "row" : "rows"), \(row)"
    }
}

/// Any total order does: it only brings two multisets into one sequence.
private func precedes(_ left: [Cell], _ right: [Cell]) -> Bool {
    for (a, b) in zip(left, right) where a != b {
        return rank(a) != rank(b) ? rank(a) < rank(b) : bytes(a).lexicographicallyPrecedes(bytes(b))
    }
    return left.count < right.count
}

private func rank(_ cell: Cell) -> Int {
    switch cell {
    case .null: 0
    case .integer: 1
    case .real: 2
    case .text: 3
    case .blob: 4
    }
}

private func bytes(_ cell: Cell) -> [UInt8] {
    func big(_ bits: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) } }
    return switch cell {
    case .null: []
    case .integer(let integer): big(UInt64(bitPattern: integer))
    case .real(let bits): big(bits)
    case .text(let bytes), .blob(let bytes): bytes
    }
}
