// Brings a SQLite database into a store of any engine, and proves that it arrived.
//
// Invariant: the same steps in the same order for every engine, SQLite's own included: tables, rows, indexes, views, triggers,
// then the counters. Afterwards every table is read in full on both sides in one order, and the import fails where a row
// differs. What is not brought along is told by name.

import CSQLite
import Foundation
import Rootstock
import Workloads

public struct ImportReport: Sendable {
    /// Rows that were brought over and found equal, table by table.
    public var tables: [(name: String, rows: Int)] = []
    /// What was left out, with the reason.
    public var skipped: [String] = []
    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
}

public struct Importer {
    let source: SourceDatabase
    let schema: SourceSchema
    /// Rows to a transaction.
    private static let batch = 10_000

    public init(source: SourceDatabase, schema: SourceSchema) {
        self.source = source
        self.schema = schema
    }

    /// Fills an empty store. Throws where the store refuses a table or a row, or where what it holds then differs.
    public func run(into target: Connection, progress: (String) -> Void = { _ in }) throws -> ImportReport {
        let held = try target.queryValue(
            "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
        guard held == .integer(0) else {
            throw OwnDataError("\(target.path) is not empty: an import makes a new store")
        }
        var report = ImportReport()
        report.skipped = schema.skipped
        if target.engine.isNative { try setPageSize(target) }
        // Rows come in an order that knows nothing of parents; whether they agree was the original's to see to.
        try target.execute("PRAGMA foreign_keys = OFF")
        for table in schema.tables { try step("table \(table.name)") { try target.execute(table.sql) } }
        var meter = RowMeter("\(target.engine): importing", of: schema.rows)
        var before = 0
        for table in schema.tables {
            try step("rows of table \(table.name)") {
                try copy(table, into: target) { count in
                    if let line = meter.line(after: before + count) { progress("\(line), table \(table.name)") }
                }
            }
            before += table.rows
        }
        for part in schema.indexes {
            progress("\(target.engine): index \(part.name)")
            try step("index \(part.name)") { try target.execute(part.sql) }
        }
        for part in schema.views + schema.triggers {
            try step("\(part.kind) \(part.name)") { try target.execute(part.sql) }
        }
        if schema.hasSequence { try step("sqlite_sequence") { try copySequence(into: target) } }
        if schema.userVersion != 0 { try target.execute("PRAGMA user_version = \(schema.userVersion)") }
        if schema.applicationID != 0 { try target.execute("PRAGMA application_id = \(schema.applicationID)") }
        if schema.isAnalysed { try step("statistics") { try target.execute("ANALYZE") } }
        report.tables = try compare(with: target, progress: progress)
        return report
    }

    /// Pages as large as the original's: part of what the application chose. A log fixes the size, so it is left meanwhile.
    private func setPageSize(_ target: Connection) throws {
        guard try target.queryValue("PRAGMA page_size") != .integer(Int64(schema.pageBytes)) else { return }
        guard case .text(let mode)? = try target.queryValue("PRAGMA journal_mode") else { return }
        _ = try target.queryValue("PRAGMA journal_mode = delete")
        try target.execute("PRAGMA page_size = \(schema.pageBytes)")
        try target.execute("VACUUM")
        _ = try target.queryValue("PRAGMA journal_mode = \(mode)")
    }

    private func step(_ what: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let message = (error as? DatabaseError)?.message ?? "\(error)"
            throw OwnDataError("importing \(what): \(message)")
        }
    }

    private func copy(_ table: SourceSchema.Table, into target: Connection, copied: (Int) -> Void) throws {
        guard table.rows > 0 else { return }
        var names = table.storedColumns.map { quoted($0.name) }
        if let rowid = table.rowidName, table.rowidAlias == nil { names.insert(rowid, at: 0) }
        let list = names.joined(separator: ", ")
        let places = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.prepare("INSERT INTO \(quoted(table.name)) (\(list)) VALUES (\(places))")
        try source.withStatement("SELECT \(list) FROM \(quoted(table.name)) ORDER BY \(table.order)") { rows in
            var count = 0
            let sourceHandle = rows.handle
            try target.execute("BEGIN")
            do {
                while try rows.step() {
                    for column in 0..<Int32(names.count) {
                        let code = sqlite3_bind_value(
                            insert.handle, column + 1, sqlite3_column_value(sourceHandle, column))
                        guard code == SQLITE_OK else { throw OwnDataError(String(cString: sqlite3_errstr(code))) }
                    }
                    try insert.run()
                    count += 1
                    copied(count)
                    if count % Self.batch == 0 {
                        try target.execute("COMMIT")
                        try target.execute("BEGIN")
                    }
                }
            } catch {
                if target.isInTransaction { try? target.execute("ROLLBACK") }
                throw OwnDataError("row \(count + 1): \((error as? DatabaseError)?.message ?? "\(error)")")
            }
            try target.execute("COMMIT")
        }
    }

