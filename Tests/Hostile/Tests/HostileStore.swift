// HostileStore.swift - stores and database files as somebody with ill intent would write them, and a connection to open them with.

import CLMDB
import CSQLite
import Foundation
import RootstockTable

struct Refused: Error, CustomStringConvertible {
    let code: Int32
    let message: String
    var description: String { "\(code): \(message)" }
}

/// A plain SQLite connection with Rootstock's modules.
final class Session {
    let database: OpaquePointer

    init(_ path: String = ":memory:") throws {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else { throw Refused(code: code, message: "open \(path)") }
        database = opened
        guard rootstock_register(opened) == SQLITE_OK else { throw Refused(code: 1, message: "register") }
    }

    /// A connection to the store at `path`.
    convenience init(store path: String, engine: String = "lmdb", options: String? = nil) throws {
        try self.init()
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_open(database, path, engine, options, nil, &message)
        defer { sqlite3_free(message) }
        if code != SQLITE_OK { throw Refused(code: code, message: message.map { String(cString: $0) } ?? "") }
    }

    deinit { sqlite3_close_v2(database) }

    /// Runs every statement of the text, through the front door if `rewritten`; the rows of all, columns joined by `|`.
    @discardableResult
    func run(_ sql: String, rewritten: Bool = true) throws -> [String] {
        var rows: [String] = []
        var bytes = Array(sql.utf8CString)
        try bytes.withUnsafeMutableBufferPointer { buffer in
            var position = UnsafePointer(buffer.baseAddress!)
            while position.pointee != 0 {
                var text: UnsafeMutablePointer<CChar>?
                var tail: UnsafePointer<CChar>?
                var message: UnsafeMutablePointer<CChar>?
                var code = SQLITE_OK
                if rewritten { code = rootstock_rewrite(database, position, -1, &text, &tail, &message) }
                defer {
                    sqlite3_free(text)
                    sqlite3_free(message)
                }
                if code != SQLITE_OK {
                    throw Refused(code: code, message: message.map { String(cString: $0) } ?? "")
                }
                var statement: OpaquePointer?
                var own: UnsafePointer<CChar>?
                code = sqlite3_prepare_v2(
                    database, text.map { UnsafePointer($0) } ?? position,
                    text == nil && rewritten ? Int32(tail! - position) : -1,
                    &statement, &own)
                while code == SQLITE_OK || code == SQLITE_ROW, statement != nil {
                    code = sqlite3_step(statement)
                    if code == SQLITE_ROW { rows.append(Self.row(statement)) }
                }
                let failure = Refused(
                    code: sqlite3_extended_errcode(database), message: String(cString: sqlite3_errmsg(database)))
                sqlite3_finalize(statement)
                if code != SQLITE_OK && code != SQLITE_DONE { throw failure }
                position = rewritten ? tail! : own!
            }
        }
        return rows
    }

    /// What the statement is refused with, or "" if it is not.
    func refusal(_ sql: String, rewritten: Bool = true) -> String {
        do {
            try run(sql, rewritten: rewritten)
            return ""
        } catch let refused as Refused {
            return refused.message
        } catch { return "\(error)" }
    }

    private static func row(_ statement: OpaquePointer?) -> String {
        (0..<sqlite3_column_count(statement)).map {
            sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL"
        }.joined(separator: "|")
    }
}

/// A folder that goes with the test.
final class Folder {
    let url: URL
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-hostile-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(at: url) }
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
    /// Names in it, sorted.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? [] }
}

/// One value of a catalog row.
enum CatalogValue {
    case integer(Int)
    case text(String)
    case null
}

/// The bytes of a row as rows.h lays them out, written by hand: the tests must not lean on the code that they test.
func catalogRow(_ values: [CatalogValue]) -> [UInt8] {
    var types: [UInt8] = []
    var ends: [UInt32] = []
    var body: [UInt8] = []
    for value in values {
        switch value {
        case .null: types.append(0)
        case .integer(let number):
            types.append(1)
            if number != 0 { body.append(contentsOf: integerBytes(number)) }
        case .text(let text):
            types.append(3)
            body.append(contentsOf: text.utf8 + [0])
        }
        ends.append(UInt32(body.count))
    }
    let width = body.count < 256 ? 1 : body.count < 65536 ? 2 : 4
    let widthBits: UInt8 = width == 1 ? 0 : width == 2 ? 1 : 2
    var row = [widthBits << 6 | UInt8(values.count)] + types
    for end in ends { row += (0..<width).map { UInt8(truncatingIfNeeded: end >> (8 * UInt32($0))) } }
    return row + body
}

private func integerBytes(_ number: Int) -> [UInt8] {
    for width in [1, 2, 3, 4, 6, 8] {
        let shift = 64 - 8 * width
        if width == 8 || (number << shift) >> shift == number {
            return (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
    }
    return []
}

/// A store's catalog written without Rootstock: one object a tuple.
func writeCatalog(
    _ path: String, _ objects: [(type: String, name: String, table: String, sql: String?, tree: Int)],
    magic: String = "Rootstock store"
) throws {
    func check(_ code: Int32) throws {
        if code != 0 { throw Refused(code: code, message: String(cString: mdb_strerror(code))) }
    }
    var environment: OpaquePointer?
    try check(mdb_env_create(&environment))
    defer { mdb_env_close(environment) }
    try check(mdb_env_set_maxdbs(environment, 100))
    try check(mdb_env_set_mapsize(environment, 1 << 24))
    try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o644))
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    func put(_ tree: String, _ key: [UInt8], _ value: [UInt8]) throws {
        var handle: MDB_dbi = 0
        try check(mdb_dbi_open(transaction, tree, UInt32(MDB_CREATE), &handle))
        var (key, value) = (key, value)
        try key.withUnsafeMutableBytes { key in
            try value.withUnsafeMutableBytes { value in
                var k = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
                var v = MDB_val(mv_size: value.count, mv_data: value.baseAddress)
                if k.mv_size > 0 { try check(mdb_put(transaction, handle, &k, &v, 0)) }
            }
        }
    }
    for (number, object) in objects.enumerated() {
        let identifier = (0..<8).map { UInt8(truncatingIfNeeded: (number + 1) >> (8 * (7 - $0))) }
        try put(
            "rootstock", [UInt8(ascii: "O")] + identifier,
            catalogRow([
                .text(object.type), .text(object.name), .text(object.table), object.sql.map { .text($0) } ?? .null,
                .integer(object.tree),
            ]))
        if object.tree > 0 { try put("t\(object.tree)", [], []) }
    }
    try put(
        "rootstock", [UInt8(ascii: "M")],
        catalogRow([
            .integer(1), .integer(1), .integer(50), .integer(50), .integer(0), .integer(0), .text(magic),
        ]))
    try check(mdb_txn_commit(transaction))
}
