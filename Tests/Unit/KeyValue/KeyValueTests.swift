// KeyValueTests.swift - module kv on files that other programs wrote: what is read, what is written, what is refused.

import CLMDB
import CSQLite
import Foundation
import Testing

@Suite struct KeyValueTests {
    let folder: Folder
    let session: SQLSession

    init() throws {
        folder = try Folder()
        session = try SQLSession()
    }

    private func declare(_ name: String, _ file: String, _ arguments: String = "") throws {
        let rest = arguments.isEmpty ? "" : ", " + arguments
        try session.run("CREATE VIRTUAL TABLE \(name) USING kv('\(folder.path(file))'\(rest))")
    }

    private static let fruit = [Entry("apple", "red"), Entry("fig", "violet"), Entry("pear", "green")]

    // MARK: Reading

    @Test func readsTheUnnamedTree() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f")
        try declare("t", "f", "key=text, value=text")
        #expect(try session.run("SELECT * FROM k LIMIT 1") == ["X'6170706c65'|X'726564'"])
        #expect(try session.run("SELECT * FROM t") == ["'apple'|'red'", "'fig'|'violet'", "'pear'|'green'"])
        #expect(try session.run("SELECT value FROM t WHERE key = 'fig'") == ["'violet'"])
        #expect(try session.run("SELECT value FROM t WHERE key > 'apple' AND key <= 'fig'") == ["'violet'"])
        #expect(try session.run("SELECT key FROM t ORDER BY key DESC") == ["'pear'", "'fig'", "'apple'"])
        #expect(try session.run("SELECT count(*), min(key) FROM t") == ["3|'apple'"])
    }

    @Test func readsNamedTreesAndHidesTheirRecords() throws {
        try writeTree(folder.path("f"), "colours", entries: Self.fruit)
        try writeTree(
            folder.path("f"),
            entries: [Entry("plain", "record"), Entry("colourless", String(repeating: "x", count: 48))])
        try declare("colours", "f", "colours, key=text, value=text")
        try declare("unnamed", "f", "'', key=text, value=text")
        #expect(try session.run("SELECT key FROM colours") == ["'apple'", "'fig'", "'pear'"])
        #expect(try session.run("SELECT key FROM unnamed") == ["'colourless'", "'plain'"])
        #expect(try session.run("SELECT count(*) FROM unnamed WHERE key = 'colours'") == ["0"])
        #expect(try session.message("INSERT INTO unnamed VALUES('colours', 'x')").contains("name of a tree"))
        #expect(try session.message("REPLACE INTO unnamed VALUES('colours', 'x')").contains("name of a tree"))
        try session.run("DELETE FROM unnamed")
        #expect(try session.run("SELECT count(*) FROM colours") == ["3"])
    }

    @Test func severalValuesAKeyAreSeveralRows() throws {
        let entries = [Entry("a", "1"), Entry("a", "2"), Entry("a", "3"), Entry("b", "1")]
        try writeTree(folder.path("f"), "d", .dupSort, entries: entries.reversed())
        try declare("d", "f", "d, key=text, value=text")
        #expect(try session.run("SELECT * FROM d") == ["'a'|'1'", "'a'|'2'", "'a'|'3'", "'b'|'1'"])
        #expect(try session.run("SELECT value FROM d WHERE key = 'a' ORDER BY value DESC") == ["'3'", "'2'", "'1'"])
        #expect(try session.run("SELECT count(*) FROM d WHERE key = 'a' AND value = '2'") == ["1"])
        try session.run("DELETE FROM d WHERE value = '2'")
        try session.run("INSERT INTO d VALUES('a', '0')")
        #expect(try session.message("INSERT INTO d VALUES('b', '1')") == "UNIQUE constraint failed: d.key, d.value")
        try session.run("DROP TABLE d")
        #expect(
            try readTree(folder.path("f"), "d") == [Entry("a", "0"), Entry("a", "1"), Entry("a", "3"), Entry("b", "1")])
    }

    @Test func integerKeysOfBothWidths() throws {
        try writeTree(
            folder.path("f"), "four", .integerKey, entries: (0..<300).map { Entry(bytes(UInt32($0) << 20), []) })
        try writeTree(
            folder.path("f"), "eight", .integerKey, entries: (0..<300).map { Entry(bytes(UInt64($0) << 40), []) })
        try declare("four", "f", "four, key=int")
        try declare("eight", "f", "eight, key=int")
        #expect(try session.run("SELECT count(*), max(key) FROM four") == ["300|\(299 << 20)"])
        #expect(try session.run("SELECT count(*) FROM four WHERE key BETWEEN \(1 << 20) AND \(3 << 20)") == ["3"])
        #expect(try session.run("SELECT key FROM eight WHERE key > \(297 << 40) ORDER BY key DESC").count == 2)
        try session.run("INSERT INTO four VALUES(7, x'01')")
        try session.run("INSERT INTO eight VALUES(7, x'01')")
        #expect(try session.message("INSERT INTO four VALUES(4294967296, x'')").contains("0 ... 4294967295"))
        #expect(try session.message("INSERT INTO four VALUES(-1, x'')").contains("0 ... 4294967295"))
        try session.run("DROP TABLE four")
        try session.run("DROP TABLE eight")
        #expect(try readTree(folder.path("f"), "four")[1] == Entry(bytes(UInt32(7)), [1]))
        #expect(try readTree(folder.path("f"), "eight")[1] == Entry(bytes(UInt64(7)), [1]))
    }

    @Test func aKeyThatIsNoIntegerOfSQLIsAnErrorNotAWrongNumber() throws {
        try writeTree(folder.path("f"), "big", .integerKey, entries: [Entry(bytes(UInt64.max), [])])
        try writeTree(folder.path("f"), "text", entries: Self.fruit)
        try declare("big", "f", "big, key=int")
        #expect(try session.message("SELECT key FROM big").contains("larger than an SQL integer"))
        #expect(throws: SQLFailure.self) { try declare("text", "f", "text, key=int") }
    }

    @Test func aFolderIsOpenedWithItsOwnLockFile() throws {
        let path = folder.path("environment")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try writeTree(path, directory: true, entries: Self.fruit)
        try declare("k", "environment", "key=text, value=text")
        try session.run("INSERT INTO k VALUES('quince', 'yellow')")
        try session.run("DROP TABLE k")
        try declare("k", "environment/data.mdb", "key=text, value=text")
        #expect(try session.run("SELECT count(*) FROM k") == ["4"])
        try session.run("DROP TABLE k")
        #expect(try readTree(path, directory: true).count == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["data.mdb", "lock.mdb"])
    }

    @Test func aFileWithTwoLockFilesIsRefused() throws {
        let path = folder.path("environment")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try writeTree(path, directory: true, entries: Self.fruit)
        #expect(FileManager.default.createFile(atPath: path + "/data.mdb-lock", contents: nil))
        #expect(throws: SQLFailure.self) { try declare("k", "environment") }
        try FileManager.default.removeItem(atPath: path + "/data.mdb-lock")
        try declare("k", "environment")
    }

    @Test func theFilesOwnMapIsKept() throws {
        try writeTree(folder.path("f"), mapSize: 1 << 20, entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        let much = "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000) "
        let insert = "INSERT INTO k \(much) SELECT 'n' || i, hex(zeroblob(500)) FROM n"
        guard case .error(let code, let message) = session.answer(insert) else {
            Issue.record("a megabyte took two")
            return
        }
        #expect(code == SQLITE_FULL && message.contains("mapsize="))
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
        try session.run("DROP TABLE k")
        try declare("k", "f", "key=text, value=text, mapsize=16777216")
        try session.run(insert)
        #expect(try session.run("SELECT count(*) FROM k") == ["2003"])
    }

    // MARK: Writing

    @Test func whatIsWrittenIsWhatLMDBReads() throws {
        try writeTree(folder.path("f"), "t", entries: Self.fruit)
        try declare("t", "f", "t, key=text, value=text")
        try session.run("INSERT INTO t VALUES('quince', 'yellow'), ('1', 2)")
        try session.run("UPDATE t SET value = upper(value) WHERE key > 'b'")
        try session.run("UPDATE t SET key = 'zwetschge' WHERE key = 'fig'")
        try session.run("DELETE FROM t WHERE key = 'apple'")
        try session.run("DROP TABLE t")
        #expect(
            try readTree(folder.path("f"), "t") == [
                Entry("1", "2"), Entry("pear", "GREEN"), Entry("quince", "YELLOW"), Entry("zwetschge", "VIOLET"),
            ])
    }

    @Test func conflictsAreThoseOfAPrimaryKey() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        #expect(
            session.answer("INSERT INTO k VALUES('new', '1'), ('fig', '2')")
                == .error(code: SQLITE_CONSTRAINT | 6 << 8, message: "UNIQUE constraint failed: k.key"))
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
        try session.run("INSERT OR IGNORE INTO k VALUES('new', '1'), ('fig', '2')")
        #expect(try session.run("SELECT changes()") == ["1"])
        try session.run("INSERT OR REPLACE INTO k VALUES('fig', '3')")
        #expect(try session.run("SELECT key, value FROM k WHERE key IN ('fig', 'new')") == ["'fig'|'3'", "'new'|'1'"])
        #expect(try session.message("UPDATE k SET key = 'pear' WHERE key = 'fig'").hasPrefix("UNIQUE"))
        try session.run("UPDATE OR REPLACE k SET key = 'pear' WHERE key = 'fig'")
        #expect(try session.run("SELECT value FROM k WHERE key = 'pear'") == ["'3'"])
    }

    @Test(arguments: [
        ("INSERT INTO k VALUES(NULL, '1')", "NOT NULL constraint failed: k.key"),
        ("INSERT INTO k(key) VALUES('x')", "NOT NULL constraint failed: k.value"),
        ("INSERT INTO k VALUES(x'00', '1')", "cannot store BLOB value in TEXT column k.key"),
        ("INSERT INTO k VALUES('x', x'00')", "cannot store BLOB value in TEXT column k.value"),
        ("INSERT INTO k VALUES('x', '{')", "malformed JSON in k.value"),
        ("INSERT INTO k VALUES('', '1')", "key of k has 0 bytes: the file's keys have 1 to 511"),
        ("INSERT INTO k VALUES(hex(zeroblob(256)), '1')", "key of k has 512 bytes: the file's keys have 1 to 511"),
        (
            "INSERT INTO k(key, value, \"rootstock entry\") VALUES('x', '1', x'00')",
            "column \"rootstock entry\" of k is not for writing"
        ),
    ])
    func refusesByName(statement: String, message: String) throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=json")
        #expect(try session.message(statement) == message)
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
    }

    @Test func jsonIsSearchedByItsFunctions() throws {
        try writeTree(folder.path("f"), entries: [Entry("a", #"{"n":1}"#), Entry("b", #"{"n":20}"#)])
        try declare("k", "f", "key=text, value=json")
        #expect(try session.run("SELECT key FROM k WHERE value ->> '$.n' > 5") == ["'b'"])
    }

    // MARK: Transactions

    @Test func severalTreesAreOneTransaction() throws {
        try writeTree(folder.path("f"), "a", entries: Self.fruit)
        try writeTree(folder.path("f"), "b", .dupSort, entries: Self.fruit)
        try declare("a", "f", "a, key=text, value=text")
        try declare("b", "f", "b, key=text, value=text")
        try session.run("BEGIN")
        try session.run("DELETE FROM a")
        try session.run("INSERT INTO b VALUES('fig', 'brown')")
        try session.run("SAVEPOINT s")
        try session.run("UPDATE b SET key = key || '!'")
        try session.run("INSERT INTO a VALUES('x', 'y')")
        #expect(try session.run("SELECT (SELECT count(*) FROM a), (SELECT max(key) FROM b)") == ["1|'pear!'"])
        try session.run("ROLLBACK TO s")
        #expect(try session.run("SELECT (SELECT count(*) FROM a), (SELECT max(key) FROM b)") == ["0|'pear'"])
        #expect(try session.run("SELECT value FROM b WHERE key = 'fig'") == ["'brown'", "'violet'"])
        try session.run("ROLLBACK")
        #expect(try session.run("SELECT count(*) FROM a") == ["3"])
        #expect(try session.run("SELECT count(*) FROM b") == ["3"])
        try session.run("SAVEPOINT outermost")
        try session.run("DELETE FROM a")
        try session.run("ROLLBACK TO outermost")
        try session.run("INSERT INTO a VALUES('only', 'this')")
        try session.run("RELEASE outermost")
        #expect(try session.run("SELECT count(*) FROM a") == ["4"])
    }

    @Test func aFailedStatementLeavesNothingBehind() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        try session.run("BEGIN")
        #expect(throws: SQLFailure.self) {
            try session.run("INSERT INTO k VALUES('a', '1'), ('b', '2'), ('pear', '3')")
        }
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
        try session.run("COMMIT")
    }

    @Test func aTransactionReadsOneSnapshotAndCannotWriteOnAnOldOne() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        let other = try SQLSession()
        try other.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
        try session.run("BEGIN")
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
        try other.run("INSERT INTO k VALUES('new', '1')")
        #expect(try session.run("SELECT count(*) FROM k") == ["3"])
        #expect(
            session.answer("INSERT INTO k VALUES('late', '1')")
                == .error(code: SQLITE_BUSY | 2 << 8, message: "database is locked"))
        try session.run("COMMIT")
        #expect(try session.run("SELECT count(*) FROM k") == ["4"])
        try session.run("INSERT INTO k VALUES('late', '1')")
    }

    @Test func oneWriterAtATime() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        let other = try SQLSession()
        try other.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
        try session.run("BEGIN")
        try session.run("DELETE FROM k")
        #expect(
            other.answer("INSERT INTO k VALUES('x', '1')") == .error(code: SQLITE_BUSY, message: "database is locked"))
        try session.run("COMMIT")
        try other.run("INSERT INTO k VALUES('x', '1')")
    }

    @Test func aCursorOutlivesTheTransactionItReads() throws {
        try writeTree(folder.path("f"), entries: (0..<100).map { Entry("key \($0 + 100)", "\($0)") })
        try declare("k", "f", "key=text, value=text")
        var statement: OpaquePointer?
        try session.run("BEGIN")
        try session.run("DELETE FROM k WHERE key = 'key 100'")
        #expect(
            sqlite3_prepare_v2(session.database, "SELECT key FROM k ORDER BY key", -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        #expect(sqlite3_step(statement) == SQLITE_ROW)
        try session.run("DELETE FROM k WHERE key BETWEEN 'key 101' AND 'key 150'")
        #expect(String(cString: sqlite3_column_text(statement, 0)) == "key 101")
        try session.run("COMMIT")
        var rest: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW { rest.append(String(cString: sqlite3_column_text(statement, 0))) }
        #expect(rest == (151..<200).map { "key \($0)" })
    }

    @Test func whatWasWrittenIsNotLostByADropOrARename() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        try session.run("BEGIN")
        try session.run("INSERT INTO k VALUES('new', '1')")
        guard case .error(let code, _) = session.answer("DROP TABLE k") else {
            Issue.record("the table was dropped")
            return
        }
        #expect(code == SQLITE_LOCKED)
        try session.run("ALTER TABLE k RENAME TO l")
        try session.run("INSERT INTO l VALUES('newer', '1')")
        try session.run("COMMIT")
        #expect(try session.run("SELECT count(*) FROM l") == ["5"])
        #expect(try session.message("INSERT INTO l VALUES('new', '1')") == "UNIQUE constraint failed: l.key")
        try session.run("DROP TABLE l")
        #expect(try readTree(folder.path("f")).count == 5)
    }

    @Test func aDropLeavesNoLockBehind() throws {
        try writeTree(folder.path("f"), "t", entries: Self.fruit)
        try writeTree(folder.path("f"), "u", entries: Self.fruit)
        try declare("t", "f", "t, key=text, value=text")
        try declare("u", "f", "u, key=text, value=text")
        #expect(try session.run("SELECT count(*) FROM u") == ["3"])
        try session.run("BEGIN")
        try session.run("DELETE FROM t WHERE key = 'nothing'")
        guard case .error(let code, _) = session.answer("DROP TABLE t") else {
            Issue.record("the table was dropped")
            return
        }
        #expect(code == SQLITE_LOCKED)
        try session.run("COMMIT")
        try session.run("DROP TABLE t")
        let other = try SQLSession()
        try other.run("CREATE VIRTUAL TABLE u USING kv('\(folder.path("f"))', 'u', key=text, value=text)")
        try other.run("INSERT INTO u VALUES('new', '1')")
    }

    @Test func aStatementThatOpensItsSubqueryAnewSeesOneSnapshot() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        try session.run("CREATE TABLE t(x)")
        try session.run("INSERT INTO t VALUES('apple'), ('fig'), ('fig')")
        let other = try SQLSession()
        try other.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = "SELECT (SELECT value FROM k WHERE key = t.x) FROM t"
        #expect(sqlite3_prepare_v2(session.database, sql, -1, &statement, nil) == SQLITE_OK)
        var values: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            values.append(String(cString: sqlite3_column_text(statement, 0)))
            try other.run("UPDATE k SET value = value || '!'")
        }
        #expect(values == ["red", "violet", "violet"])
    }

    @Test func aColumnOfNumbersThatHoldsTextBoundsKeys() throws {
        try writeTree(folder.path("f"), entries: ["1", "5", "abc", "x"].map { Entry($0, "") })
        try declare("k", "f", "key=text, value=text")
        try session.run("CREATE TABLE n(i INT)")
        try session.run("INSERT INTO n VALUES('!'), (3)")
        for comparison in ["<", "<=", ">", ">="] {
            let rows = try session.run("SELECT i, key FROM n CROSS JOIN k WHERE key \(comparison) i ORDER BY 1, 2")
            #expect(
                rows == (try session.run("SELECT i, key FROM n CROSS JOIN k WHERE +key \(comparison) i ORDER BY 1, 2")))
        }
        #expect(try session.run("SELECT key FROM k WHERE key < '5' ORDER BY key DESC") == ["'1'"])
    }

    @Test func aTreeThatIsGoneIsAnErrorAndLocksNothing() throws {
        try writeTree(folder.path("f"), "t", entries: Self.fruit)
        try writeTree(folder.path("f"), "u", entries: Self.fruit)
        try declare("t", "f", "t, key=text, value=text")
        try session.run("DROP TABLE t")
        try withLMDB(folder.path("f")) { transaction in
            var handle: MDB_dbi = 0
            try require(mdb_dbi_open(transaction, "t", 0, &handle), "mdb_dbi_open")
            try require(mdb_drop(transaction, handle, 1), "mdb_drop")
        }
        #expect(
            try session.message("CREATE VIRTUAL TABLE t USING kv('\(folder.path("f"))', t)").contains("no such tree"))
        try declare("u", "f", "u, key=text, value=text")
        try session.run("DELETE FROM u")
    }

    // MARK: What is refused

    @Test func aStoresTreesAreRefused() throws {
        let store = try SQLSession()
        let path = folder.path("s.store")
        try store.run("SELECT rootstock_open('\(path)')")
        try store.run("SELECT 1 WHERE rootstock_ddl('CREATE TABLE t(a)')")
        for arguments in ["", ", t1", ", rootstock"] {
            let message = try session.message("CREATE VIRTUAL TABLE k USING kv('\(path)'\(arguments))")
            #expect(message == "\(path) is a store: use its tables, its trees are not for kv")
        }
        #expect(try session.run("SELECT name FROM kv_trees('\(path)') WHERE name = 'rootstock'") == ["'rootstock'"])
    }

    @Test func aFileThatBecameAStoreIsNotWritten() throws {
        try writeTree(folder.path("f"), "t", entries: Self.fruit)
        try declare("t", "f", "t, key=text, value=text")
        let store = try SQLSession()
        try store.run("SELECT rootstock_open('\(folder.path("f"))')")
        try store.run("SELECT 1 WHERE rootstock_ddl('CREATE TABLE s(a)')")
        #expect(try session.message("DELETE FROM t").contains("is a store"))
    }

    @Test func noSchemaReachesAPath() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f")
        try session.run("CREATE VIEW v AS SELECT * FROM k")
        try session.run("CREATE VIEW w AS SELECT * FROM kv_trees('\(folder.path("f"))')")
        try session.run("CREATE TABLE n(a)")
        try session.run("CREATE TRIGGER g AFTER INSERT ON n BEGIN DELETE FROM k; END")
        #expect(try session.message("SELECT * FROM v") == "unsafe use of virtual table \"k\"")
        #expect(try session.message("SELECT * FROM w") == "unsafe use of virtual table \"kv_trees\"")
        #expect(try session.message("INSERT INTO n VALUES(1)") == "unsafe use of virtual table \"k\"")
    }

    @Test func readingASchemaOpensNoFile() throws {
        let database = folder.path("n.db")
        try writeTree(folder.path("f"), entries: Self.fruit)
        do {
            let first = try SQLSession(database)
            try first.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
            try first.run("CREATE VIEW v AS SELECT * FROM k")
        }
        try FileManager.default.removeItem(atPath: folder.path("f"))
        try FileManager.default.removeItem(atPath: folder.path("f-lock"))
        let second = try SQLSession(database)
        #expect(try second.message("SELECT * FROM v") == "unsafe use of virtual table \"k\"")
        #expect(try second.message("SELECT * FROM k").contains("rootstock_allow"))
        try second.run("SELECT rootstock_allow('\(folder.path("f"))')")
        #expect(try second.message("SELECT * FROM k").contains("No such file"))
        #expect(try second.run("SELECT name FROM pragma_table_info('k')") == ["'key'", "'value'"])
        try second.run("DROP VIEW v")
        try second.run("DROP TABLE k")
        #expect(!FileManager.default.fileExists(atPath: folder.path("f")))
    }

    @Test func argumentsAreChecked() throws {
        try writeTree(folder.path("f"), "t", entries: Self.fruit)
        let path = "'\(folder.path("f"))'"
        for (arguments, message) in [
            ("", "a file is missing"), ("\(path), x", "no such tree"), ("\(path), t, u", "too many arguments: u"),
            ("\(path), t, engine=memory", "engine=memory: it must be lmdb"),
            ("\(path), t, key=json", "key=json: it must be blob, text or int"),
            ("\(path), t, value=int", "value=int: it must be blob, text or json"),
            ("\(path), t, colour=red", "unknown argument \"colour\""), ("'\(folder.path("none"))'", "No such file"),
        ] {
            #expect(try session.message("CREATE VIRTUAL TABLE k USING kv(\(arguments))").contains(message))
        }
        try Data("this is no LMDB file at all, whatever its name may be".utf8)
            .write(to: URL(fileURLWithPath: folder.path("text.mdb")))
        #expect(throws: SQLFailure.self) { try declare("k", "text.mdb") }
        try declare("r", "f", "t, key=text, value=text, readonly=yes")
        #expect(try session.message("DELETE FROM r") == "attempt to write a readonly database")
    }

    @Test func aDatabaseInAnotherEncodingIsRefused() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        let other = try SQLSession(folder.path("wide.db"))
        try other.run("PRAGMA encoding = 'UTF-16le'")
        try other.run("CREATE TABLE n(a)")
        let message = try other.message("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))')")
        #expect(message == "kv needs a database whose PRAGMA encoding is UTF-8")
    }

    @Test func plansNameTheKey() throws {
        try writeTree(folder.path("f"), entries: Self.fruit)
        try declare("k", "f", "key=text, value=text")
        func plan(_ sql: String) throws -> String {
            try session.run("EXPLAIN QUERY PLAN \(sql)").joined(separator: "\n")
        }
        #expect(try plan("SELECT * FROM k WHERE key = 'a'").contains("key=?"))
        #expect(try plan("SELECT * FROM k WHERE key >= 'a' AND key < 'b'").contains("key>=? AND key<?"))
        #expect(try plan("SELECT * FROM k WHERE key GLOB 'a*'").contains("key>=? AND key<?"))
        #expect(try !plan("SELECT * FROM k ORDER BY key DESC").contains("TEMP B-TREE"))
        #expect(try !plan("SELECT * FROM k WHERE key = 'A' COLLATE NOCASE").contains("key=?"))
        #expect(try session.run("SELECT key FROM k WHERE key = 'FIG' COLLATE NOCASE") == ["'fig'"])
    }
}
