// IntegrityTests.swift - a sound store is 'ok'; a broken one has its fault named.

import Foundation
import Rootstock
import Testing

/// A folder of a test's own, and the store in it.
final class BrokenStore {
    let folder: URL
    var path: String { folder.appendingPathComponent("test.store").path }

    init(_ script: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try withConnection { try $0.executeScript(script) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func withConnection<T>(_ body: (Connection) throws -> T) throws -> T {
        let connection = try Connection(path: path, engine: .lmdb, options: StoreOptions(durability: .off))
        defer { connection.close() }
        return try body(connection)
    }

    func faults(quick: Bool = false, limit: Int = 100) throws -> [String] {
        try withConnection { try $0.integrityFaults(quick: quick, limit: limit) }
    }

    /// The faults after `body` did its worst.
    func faults(quick: Bool = false, limit: Int = 100, after body: (RawStore) throws -> Void) throws -> [String] {
        try RawStore.edit(path, body)
        return try faults(quick: quick, limit: limit)
    }
}

@Suite struct IntegrityTests {
    /// Every kind of table, column and index, and what remains of dropped ones.
    static let everything = """
        CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b INT CHECK(b < 1000), c REAL, n NUMERIC NOT NULL,
            stored AS (b * 2) STORED, virtual AS (a || 'x'), UNIQUE(a, b));
        CREATE INDEX descending ON plain(c DESC, a COLLATE NOCASE);
        CREATE INDEX expression ON plain(abs(b), lower(a));
        CREATE UNIQUE INDEX partial ON plain(c) WHERE c > 5;
        INSERT INTO plain(a, b, c, n) WITH RECURSIVE k(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM k WHERE n < 300)
            SELECT 'Row ' || n, n - 50, n * 0.5, CASE n % 3 WHEN 0 THEN 'text' WHEN 1 THEN n ELSE x'00ff' END FROM k;
        INSERT INTO plain(a, b, c, n) VALUES (NULL, NULL, NULL, 0), (NULL, NULL, -0.0, 1e300);
        CREATE TABLE clustered(a TEXT COLLATE NOCASE, b INT, c, PRIMARY KEY(a, b DESC)) WITHOUT ROWID;
        CREATE INDEX clustered_c ON clustered(c);
        INSERT INTO clustered SELECT a, b, n FROM plain WHERE a IS NOT NULL AND b IS NOT NULL;
        CREATE TABLE long(k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID;
        CREATE INDEX long_v ON long(v);
        INSERT INTO long WITH RECURSIVE k(n) AS (VALUES(1) UNION ALL SELECT n + 1 FROM k WHERE n < 20)
            SELECT printf('%.*c%d', 600, 'k', n), printf('%.*c%d', 3000, 'v', n % 5) FROM k;
        CREATE TABLE strict(i INT, r REAL, t TEXT, b BLOB, a ANY) STRICT;
        INSERT INTO strict VALUES (1, 2, 'x', x'00', 3.5), (NULL, NULL, NULL, NULL, NULL);
        CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
        INSERT INTO numbered(x) VALUES (1), (2);
        CREATE VIEW some AS SELECT * FROM plain;
        CREATE TRIGGER log AFTER INSERT ON strict BEGIN INSERT INTO numbered(x) VALUES (new.i); END;
        INSERT INTO strict VALUES (9, 9, '9', NULL, 9);
        CREATE TABLE gone(a UNIQUE); INSERT INTO gone VALUES (1), (2); DROP TABLE gone;
        DROP INDEX clustered_c; CREATE INDEX clustered_c2 ON clustered(c, b);
        ALTER TABLE numbered ADD COLUMN y TEXT DEFAULT 'later'; CREATE INDEX numbered_y ON numbered(y);
        ALTER TABLE strict DROP COLUMN b; ALTER TABLE strict RENAME TO exact;
        UPDATE plain SET c = c + 1000, a = upper(a) WHERE id % 7 = 0; DELETE FROM plain WHERE id % 11 = 0;
        UPDATE clustered SET b = b + 1000 WHERE b % 5 = 0;
        ANALYZE;
        """

    @Test func aSoundStoreIsOk() throws {
        let store = try BrokenStore(Self.everything)
        try #expect(store.faults() == [])
        try store.withConnection { connection in
            try #expect(connection.queryValue("PRAGMA integrity_check") == "ok")
            try #expect(connection.queryValue("PRAGMA quick_check") == "ok")
            try connection.execute("BEGIN")
            try connection.execute("INSERT INTO plain(a, b, n) VALUES ('inside', 1, 2)")
            try #expect(connection.integrityFaults() == [], "in the middle of a write transaction")
            try connection.execute("ROLLBACK")
            try #expect(connection.integrityFaults() == [])
        }
    }

    /// t1 is the table, t2 and t3 its indexes: trees are numbered as they are created.
    static let script = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT);
        CREATE INDEX i ON t(a);
        CREATE UNIQUE INDEX u ON t(b);
        INSERT INTO t VALUES (1, 'one', 11), (2, 'two', 12), (3, 'three', 13);
        """

    @Test func anIndexEntryIsRemoved() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { try $0.remove("t2", $0.entries("t2")[1].key) }  // 'three'
        #expect(faults == ["row 3 missing from index i", "wrong # of entries in index i"])
        try #expect(store.faults(quick: true) == [], "index entries are not quick_check's")
    }

    @Test func anIndexEntryTooMany() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { raw in
            var entry = try raw.entries("t2")[0]
            entry.key[entry.key.count - 1] = 77
            try raw.put("t2", entry)
        }
        #expect(faults == ["wrong # of entries in index i", "entry 2 of index i belongs to no row"])
    }

    @Test func anIndexEntryOfAnotherValue() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { raw in
            var entry = try raw.entries("t2")[0]
            try raw.remove("t2", entry.key)
            entry.key[1] = UInt8(ascii: "p")  // 'one' becomes 'pne'
            try raw.put("t2", entry)
        }
        #expect(faults == ["row 1 missing from index i", "entry 1 of index i is not what its row has"])
    }

    @Test func anIndexEntryWithAnotherValueStored() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { try $0.change("t3", 0) { $0 = [1, 2, 3] } }
        #expect(faults == ["row 1 values differ from index u"])
    }

    @Test func aRowIsRemoved() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { try $0.remove("t1", $0.entries("t1")[0].key) }
        #expect(
            Set(faults) == [
                "wrong # of entries in index i", "entry 1 of index i belongs to no row",
                "wrong # of entries in index u",
                "entry 1 of index u belongs to no row",
            ])
    }

    @Test func aRowsBytesAreChanged() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { raw in
            try raw.change("t1", 1) { row in
                let place = row.firstIndex(of: 12)!  // b's value: the body's last byte
                row[place] = 99
            }
        }
        #expect(faults == ["row 2 missing from index u", "entry 2 of index u is not what its row has"])
    }

    @Test(arguments: [1, 2, 4, 7]) func aRowIsCut(bytes: Int) throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { try $0.change("t1", 1) { $0.removeLast(bytes) } }
        #expect(faults.first == "row 2 of t is malformed")
        #expect(faults.count == 1, "what the row's entries should be is not known: \(faults)")
    }

    @Test func everyByteOfARowCounts() throws {
        // Whatever byte is flipped, the row is malformed, or it disagrees with its indexes.
        var size = 0
        let sound = try BrokenStore(Self.script)
        try RawStore.edit(sound.path) { size = try $0.entries("t1")[1].value.count }
        for place in 0..<size {
            let store = try BrokenStore(Self.script)
            try #expect(store.faults { try $0.change("t1", 1) { $0[place] ^= 0x41 } } != [], "byte \(place) of \(size)")
        }
    }

    @Test func twoRowsAreSwapped() throws {
        let store = try BrokenStore(Self.script)
        let faults = try store.faults { raw in
            let rows = try raw.entries("t1")
            try raw.put("t1", RawEntry(key: rows[0].key, value: rows[1].value))
            try raw.put("t1", RawEntry(key: rows[1].key, value: rows[0].value))
        }
        #expect(
            faults.prefix(4).sorted() == [
                "row 1 missing from index i", "row 1 missing from index u", "row 2 missing from index i",
                "row 2 missing from index u",
            ])
    }

    @Test func aRowidOfTheWrongSize() throws {
        let store = try BrokenStore("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")
        let faults = try store.faults { raw in
            let row = try raw.entries("t1")[1]
            try raw.remove("t1", row.key)
            try raw.put("t1", RawEntry(key: row.key + [0], value: row.value))
        }
        #expect(faults == ["row 2 of t is malformed"])
    }

    // A table without constraints lays its rows out as one with them does: what could not come in by SQL is copied over.

    @Test func nullsTypesAndChecks() throws {
        let store = try BrokenStore(
            """
            CREATE TABLE t(a TEXT NOT NULL, b INT, c CHECK(c > 0));
            CREATE TABLE loose(a, b, c);
            INSERT INTO loose VALUES ('x', 1, 1), (NULL, 2, 2), (5, '6', 3), ('y', 3, -1);
            """)
        let faults = try store.faults { try $0.copy("t2", to: "t1") }
        #expect(
            faults == [
                "NULL value in t.a", "NUMERIC value in t.a", "TEXT value in t.b", "CHECK constraint failed in t",
            ])
        try #expect(store.faults(quick: true) == faults)
        try #expect(store.faults(limit: 2) == ["NULL value in t.a", "NUMERIC value in t.a"])
    }

    @Test func typesOfStrictTables() throws {
        let store = try BrokenStore(
            """
            CREATE TABLE t(i INT, r REAL, t TEXT, b BLOB, a ANY) STRICT;
            CREATE TABLE loose(i, r, t, b, a);
            INSERT INTO loose VALUES (1, 1.5, 'x', x'00', 'any'), ('1', 'x', x'00', 'x', 5), (NULL, NULL, NULL, NULL, NULL);
            """)
        #expect(
            try store.faults { try $0.copy("t2", to: "t1") } == [
                "non-INT value in t.i", "non-REAL value in t.r", "non-TEXT value in t.t", "non-BLOB value in t.b",
            ])
    }

    @Test func aUniqueIndexWithADuplicate() throws {
        let store = try BrokenStore(
            """
            CREATE TABLE t(a); CREATE UNIQUE INDEX u ON t(a);
            CREATE TABLE loose(a); CREATE INDEX l ON loose(a);
            INSERT INTO loose VALUES (1), (2), (1), (NULL), (NULL);
            """)
        let faults = try store.faults { raw in
            try raw.copy("t3", to: "t1")
            try raw.copy("t4", to: "t2")
        }
        #expect(faults == ["non-unique entry in index u"])
    }

    @Test func aGeneratedColumnOfAnotherValue() throws {
        let store = try BrokenStore(
            """
            CREATE TABLE t(a INT, b AS (a + 1) STORED);
            CREATE TABLE loose(a INT, b);
            INSERT INTO loose VALUES (1, 2), (2, 7);
            """)
        #expect(
            try store.faults { try $0.copy("t2", to: "t1") } == [
                "row 2 of t: generated column b is not what its expression gives"
            ])
    }

    @Test func indexesOnExpressionsAndPartOfTheRows() throws {
        let script = """
            CREATE TABLE t(a INT, b); CREATE INDEX e ON t(abs(a)); CREATE INDEX p ON t(b) WHERE b > 5;
            INSERT INTO t VALUES (-1, 1), (-2, 9), (3, 10);
            """
        let without = try BrokenStore(script)
        #expect(
            try without.faults { try $0.remove("t2", $0.entries("t2")[0].key) } == [
                "row 1 missing from index e", "wrong # of entries in index e",
            ])
        let excluded = try BrokenStore(script)
        let faults = try excluded.faults { raw in
            var entry = try raw.entries("t3")[0]
            entry.key[entry.key.count - 1] = 1  // row 1 is not in the index
            try raw.put("t3", entry)
        }
        #expect(faults == ["wrong # of entries in index p", "entry 1 of index p is not what its row has"])
    }

    @Test func clusteredTables() throws {
        let script = """
            CREATE TABLE t(a TEXT COLLATE NOCASE, b INT, c, PRIMARY KEY(a, b)) WITHOUT ROWID;
            CREATE INDEX i ON t(c);
            INSERT INTO t VALUES ('A', 1, 'x'), ('b', 2, 'y'), ('c', 3, 'z');
            """
        let moved = try BrokenStore(script)
        let faults = try moved.faults { raw in
            let rows = try raw.entries("t1")
            try raw.remove("t1", rows[0].key)
            try raw.put("t1", RawEntry(key: rows[0].key + [0], value: rows[0].value))
        }
        #expect(faults.first == "row 1 of t is malformed")
        let swapped = try BrokenStore(script)
        let mixed = try swapped.faults { raw in
            // 'A' does not stand in its own key exactly, so the row holds it: under another key it is out of place.
            let rows = try raw.entries("t1")
            try raw.put("t1", RawEntry(key: rows[1].key, value: rows[0].value))
        }
        #expect(mixed.contains("row 2 of t does not stand under its primary key"))
        let entry = try BrokenStore(script)
        #expect(
            try entry.faults { try $0.change("t2", 0) { $0 = [] } }
                == ["row 1 values differ from index i"])
    }

    @Test func longKeys() throws {
        let store = try BrokenStore(
            """
            CREATE TABLE t(a TEXT); CREATE INDEX i ON t(a);
            INSERT INTO t SELECT printf('%.*c%d', 2000, 'k', value) FROM json_each('[1,2,3]');
            """)
        try #expect(store.faults() == [])
        #expect(
            try store.faults { try $0.remove("t2", $0.entries("t2")[1].key) } == [
                "row 2 missing from index i", "wrong # of entries in index i",
            ])
        let cut = try store.faults { try $0.change("t2", 0) { $0.removeLast(1000) } }
        #expect(cut.contains { $0.hasPrefix("index i: ") }, "\(cut)")
    }

    @Test func theCatalog() throws {
        let script = "CREATE TABLE t(a); CREATE TABLE gone(a); DROP TABLE gone;"
        let filled = try BrokenStore(script)
        #expect(
            try filled.faults { try $0.put("t2", RawEntry(key: [1], value: [0])) } == ["free tree t2 holds 1 entries"])
        let unlisted = try BrokenStore(script)
        let lost = try unlisted.faults { raw in
            for entry in try raw.entries("rootstock") where entry.key[0] == UInt8(ascii: "F") {
                try raw.remove("rootstock", entry.key)
            }
        }
        #expect(lost == ["catalog: tree t2 belongs to nothing"])
        let double = try BrokenStore(script)
        let twice = try double.faults { raw in
            var entry = try raw.entries("rootstock").first { $0.key[0] == UInt8(ascii: "F") }!
            entry.key[8] = 1
            try raw.put("rootstock", entry)
        }
        #expect(twice == ["catalog: tree t1 is free and belongs to t"])
        let unknown = try BrokenStore(script)
        let kinds = try unknown.faults { try $0.put("rootstock", RawEntry(key: Bytes("X1".utf8), value: [0])) }
        #expect(kinds == ["catalog: an entry of unknown kind 88"])
        let renamed = try BrokenStore("CREATE TABLE t(a); CREATE INDEX i ON t(a);")
        let other = try renamed.faults { raw in
            // Type, name, table, text: the index's table becomes another.
            var entry = try raw.entries("rootstock").filter { $0.key[0] == UInt8(ascii: "O") }[1]
            let place = entry.value.firstIndex(of: UInt8(ascii: "t"))!
            entry.value[place] = UInt8(ascii: "T")
            try raw.put("rootstock", entry)
        }
        #expect(other == ["catalog: index i is not what its text makes"])
        let unmarked = try BrokenStore(script)
        let meta = #expect(throws: DatabaseError.self) {
            try unmarked.faults { raw in
                var entry = try raw.entries("rootstock").first { $0.key == [UInt8(ascii: "M")] }!
                entry.value[entry.value.lastIndex(of: UInt8(ascii: "R"))!] = UInt8(ascii: "Z")
                try raw.put("rootstock", entry)
            }
        }
        #expect(meta?.message.contains("the catalog's mark is missing") == true)
        let shared = try BrokenStore("CREATE TABLE t(a); CREATE TABLE s(a);")
        let both = try shared.faults { raw in
            // The row of an object ends in its tree's number.
            let objects = try raw.entries("rootstock").filter { $0.key[0] == UInt8(ascii: "O") }
            try raw.put("rootstock", RawEntry(key: objects[1].key, value: objects[1].value.dropLast() + [1]))
        }
        #expect(both.sorted() == ["catalog: tree t1 belongs to t and to s", "catalog: tree t2 belongs to nothing"])
    }

    @Test func anIndexMissingFromTheCatalogIsNamedAtOpening() throws {
        let store = try BrokenStore("CREATE TABLE t(a UNIQUE);")
        let error = #expect(throws: DatabaseError.self) {
            try store.faults { raw in
                let objects = try raw.entries("rootstock").filter { $0.key[0] == UInt8(ascii: "O") }
                try raw.remove("rootstock", objects[1].key)
            }
        }
        #expect(error?.message.contains("index sqlite_autoindex_t_1 has no entry in the catalog") == true)
    }

    @Test func oneTableByName() throws {
        let store = try BrokenStore(Self.script + "CREATE TABLE other(a);")
        try RawStore.edit(store.path) { try $0.remove("t2", $0.entries("t2")[0].key) }
        try store.withConnection { connection in
            let one = "SELECT message FROM rootstock_integrity_check(?)"
            try #expect(connection.query(one, ["other"]).map { $0[0] } == ["ok"])
            try #expect(connection.query(one, ["t"]).count == 2)
            #expect(throws: DatabaseError.self) { try connection.query(one, ["nosuch"]) }
        }
    }
}
