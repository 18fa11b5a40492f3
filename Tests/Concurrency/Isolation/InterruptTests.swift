// InterruptTests.swift - what is interrupted ends as SQLite ends it, and leaves nothing: a statement that writes takes its whole
// transaction with it, one that reads leaves it, and the next statement works. Asserted of WAL mode and of every engine.

import CSQLite
import Foundation
import RootstockTable
import Testing

private let everywhere: [String?] = [nil] + storeEngines

/// Long enough that an interrupt after a few thousand steps meets each of them underway.
private let reading = [
    "SELECT count(*) FROM t AS x, t AS y WHERE x.b + y.b = 7", "PRAGMA integrity_check",
]
private let writing = [
    "INSERT INTO t SELECT id + 100000, a, b + 100000 FROM t", "UPDATE t SET a = a || 'x'",
    "UPDATE t SET b = b + 100000 RETURNING b", "DELETE FROM t WHERE b > 5",
    "INSERT INTO g SELECT id, a FROM t",
    "INSERT INTO t SELECT id, a, b FROM t WHERE true ON CONFLICT (id) DO UPDATE SET a = 'x'",
    "CREATE INDEX ta ON t(a)", "CREATE TABLE c AS SELECT * FROM t", "ALTER TABLE t DROP COLUMN a", "ANALYZE", "REINDEX",
]

