// What the user's database is made of: tables with their columns and keys, and everything else as the text that made it.
//
// Invariant: SQLite itself says what a table is like (its pragmas); no CREATE statement is parsed here. What an engine could
// not hold - tables of other modules - is told apart by name and listed in `skipped` with the reason.

import Workloads

public struct SourceSchema: Sendable, Codable {
    public struct Column: Sendable, Equatable, Codable {
        public var name: String
        public var declaredType: String
        public var isRequired: Bool
        public var hasDefault: Bool
        /// Place in the primary key, from 1; 0 for none.
        public var keyPlace: Int
        public var isGenerated: Bool
    }

    public struct ForeignKey: Sendable, Equatable, Codable {
        public var columns: [String]
        public var parent: String
        public var parentColumns: [String]
    }

    public struct Index: Sendable, Equatable, Codable {
        public var name: String
        public var isUnique: Bool
        public var isPartial: Bool
        /// Null where the index has an expression.
        public var columns: [String?]
        /// `c` by CREATE INDEX, `u` by UNIQUE, `pk` by PRIMARY KEY.
        public var origin: String
    }

    public struct Table: Sendable, Codable {
        public var name: String
        public var sql: String
        public var isWithoutRowid: Bool
        public var columns: [Column]
        public var indexes: [Index]
        public var foreignKeys: [ForeignKey]
        public var rows: Int

        public var key: [String] {
            columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.name)
        }

        /// The column that is another name of the rowid, if there is one.
        public var rowidAlias: String? {
            guard !isWithoutRowid, key.count == 1, let column = columns.first(where: { $0.keyPlace == 1 }),
                column.declaredType.uppercased() == "INTEGER", !indexes.contains(where: { $0.origin == "pk" })
            else { return nil }
            return column.name
        }

        /// A name under which the rowid can be reached, if any is left.
        public var rowidName: String? {
            guard !isWithoutRowid else { return nil }
            let taken = Set(columns.map { $0.name.lowercased() })
            return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
        }

        /// Columns that can be written.
        public var storedColumns: [Column] { columns.filter { !$0.isGenerated } }

        /// An order in which the table's rows come, the same wherever it is read.
        var order: String {
            if isWithoutRowid { return key.map(quoted).joined(separator: ", ") }
            if let name = rowidName { return name }
            if let alias = rowidAlias { return quoted(alias) }
            return columns.map { quoted($0.name) }.joined(separator: ", ")
        }

        public func column(_ name: String) -> Column? {
            columns.first { $0.name.lowercased() == name.lowercased() }
        }
    }

    /// Another part of the schema, as it was written.
    public struct Part: Sendable, Codable {
        public var kind: String
        public var name: String
        public var table: String
        public var sql: String
    }

    public var tables: [Table]
    public var indexes: [Part]
    public var views: [Part]
    public var triggers: [Part]
    /// What is not imported, with the reason.
    public var skipped: [String]
    /// Names of tables that are not imported, for statements that need them.
    public var skippedTables: [String]
    public var userVersion: Int
    public var applicationID: Int
    public var pageBytes: Int
    public var isAnalysed: Bool
    public var hasSequence: Bool

    public var rows: Int { tables.reduce(0) { $0 + $1.rows } }

    public func table(_ name: String) -> Table? { tables.first { $0.name.lowercased() == name.lowercased() } }
}

