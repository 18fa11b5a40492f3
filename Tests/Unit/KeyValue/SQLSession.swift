// SQLSession.swift - a plain SQLite connection with Rootstock's modules, and what its statements answer.

import CSQLite
import RootstockTable

/// What a statement gave: its rows as text as SQLite quotes it, or its error.
enum Answer: Equatable {
    case rows([String])
    case error(code: Int32, message: String)
}

final class SQLSession {
    let database: OpaquePointer

    init(_ path: String = ":memory:") throws {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI, nil)
        guard code == SQLITE_OK, let opened else { throw SQLFailure(code: code, message: "open \(path)") }
        database = opened
        let registered = rootstock_register(opened)
        guard registered == SQLITE_OK else { throw SQLFailure(code: registered, message: "rootstock_register") }
    }

    deinit { sqlite3_close_v2(database) }

    var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    /// Runs one statement to its end. A row is `'text'|X'00'|1|NULL`.
    func answer(_ sql: String) -> Answer {
        var statement: OpaquePointer?
        var code = sqlite3_prepare_v2(database, sql, -1, &statement, nil)
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while code == SQLITE_OK || code == SQLITE_ROW {
            code = sqlite3_step(statement)
            if code == SQLITE_ROW { rows.append(Self.row(statement)) }
        }
        guard code == SQLITE_DONE || code == SQLITE_MISUSE && statement == nil else {
            return .error(
                code: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)))
        }
        return .rows(rows)
    }

    /// The rows of a statement that succeeds.
    @discardableResult
    func run(_ sql: String) throws -> [String] {
        switch answer(sql) {
        case .rows(let rows): return rows
        case .error(let code, let message): throw SQLFailure(code: code, message: "\(message): \(sql)")
        }
    }

    /// The message of a statement that fails.
    func message(_ sql: String) throws -> String {
        guard case .error(_, let message) = answer(sql) else { throw SQLFailure(code: 0, message: "no error: \(sql)") }
        return message
    }

    private static func row(_ statement: OpaquePointer?) -> String {
        (0..<sqlite3_column_count(statement)).map { column in
            switch sqlite3_column_type(statement, column) {
            case SQLITE_NULL: return "NULL"
            case SQLITE_INTEGER: return String(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: return String(sqlite3_column_double(statement, column))
            case SQLITE_TEXT: return "'" + String(cString: sqlite3_column_text(statement, column)) + "'"
            default:
                let count = Int(sqlite3_column_bytes(statement, column))
                let data = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
                return "X'" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
            }
        }.joined(separator: "|")
    }
}

struct SQLFailure: Error, CustomStringConvertible {
    let code: Int32
    let message: String
    var description: String { "\(code): \(message)" }
}