@Suite struct InterruptTests {
    private func filled(_ engine: String?) throws -> (Database, Session) {
        let database = try Database(engine: engine)
        let session = try database.session()
        for sql in [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b INT UNIQUE)", "CREATE TABLE log(x)",
            "CREATE TABLE g(id INTEGER PRIMARY KEY, a)",
            "CREATE TRIGGER tg AFTER INSERT ON g BEGIN INSERT INTO log VALUES (new.a); END",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO t SELECT i, 'text ' || i, i FROM n
            """,
        ] { #expect(session.run(sql).code == SQLITE_OK, "\(sql)") }
        return (database, session)
    }

    private let content = """
        SELECT count(*), sum(b), total(length(a)), (SELECT count(*) FROM log), (SELECT count(*) FROM g),
            (SELECT count(*) FROM sqlite_schema WHERE name IN ('ta', 'c')) FROM t
        """

    /// Everything is as it was before the transaction, and writing goes on.
    private func expectUndone(_ session: Session, _ other: Session, _ before: [String], _ sql: String) {
        #expect(!session.inTransaction, "\(sql): the transaction went with it")
        #expect(session.run(content).rows == before, "\(sql)")
        #expect(other.run("INSERT INTO log VALUES (1)").code == SQLITE_OK, "\(sql): nothing is locked")
        #expect(session.run("DELETE FROM log").code == SQLITE_OK, "\(sql)")
        #expect(session.run("PRAGMA integrity_check").rows == ["ok"], "\(sql)")
        #expect(other.run(content).rows == before, "\(sql)")
    }

    /// Runs it with a progress handler, whose fourth call ends it: by what it answers from then on, or by sqlite3_interrupt().
    private func run(_ session: Session, _ sql: String, _ end: End) -> Outcome {
        let opened = session.open(0, sql)
        guard opened.code == SQLITE_OK else { return opened }
        let calls = Calls(database: session.database, end: end)
        return withExtendedLifetime(calls) {
            sqlite3_progress_handler(
                session.database, 100,
                { Unmanaged<Calls>.fromOpaque($0!).takeUnretainedValue().next() },
                Unmanaged.passUnretained(calls).toOpaque())
            defer { sqlite3_progress_handler(session.database, 0, nil, nil) }
            return session.step(0, .max)
        }
    }

    private func expectWritingEnds(_ engine: String?, _ begins: Bool, by end: End) throws {
        let (database, session) = try filled(engine)
        let other = try database.session()
        let before = session.run(content).rows
        for sql in writing {
            if begins { #expect(session.run("BEGIN IMMEDIATE").code == SQLITE_OK) }
            let outcome = run(session, sql, end)
            #expect(outcome.code == SQLITE_INTERRUPT, "\(sql): \(outcome)")
            expectUndone(session, other, before, sql)
        }
    }

    @Test(arguments: everywhere, [false, true])
    func aProgressHandlerEndsWhatWrites(_ engine: String?, _ begins: Bool) throws {
        try expectWritingEnds(engine, begins, by: .refusal)
    }

    @Test(arguments: everywhere) func whatReadsLeavesTheTransaction(_ engine: String?) throws {
        let (_, session) = try filled(engine)
        for sql in reading {
            #expect(session.run("BEGIN").code == SQLITE_OK)
            #expect(session.run("INSERT INTO log VALUES (1)").code == SQLITE_OK)
            let outcome = run(session, sql, .refusal)
            #expect(outcome.code == SQLITE_INTERRUPT, "\(sql): \(outcome)")
            #expect(session.inTransaction, "\(sql)")
            #expect(session.run("SELECT count(*) FROM log").rows == ["1"], "\(sql)")
            #expect(session.run("ROLLBACK").code == SQLITE_OK, "\(sql)")
        }
    }

    /// The second turn of an inner loop makes a transient index of what it scans, and there the statement is ended.
    @Test(arguments: everywhere, [false, true])
    func aTransientIndexIsLeftHalfFilled(_ engine: String?, _ writes: Bool) throws {
        let (_, session) = try filled(engine)
        let arming = Arming()
        let pointer = Unmanaged.passUnretained(arming).toOpaque()
        let sql = "SELECT count(*) FROM (SELECT id, a FROM t LIMIT 50) AS o CROSS JOIN t ON t.a = arm(o.id, o.a)"
        withExtendedLifetime(arming) {
            sqlite3_create_function_v2(
                session.database, "arm", 2, SQLITE_UTF8, pointer,
                { context, _, values in
                    let arming = Unmanaged<Arming>.fromOpaque(sqlite3_user_data(context)!).takeUnretainedValue()
                    if sqlite3_value_int(values?[0]) == 2 { arming.armed = true }
                    sqlite3_result_value(context, values?[1])
                }, nil, nil, nil)
            #expect(session.run("BEGIN").code == SQLITE_OK)
            if writes { #expect(session.run("INSERT INTO log VALUES (1)").code == SQLITE_OK) }
            sqlite3_progress_handler(
                session.database, 100,
                { Unmanaged<Arming>.fromOpaque($0!).takeUnretainedValue().armed ? 1 : 0 }, pointer)
            let outcome = session.run(sql)
            sqlite3_progress_handler(session.database, 0, nil, nil)
            #expect(outcome.code == SQLITE_INTERRUPT, "\(outcome)")
            #expect(session.inTransaction)
            #expect(session.run(sql).rows == ["50"])
            #expect(session.run("SELECT count(*) FROM log").rows == [writes ? "1" : "0"])
            #expect(session.run("ROLLBACK").code == SQLITE_OK)
            #expect(session.run(sql).rows == ["50"])
        }
    }

    /// VACUUM and VACUUM INTO stop while they copy: the store is as it was, no copy lies about, and the next one is made.
    @Test(arguments: [nil, "lmdb", "sqlite-btree"] as [String?]) func whatCopiesStops(_ engine: String?) throws {
        let (database, session) = try filled(engine)
        let other = try database.session()
        let before = session.run(content).rows
        let folder = URL(fileURLWithPath: database.path).deletingLastPathComponent()
        let into = folder.appendingPathComponent("copy").path
        for (sql, end) in [("VACUUM", End.refusal), ("VACUUM INTO '\(into)'", .refusal), ("VACUUM", .interrupt)] {
            let outcome = run(session, sql, end)
            #expect(outcome.code == SQLITE_INTERRUPT, "\(sql): \(outcome)")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(!names.contains { $0.hasPrefix("database-rootstock") }, "\(sql): \(names)")
            if engine != nil { #expect(!names.contains { $0.hasPrefix("copy") }, "\(sql): \(names)") }
            try? FileManager.default.removeItem(atPath: into)  // SQLite leaves its own
            expectUndone(session, other, before, sql)
        }
        #expect(session.run("VACUUM INTO '\(into)'").code == SQLITE_OK)
        #expect(session.run("VACUUM").code == SQLITE_OK)
        #expect(session.run(content).rows == before)
        #expect(try Session(path: into, engine: engine).run(content).rows == before)
    }

    /// The backup of a connection has no statement of its own that could be interrupted, and yet is.
    @Test(arguments: ["lmdb", "sqlite-btree"]) func aBackupStops(_ engine: String) throws {
        let (database, session) = try filled(engine)
        let into = database.path + "-backup"
        sqlite3_progress_handler(
            session.database, 10,
            {
                sqlite3_interrupt(OpaquePointer($0))
                return 0
            },
            UnsafeMutableRawPointer(session.database))
        let code = rootstock_backup(session.database, into, nil)
        sqlite3_progress_handler(session.database, 0, nil, nil)
        #expect(code == SQLITE_INTERRUPT)
        #expect(!FileManager.default.fileExists(atPath: into))
        #expect(rootstock_backup(session.database, into, nil) == SQLITE_OK)
        #expect(try Session(path: into, engine: engine).run(content).rows == session.run(content).rows)
    }

    /// sqlite3_interrupt() out of the statement itself: it holds until the statement has ended, and so interrupts the cleaning up, too.
    @Test(arguments: everywhere, [false, true])
    func anInterruptEndsWhatWrites(_ engine: String?, _ begins: Bool) throws {
        try expectWritingEnds(engine, begins, by: .interrupt)
    }

    /// The statement was planned for tables that are gone by then.
    @Test(arguments: everywhere) func anInterruptMeetsASchemaThatIsBeingReadAnew(_ engine: String?) throws {
        let database = try Database(engine: engine)
        let (session, other) = (try database.session(), try database.session())
        for sql in [
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a)", "CREATE VIEW v AS SELECT a FROM t",
            "INSERT INTO t VALUES (1, 'x'), (2, 'y')",
        ] { #expect(session.run(sql).code == SQLITE_OK, "\(sql)") }
        for at in stride(from: 1, to: 250, by: 4) {
            #expect(session.open(0, "SELECT group_concat(a) FROM t").code == SQLITE_OK)
            for sql in ["ALTER TABLE t ADD COLUMN c\(at) DEFAULT 5", "CREATE INDEX i\(at) ON t(c\(at))"] {
                #expect(other.run(sql).code == SQLITE_OK, "\(sql)")
            }
            let calls = Calls(database: session.database, end: .interrupt, at: at)
            let outcome = withExtendedLifetime(calls) {
                sqlite3_progress_handler(
                    session.database, 1,
                    { Unmanaged<Calls>.fromOpaque($0!).takeUnretainedValue().next() },
                    Unmanaged.passUnretained(calls).toOpaque())
                defer { sqlite3_progress_handler(session.database, 0, nil, nil) }
                return session.step(0, .max)
            }
            #expect(outcome.code == SQLITE_DONE || outcome.code == SQLITE_INTERRUPT, "\(at): \(outcome)")
            #expect(session.run("SELECT group_concat(a), sum(c\(at)) FROM t").rows == ["x,y|10"], "\(at)")
        }
    }
}

private enum End { case refusal, interrupt }

/// Set by a function of the statement, read by the progress handler.
private final class Arming {
    var armed = false
}

/// What a progress handler knows: how often it was called.
private final class Calls {
    private let database: OpaquePointer
    private let end: End
    private let at: Int
    private var count = 0

    init(database: OpaquePointer, end: End, at: Int = 4) {
        self.database = database
        self.end = end
        self.at = at
    }

    /// What the handler answers: other than 0 ends the statement.
    func next() -> Int32 {
        count += 1
        if end == .interrupt && count == at { sqlite3_interrupt(database) }
        return end == .refusal && count >= at ? 1 : 0
    }
}