extension SourceSchema {
    public init(of source: SourceDatabase) throws {
        var parts: [Part] = []
        try source.withStatement("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid") { statement in
            while try statement.step() {
                parts.append(
                    Part(
                        kind: statement.string(0), name: statement.string(1), table: statement.string(2),
                        sql: statement.string(3)))
            }
        }
        func isVirtual(_ part: Part) -> Bool { Array(SQLScanner.words(part.sql).prefix(2)) == ["CREATE", "VIRTUAL"] }
        let virtual = parts.filter { $0.kind == "table" && isVirtual($0) }
        let kinds = try Self.kinds(source)
        let shadows = parts.filter { part in
            part.kind == "table" && !isVirtual(part)
                && (kinds[part.name] == "shadow" || virtual.contains { Self.isShadow(part.name, of: $0) })
        }
        skippedTables = (virtual + shadows).map(\.name)
        skipped = virtual.map { part in
            let words = SQLScanner.words(part.sql)
            let module = words.firstIndex(of: "USING").flatMap { words.dropFirst($0 + 1).first }?.lowercased() ?? "?"
            let own = shadows.filter { Self.isShadow($0.name, of: part) }.map(\.name)
            return "table \(part.name): a virtual table of module \(module) is not kept in a store"
                + (own.isEmpty ? "" : "; with it the tables of its own: \(own.joined(separator: ", "))")
        }
        let left = skippedTables
        tables = []
        for part in parts where part.kind == "table" && !left.contains(part.name) {
            guard !part.name.lowercased().hasPrefix("sqlite_") else { continue }
            tables.append(try Self.table(part, kinds, source))
        }
        var skippedParts: [String] = []
        func kept(_ kind: String) -> [Part] {
            parts.filter { part in
                guard part.kind == kind, !part.sql.isEmpty else { return false }
                guard let table = left.first(where: { SQLScanner.mentions(part.sql, $0) }) else { return true }
                // What belongs to a skipped table goes with it and needs no word of its own.
                if !left.contains(part.table) { skippedParts.append("\(kind) \(part.name): it uses table \(table)") }
                return false
            }
        }
        indexes = kept("index")
        views = kept("view")
        triggers = kept("trigger")
        skipped += skippedParts
        userVersion = try source.integer("PRAGMA user_version")
        applicationID = try source.integer("PRAGMA application_id")
        pageBytes = try source.integer("PRAGMA page_size")
        isAnalysed = parts.contains { $0.name == "sqlite_stat1" }
        hasSequence = parts.contains { $0.name == "sqlite_sequence" }
    }

    private static func isShadow(_ name: String, of virtual: Part) -> Bool {
        name.lowercased().hasPrefix(virtual.name.lowercased() + "_")
            && ["data", "idx", "content", "docsize", "config", "segments", "segdir", "stat", "node", "rowid", "parent"]
                .contains(name.dropFirst(virtual.name.count + 1).lowercased())
    }

    private static func kinds(_ source: SourceDatabase) throws -> [String: String] {
        try source.withStatement("PRAGMA table_list") { statement in
            var kinds: [String: String] = [:]
            while try statement.step() {
                guard statement.string(0) == "main" else { continue }
                kinds[statement.string(1)] = statement.integer(4) != 0 ? "without rowid" : statement.string(2)
            }
            return kinds
        }
    }

    private static func table(_ part: Part, _ kinds: [String: String], _ source: SourceDatabase) throws -> Table {
        let name = quotedText(part.name)
        var table = Table(
            name: part.name, sql: part.sql, isWithoutRowid: kinds[part.name] == "without rowid", columns: [],
            indexes: [],
            foreignKeys: [], rows: try source.integer("SELECT count(*) FROM \(quoted(part.name))"))
        try source.withStatement(
            "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(\(name))"
        ) { row in
            while try row.step() {
                table.columns.append(
                    Column(
                        name: row.string(0), declaredType: row.string(1), isRequired: row.integer(2) != 0,
                        hasDefault: row.integer(3) != 0, keyPlace: row.integer(4), isGenerated: row.integer(5) > 1))
            }
        }
        var indexes: [Index] = []
        try source.withStatement("SELECT name, \"unique\", origin, partial FROM pragma_index_list(\(name))") { row in
            while try row.step() {
                indexes.append(
                    Index(
                        name: row.string(0), isUnique: row.integer(1) != 0, isPartial: row.integer(3) != 0, columns: [],
                        origin: row.string(2)))
            }
        }
        for position in indexes.indices {
            let sql = "SELECT name, cid FROM pragma_index_info(\(quotedText(indexes[position].name))) ORDER BY seqno"
            try source.withStatement(sql) { row in
                while try row.step() {
                    indexes[position].columns.append(row.integer(1) < 0 ? nil : row.string(0))
                }
            }
        }
        table.indexes = indexes
        try source.withStatement(
            "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(\(name)) ORDER BY id, seq"
        ) { row in
            var last = -1
            while try row.step() {
                if row.integer(0) != last {
                    table.foreignKeys.append(ForeignKey(columns: [], parent: row.string(1), parentColumns: []))
                    last = row.integer(0)
                }
                let position = table.foreignKeys.count - 1
                table.foreignKeys[position].columns.append(row.string(2))
                // Without a name the parent's primary key is meant.
                let column = row.string(3)
                if !column.isEmpty { table.foreignKeys[position].parentColumns.append(column) }
            }
        }
        return table
    }
}
