// NativeTarget.swift - plain SQLite on a file, called directly so that nothing of Rootstock takes part in the judgement.

import CSQLite
import Foundation

/// Plain SQLite on a file.
package final class NativeTarget: Target {
    package let name = "sqlite"
    private let folder: URL
    private let setup: String
    private var db: OpaquePointer?
    private var other: OpaquePointer?

    /// - Parameters:
    ///   - folder: A new one that goes with `close`, unless one is named.
    ///   - setup: SQL to run whenever the file has been opened.
    package init(folder: URL? = nil, setup: String = "") throws {
        self.folder = try folder ?? temporaryFolder()
        self.setup = setup
        try open()
    }

    private func open() throws { db = try connect() }

    private func connect() throws -> OpaquePointer? {
        var db: OpaquePointer?
        guard sqlite3_open(folder.appendingPathComponent("native.db").path, &db) == SQLITE_OK else {
            throw HarnessError(description: "native: \(String(cString: sqlite3_errmsg(db)))")
        }
        sqlite3_extended_result_codes(db, 1)
        // The data is thrown away: waiting for the disk would buy nothing.
        sqlite3_exec(db, "PRAGMA synchronous=OFF; \(setup)", nil, nil, nil)
        registerApplicationFunctions(on: db)
        return db
    }

    package func runOnOther(_ sql: String) throws -> Outcome {
        if other == nil { other = try connect() }
        return outcome(of: sql, on: other)
    }

    package func reopen() throws {
        closeOther()
        guard sqlite3_close(db) == SQLITE_OK else {
            throw HarnessError(description: "native: a statement is still open")
        }
        try open()
    }

    private func closeOther() {
        sqlite3_close_v2(other)
        other = nil
    }

    package func close() {
        closeOther()
        sqlite3_close_v2(db)
        db = nil
        try? FileManager.default.removeItem(at: folder)
    }

    package func run(_ sql: String) -> Outcome { outcome(of: sql, on: db) }
}

/// Runs SQL text that holds one statement on a SQLite handle.
func outcome(of sql: String, on db: OpaquePointer?) -> Outcome {
    var outcome = Outcome()
    var statement: OpaquePointer?
    let prepared = sql.withCString { sqlite3_prepare_v2(db, $0, -1, &statement, nil) }
    if prepared == SQLITE_OK, statement != nil {
        bindValues(to: statement)
        // The columns after the first step: a schema that another connection changed is taken in there.
        var code = sqlite3_step(statement)
        outcome.columns = (0..<sqlite3_column_count(statement)).map {
            String(cString: sqlite3_column_name(statement, $0))
        }
        while code == SQLITE_ROW {
            outcome.rows.append((0..<sqlite3_column_count(statement)).map { cell(statement, $0) })
            code = sqlite3_step(statement)
        }
        if code != SQLITE_DONE {
            outcome.failure = Failure(code: sqlite3_extended_errcode(db), message: String(cString: sqlite3_errmsg(db)))
        }
        sqlite3_finalize(statement)
    } else if prepared != SQLITE_OK {
        outcome.failure = Failure(code: sqlite3_extended_errcode(db), message: String(cString: sqlite3_errmsg(db)))
    }
    outcome.changes = Int64(sqlite3_changes64(db))
    outcome.lastInsertRowID = sqlite3_last_insert_rowid(db)
    outcome.inTransaction = sqlite3_get_autocommit(db) == 0
    return outcome
}

private func bindValues(to statement: OpaquePointer?) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    for index in 0..<sqlite3_bind_parameter_count(statement) {
        switch boundValues[Int(index) % boundValues.count] {
        case .integer(let integer): sqlite3_bind_int64(statement, index + 1, integer)
        case .real(let bits): sqlite3_bind_double(statement, index + 1, Double(bitPattern: bits))
        case .text(let text):
            let text = String(decoding: text, as: UTF8.self)
            sqlite3_bind_text(statement, index + 1, text, Int32(text.utf8.count), transient)
        case .blob(let bytes): sqlite3_bind_blob(statement, index + 1, bytes, Int32(bytes.count), transient)
        case .null: sqlite3_bind_null(statement, index + 1)
        }
    }
}

func cell(_ statement: OpaquePointer?, _ column: Int32) -> Cell {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column).bitPattern)
    case SQLITE_TEXT:
        let text = sqlite3_column_text(statement, column)
        return .text(Array(UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))))
    case SQLITE_BLOB:
        let blob = sqlite3_column_blob(statement, column)?.assumingMemoryBound(to: UInt8.self)
        return .blob(Array(UnsafeBufferPointer(start: blob, count: Int(sqlite3_column_bytes(statement, column)))))
    default: return .null
    }
}
