// NativeOrder.swift - what SQLite itself says about the order of values: the judge that the key tests appeal to.

import CSQLite

/// How one column of a key compares.
struct ColumnOrder: CustomStringConvertible, Sendable {
    var collation: String
    var descending: Bool

    var description: String { "\(collation)\(descending ? " DESC" : "")" }

    static let all = ["BINARY", "NOCASE", "RTRIM"].flatMap { collation in
        [false, true].map { ColumnOrder(collation: collation, descending: $0) }
    }
}

struct NativeFailure: Error { var message: String }

/// The dense rank of each tuple in SQLite's own order: equal tuples have equal ranks.
func nativeRanks(_ tuples: [[Sample]], _ orders: [ColumnOrder]) throws -> [Int64] {
    var db: OpaquePointer?
    guard sqlite3_open(":memory:", &db) == SQLITE_OK else { throw NativeFailure(message: "open") }
    defer { sqlite3_close(db) }

    // No declared type: the values keep their storage classes.
    let columns = orders.indices.map { "c\($0)" }
    func check(_ code: Int32) throws {
        guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
            throw NativeFailure(message: String(cString: sqlite3_errmsg(db)))
        }
    }
    try check(
        sqlite3_exec(db, "CREATE TABLE v(i INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))", nil, nil, nil))

    var insert: OpaquePointer?
    let marks = Array(repeating: "?", count: orders.count + 1).joined(separator: ", ")
    try check(sqlite3_prepare_v2(db, "INSERT INTO v VALUES (\(marks))", -1, &insert, nil))
    defer { sqlite3_finalize(insert) }
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    try check(sqlite3_exec(db, "BEGIN", nil, nil, nil))
    for (row, tuple) in tuples.enumerated() {
        try check(sqlite3_bind_int64(insert, 1, Int64(row)))
        for (column, sample) in tuple.enumerated() {
            let index = Int32(column + 2)
            switch sample {
            case .null: try check(sqlite3_bind_null(insert, index))
            case .integer(let integer): try check(sqlite3_bind_int64(insert, index, integer))
            case .real(let real): try check(sqlite3_bind_double(insert, index, real))
            case .text(let bytes):
                // With a NUL behind it, so that empty text has an address: none would bind NULL.
                try (bytes + [0]).withUnsafeBytes { raw in
                    let start = raw.baseAddress?.assumingMemoryBound(to: CChar.self)
                    try check(
                        sqlite3_bind_text64(
                            insert, index, start, UInt64(raw.count - 1), transient, UInt8(SQLITE_UTF8)))
                }
            case .blob(let bytes):
                if bytes.isEmpty {
                    try check(sqlite3_bind_zeroblob(insert, index, 0))
                } else {
                    try bytes.withUnsafeBytes { raw in
                        try check(sqlite3_bind_blob64(insert, index, raw.baseAddress, UInt64(raw.count), transient))
                    }
                }
            }
        }
        try check(sqlite3_step(insert))
        try check(sqlite3_reset(insert))
    }
    try check(sqlite3_exec(db, "COMMIT", nil, nil, nil))

    let terms = zip(columns, orders).map { "\($0) COLLATE \($1.collation) \($1.descending ? "DESC" : "ASC")" }
    var select: OpaquePointer?
    try check(
        sqlite3_prepare_v2(
            db, "SELECT i, dense_rank() OVER (ORDER BY \(terms.joined(separator: ", "))) FROM v", -1, &select, nil))
    defer { sqlite3_finalize(select) }
    var ranks = [Int64](repeating: 0, count: tuples.count)
    while sqlite3_step(select) == SQLITE_ROW {
        ranks[Int(sqlite3_column_int64(select, 0))] = sqlite3_column_int64(select, 1)
    }
    return ranks
}
