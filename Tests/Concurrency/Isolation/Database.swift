// Database.swift - one database reached by several connections: plain SQLite in WAL mode, or a store on one of the engines. Nothing
// but SQLite's C interface stands between a test and what it asserts.

import CSQLite
import Foundation
import Rootstock
import RootstockTable
import Testing

struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// The engines whose stores are held against WAL mode.
let storeEngines = ["lmdb", "memory", "sqlite-btree"]

/// What a statement, or a part of one, came to.
struct Outcome: Equatable, CustomStringConvertible {
    /// SQLITE_OK, SQLITE_ROW, SQLITE_DONE, or the extended code of a failure.
    var code: Int32
    var rows: [String] = []
    var inTransaction = false
    /// Of a failure. Not compared: the words may differ where the code does not.
    var message = ""

    static func == (one: Outcome, other: Outcome) -> Bool {
        one.code == other.code && one.rows == other.rows && one.inTransaction == other.inTransaction
    }

    var description: String {
        "\(code)\(message.isEmpty ? "" : " (\(message))") \(rows)\(inTransaction ? " in transaction" : "")"
    }
}

/// A connection, with statements that stay open.
final class Session {
    let database: OpaquePointer
    private let isStore: Bool
    private var cursors: [Int: OpaquePointer] = [:]

    init(path: String, engine: String?) throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(engine == nil ? path : ":memory:", &opened, flags, nil)
        guard code == SQLITE_OK, let opened else { throw Failure(description: "open \(path): \(code)") }
        database = opened
        isStore = engine != nil
        if let engine {
            var message: UnsafeMutablePointer<CChar>?
            let code = rootstock_open(opened, path, engine, "{\"durability\":\"off\"}", nil, &message)
            defer { sqlite3_free(message) }
            if code != SQLITE_OK {
                throw Failure(description: "\(code): \(message.map { String(cString: $0) } ?? "")")
            }
        } else {
            _ = run("PRAGMA journal_mode=WAL")
            _ = run("PRAGMA synchronous=OFF")
        }
    }

    deinit { close() }

    func close() {
        for statement in cursors.values { sqlite3_finalize(statement) }
        cursors = [:]
        sqlite3_close_v2(database)
    }

    var hasOpenStatement: Bool { !cursors.isEmpty }

    var inTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    /// Of plain SQLite's connection: whether it has the write lock.
    var isWriting: Bool { sqlite3_txn_state(database, "main") == SQLITE_TXN_WRITE }

    private func prepare(_ sql: String, _ statement: inout OpaquePointer?) -> Outcome? {
        var rewritten: UnsafeMutablePointer<CChar>?
        var message: UnsafeMutablePointer<CChar>?
        defer {
            sqlite3_free(rewritten)
            sqlite3_free(message)
        }
        var code = isStore ? rootstock_rewrite(database, sql, -1, &rewritten, nil, &message) : SQLITE_OK
        if code != SQLITE_OK {
            return Outcome(
                code: code, inTransaction: inTransaction, message: message.map { String(cString: $0) } ?? "")
        }
        code = sqlite3_prepare_v2(database, rewritten.map { String(cString: $0) } ?? sql, -1, &statement, nil)
        return code == SQLITE_OK ? nil : failure()
    }

    private func failure() -> Outcome {
        // What the statement ran into, where SQLite's own code of the outer statement is coarser.
        let inner = isStore ? rootstock_last_error(database) : 0
        return Outcome(
            code: inner != 0 ? inner : sqlite3_extended_errcode(database), inTransaction: inTransaction,
            message: String(cString: sqlite3_errmsg(database)))
    }

    /// Runs one statement to its end.
    func run(_ sql: String) -> Outcome {
        var statement: OpaquePointer?
        if let refused = prepare(sql, &statement) { return refused }
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(Self.row(statement))
            case SQLITE_DONE:
                sqlite3_reset(statement)
                return Outcome(code: SQLITE_OK, rows: rows, inTransaction: inTransaction)
            default:
                sqlite3_reset(statement)
                return failure()
            }
        }
    }

    /// Prepares a statement into a slot. What was in the slot is closed.
    func open(_ slot: Int, _ sql: String) -> Outcome {
        _ = close(slot)
        var statement: OpaquePointer?
        if let refused = prepare(sql, &statement) { return refused }
        cursors[slot] = statement
        return Outcome(code: SQLITE_OK, inTransaction: inTransaction)
    }

    /// Up to `count` rows of the statement in the slot; the code of the last step.
    func step(_ slot: Int, _ count: Int) -> Outcome {
        guard let statement = cursors[slot] else { return Outcome(code: SQLITE_OK, inTransaction: inTransaction) }
        var rows: [String] = []
        for _ in 0..<count {
            let code = sqlite3_step(statement)
            if code == SQLITE_ROW {
                rows.append(Self.row(statement))
            } else if code == SQLITE_DONE {
                sqlite3_reset(statement)
                sqlite3_finalize(statement)
                cursors[slot] = nil
                return Outcome(code: SQLITE_DONE, rows: rows, inTransaction: inTransaction)
            } else {
                sqlite3_reset(statement)
                var outcome = failure()
                sqlite3_finalize(statement)
                cursors[slot] = nil
                outcome.rows = rows
                return outcome
            }
        }
        return Outcome(code: SQLITE_ROW, rows: rows, inTransaction: inTransaction)
    }

    func close(_ slot: Int) -> Outcome {
        sqlite3_finalize(cursors.removeValue(forKey: slot))
        return Outcome(code: SQLITE_OK, inTransaction: inTransaction)
    }

    private static func row(_ statement: OpaquePointer?) -> String {
        (0..<sqlite3_column_count(statement)).map {
            sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL"
        }.joined(separator: "|")
    }
}

/// A database of a test's own. `engine` nil: plain SQLite in WAL mode. Sendable: `keeper` is set once, and nobody uses it.
final class Database: @unchecked Sendable {
    let path: String
    let engine: String?
    private let folder: URL
    /// A store in memory lives as long as a session to it.
    private var keeper: Session?

    init(engine: String?) throws {
        _ = Engine.registered  // registers the engines that are written in Swift
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "rootstock-isolation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent("database").path
        self.engine = engine
        if engine == "memory" { keeper = try session() }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func session() throws -> Session { try Session(path: path, engine: engine) }

    /// The same in a process of its own.
    func process() throws -> RemoteSession { try RemoteSession(path: path, engine: engine) }
}

extension Database {
    /// With two tables: t of nine rows and an index, and u of one.
    static func filled(_ engine: String?) throws -> Database {
        let database = try Database(engine: engine)
        let session = try database.session()
        for sql in [
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b INT)", "CREATE INDEX tb ON t(b)", "CREATE TABLE u(a)",
            "INSERT INTO t SELECT value, value * 10 FROM json_each('[1,2,3,4,5,6,7,8,9]')", "INSERT INTO u VALUES (0)",
        ] { #expect(session.run(sql).code == SQLITE_OK, "\(sql)") }
        return database
    }
}
