// IsolationTests.swift - the sentences about isolation, one test each, on every engine and on plain SQLite in WAL mode: what is
// asserted is asserted of both.

import CSQLite
import Foundation
import TestSupport
import Testing

/// WAL mode, then the engines.
private let everywhere: [String?] = [nil] + storeEngines

@Suite struct IsolationTests {
    private func both(_ session: Session) -> [String] {
        session.run("SELECT (SELECT count(*) FROM t), (SELECT max(a) FROM u)").rows
    }

    @Test(arguments: everywhere, ["BEGIN", "SAVEPOINT s"])
    func allStatementsAndTablesOfATransactionSeeOneSnapshot(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.session(), try database.session())
        _ = reader.run(begin)
        #expect(reader.run("SELECT count(*) FROM t").rows == ["9"])
        #expect(writer.run("BEGIN IMMEDIATE").code == SQLITE_OK, "the reader does not block the writer")
        _ = writer.run("DELETE FROM t WHERE a > 5")
        _ = writer.run("UPDATE u SET a = 1")
        #expect(both(writer) == ["5|1"], "a writer sees its own writes")
        #expect(both(reader) == ["9|0"], "nor the writer the reader")
        #expect(writer.run("COMMIT").code == SQLITE_OK)
        #expect(both(reader) == ["9|0"], "a table first read after the commit is read as of the snapshot, too")
        #expect(reader.run("INSERT INTO u VALUES (5)").code == SQLITE_BUSY | 2 << 8, "SQLITE_BUSY_SNAPSHOT")
        _ = reader.run(begin == "BEGIN" ? "COMMIT" : "RELEASE s")
        #expect(both(reader) == ["5|1"])
    }

    /// A row that is written as it was: SQLite changes a page where REPLACE or an index takes something out first, and none otherwise.
    @Test(
        arguments: everywhere,
        [
            ("INSERT OR REPLACE INTO x VALUES (2, 5, 7)", true), ("UPDATE x SET b = b", true),
            ("UPDATE x SET b = 5 WHERE a = 2", true), ("UPDATE x SET c = c", false),
            ("UPDATE x SET c = 7 WHERE a = 2", false),
            ("INSERT OR REPLACE INTO y VALUES (2, 5)", true), ("UPDATE y SET b = 5 WHERE a = 2", false),
            ("INSERT INTO x VALUES (2, 5, 7) ON CONFLICT DO UPDATE SET b = excluded.b", true),
            ("INSERT INTO y VALUES (2, 5) ON CONFLICT DO UPDATE SET b = excluded.b", false),
            ("DELETE FROM y WHERE a = 3", false),
        ])
    func aChangeThatChangesNothingMakesSnapshotsOldWhereItDoesNatively(
        _ engine: String?, _ change: (sql: String, counts: Bool)
    ) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.session(), try database.session())
        for sql in [
            "CREATE TABLE x(a INTEGER PRIMARY KEY, b INT, c INT)", "CREATE INDEX xb ON x(b)",
            "INSERT INTO x VALUES (2, 5, 7)",
            "CREATE TABLE y(a INTEGER PRIMARY KEY, b INT)", "INSERT INTO y VALUES (2, 5)",
        ] { #expect(writer.run(sql).code == SQLITE_OK) }
        _ = reader.run("BEGIN")
        #expect(reader.run("SELECT b FROM x").rows == ["5"])
        #expect(writer.run(change.sql).code == SQLITE_OK)
        let code = reader.run("UPDATE x SET b = 6").code
        #expect(code == (change.counts ? SQLITE_BUSY | 2 << 8 : SQLITE_OK))
    }

    /// A recursive step, and a subquery of a row, begin to read the table anew, and nothing else of the statement reads.
    @Test(arguments: everywhere) func aStatementThatBeginsToReadAnewKeepsItsSnapshot(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.session(), try database.session())
        let steps =
            "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t JOIN r ON t.a = r.i) SELECT i FROM r"
        let counts = "WITH r(i) AS (VALUES (7), (8), (9)) SELECT (SELECT count(*) FROM t WHERE a <> r.i) FROM r"
        _ = reader.open(0, counts)
        #expect(reader.step(0, 1).rows == ["8"])
        #expect(writer.run("DELETE FROM t WHERE a = 1").code == SQLITE_OK)
        #expect(reader.step(0, 20).rows == ["8", "8"])
        #expect(writer.run("INSERT INTO t VALUES (1, 10)").code == SQLITE_OK)
        _ = reader.open(0, steps)
        #expect(reader.step(0, 3).rows == ["1", "2", "3"])
        #expect(writer.run("DELETE FROM t WHERE a > 2").code == SQLITE_OK)
        #expect(reader.step(0, 20).rows == ["4", "5", "6", "7", "8", "9", "10"])
        #expect(reader.run("SELECT count(*) FROM t").rows == ["2"])
    }

    @Test(arguments: everywhere, ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
    func aWriteTransactionBegunAtOnceKeepsOthersFromWritingOnly(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        #expect(first.run(begin).code == SQLITE_OK)
        #expect(both(second) == ["9|0"])
        for sql in ["INSERT INTO u VALUES (1)", begin, "CREATE TABLE n(a)"] {
            #expect(second.run(sql).code == SQLITE_BUSY, "\(sql)")
        }
        #expect(first.run("ROLLBACK").code == SQLITE_OK)
        #expect(second.run("INSERT INTO u VALUES (1)").code == SQLITE_OK, "an undone transaction has let go")
    }

    @Test(arguments: everywhere) func whatTheSchemaHasOrLacksAlreadyIsNoWrite(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        #expect(first.run("BEGIN IMMEDIATE").code == SQLITE_OK)
        for sql in [
            "CREATE TABLE IF NOT EXISTS t(z)", "CREATE INDEX IF NOT EXISTS tb ON t(a)", "DROP TABLE IF EXISTS missing",
            "DROP INDEX IF EXISTS missing", "DROP VIEW IF EXISTS missing", "DROP TRIGGER IF EXISTS missing",
        ] { #expect(second.run(sql).code == SQLITE_OK, "\(sql)") }
        for sql in ["CREATE TABLE IF NOT EXISTS n(z)", "DROP TABLE IF EXISTS u"] {
            #expect(second.run(sql).code == SQLITE_BUSY, "\(sql)")
        }
        #expect(first.run("COMMIT").code == SQLITE_OK)
    }

    @Test(
        arguments: everywhere,
        [
            "CREATE TABLE IF NOT EXISTS t(z)", "CREATE INDEX IF NOT EXISTS tb ON t(a)", "DROP TABLE IF EXISTS missing",
            "DROP INDEX IF EXISTS missing", "DROP VIEW IF EXISTS missing", "DROP TRIGGER IF EXISTS missing",
        ])
    func butItBeginsTheTransactionsSnapshot(_ engine: String?, _ sql: String) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        #expect(both(second) == ["9|0"])
        #expect(second.run("BEGIN").code == SQLITE_OK)
        #expect(second.run(sql).code == SQLITE_OK)
        #expect(first.run("UPDATE u SET a = 1").code == SQLITE_OK)
        #expect(both(second) == ["9|0"])
        #expect(second.run("INSERT INTO u VALUES (5)").code == SQLITE_BUSY | 2 << 8, "SQLITE_BUSY_SNAPSHOT")
        #expect(second.run("COMMIT").code == SQLITE_OK)
    }

    @Test(arguments: everywhere) func aRowThatStaysAsItIsIsNoCommit(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        #expect(second.run("BEGIN").code == SQLITE_OK)
        #expect(both(second) == ["9|0"])
        #expect(first.run("UPDATE u SET a = 0").code == SQLITE_OK)
        #expect(second.run("INSERT INTO u VALUES (5)").code == SQLITE_OK, "its snapshot is the newest")
        #expect(second.run("COMMIT").code == SQLITE_OK)
        #expect(both(first) == ["9|5"])
    }

    @Test(arguments: everywhere) func whoMayOnlyQuerySeesWhatOthersMakeOfTheSchema(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.session(), try database.session())
        #expect(reader.run("SELECT count(*) FROM t").rows == ["9"])
        #expect(reader.run("PRAGMA query_only = ON").code == SQLITE_OK)
        let changes: [(String, String, [String])] = [
            ("CREATE TABLE n(a)", "SELECT count(*) FROM n", ["0"]),
            ("ALTER TABLE u ADD COLUMN c DEFAULT 7", "SELECT a, c FROM u", ["0|7"]),
            ("CREATE VIEW v AS SELECT max(a) FROM t", "SELECT * FROM v", ["9"]),
            (
                "CREATE TRIGGER g AFTER INSERT ON n BEGIN INSERT INTO u VALUES (1, 2); END", "SELECT a, c FROM u",
                ["0|7"]
            ),
            ("DROP INDEX tb", "SELECT count(*) FROM sqlite_schema", ["5"]),
        ]
        for (change, query, rows) in changes {
            #expect(writer.run(change).code == SQLITE_OK, "\(change)")
            #expect(reader.run(query).rows == rows, "\(change)")
        }
        for sql in ["INSERT INTO n VALUES (1)", "CREATE TABLE m(a)", "DROP TABLE n"] {
            #expect(reader.run(sql).code == SQLITE_READONLY, "\(sql)")
        }
    }

    /// The statement's lock outlives it where it ends within a transaction that began after it.
    @Test(arguments: everywhere, ["BEGIN", "SAVEPOINT s"])
    func aTransactionBegunWhileAStatementReadsKeepsItsSnapshot(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (reader, writer) = (try database.session(), try database.session())
        _ = reader.open(0, "SELECT a FROM t ORDER BY a")
        #expect(reader.step(0, 2).rows == ["1", "2"])
        #expect(writer.run("DELETE FROM t WHERE a > 5").code == SQLITE_OK)
        #expect(reader.run(begin).code == SQLITE_OK)
        #expect(reader.step(0, 20).rows == ["3", "4", "5", "6", "7", "8", "9"])
        #expect(writer.run("UPDATE u SET a = 1").code == SQLITE_OK)
        #expect(both(reader) == ["9|0"])
        #expect(reader.run("INSERT INTO u VALUES (5)").code == SQLITE_BUSY | 2 << 8, "SQLITE_BUSY_SNAPSHOT")
        _ = reader.run(begin == "BEGIN" ? "COMMIT" : "RELEASE s")
        #expect(both(reader) == ["5|1"])
        #expect(reader.run("INSERT INTO u VALUES (5)").code == SQLITE_OK)
    }

    @Test(arguments: everywhere) func theSecondWriterWaitsAndAsks(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        _ = first.run("BEGIN IMMEDIATE")
        sqlite3_busy_timeout(second.database, 150)
        for sql in ["INSERT INTO u VALUES (1)", "BEGIN IMMEDIATE"] {
            let start = Date()
            #expect(second.run(sql).code == SQLITE_BUSY)
            #expect(Date().timeIntervalSince(start) > 0.1, "\(sql) waits")
        }
        let questions = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        defer { questions.deallocate() }
        questions.pointee = 0
        sqlite3_busy_handler(
            second.database,
            { context, number in
                let questions = context!.assumingMemoryBound(to: Int32.self)
                questions.pointee += 1
                return number < 4 ? 1 : 0
            }, questions)
        #expect(second.run("INSERT INTO u VALUES (1)").code == SQLITE_BUSY)
        #expect(questions.pointee == 5, "asked until it says no")
        _ = first.run("COMMIT")
        #expect(second.run("INSERT INTO u VALUES (1)").code == SQLITE_OK)
        #expect(questions.pointee == 5)
    }

    /// BEGIN IMMEDIATE may wait long, and what it waits for may be a change of the schema.
    @Test(arguments: everywhere, ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
    func aWriteTransactionWritesByTheSchemaOfItsSnapshot(_ engine: String?, _ begin: String) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        _ = first.open(0, begin)
        _ = first.open(1, "INSERT INTO t VALUES (100, 7)")
        _ = first.open(2, "DELETE FROM u")
        for sql in ["CREATE UNIQUE INDEX late ON t(b)", "DROP INDEX tb", "DROP TABLE u"] {
            #expect(second.run(sql).code == SQLITE_OK, "\(sql)")
        }
        #expect(first.step(0, 1).code == SQLITE_DONE)
        let early = first.step(1, 1)
        #expect(early.code == SQLITE_DONE || early.code == SQLITE_SCHEMA, "\(early)")
        let gone = first.step(2, 1)
        #expect(gone.code == SQLITE_ERROR || gone.code == SQLITE_SCHEMA, "\(gone)")
        #expect(first.run("INSERT INTO t VALUES (101, 90)").code == SQLITE_CONSTRAINT | 8 << 8, "the index is unique")
        #expect(first.run("INSERT INTO t VALUES (101, 8)").code == SQLITE_OK)
        #expect(first.run("UPDATE t SET b = b + 1 WHERE a = 101").code == SQLITE_OK)
        #expect(first.run("SELECT a FROM t INDEXED BY late WHERE b = 9").rows == ["101"])
        #expect(first.run("COMMIT").code == SQLITE_OK)
        for session in [first, second] {
            #expect(session.run("SELECT a FROM t INDEXED BY late WHERE b = 9").rows == ["101"])
            #expect(session.run("PRAGMA integrity_check").rows == ["ok"])
        }
    }

    @Test(arguments: everywhere) func aWriterThatWaitedForAChangeOfTheSchemaGoesByIt(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let (first, second) = (try database.session(), try database.session())
        #expect(first.run("BEGIN IMMEDIATE").code == SQLITE_OK)
        #expect(first.run("CREATE INDEX late ON t(b, a)").code == SQLITE_OK)
        sqlite3_busy_handler(
            second.database,
            { context, number in
                if number == 1 { _ = Unmanaged<Session>.fromOpaque(context!).takeUnretainedValue().run("COMMIT") }
                return number < 4 ? 1 : 0
            }, Unmanaged.passUnretained(first).toOpaque())
        #expect(second.run("BEGIN IMMEDIATE").code == SQLITE_OK)
        #expect(!first.inTransaction)
        #expect(second.run("INSERT INTO t VALUES (101, 9)").code == SQLITE_OK)
        #expect(second.run("COMMIT").code == SQLITE_OK)
        #expect(first.run("SELECT a FROM t INDEXED BY late WHERE b = 9").rows == ["101"])
        #expect(first.run("PRAGMA integrity_check").rows == ["ok"])
    }

    @Test(arguments: everywhere) func anOwnCommitIsSeenBesideAnOpenStatement(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let session = try database.session()
        _ = session.open(0, "SELECT a FROM t ORDER BY b")
        #expect(session.step(0, 2).rows == ["1", "2"])
        #expect(session.run("INSERT INTO u VALUES (7)").code == SQLITE_OK)
        #expect(both(session) == ["9|7"])
        #expect(session.run("BEGIN").code == SQLITE_OK)
        #expect(session.run("INSERT INTO u VALUES (8)").code == SQLITE_OK)
        #expect(session.run("COMMIT").code == SQLITE_OK)
        #expect(both(session) == ["9|8"])
        #expect(session.step(0, 100).rows == ["3", "4", "5", "6", "7", "8", "9"])
        #expect(try database.session().run("SELECT max(a) FROM u").rows == ["8"])
    }

    @Test(arguments: everywhere) func rowsAreChangedWhileTheyAreScanned(_ engine: String?) throws {
        for order in ["a", "a DESC", "b", "b DESC"] {
            for begin in ["SELECT 1", "BEGIN"] {
                let database = try Database.filled(engine)
                let session = try database.session()
                _ = session.run(begin)
                _ = session.run("INSERT INTO t VALUES (10, 100)")
                _ = session.open(0, "SELECT a FROM t ORDER BY \(order)")
                #expect(session.step(0, 3).rows.count == 3)
                #expect(session.run("DELETE FROM t WHERE a % 2 = 0").code == SQLITE_OK)
                #expect(session.run("UPDATE t SET b = b + 1").code == SQLITE_OK)
                #expect(session.step(0, 100).code == SQLITE_DONE, "\(order)")
                if begin == "BEGIN" { #expect(session.run("COMMIT").code == SQLITE_OK) }
                #expect(session.run("SELECT a, b FROM t").rows == ["1|11", "3|31", "5|51", "7|71", "9|91"])
            }
        }
    }

    @Test(arguments: everywhere) func aTransactionEndsUnderAnOpenStatement(_ engine: String?) throws {
        for end in ["ROLLBACK", "COMMIT"] {
            let database = try Database.filled(engine)
            let session = try database.session()
            _ = session.run("BEGIN")
            _ = session.run("DELETE FROM t WHERE a = 9")
            _ = session.open(0, "SELECT a FROM t ORDER BY a")
            #expect(session.step(0, 2).rows == ["1", "2"])
            #expect(session.run(end).code == SQLITE_OK)
            let rest = session.step(0, 100)
            #expect(rest.code == SQLITE_DONE)
            #expect(rest.rows.starts(with: ["3", "4", "5", "6", "7", "8"]))
            #expect(session.run("SELECT count(*) FROM t").rows == [end == "COMMIT" ? "8" : "9"])
            #expect(try database.session().run("INSERT INTO u VALUES (1)").code == SQLITE_OK, "the lock is free")
        }
    }

    @Test(arguments: everywhere) func savepointsOpenedBeforeTheFirstWriteCanBeRolledBack(_ engine: String?) throws {
        for write in ["INSERT INTO u VALUES (5)", "CREATE TABLE n(a)", "DROP TABLE u", "CREATE INDEX i ON u(a)"] {
            let database = try Database.filled(engine)
            let session = try database.session()
            for sql in [
                "BEGIN", "SAVEPOINT one", "SAVEPOINT two", "SAVEPOINT three", write, "ROLLBACK TO two", "COMMIT",
            ] {
                #expect(session.run(sql).code == SQLITE_OK, "\(sql)")
            }
            #expect(both(session) == ["9|0"])
            #expect(session.run("SELECT count(*) FROM sqlite_master").rows == ["3"], "\(write)")
            #expect(session.run("PRAGMA integrity_check").rows == ["ok"])
        }
    }

    @Test(arguments: everywhere) func readersAndTheWriterRunAtOnce(_ engine: String?) throws {
        let database = try Database.filled(engine)
        let failures = Collected<String>()
        let until = Date().addingTimeInterval(0.5)
        let threads = (0..<4).map { number in
            Thread {
                do {
                    let session = try database.session()
                    sqlite3_busy_timeout(session.database, 5000)
                    repeat {
                        if number == 0 {
                            // Moves an amount between rows: the sum stays.
                            for sql in [
                                "BEGIN IMMEDIATE", "UPDATE t SET b = b - 1 WHERE a = 1",
                                "UPDATE t SET b = b + 1 WHERE a = 9",
                                "COMMIT",
                            ] where session.run(sql).code != SQLITE_OK { failures.add("writer: \(sql)") }
                        } else {
                            let sum = session.run("SELECT sum(b), count(*) FROM t")
                            if sum.code != SQLITE_OK || sum.rows != ["450|9"] { failures.add("reader: \(sum)") }
                        }
                    } while Date() < until
                } catch { failures.add("\(error)") }
            }
        }
        for thread in threads { thread.start() }
        while !threads.allSatisfy(\.isFinished) { Thread.sleep(forTimeInterval: 0.01) }
        #expect(failures.all == [])
    }
}
