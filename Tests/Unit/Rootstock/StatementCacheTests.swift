// StatementCacheTests.swift - a statement that was prepared before means what its text means now.
//
// On a store the front door judges a text by the schema; what it made of one is kept with the statement, and must not outlive
// that schema. On `sqlite` the same holds by itself.

import CSQLite
import Rootstock
import Testing

@Suite struct StatementCacheTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func connection(_ engine: Engine, _ script: String) throws -> Connection {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(script)
        return connection
    }

    /// What stands in `log` after the text ran, was made to mean more by `change`, and ran again.
    private func logged(_ connection: Connection, _ sql: String, _ changes: [String]) throws -> [Value] {
        try connection.execute(sql)
        for change in changes {
            try connection.execute(change)
            try connection.execute(sql)
        }
        return try connection.query("SELECT what FROM log ORDER BY rowid").map { $0[0] }
    }

    /// To Swift the two texts are equal strings: the second writes its letter as two code points.
    @Test(arguments: engines) func textsOfOtherCodePointsAreOtherStatements(_ engine: Engine) throws {
        let connection = try connection(engine, "CREATE TABLE t(a)")
        let (one, two) = ("SELECT length('caf\u{e9}')", "SELECT length('cafe\u{301}')")
        #expect(one == two)
        for _ in 0..<2 {
            #expect(try connection.queryValue(one) == 4)
            #expect(try connection.queryValue(two) == 5)
        }
    }

    /// What SQLite's own functions have stepped, and left so, is as good as new for its next user.
    @Test(arguments: engines) func aStatementThatWasLeftUnfinishedIsResetForItsNextUser(_ engine: Engine) throws {
        let connection = try connection(engine, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
        let sql = "SELECT a FROM t WHERE a > ?"
        for steps in 0...3 {
            let statement = try connection.prepare(sql)
            try statement.bind(0, at: 1)
            let handle = statement.handle
            for _ in 0..<steps { sqlite3_step(handle) }
        }
        for steps in 0...2 {
            let statement = try connection.prepare(sql)
            #expect(try !statement.step(), "an argument was left")
            try statement.bind(0, at: 1)
            for _ in 0..<steps { #expect(try statement.step()) }
        }
        #expect(try connection.query(sql, [1]).map(\.values) == [[2]])
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t VALUES (?)", [1, 2]) }
        for _ in 0..<2 { try connection.execute("INSERT INTO t VALUES (?)", [3]) }
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t VALUES (?)") }
        #expect(throws: DatabaseError.self) { try connection.execute("INSERT INTO t VALUES (?)", ["a": 4]) }
        #expect(try connection.query("SELECT a FROM t").map { $0[0] } == [1, 2, 3, 3])
    }

    /// Texts that share their lists in the cache, with some of them forgotten now and then.
    @Test(arguments: engines) func manyTextsAreEachTheirOwn(_ engine: Engine) throws {
        var options = StoreOptions()
        options.statementCacheCapacity = 50
        let connection = try Connection(path: folder.path(), engine: engine, options: options)
        for turn in 0..<2000 {
            let number = (turn * 2_654_435_761 >> 16) % 80
            #expect(try connection.queryValue("SELECT \(number) + ?", [1]) == Value(number + 1))
        }
    }

    @Test(arguments: engines) func aTriggerMadeLaterFires(_ engine: Engine) throws {
        let connection = try connection(engine, "CREATE TABLE t(a); CREATE TABLE log(what)")
        let log = try logged(
            connection, "INSERT INTO t(a) VALUES (1)",
            [
                "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('stored'); END",
                "DROP TRIGGER r",
                "CREATE TEMP TRIGGER q AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('temporary'); END",
                "DROP TRIGGER q",
            ])
        #expect(log == ["stored", "temporary"])
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 5)
    }

    @Test(arguments: engines) func aTriggerOfAnotherConnectionFires(_ engine: Engine) throws {
        let one = try connection(engine, "CREATE TABLE t(a); CREATE TABLE log(what)")
        let other = try Connection(path: folder.path(), engine: engine)
        for sql in ["INSERT INTO t(a) VALUES (1)", "UPDATE t SET a = a + 1", "DELETE FROM t WHERE a = 2"] {
            try one.execute(sql)
        }
        try other.executeScript(
            """
            CREATE TRIGGER i AFTER INSERT ON t BEGIN INSERT INTO log VALUES ('inserted'); END;
            CREATE TRIGGER u AFTER UPDATE ON t BEGIN INSERT INTO log VALUES ('updated'); END;
            CREATE TRIGGER d AFTER DELETE ON t BEGIN INSERT INTO log VALUES ('deleted'); END
            """)
        for sql in ["INSERT INTO t(a) VALUES (1)", "UPDATE t SET a = a + 1", "DELETE FROM t WHERE a = 2"] {
            try one.execute(sql)
        }
        #expect(
            try one.query("SELECT what FROM log ORDER BY rowid").map { $0[0] } == ["inserted", "updated", "deleted"])
    }

    /// A program past the front door keeps the text that it gave, which SQLite alone prepares anew.
    @Test(arguments: [Engine.lmdb, Engine(name: "sqlite-btree")])
    func aKeptTextThatEmptiesATableFiresATriggerMadeLater(_ engine: Engine) throws {
        let connection = try connection(
            engine,
            """
            CREATE TABLE t(a TEXT PRIMARY KEY); CREATE TABLE log(what); INSERT INTO t VALUES ('one'), ('two');
            PRAGMA foreign_keys = ON
            """)
        guard case .text(let kept) = try connection.queryValue("SELECT rootstock_rewrite('DELETE FROM t')") else {
            Issue.record("DELETE FROM t stays what it is")
            return
        }
        try connection.execute("CREATE TRIGGER r AFTER DELETE ON t BEGIN INSERT INTO log VALUES (old.a); END")
        try connection.execute(kept)
        #expect(try connection.query("SELECT what FROM log ORDER BY what").map { $0[0] } == ["one", "two"])
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 0)
        try connection.executeScript(
            """
            DROP TRIGGER r; INSERT INTO t VALUES ('one'), ('two');
            CREATE TABLE child(a REFERENCES t); INSERT INTO child VALUES ('two')
            """)
        #expect(throws: (any Error).self) { try connection.execute(kept) }
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 2)
        // What is refused is undone, and the transaction goes on.
        try connection.executeScript("BEGIN; INSERT INTO log VALUES ('three')")
        #expect(throws: (any Error).self) { try connection.execute(kept) }
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 2)
        try connection.execute("COMMIT")
        #expect(try connection.queryValue("SELECT count(*) FROM log") == 3)
    }

    /// A text that spells a number has the kept statements looked at, and that may not set what SQLite counted.
    @Test(arguments: engines) func aQueryLeavesTheChangesOfAnUpdateOfManyRows(_ engine: Engine) throws {
        let connection = try connection(
            engine,
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b); CREATE INDEX i ON t(b);
            INSERT INTO t VALUES (1, '1', '1'), (2, '2', '05'), (3, 'x', 5), (4, '05', '5')
            """)
        try connection.execute("UPDATE t SET a = a || '!' WHERE id > 1")
        #expect(try connection.queryValue("SELECT id FROM t WHERE b = '5'") == 4)
        #expect(try connection.queryValue("SELECT changes()") == 3)
    }

    @Test(arguments: engines) func aDefaultMadeLaterIsTaken(_ engine: Engine) throws {
        let connection = try connection(engine, "CREATE TABLE t(a, b DEFAULT 'old')")
        try connection.execute("INSERT INTO t(a) VALUES (?)", [1])
        try connection.execute("ALTER TABLE t ADD COLUMN c DEFAULT 'new'")
        try connection.execute("INSERT INTO t(a) VALUES (?)", [2])
        try connection.execute("ALTER TABLE t DROP COLUMN b")
        try connection.execute("INSERT INTO t(a) VALUES (?)", [3])
        #expect(
            try connection.query("SELECT * FROM t").map(\.values)
                == [[1, "new"], [2, "new"], [3, "new"]])
    }

    @Test(arguments: engines) func aTempTableHidesTheStoresAndShowsItAgain(_ engine: Engine) throws {
        let connection = try connection(engine, "CREATE TABLE t(a, b DEFAULT 'store')")
        let insert = "INSERT INTO t(a) VALUES (1)"
        let count = "SELECT count(*) FROM t"
        try connection.execute(insert)
        #expect(try connection.queryValue(count) == 1)
        try connection.executeScript("CREATE TEMP TABLE t(a)")
        #expect(try connection.queryValue(count) == 0)
        try connection.execute(insert)
        try connection.execute(insert)
        #expect(try connection.queryValue(count) == 2)
        #expect(try connection.query("SELECT * FROM t").map(\.values) == [[1], [1]])
        try connection.execute("DROP TABLE temp.t")
        #expect(try connection.queryValue(count) == 1)
        try connection.execute(insert)
        #expect(try connection.query("SELECT * FROM t").map(\.values) == [[1, "store"], [1, "store"]])
    }

    @Test(arguments: engines) func queriesAndChangesAreKeptWhateverTheyWereTurnedInto(_ engine: Engine) throws {
        let connection = try connection(
            engine, "CREATE TABLE t(a PRIMARY KEY, b DEFAULT 7); CREATE TABLE u(a); INSERT INTO u VALUES (1)")
        for sql in [
            "SELECT a FROM t WHERE a = ?",
            "SELECT count(*) FROM t",
            "SELECT name FROM sqlite_schema",
            "INSERT INTO u(a) VALUES (?)",
            "INSERT OR IGNORE INTO t(a) VALUES (?)",
            "INSERT INTO t(a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = b + 1",
            "DELETE FROM u WHERE a = ? RETURNING a",
            "DELETE FROM u",
        ] {
            let handle = try connection.prepare(sql).handle
            let again = try connection.prepare(sql)
            #expect(again.handle == handle, "\(sql)")
            if again.parameterCount == 1 { try again.bind(1, at: 1) }
            try again.run()
        }
    }

    @Test(arguments: engines) func aKeptProgramWritesNothingInARead(_ engine: Engine) throws {
        var options = StoreOptions(durability: .off)
        options.readerConnections = 0
        let store = try Store(path: folder.path(), engine: engine, options: options)
        defer { store.close() }
        try store.write { try $0.execute("CREATE TABLE t(a PRIMARY KEY, b DEFAULT 0)") }
        for sql in [
            "INSERT INTO t(a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = b + 1", "INSERT INTO t(a) VALUES (2)",
            "UPDATE t SET b = 9 RETURNING a",
        ] {
            try store.write { try $0.execute(sql) }
            let error = try databaseError { try store.read { try $0.execute(sql) } }
            #expect(error?.code == .readOnly, "\(sql)")
        }
    }
}
