import Foundation

extension Connection {
    /// Checks that the store agrees with itself: rows, keys, constraints, indexes and catalog.
    ///
    /// `PRAGMA integrity_check` for any number of faults, or `quick_check`, which leaves index entries out.
    ///
    /// - Returns: the faults, at most `limit` of them; none if the store is sound.
    public func integrityFaults(quick: Bool = false, limit: Int = 100) throws(DatabaseError) -> [String] {
        let rows: [Row]
        if engine.isNative {
            rows = try query("PRAGMA \(quick ? "quick" : "integrity")_check(\(limit))")
        } else {
            rows = try query(
                "SELECT message FROM rootstock_integrity_check WHERE argument = ? AND quick = ?",
                [Value(limit), Value(quick)])
        }
        var faults: [String] = []
        for row in rows {
            // One native row may hold several lines.
            faults += try row.get(0, as: String.self).split(separator: "\n").map(String.init)
        }
        return faults == ["ok"] ? [] : faults
    }

    /// The rows whose foreign keys lead to no row: `PRAGMA foreign_key_check`.
    public func foreignKeyViolations() throws(DatabaseError) -> [ForeignKeyViolation] {
        var violations: [ForeignKeyViolation] = []
        for row in try query("PRAGMA foreign_key_check") {
            violations.append(
                ForeignKeyViolation(
                    table: try row.get(0), rowid: row[1].isNull ? nil : try row.get(1), parent: try row.get(2),
                    foreignKey: try row.get(3)))
        }
        return violations
    }

    /// The store's figures: its tables and trees, its pages, its readers.
    public func storeInfo() throws -> StoreInfo {
        if engine.isNative { return try nativeInfo() }
        guard case .text(let json)? = try queryValue("SELECT rootstock_info()") else {
            throw DatabaseError(.misuse, "no store is open on this connection")
        }
        return try JSONDecoder().decode(StoreInfo.self, from: Data(json.utf8))
    }

    private func nativeInfo() throws(DatabaseError) -> StoreInfo {
        func pragma(_ name: String) throws(DatabaseError) -> Int {
            guard case .integer(let value)? = try queryValue("PRAGMA \(name)") else { return 0 }
            return Int(value)
        }
        // One snapshot for all of it.
        let begins = !isInTransaction
        if begins { try execute("BEGIN") }
        defer { if begins { try? execute("ROLLBACK") } }
        let (pageBytes, pages, free) = try (pragma("page_size"), pragma("page_count"), pragma("freelist_count"))
        var tables: [StoreInfo.Table] = []
        let listed = try query(
            """
            SELECT name, wr FROM pragma_table_list
            WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema' ORDER BY name
            """)
        for row in listed {
            let name = try row.get(0, as: String.self)
            let weight = try nativeWeight(of: name)
            var indexes: [StoreInfo.Index] = []
            let keys = try query(
                "SELECT name, \"unique\" FROM pragma_index_list(?) WHERE NOT (? AND origin = 'pk')",
                [name, row[1]])
            for index in keys {
                let indexName = try index.get(0, as: String.self)
                let weight = try nativeWeight(of: indexName)
                indexes.append(
                    StoreInfo.Index(
                        name: indexName, unique: index[1] == 1, rows: nil, pages: weight?.pages, bytes: weight?.bytes,
                        depth: weight?.depth))
            }
            tables.append(
                StoreInfo.Table(
                    name: name, withoutRowid: row[1] == 1,
                    rows: try queryOne("SELECT count(*) FROM main.\(SQL.quoted(name))")?.get(0, as: Int.self) ?? 0,
                    pages: weight?.pages, bytes: weight?.bytes, depth: weight?.depth, indexes: indexes))
        }
        return StoreInfo(
            path: path, engine: engine.name, engineVersion: Version.sqlite, format: 3, checksum: false, verified: 0,
            generation: try pragma("schema_version"), fileBytes: pages * pageBytes, pageBytes: pageBytes,
            usedPages: pages - free, freePages: free, lastTransaction: nil, readers: nil, maximumReaders: nil,
            oldestReaderLag: nil, tables: tables)
    }

    /// What a native B-tree takes, where this SQLite has the dbstat table.
    private func nativeWeight(of name: String) throws(DatabaseError) -> (pages: Int, bytes: Int, depth: Int)? {
        guard try queryOne("SELECT 1 FROM pragma_module_list WHERE name = 'dbstat'") != nil else { return nil }
        let row = try queryOne(
            """
            SELECT count(*), coalesce(sum(pgsize), 0), coalesce(max(length(path) - length(replace(path, '/', ''))), 0)
            FROM dbstat WHERE name = ?
            """, [name])
        guard let row else { return nil }
        return (try row.get(0), try row.get(1), try row.get(2))
    }
}

/// A row of a child table that refers to a parent row which is not there.
public struct ForeignKeyViolation: Hashable, Sendable, CustomStringConvertible {
    /// The child table.
    public var table: String
    /// `nil` in a WITHOUT ROWID table.
    public var rowid: Int64?
    /// The table that the foreign key refers to.
    public var parent: String
    /// Which of the table's foreign keys: the `id` of `PRAGMA foreign_key_list`.
    public var foreignKey: Int

    public var description: String {
        let place = rowid.map { "row \($0)" } ?? "a row"
        return "\(place) of \(table) refers to no row of \(parent) (foreign key \(foreignKey))"
    }
}