    private func copySequence(into target: Connection) throws {
        try target.execute("DELETE FROM sqlite_sequence")
        for (name, value) in try counters() {
            try target.execute(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [name, value])
        }
    }

    /// What AUTOINCREMENT has given out in the tables that are imported.
    private func counters() throws -> [(String, Int)] {
        try source.withStatement("SELECT name, seq FROM sqlite_sequence ORDER BY name") { row in
            var counters: [(String, Int)] = []
            while try row.step() {
                if schema.table(row.string(0)) != nil { counters.append((row.string(0), row.integer(1))) }
            }
            return counters
        }
    }

    // MARK: Comparing

    /// Reads every table on both sides in one order and compares row by row, then the names of everything else.
    func compare(with target: Connection, progress: (String) -> Void = { _ in }) throws -> [(name: String, rows: Int)] {
        var tables: [(name: String, rows: Int)] = []
        var meter = RowMeter("\(target.engine): comparing", of: schema.rows)
        var before = 0
        for table in schema.tables {
            let columns = table.columns.map { quoted($0.name) }
            let names = (table.rowidName.map { [$0] } ?? []) + columns
            let sql =
                "SELECT \(names.joined(separator: ", ")) FROM \(quoted(table.name)) ORDER BY \(table.order)"
            let copy = try target.prepare(sql)
            let right = RawStatement(handle: copy.handle)
            var count = 0
            try source.withStatement(sql) { left in
                while true {
                    let (more, arrived) = (try left.step(), try right.step())
                    guard more == arrived else {
                        throw OwnDataError(
                            "the import differs: table \(table.name) has \(more ? "fewer" : "more") rows on \(target.engine)"
                        )
                    }
                    guard more else { break }
                    count += 1
                    if let line = meter.line(after: before + count) { progress("\(line), table \(table.name)") }
                    for column in 0..<Int32(names.count) where !Self.same(left, right, column) {
                        throw OwnDataError(
                            "the import differs: table \(table.name), row \(count), column \(names[Int(column)]) on "
                                + "\(target.engine)")
                    }
                }
            }
            tables.append((table.name, count))
            before += count
        }
        try compareSchema(with: target)
        return tables
    }

    private static func same(_ left: RawStatement, _ right: RawStatement, _ column: Int32) -> Bool {
        let type = left.type(column)
        guard type == right.type(column) else { return false }
        switch type {
        case SQLITE_INTEGER: return left.integer(column) == right.integer(column)
        case SQLITE_FLOAT: return left.double(column).bitPattern == right.double(column).bitPattern
        case SQLITE_TEXT: return left.text(column).elementsEqual(right.text(column))
        case SQLITE_BLOB: return left.blob(column).elementsEqual(right.blob(column))
        default: return true
        }
    }

    private func compareSchema(with target: Connection) throws {
        let expected = Set(
            schema.tables.map { "table \($0.name)" }
                + (schema.indexes + schema.views + schema.triggers).map { "\($0.kind) \($0.name)" })
        var found: Set<String> = []
        let rows = try target.query(
            "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
        for row in rows { found.insert("\(try row.get(0, as: String.self)) \(try row.get(1, as: String.self))") }
        if let missing = expected.subtracting(found).sorted().first {
            throw OwnDataError("the import differs: \(missing) is not on \(target.engine)")
        }
        let version = try target.queryValue("PRAGMA user_version")
        let identifier = try target.queryValue("PRAGMA application_id")
        guard version == .integer(Int64(schema.userVersion)), identifier == .integer(Int64(schema.applicationID)) else {
            throw OwnDataError("the import differs: user_version or application_id on \(target.engine)")
        }
        guard schema.hasSequence else { return }
        let arrived = try target.query("SELECT name, seq FROM sqlite_sequence ORDER BY name").map {
            "\(try $0.get(0, as: String.self)) \(try $0.get(1, as: Int.self))"
        }
        guard try counters().map({ "\($0.0) \($0.1)" }) == arrived else {
            throw OwnDataError("the import differs: sqlite_sequence on \(target.engine)")
        }
    }
}
