// StoreCopier.swift - brings a database into an empty store of any engine, and proves that it arrived.
//
// Invariant: the same steps in the same order for every engine, SQLite's own included: tables, rows, indexes, views, triggers,
// then the counters. Afterwards every table is read in full on both sides in one order, and the copy fails where a row
// differs. What is not brought along is told by name.

import CSQLite

/// What a copy brought over.
public struct CopyReport: Hashable, Sendable {
    /// One table of the copy.
    public struct Table: Hashable, Sendable {
        /// The table.
        public var name: String
        /// Rows that were brought over and found equal.
        public var rows: Int
    }

    /// The tables, in the order in which they were made.
    public internal(set) var tables: [Table] = []

    /// What was left out, with the reason: virtual tables of SQLite's modules, and what uses them.
    public internal(set) var skipped: [String] = []

    /// Rows of all tables together.
    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }
}

package struct StoreCopier {
    /// Where a copy stands.
    package enum Step {
        case importing(rows: Int, table: String)
        case building(index: String)
        case comparing(rows: Int, table: String)
    }

    /// The original, in one snapshot.
    package let source: Connection
    package let schema: SourceSchema

    /// Rows to a transaction.
    private static let batch = 10_000
    /// Rows between two steps that are told.
    private static let stride = 1024

    package init(source: Connection, schema: SourceSchema) {
        self.source = source
        self.schema = schema
    }

    /// Fills an empty store. Throws where the store refuses a table or a row, or where what it holds then differs; what `progress` throws.
    package func run(into target: Connection, progress: (Step) throws -> Void = { _ in }) throws -> CopyReport {
        let held = try target.queryValue(
            "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'")
        guard held == .integer(0) else {
            throw DatabaseError(.error, "\(target.path) is not empty: a copy is a new store")
        }
        var report = CopyReport()
        report.skipped = schema.skipped
        if target.engine.isNative { try setPageSize(target) }
        // Rows come in an order that knows nothing of parents; whether they agree was the original's to see to.
        try target.execute("PRAGMA foreign_keys = OFF")
        for table in schema.tables { try step("table \(table.name)") { try target.execute(table.sql) } }
        var before = 0
        for table in schema.tables {
            try step("rows of table \(table.name)") {
                try copy(table, into: target) { try progress(.importing(rows: before + $0, table: table.name)) }
            }
            before += table.rows
        }
        for part in schema.indexes {
            try progress(.building(index: part.name))
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

    /// Says of a database's refusal at what it was.
    private func step(_ what: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            throw DatabaseError(error.extendedCode, "importing \(what): \(error.message)")
        }
    }

    private func copy(_ table: SourceSchema.Table, into target: Connection, copied: (Int) throws -> Void) throws {
        guard table.rows > 0 else { return }
        var names = table.storedColumns.map { SQL.quoted($0.name) }
        if let rowid = table.rowidName, table.rowidAlias == nil { names.insert(rowid, at: 0) }
        let list = names.joined(separator: ", ")
        let places = names.map { _ in "?" }.joined(separator: ", ")
        let insert = try target.prepare("INSERT INTO \(SQL.quoted(table.name)) (\(list)) VALUES (\(places))")
        let rows = try source.prepare("SELECT \(list) FROM \(SQL.quoted(table.name)) ORDER BY \(table.order)")
        var count = 0
        try target.execute("BEGIN")
        do {
            while try rows.step() {
                for column in 0..<Int32(names.count) {
                    try insert.check(
                        sqlite3_bind_value(insert.handle, column + 1, sqlite3_column_value(rows.handle, column)))
                }
                try insert.run()
                count += 1
                if count % Self.stride == 0 { try copied(count) }
                if count % Self.batch == 0 {
                    try target.execute("COMMIT")
                    try target.execute("BEGIN")
                }
            }
        } catch {
            rows.reset()
            if target.isInTransaction { try? target.execute("ROLLBACK") }
            guard let error = error as? DatabaseError else { throw error }
            throw DatabaseError(error.extendedCode, "row \(count + 1): \(error.message)")
        }
        try target.execute("COMMIT")
        try copied(count)
    }

    private func copySequence(into target: Connection) throws {
        try target.execute("DELETE FROM sqlite_sequence")
        for counter in try counters(of: source) {
            try target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [counter[0], counter[1]])
        }
    }

    /// What AUTOINCREMENT has given out in the tables that are copied.
    private func counters(of connection: Connection) throws -> [Row] {
        try connection.query("SELECT name, seq FROM sqlite_sequence ORDER BY name").filter {
            schema.table(try $0.get(0)) != nil
        }
    }

    // MARK: Comparing

    /// Reads every table on both sides in one order and compares row by row, then the names of everything else.
    package func compare(
        with target: Connection, progress: (Step) throws -> Void = { _ in }
    ) throws -> [CopyReport.Table] {
        var tables: [CopyReport.Table] = []
        var before = 0
        for table in schema.tables {
            let columns = table.columns.map { SQL.quoted($0.name) }
            let names = (table.rowidName.map { [$0] } ?? []) + columns
            let sql =
                "SELECT \(names.joined(separator: ", ")) FROM \(SQL.quoted(table.name)) ORDER BY \(table.order)"
            let (left, right) = (try source.prepare(sql), try target.prepare(sql))
            defer {
                left.reset()
                right.reset()
            }
            var count = 0
            while true {
                let (more, arrived) = (try left.step(), try right.step())
                guard more == arrived else {
                    throw difference("table \(table.name) has \(more ? "fewer" : "more") rows", target)
                }
                guard more else { break }
                count += 1
                if count % Self.stride == 0 { try progress(.comparing(rows: before + count, table: table.name)) }
                if let column = names.indices.first(where: { !Self.same(left, right, $0) }) {
                    throw difference("table \(table.name), row \(count), column \(names[column])", target)
                }
            }
            tables.append(CopyReport.Table(name: table.name, rows: count))
            before += count
            try progress(.comparing(rows: before, table: table.name))
        }
        try compareSchema(with: target)
        return tables
    }

    private func difference(_ what: String, _ target: Connection) -> DatabaseError {
        DatabaseError(.error, "the copy differs: \(what) on \(target.engine)")
    }

    private static func same(_ left: Statement, _ right: Statement, _ column: Int) -> Bool {
        let type = sqlite3_column_type(left.pointer, Int32(column))
        guard type == sqlite3_column_type(right.pointer, Int32(column)) else { return false }
        switch type {
        case SQLITE_INTEGER: return left.int64(at: column) == right.int64(at: column)
        case SQLITE_FLOAT: return left.double(at: column).bitPattern == right.double(at: column).bitPattern
        case SQLITE_TEXT:
            return left.withUnsafeText(at: column) { text in
                right.withUnsafeText(at: column) { text.elementsEqual($0) }
            }
        case SQLITE_BLOB:
            return left.withUnsafeBlob(at: column) { bytes in
                right.withUnsafeBlob(at: column) { bytes.elementsEqual($0) }
            }
        default: return true
        }
    }

    private func compareSchema(with target: Connection) throws {
        let expected = Set(
            schema.tables.map { "table \($0.name)" }
                + (schema.indexes + schema.views + schema.triggers).map { "\($0.kind) \($0.name)" })
        let found = Set(
            try target.query(
                "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'",
                as: String.self))
        if let missing = expected.subtracting(found).sorted().first {
            throw DatabaseError(.error, "the copy differs: \(missing) is not on \(target.engine)")
        }
        let version = try target.queryValue("PRAGMA user_version")
        let identifier = try target.queryValue("PRAGMA application_id")
        guard version == .integer(Int64(schema.userVersion)), identifier == .integer(Int64(schema.applicationID)) else {
            throw difference("user_version or application_id", target)
        }
        guard schema.hasSequence else { return }
        guard try counters(of: source).map(\.values) == counters(of: target).map(\.values) else {
            throw difference("sqlite_sequence", target)
        }
    }
}
