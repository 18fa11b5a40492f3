// ProcessIsolationTests.swift - the sentences about isolation where each connection is a process of its own: what is asserted is
// asserted of plain SQLite in WAL mode, too.

import CSQLite
import Foundation
import Testing

/// WAL mode, then the engines whose stores are files.
private let everywhere: [String?] = [nil, "lmdb", "sqlite-btree"]

private let busySnapshot = SQLITE_BUSY | 2 << 8

@Suite struct ProcessIsolationTests {
    private let both = "SELECT (SELECT count(*) FROM t), (SELECT max(a) FROM u)"

    @Test(arguments: everywhere, ["BEGIN", "SAVEPOINT s"])
    func allStatementsAndTablesOfATransactionSeeOneSnapshot(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.process(), try database.process())
        _ = reader.run(begin)
        #expect(reader.run("SELECT count(*) FROM t").rows == ["9"])
        #expect(writer.run("BEGIN IMMEDIATE").code == SQLITE_OK, "the reader does not block the writer")
        #expect(writer.run("DELETE FROM t WHERE a > 5").code == SQLITE_OK)
        #expect(writer.run("UPDATE u SET a = 1").code == SQLITE_OK)
        #expect(writer.run(both).rows == ["5|1"], "a writer sees its own writes")
        #expect(reader.run(both).rows == ["9|0"], "nor the writer the reader")
        #expect(writer.run("COMMIT").code == SQLITE_OK)
        #expect(reader.run(both).rows == ["9|0"], "a table first read after the commit is read as of the snapshot, too")
        #expect(reader.run("INSERT INTO u VALUES (5)").code == busySnapshot)
        #expect(reader.run(both).rows == ["9|0"], "the refusal leaves the snapshot")
        _ = reader.run(begin == "BEGIN" ? "COMMIT" : "RELEASE s")
        #expect(reader.run(both).rows == ["5|1"])
        #expect(reader.run("INSERT INTO u VALUES (5)").code == SQLITE_OK)
    }

    @Test(arguments: everywhere, ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "BEGIN; a write"])
    func theSecondWriterWaitsForItsTimeAndNoLonger(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.process(), try database.process())
        if begin == "BEGIN; a write" {
            #expect(first.run("BEGIN").code == SQLITE_OK)
            #expect(first.run("UPDATE t SET b = 0 WHERE a = 1").code == SQLITE_OK)
        } else {
            #expect(first.run(begin).code == SQLITE_OK)
        }
        let writes = ["INSERT INTO u VALUES (1)", "BEGIN IMMEDIATE", "CREATE TABLE n(a)", "DROP TABLE u"]
        for sql in writes { #expect(second.run(sql).code == SQLITE_BUSY, "\(sql): at once, without a timeout") }
        _ = second.run("PRAGMA busy_timeout = 200")
        for sql in writes {
            let start = Date()
            #expect(second.run(sql).code == SQLITE_BUSY, "\(sql)")
            #expect(Date().timeIntervalSince(start) > 0.15, "\(sql) waits")
            #expect(!second.inTransaction)
        }
        #expect(second.run(both).rows == ["9|0"], "it reads on")
        // One that has read is told at once: the two could wait for each other.
        _ = second.run("PRAGMA busy_timeout = 20000")
        _ = second.run("BEGIN")
        #expect(second.run(both).rows == ["9|0"])
        #expect(second.run("INSERT INTO u VALUES (1)").code == SQLITE_BUSY)
        #expect(second.run(both).rows == ["9|0"], "and stays where it was")
        #expect(second.run("COMMIT").code == SQLITE_OK)
        // One that has only begun waits, and then does what it was asked for.
        _ = second.run("BEGIN")
        second.send("INSERT INTO u VALUES (1)")
        Thread.sleep(forTimeInterval: 0.1)
        #expect(first.run("ROLLBACK").code == SQLITE_OK)
        #expect(second.answer().code == SQLITE_OK)
        #expect(second.run("COMMIT").code == SQLITE_OK)
        #expect(first.run(both).rows == ["9|1"])
    }

    @Test(arguments: everywhere) func aWaitingWriterSeesWhatTheFirstCommitted(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.process(), try database.process())
        _ = second.run("PRAGMA busy_timeout = 20000")
        #expect(first.run("BEGIN IMMEDIATE").code == SQLITE_OK)
        #expect(first.run("UPDATE u SET a = a + 1").code == SQLITE_OK)
        second.send("UPDATE u SET a = a + 1")
        Thread.sleep(forTimeInterval: 0.1)
        #expect(first.run("COMMIT").code == SQLITE_OK)
        #expect(second.answer().code == SQLITE_OK)
        #expect(first.run("SELECT a FROM u").rows == ["2"], "no update is lost")
    }

    @Test(arguments: everywhere) func anOpenReadGoesOnThroughAllThatOthersCommit(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.process(), try database.process())
        #expect(reader.open(0, "SELECT a, b FROM t ORDER BY b").code == SQLITE_OK)
        #expect(reader.step(0, 1).rows == ["1|10"])
        for i in 0..<100 {
            #expect(writer.run("UPDATE t SET b = b + 1").code == SQLITE_OK)
            if i % 10 == 0 { #expect(writer.run("DELETE FROM t WHERE a = \(1 + i / 10)").code == SQLITE_OK) }
        }
        for sql in ["DROP TABLE u", "ALTER TABLE t ADD COLUMN c DEFAULT 7", "DROP INDEX tb", "DROP TABLE t"] {
            #expect(writer.run(sql).code == SQLITE_OK, "\(sql) beside a reader of another process")
        }
        #expect(reader.step(0, 100).rows == (2...9).map { "\($0)|\($0 * 10)" })
        #expect(reader.run("SELECT * FROM t").code == SQLITE_ERROR)
    }

    @Test(arguments: everywhere) func aSchemaChangeIsSeenByTheNextTransaction(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.process(), try database.process())
        let changes: [(String, String, [String])] = [
            ("ALTER TABLE t ADD COLUMN c DEFAULT 7", "SELECT * FROM t WHERE a = 2", ["2|20|7"]),
            ("ALTER TABLE t RENAME COLUMN b TO bb", "SELECT bb FROM t WHERE a = 2", ["20"]),
            ("CREATE TABLE n(a PRIMARY KEY, b CHECK (b > 0))", "SELECT count(*) FROM n", ["0"]),
            ("CREATE VIEW v AS SELECT a FROM t WHERE a < 3", "SELECT * FROM v", ["1", "2"]),
            (
                "CREATE TRIGGER g AFTER INSERT ON n BEGIN INSERT INTO u VALUES (new.b); END",
                "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'", ["1"]
            ),
            ("DROP INDEX tb", "SELECT count(*) FROM sqlite_schema WHERE name = 'tb'", ["0"]),
            ("ALTER TABLE t RENAME TO tt", "SELECT count(*) FROM tt", ["9"]),
        ]
        for (change, query, rows) in changes {
            _ = reader.run("BEGIN")
            if query.contains("sqlite_schema") { _ = reader.run(query) } else { _ = reader.run("SELECT a FROM u") }
            let before = reader.run(query)
            #expect(writer.run(change).code == SQLITE_OK, "\(change)")
            #expect(reader.run(query).rows == before.rows, "\(change): not before the transaction has ended")
            #expect(reader.run("SELECT max(a) FROM u").rows == ["0"])
            #expect(reader.run("COMMIT").code == SQLITE_OK)
            #expect(reader.run(query).rows == rows, "\(change)")
        }
        // What the new schema asks for holds where it was not made.
        #expect(reader.run("INSERT INTO n VALUES (1, 0)").code == SQLITE_CONSTRAINT | 1 << 8)
        #expect(reader.run("INSERT INTO n VALUES (1, 5)").code == SQLITE_OK)
        #expect(writer.run("SELECT max(a) FROM u").rows == ["5"], "the trigger fires")
        // A statement that was prepared before.
        _ = reader.open(0, "SELECT * FROM tt WHERE a = 2")
        #expect(writer.run("ALTER TABLE tt ADD COLUMN d DEFAULT 8").code == SQLITE_OK)
        #expect(reader.step(0, 1).rows == ["2|20|7|8"])
    }

    @Test(arguments: everywhere) func aSchemaChangeWaitsForItsTransactionsEnd(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.process(), try database.process())
        _ = writer.run("BEGIN")
        for sql in ["CREATE TABLE n(a)", "INSERT INTO n VALUES (1)", "DROP TABLE u", "ALTER TABLE t DROP COLUMN b"] {
            #expect(writer.run(sql).code == (sql.hasPrefix("ALTER") ? SQLITE_ERROR : SQLITE_OK), "\(sql)")
        }
        #expect(reader.run("SELECT count(*) FROM u").rows == ["1"])
        #expect(reader.run("SELECT * FROM n").code == SQLITE_ERROR)
        #expect(writer.run("ROLLBACK").code == SQLITE_OK)
        for session in [reader, writer] {
            #expect(session.run(both).rows == ["9|0"])
            #expect(session.run("SELECT * FROM n").code == SQLITE_ERROR)
        }
    }

    @Test(arguments: everywhere) func aKilledWriterLeavesNothingAndNobodyWaits(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let other = try database.process()
        for begin in ["BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"] {
            let writer = try database.process()
            for sql in [begin, "UPDATE t SET b = 0", "CREATE TABLE n(a)", "DELETE FROM u"] {
                #expect(writer.run(sql).code == SQLITE_OK, "\(sql)")
            }
            #expect(other.run("INSERT INTO u VALUES (0)").code == SQLITE_BUSY)
            writer.kill()
            #expect(other.run("INSERT INTO u VALUES (0)").code == SQLITE_OK, "\(begin)")
            #expect(other.run(both).rows == ["9|0"])
            #expect(other.run("SELECT sum(b) FROM t").rows == ["450"])
            #expect(other.run("SELECT * FROM n").code == SQLITE_ERROR)
            #expect(other.run("PRAGMA integrity_check").rows == ["ok"])
        }
    }

    /// What changes the schema beside a statement of the same connection that is between two rows.
    private func besideAnOpenStatement(_ side: String?, _ begin: String, _ sql: String) throws -> [Outcome] {
        let session = try Database.filled(side).session()
        _ = session.run("CREATE VIEW v AS SELECT 1")
        if !begin.isEmpty { _ = session.run(begin) }
        _ = session.open(0, "SELECT a FROM t ORDER BY b")
        var found = [session.step(0, 2), session.run(sql), session.step(0, 100)]
        if !begin.isEmpty { found.append(session.run("COMMIT")) }
        for query in ["SELECT type, name, tbl_name FROM sqlite_schema ORDER BY name", "PRAGMA integrity_check"] {
            found.append(session.run(query))
        }
        return found
    }

    @Test(arguments: storeEngines, ["", "BEGIN"])
    func aSchemaChangeBesideAnOpenStatementIsAnsweredAsBySQLite(_ engine: String, _ begin: String) throws {
        for sql in [
            "DROP TABLE t", "DROP TABLE u", "DROP TABLE IF EXISTS u", "DROP TABLE IF EXISTS missing",
            "DROP TABLE missing",
            "DROP TABLE v", "DROP TABLE sqlite_schema", "DROP INDEX tb", "DROP INDEX IF EXISTS missing", "DROP VIEW v",
            "DROP VIEW u", "ALTER TABLE u ADD COLUMN c", "ALTER TABLE u RENAME TO uu", "CREATE TABLE n(a)",
            "CREATE INDEX ta ON t(b, a)", "CREATE TRIGGER g AFTER INSERT ON u BEGIN SELECT 1; END", "REINDEX", "VACUUM",
        ] {
            let native = try besideAnOpenStatement(nil, begin, sql)
            #expect(try besideAnOpenStatement(engine, begin, sql) == native, "\(sql)")
            if sql == "DROP TABLE u" { #expect(native[1].code == SQLITE_LOCKED) }
        }
        // The table that is read cannot be declared anew beside its reader: refused, where SQLite goes on.
        for sql in [
            "ALTER TABLE t ADD COLUMN c", "ALTER TABLE t RENAME TO tt", "ALTER TABLE t RENAME COLUMN b TO c",
        ] {
            let outcomes = try besideAnOpenStatement(engine, begin, sql)
            #expect(outcomes[1].code == SQLITE_LOCKED, "\(sql): \(outcomes[1])")
            #expect(outcomes[1].message.contains("database table is locked"))
            #expect(outcomes[2].rows == ["3", "4", "5", "6", "7", "8", "9"], "\(sql)")
            #expect(outcomes[outcomes.count - 2].rows == ["table|t|t", "index|tb|t", "table|u|u", "view|v|v"])
        }
    }

    /// The schema's own table is read as of the transaction's snapshot, and is enough to take one.
    @Test(arguments: everywhere) func readingTheSchemaTakesTheSnapshot(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.process(), try database.process())
        _ = reader.run("BEGIN")
        #expect(reader.run("SELECT count(*) FROM sqlite_schema").rows == ["3"])
        #expect(writer.run("CREATE TABLE n(a)").code == SQLITE_OK)
        #expect(writer.run("INSERT INTO u VALUES (5)").code == SQLITE_OK)
        #expect(reader.run("SELECT count(*) FROM sqlite_schema").rows == ["3"])
        #expect(reader.run(both).rows == ["9|0"])
        #expect(reader.run("INSERT INTO u VALUES (6)").code == busySnapshot)
        #expect(reader.run("COMMIT").code == SQLITE_OK)
        #expect(reader.run("SELECT count(*) FROM sqlite_master").rows == ["4"])
    }
}
