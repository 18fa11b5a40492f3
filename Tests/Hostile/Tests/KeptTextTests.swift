// KeptTextTests.swift - what the front door made of a statement, kept by a program and run past it when the schema is another one.

import CSQLite
import RootstockTable
import Testing

@Suite struct KeptTextTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    /// The tables of the time before would go while it is compiled.
    @Test(arguments: ["lmdb", "sqlite-btree"])
    func aProgramIsRefusedAfterARollbackOfTheSchema(_ engine: String) throws {
        let session = try Session(store: folder.path("s"), engine: engine)
        try session.run(
            """
            CREATE TABLE t(a TEXT PRIMARY KEY); CREATE TABLE child(a REFERENCES t ON DELETE CASCADE);
            INSERT INTO t VALUES ('one'), ('two'); INSERT INTO child VALUES ('one'), ('two')
            """)
        let kept = try #require(try session.run("SELECT rootstock_rewrite('DELETE FROM t WHERE a = ''one''')").first)
        #expect(kept.contains("rootstock_run"))
        try session.run("BEGIN; CREATE TABLE other(a)")
        try session.run("ROLLBACK", rewritten: false)
        #expect(session.refusal(kept, rewritten: false) == "database schema has changed")
        #expect(rootstock_refresh(session.database) == SQLITE_OK)
        try session.run(kept, rewritten: false)
        #expect(try session.run("SELECT a FROM t") == ["two"])
    }

    /// SQLite has the table connected anew, from where no trigger can be made.
    @Test(arguments: ["lmdb", "sqlite-btree"])
    func aChangeThatCouldFireNoTriggerIsRefused(_ engine: String) throws {
        let session = try Session(store: folder.path("s"), engine: engine)
        try session.run(
            """
            CREATE TABLE t(a); CREATE TABLE log(a);
            CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;
            BEGIN; CREATE TABLE other(a)
            """)
        try session.run("ROLLBACK", rewritten: false)
        #expect(session.refusal("INSERT INTO t VALUES (1)", rewritten: false) == "database schema has changed")
        #expect(try session.run("SELECT count(*) FROM t", rewritten: false) == ["0"])
        #expect(rootstock_refresh(session.database) == SQLITE_OK)
        try session.run("INSERT INTO t VALUES (2)", rewritten: false)
        #expect(try session.run("SELECT a FROM log") == ["2"])
    }
}
