// InspectionTests.swift - foreign keys, plans and figures of a store, held against SQLite's own.

import Foundation
import Rootstock
import Testing

/// A connection to a fresh database on `engine`, in a folder that lives as long.
private final class Fresh {
    let folder: URL
    let connection: Connection

    init(_ engine: Engine, _ script: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        connection = try Connection(
            path: folder.appendingPathComponent("test.store").path, engine: engine,
            options: StoreOptions(durability: .off))
        try connection.executeScript(script)
    }

    deinit {
        connection.close()
        try? FileManager.default.removeItem(at: folder)
    }
}

@Suite struct ForeignKeyCheckTests {
    static let script = """
        CREATE TABLE parent(id INTEGER PRIMARY KEY, x TEXT UNIQUE COLLATE NOCASE, y, z, UNIQUE(y, z));
        INSERT INTO parent VALUES (1, 'one', 1, 2), (2, 'TWO', 3, 4), (3, '5', 5, NULL);
        CREATE TABLE child(a INT REFERENCES parent(id), b REFERENCES parent(x), y, z, q REFERENCES nowhere(x),
            FOREIGN KEY(y, z) REFERENCES parent(y, z));
        CREATE INDEX child_b ON child(b);
        INSERT INTO child VALUES (1, 'ONE', 1, 2, NULL), (9, 'nine', 1, 3, NULL), (NULL, 5, 3, 4, 7),
            ('2', 'two', NULL, 9, NULL), (2.0, x'74776f', 5, NULL, NULL), ('x', NULL, '1', '2', NULL);
        CREATE TABLE clustered(a PRIMARY KEY REFERENCES parent, b REFERENCES parent(x)) WITHOUT ROWID;
        INSERT INTO clustered VALUES ('1', 'one'), (4, 'q'), (3.5, NULL);
        CREATE TABLE tree(id INTEGER PRIMARY KEY, up REFERENCES tree);
        INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 9), (4, 4);
        """

    @Test(arguments: [
        "foreign_key_check", "foreign_key_check(child)", "foreign_key_check('TREE')", "foreign_key_check(parent)",
    ])
    func rowsAreThoseOfSQLite(pragma: String) throws {
        let native = try Fresh(.sqlite, Self.script)
        let store = try Fresh(.lmdb, Self.script)
        let expected = try native.connection.query("PRAGMA \(pragma)")
        try #expect(store.connection.query("PRAGMA \(pragma)").map(\.values) == expected.map(\.values))
        #expect(pragma.hasSuffix("(parent)") == expected.isEmpty)
    }

    @Test func unsoundDeclarationsAreSQLitesError() throws {
        let script = Self.script + "CREATE TABLE wrong(a REFERENCES parent(y));"
        let errors = try [Engine.sqlite, .lmdb].map { engine in
            let fresh = try Fresh(engine, script)
            try #expect(!fresh.connection.query("PRAGMA foreign_key_check(tree)").isEmpty)
            return #expect(throws: DatabaseError.self) { try fresh.connection.query("PRAGMA foreign_key_check") }?
                .message
        }
        #expect(errors[0] == errors[1])
        #expect(errors[0]?.contains("foreign key mismatch") == true)
    }

    @Test func violationsDescribeThemselves() throws {
        let store = try Fresh(.lmdb, Self.script)
        let violations = try store.connection.foreignKeyViolations()
        let missing = try #require(violations.first { $0.table == "tree" })
        #expect(missing.rowid == 3 && missing.parent == "tree" && missing.foreignKey == 0)
        #expect(missing.description == "row 3 of tree refers to no row of tree (foreign key 0)")
        let clustered = try #require(violations.first { $0.table == "clustered" })
        #expect(clustered.rowid == nil)
        #expect(clustered.description.hasPrefix("a row of clustered refers to no row of parent (foreign key "))
    }
}

