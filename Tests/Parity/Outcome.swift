// Outcome.swift - what one statement did on one target, and how two such outcomes differ.
//
// The comparison is strict: storage classes and not only values, extended error codes and the message, the names of
// columns, changes(), last_insert_rowid() and whether a transaction is open. Order counts where the statement asks for one.

/// One value with its storage class. Reals compare by bit pattern.
enum Cell: Hashable, Sendable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(UInt64)
    case text([UInt8])
    case blob([UInt8])

    var description: String {
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

struct Failure: Equatable, Sendable, CustomStringConvertible {
    /// SQLite's extended result code.
    var code: Int32
    var message: String

    var description: String { "error \(code): \(message)" }
}

struct Outcome: Equatable, Sendable {
    var columns: [String] = []
    var rows: [[Cell]] = []
    var failure: Failure?
    var changes: Int64 = 0
    var lastInsertRowID: Int64 = 0
    /// Whether a transaction is open afterwards.
    var inTransaction = false

    /// What differs from the outcome of the same statement elsewhere; empty where nothing does.
    func differences(from expected: Outcome, ordered: Bool, changesData: Bool) -> [String] {
        var differences: [String] = []
        if failure != expected.failure {
            differences.append(
                "expected \(expected.failure?.description ?? "success"), got \(failure?.description ?? "success")")
        }
        if inTransaction != expected.inTransaction {
            differences.append("expected a transaction to be \(expected.inTransaction ? "open" : "closed"), it is not")
        }
        // What a failing statement had answered before is nobody's promise.
        guard failure == nil, expected.failure == nil else { return differences }
        if !sameColumns(as: expected) { differences.append("expected columns \(expected.columns), got \(columns)") }
        let (mine, theirs) =
            ordered ? (rows, expected.rows) : (rows.sorted(by: precedes), expected.rows.sorted(by: precedes))
        if mine != theirs { differences.append(Self.describe(rows: mine, expected: theirs)) }
        if changesData {
            if changes != expected.changes {
                differences.append("expected changes() \(expected.changes), got \(changes)")
            }
            if lastInsertRowID != expected.lastInsertRowID {
                differences.append("expected last_insert_rowid() \(expected.lastInsertRowID), got \(lastInsertRowID)")
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

    private static func describe(rows: [[Cell]], expected: [[Cell]]) -> String {
        let at = zip(rows, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(rows.count, expected.count)
        func row(_ rows: [[Cell]]) -> String { at < rows.count ? "\(rows[at])" : "no row" }
        return
            "expected \(expected.count) rows, got \(rows.count); at \(at) expected \(row(expected)), got \(row(rows))"
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
