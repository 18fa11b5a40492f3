// StatementFactsTests.swift - what a program is told of a statement is the same on a store as on SQLite's own tables: by this API, and by the
// functions of rootstock.h that stand beside SQLite's.

import CSQLite
import Rootstock
import RootstockTable
import Testing

@Suite struct StatementFactsTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    static let schema = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT 'x', b REAL NOT NULL DEFAULT 1);
        CREATE TABLE w (k TEXT, n INT, v BLOB, PRIMARY KEY (k, n)) WITHOUT ROWID;
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, u UNIQUE);
        CREATE TABLE l (x);
        CREATE TABLE f (id INTEGER PRIMARY KEY, a TEXT, p REFERENCES counted);
        CREATE TRIGGER r AFTER INSERT ON f BEGIN INSERT INTO l VALUES (new.id); END;
        CREATE VIEW v AS SELECT a, id FROM t;
        """

    /// In the order in which they run.
    static let statements = [
        "SELECT * FROM t", "SELECT id, rowid, a || 'x', count(*) FROM t WHERE id = ?", "SELECT a FROM v WHERE id = :id",
        "VALUES (1, ?)", "SELECT count(*) FROM t", "SELECT * FROM sqlite_schema",
        "SELECT a FROM t WHERE a > $a AND b < ?4",
        "INSERT INTO t (a, b) VALUES (?, ?)", "INSERT INTO t (a) VALUES (:a), (:b)", "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO t (a) VALUES (?) RETURNING id, a AS z, b + 1, rowid, *",
        "INSERT OR REPLACE INTO t VALUES (?2, ?, ?1)",
        "INSERT OR IGNORE INTO counted (u) VALUES (?)", "INSERT OR IGNORE INTO counted (u) VALUES (?), (?1), (?)",
        "INSERT INTO counted (u) VALUES (5) ON CONFLICT (u) DO UPDATE SET u = u + ?1",
        "INSERT INTO counted (u) VALUES (@u) ON CONFLICT (u) DO UPDATE SET u = excluded.u || ? RETURNING *",
        "INSERT INTO f (a) VALUES ('q')", "INSERT INTO f (a, p) VALUES (?, NULL) RETURNING a, id",
        "REPLACE INTO t (id, a) VALUES (1, 'r')", "INSERT INTO w VALUES ('a', 1, x'00') RETURNING k, n, v",
        "UPDATE t SET a = ? WHERE id = ?", "UPDATE t SET b = b + 1 RETURNING id, b",
        "UPDATE OR IGNORE counted SET u = 1",
        "UPDATE t SET a = l.x FROM l WHERE l.x = t.id", "UPDATE f SET a = ? WHERE id IN (?, ?, ?)",
        "DELETE FROM t WHERE id = ?", "DELETE FROM t WHERE id > ? RETURNING a", "DELETE FROM l", "DELETE FROM f",
        "BEGIN", "SAVEPOINT s", "RELEASE s", "COMMIT", "BEGIN IMMEDIATE", "END",
        "CREATE TABLE z (a)", "CREATE INDEX zi ON z (a)", "ALTER TABLE z ADD COLUMN b", "DROP INDEX zi", "DROP TABLE z",
        "ANALYZE", "REINDEX", "PRAGMA user_version", "PRAGMA user_version = 5", "PRAGMA table_info(t)",
        "EXPLAIN QUERY PLAN SELECT * FROM t WHERE id = ?", "EXPLAIN QUERY PLAN DELETE FROM t WHERE a = ?",
        "WITH c (x) AS (VALUES (?)) INSERT INTO t (a) SELECT x FROM c RETURNING id",
    ]

    /// What is told of the statement, which is run then.
    private func facts(_ sql: String, _ connection: Connection) throws -> [String] {
        let statement = try connection.prepare(sql)
        let handle = statement.handle
        let columns = 0..<statement.columnCount
        let facts = [
            "\(sql): reads only \(statement.isReadOnly), \(rootstock_stmt_readonly(handle))",
            "columns \(statement.columnNames.prefix(columns.count)), \(rootstock_column_count(handle))",
            "types \(columns.map { statement.declaredType(at: $0) ?? "-" })",
            "explains \(rootstock_stmt_isexplain(handle))",
            "parameters \((0..<statement.parameterCount).map { statement.parameterName(at: $0 + 1) ?? "-" })",
        ]
        for index in 0..<statement.parameterCount { try statement.bind(index + 10, at: index + 1) }
        try statement.run()
        return facts
    }

    @Test func statementsAreDescribedAsSQLiteDescribesThem() throws {
        let native = try Connection(path: folder.path("native"), engine: .sqlite)
        let store = try Connection(path: folder.path("store"), engine: .lmdb)
        try native.executeScript(Self.schema)
        try store.executeScript(Self.schema)
        for sql in Self.statements {
            let expected = try facts(sql, native)
            let found = try facts(sql, store)
            #expect(found == expected)
        }
        try #expect(facts("DELETE FROM f RETURNING id", store)[0].contains("reads only false, 0"))
    }

    /// As `sqlite3_table_column_metadata` tells it of a native table.
    private func metadata(_ table: String, _ column: String, _ database: OpaquePointer) -> String {
        var type: UnsafePointer<CChar>?
        var collation: UnsafePointer<CChar>?
        var notNull: Int32 = 0
        var key: Int32 = 0
        var counted: Int32 = 0
        let code = rootstock_table_column_metadata(
            database, nil, table, column, &type, &collation, &notNull, &key, &counted)
        let texts = [type, collation].map { $0.map { String(cString: $0) } ?? "-" }
        return "\(table).\(column): \(code) \(texts) \(notNull) \(key) \(counted)"
    }

    @Test func columnsAreDescribedAsSQLiteDescribesThem() throws {
        let native = try Connection(path: folder.path("native"), engine: .sqlite)
        let store = try Connection(path: folder.path("store"), engine: .lmdb)
        try native.executeScript(Self.schema)
        try store.executeScript(Self.schema)
        let nativeHandle = try sqlite3_db_handle(native.prepare("SELECT 1").handle)
        let storeHandle = try sqlite3_db_handle(store.prepare("SELECT 1").handle)
        for (table, column) in [
            ("t", "id"), ("t", "a"), ("t", "b"), ("t", "rowid"), ("w", "k"), ("w", "n"), ("w", "v"), ("w", "rowid"),
            ("counted", "id"), ("counted", "u"), ("counted", "oid"), ("f", "p"), ("v", "a"), ("nothing", "x"),
            ("t", "none"),
        ] {
            #expect(
                try metadata(table, column, #require(storeHandle)) == metadata(table, column, #require(nativeHandle)))
        }
    }
}
