// SourceSchema.swift - what a database that is copied is made of: tables with their columns and keys, and everything else as the text that made it.
//
// Invariant: SQLite itself says what a table is like (its pragmas); no CREATE statement is parsed here. What an engine could
// not hold - tables of other modules - is told apart by name and listed in `skipped` with the reason.

package struct SourceSchema: Sendable, Codable {
    package struct Column: Sendable, Equatable, Codable {
        package var name: String
        package var declaredType: String
        package var isRequired: Bool
        package var hasDefault: Bool
        /// Place in the primary key, from 1; 0 for none.
        package var keyPlace: Int
        package var isGenerated: Bool
    }

    package struct ForeignKey: Sendable, Equatable, Codable {
        package var columns: [String]
        package var parent: String
        package var parentColumns: [String]
    }

    package struct Index: Sendable, Equatable, Codable {
        package var name: String
        package var isUnique: Bool
        package var isPartial: Bool
        /// Null where the index has an expression.
        package var columns: [String?]
        /// `c` by CREATE INDEX, `u` by UNIQUE, `pk` by PRIMARY KEY.
        package var origin: String
    }

    package struct Table: Sendable, Codable {
        package var name: String
        package var sql: String
        package var isWithoutRowid: Bool
        package var columns: [Column]
        package var indexes: [Index]
        package var foreignKeys: [ForeignKey]
        package var rows: Int

        package var key: [String] {
            columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }.map(\.name)
        }

        /// The column that is another name of the rowid, if there is one.
        package var rowidAlias: String? {
            guard !isWithoutRowid, key.count == 1, let column = columns.first(where: { $0.keyPlace == 1 }),
                column.declaredType.uppercased() == "INTEGER", !indexes.contains(where: { $0.origin == "pk" })
            else { return nil }
            return column.name
        }

        /// A name under which the rowid can be reached, if any is left.
        package var rowidName: String? {
            guard !isWithoutRowid else { return nil }
            let taken = Set(columns.map { $0.name.lowercased() })
            return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
        }

        /// Columns that can be written.
        package var storedColumns: [Column] { columns.filter { !$0.isGenerated } }

        /// An order in which the table's rows come, the same wherever it is read.
        package var order: String {
            if isWithoutRowid { return key.map(SQL.quoted).joined(separator: ", ") }
            if let name = rowidName { return name }
            if let alias = rowidAlias { return SQL.quoted(alias) }
            return columns.map { SQL.quoted($0.name) }.joined(separator: ", ")
        }

        package func column(_ name: String) -> Column? {
            columns.first { $0.name.lowercased() == name.lowercased() }
        }
    }

    /// Another part of the schema, as it was written.
    package struct Part: Sendable, Codable {
        package var kind: String
        package var name: String
        package var table: String
        package var sql: String
    }

    package var tables: [Table]
    package var indexes: [Part]
    package var views: [Part]
    package var triggers: [Part]
    /// What is not imported, with the reason.
    package var skipped: [String]
    /// Names of tables that are not imported, for statements that need them.
    package var skippedTables: [String]
    package var userVersion: Int
    package var applicationID: Int
    package var pageBytes: Int
    package var isAnalysed: Bool
    package var hasSequence: Bool

    package var rows: Int { tables.reduce(0) { $0 + $1.rows } }

    package func table(_ name: String) -> Table? { tables.first { $0.name.lowercased() == name.lowercased() } }
}

extension SourceSchema {
    package init(of source: Connection) throws {
        let parts = try source.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid").map { row in
            Part(kind: try row.get(0), name: try row.get(1), table: try row.get(2), sql: try row.get(3) ?? "")
        }
        func isVirtual(_ part: Part) -> Bool { Array(SQLTokens.words(part.sql).prefix(2)) == ["CREATE", "VIRTUAL"] }
        let virtual = parts.filter { $0.kind == "table" && isVirtual($0) }
        let kinds = try Self.kinds(source)
        let shadows = parts.filter { part in
            part.kind == "table" && !isVirtual(part)
                && (kinds[part.name] == "shadow" || virtual.contains { Self.isShadow(part.name, of: $0) })
        }
        skippedTables = (virtual + shadows).map(\.name)
        skipped = virtual.map { part in
            let words = SQLTokens.words(part.sql)
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
                guard let table = left.first(where: { SQLTokens.mentions(part.sql, $0) }) else { return true }
                // What belongs to a skipped table goes with it and needs no word of its own.
                if !left.contains(part.table) { skippedParts.append("\(kind) \(part.name): it uses table \(table)") }
                return false
            }
        }
        indexes = kept("index")
        views = kept("view")
        triggers = kept("trigger")
        skipped += skippedParts
        userVersion = try source.number("PRAGMA user_version")
        applicationID = try source.number("PRAGMA application_id")
        pageBytes = try source.number("PRAGMA page_size")
        isAnalysed = parts.contains { $0.name == "sqlite_stat1" }
        hasSequence = parts.contains { $0.name == "sqlite_sequence" }
    }

    private static func isShadow(_ name: String, of virtual: Part) -> Bool {
        name.lowercased().hasPrefix(virtual.name.lowercased() + "_")
            && ["data", "idx", "content", "docsize", "config", "segments", "segdir", "stat", "node", "rowid", "parent"]
                .contains(name.dropFirst(virtual.name.count + 1).lowercased())
    }

    private static func kinds(_ source: Connection) throws -> [String: String] {
        var kinds: [String: String] = [:]
        for row in try source.query("PRAGMA table_list") where row[0] == "main" {
            kinds[try row.get(1)] = row[4] == 1 ? "without rowid" : try row.get(2)
        }
        return kinds
    }

    private static func table(_ part: Part, _ kinds: [String: String], _ source: Connection) throws -> Table {
        var table = Table(
            name: part.name, sql: part.sql, isWithoutRowid: kinds[part.name] == "without rowid", columns: [],
            indexes: [], foreignKeys: [],
            rows: try source.number("SELECT count(*) FROM \(SQL.quoted(part.name))"))
        let columns = try source.query(
            "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?)", [part.name]
        )
        table.columns = try columns.map { row in
            Column(
                name: try row.get(0), declaredType: try row.get(1), isRequired: row[2] != 0, hasDefault: row[3] != 0,
                keyPlace: try row.get(4), isGenerated: try row.get(5, as: Int.self) > 1)
        }
        let indexes = try source.query(
            "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?)", [part.name])
        table.indexes = try indexes.map { row in
            let name = try row.get(0, as: String.self)
            let columns = try source.query("SELECT name, cid FROM pragma_index_info(?) ORDER BY seqno", [name])
            return Index(
                name: name, isUnique: row[1] != 0, isPartial: row[3] != 0,
                columns: try columns.map { try $0.get(1, as: Int.self) < 0 ? nil : try $0.get(0) },
                origin: try row.get(2))
        }
        let foreignKeys = try source.query(
            "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq", [part.name])
        var last: Value?
        for row in foreignKeys {
            if row[0] != last {
                table.foreignKeys.append(ForeignKey(columns: [], parent: try row.get(1), parentColumns: []))
                last = row[0]
            }
            let position = table.foreignKeys.count - 1
            table.foreignKeys[position].columns.append(try row.get(2))
            // Without a name the parent's primary key is meant.
            if let column = try row.get(3, as: String?.self) {
                table.foreignKeys[position].parentColumns.append(column)
            }
        }
        return table
    }
}

extension Connection {
    /// The integer that a query gives.
    fileprivate func number(_ sql: String) throws -> Int { try queryOne(sql)?.get(0) ?? 0 }
}