@Suite struct ExplainTests {
    static let script = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT, c);
        CREATE INDEX i ON t(a, b);
        CREATE TABLE w(a TEXT, b INT, c, PRIMARY KEY(a, b)) WITHOUT ROWID;
        CREATE TABLE n(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
        """

    @Test(arguments: [
        "SELECT * FROM t", "SELECT * FROM t WHERE id = 3", "SELECT * FROM t WHERE id > 3 AND id < 9",
        "SELECT * FROM t WHERE a = 'x'", "SELECT * FROM t WHERE a = 'x' AND b > 3", "SELECT a, b FROM t WHERE a = 'x'",
        "SELECT a, b FROM t ORDER BY a, b", "SELECT * FROM t ORDER BY a", "SELECT * FROM w",
        "SELECT * FROM w WHERE a = 'x'",
        "SELECT * FROM t AS q LEFT JOIN w ON w.a = q.a AND w.b = q.b", "SELECT * FROM t q, json_each('[1]') j",
        "SELECT * FROM t INDEXED BY i WHERE a = 'x'", "SELECT * FROM t NOT INDEXED WHERE a = 'x'",
        "SELECT * FROM t WHERE a IN ('x', 'y')", "SELECT * FROM sqlite_sequence", "SELECT * FROM sqlite_master",
        "SELECT * FROM t x WHERE EXISTS (SELECT 1 FROM w y WHERE y.a = x.a)", "UPDATE t SET c = 1 WHERE id = 4",
        "WITH q AS (SELECT * FROM t) SELECT * FROM q WHERE id = 5", "SELECT 1 UNION SELECT id FROM t",
    ])
    func plansReadAsNativeOnes(sql: String) throws {
        let native = try Fresh(.sqlite, Self.script)
        let store = try Fresh(.lmdb, Self.script)
        func plan(_ connection: Connection) throws -> [Value] {
            try connection.query("EXPLAIN QUERY PLAN \(sql)").map { $0["detail"]! }
        }
        try #expect(plan(store.connection) == plan(native.connection))
    }

    @Test func theShapeIsThatOfEXPLAIN() throws {
        let store = try Fresh(.lmdb, Self.script)
        let row = try #require(try store.connection.queryOne("EXPLAIN QUERY PLAN SELECT * FROM t"))
        #expect(row.columnNames == ["id", "parent", "notused", "detail"])
        #expect(throws: DatabaseError.self) { try store.connection.query("EXPLAIN QUERY PLAN SELECT * FROM nosuch") }
    }

    /// What a virtual table would refuse has a program to show, too, and showing it changes nothing.
    @Test(arguments: [
        "CREATE INDEX late ON t(c)", "CREATE TABLE u(a)", "DROP TABLE w", "ALTER TABLE t RENAME TO u", "DELETE FROM w",
        "INSERT INTO w VALUES ('p', 2, 3) ON CONFLICT DO NOTHING", "INSERT INTO w VALUES ('p', 2, 3) RETURNING *",
    ])
    func explainShowsAProgram(sql: String) throws {
        let store = try Fresh(.lmdb, Self.script)
        let before = try store.connection.query("SELECT name FROM sqlite_schema UNION ALL SELECT a FROM w")
        let rows = try store.connection.query("EXPLAIN \(sql)")
        #expect(try #require(rows.first)["opcode"] == .text("Init"))
        let after = try store.connection.query("SELECT name FROM sqlite_schema UNION ALL SELECT a FROM w")
        #expect(after.map { $0["name"]! } == before.map { $0["name"]! })
    }
}

@Suite struct StoreInfoTests {
    static let script = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE);
        CREATE TABLE "odd ""name"" \\" (k PRIMARY KEY) WITHOUT ROWID;
        INSERT INTO t(a) WITH RECURSIVE k(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM k WHERE n < 1000) SELECT n FROM k;
        """

    @Test(arguments: [Engine.sqlite, .lmdb]) func figures(engine: Engine) throws {
        let fresh = try Fresh(engine, Self.script)
        let info = try fresh.connection.storeInfo()
        #expect(info.engine == engine.name)
        #expect(info.path == fresh.connection.path)
        #expect(info.generation >= 2)
        #expect(info.pageBytes > 0 && info.usedPages > 0)
        #expect(info.fileBytes >= (info.usedPages + info.freePages) * info.pageBytes - info.pageBytes)
        #expect(Set(info.tables.map(\.name)) == ["t", "odd \"name\" \\"])
        let t = try #require(info.tables.first { $0.name == "t" })
        #expect(t.rows == 1000 && t.depth == 2 && t.bytes == t.pages! * info.pageBytes)
        #expect(t.indexes.map(\.name) == ["sqlite_autoindex_t_1"])
        #expect(t.indexes[0].unique && t.indexes[0].rows ?? 1000 == 1000)
        #expect(info.tables.first { $0.name != "t" }?.withoutRowid == true)
    }

    @Test func aReaderLags() throws {
        let fresh = try Fresh(.lmdb, Self.script)
        try #expect(fresh.connection.storeInfo().readers == 0)
        let reader = try Connection(path: fresh.connection.path, engine: .lmdb, options: StoreOptions(durability: .off))
        try reader.execute("BEGIN")
        try #expect(reader.queryValue("SELECT count(*) FROM t") == 1000)
        for _ in 0..<5 { try fresh.connection.execute("INSERT INTO t(a) VALUES (NULL)") }
        var info = try fresh.connection.storeInfo()
        #expect(info.readers == 1)
        #expect(info.oldestReaderLag == 5)
        try reader.execute("COMMIT")
        info = try fresh.connection.storeInfo()
        #expect(info.readers == 0 && info.oldestReaderLag == 0)
    }
}
