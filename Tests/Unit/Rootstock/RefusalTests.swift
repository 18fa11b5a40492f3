// RefusalTests.swift - what a store refuses: each construct by its message, with nothing changed.
//
// The table "What is still refused" of Vendor-notes/sqlite.md names these cases one by one.

import CSQLite
import Foundation
import Rootstock
import Testing

@Suite struct RefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let sql: String
        let message: String
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "VACUUM of the control schema", sql: "VACUUM rootstock", message: "unknown database rootstock"),
        Case(
            name: "index under an application's collation", sql: "CREATE INDEX i ON t(b COLLATE app)",
            message: "no such collation sequence: app"),
        Case(
            name: "virtual table of another module", sql: "CREATE VIRTUAL TABLE f USING fts5(a)",
            message:
                "a virtual table of module fts5 is not kept in a store: create it as temp.name, or in an attached native database"
        ),
        Case(
            name: "DETACH of the store", sql: "DETACH rootstock",
            message: "database rootstock is the store's own and stays attached"),
        Case(
            name: "DETACH of the store by an expression", sql: "DETACH ('root') || lower('STOCK')",
            message: "database rootstock is the store's own and stays attached"),
        Case(
            name: "column of a reserved name", sql: "CREATE TABLE u(\"rootstock hint\")",
            message: "duplicate column name: rootstock hint"),
        Case(
            name: "table of 2000 columns",
            sql: "CREATE TABLE u(" + (0..<2000).map { "c\($0)" }.joined(separator: ",") + ")",
            message: "too many columns on u: the hidden columns of a store's table count, too"),
        Case(
            name: "subquery kept for all rows of a change",
            sql:
                "UPDATE t SET b=(WITH l AS (SELECT b AS x FROM t) SELECT max(x)||(SELECT count(*) FROM l) FROM l WHERE x<t.a)",
            message:
                "a subquery in FROM or WITH that is kept for all rows of a change of t cannot read t, which the change may change: put its rows into a temp table first"
        ),
        Case(
            name: "table in the control file", sql: "CREATE TABLE rootstock.u(a)",
            message: "unable to open database file"),
        Case(
            name: "ATTACH under the store's name", sql: "ATTACH ':memory:' AS rootstock",
            message: "database rootstock is already in use"),
    ]

    @Test(arguments: cases) func isRefusedByName(_ refused: Case) throws {
        let folder = try TemporaryFolder()
        let store = try Store(path: folder.path(), engine: .lmdb)
        defer { store.close() }
        try store.write { connection in
            try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            try connection.execute("INSERT INTO t(b) VALUES ('kept')")
        }
        try store.withConnection { connection in
            let error = try databaseError { try connection.execute(refused.sql) }
            #expect(error?.message == refused.message)
        }
        try store.read { connection in
            try #expect(connection.queryValue("SELECT group_concat(b) FROM t") == .text("kept"))
            try #expect(connection.queryValue("SELECT count(*) FROM sqlite_schema") == .integer(1))
        }
    }

    /// What no CREATE could have made does not come into a store's schema by `PRAGMA writable_schema` either.
    @Test(arguments: [
        (
            "UPDATE sqlite_schema SET sql='CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)'",
            "t has rows that do not fit the new text: make a table and copy them"
        ),
        (
            "UPDATE sqlite_schema SET sql='CREATE TABLE t(a, b)'",
            "t has rows that do not fit the new text: make a table and copy them"
        ),
        (
            "UPDATE sqlite_schema SET sql='CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID'",
            "t has rows that do not fit the new text: make a table and copy them"
        ),
        (
            "UPDATE sqlite_schema SET name='u', tbl_name='u', sql='CREATE TABLE u(a, b)'",
            "u has rows that do not fit the new text: make a table and copy them"
        ),
        (
            "UPDATE sqlite_schema SET sql='CREATE VIRTUAL TABLE t USING fts5(a, b)'", "t stays what it is"
        ),
        (
            "UPDATE sqlite_schema SET sql='CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE)'",
            "t has another UNIQUE or PRIMARY KEY"
        ),
        (
            "INSERT INTO sqlite_schema VALUES('table','u','u',2,'CREATE TABLE u(a)')",
            "u has rows of its own, for which it takes a CREATE"
        ),
        (
            "INSERT INTO sqlite_schema VALUES('table','f','f',0,'CREATE VIRTUAL TABLE f USING fts5(a)')",
            "f is of a module whose tables are not kept in a store"
        ),
    ])
    func aRowOfTheSchemaIsRefused(sql: String, message: String) throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(path: folder.path(), engine: .lmdb)
        let text = Value.text("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        try connection.executeScript(
            "CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t(b) VALUES ('kept'); PRAGMA writable_schema=ON")
        let error = try databaseError { try connection.execute(sql) }
        #expect(error?.message == "sqlite_schema of a store: " + message)
        try #expect(connection.queryValue("SELECT group_concat(sql) FROM sqlite_schema") == text)
        try #expect(connection.queryValue("SELECT group_concat(b) FROM t") == .text("kept"))
        try connection.executeScript("INSERT INTO t(b) VALUES ('more'); CREATE INDEX i ON t(b)")
        try #expect(connection.queryValue("SELECT count(*) FROM t INDEXED BY i WHERE b='more'") == .integer(1))
    }

    /// SQLite reads such a row of an index; it ended the process.
    @Test(arguments: [
        "INSERT INTO sqlite_schema VALUES(NULL,'sqlite_autoindex_t_1','t',2,NULL)",
        "UPDATE sqlite_schema SET tbl_name=NULL WHERE type='index'",
    ])
    func aNullInTheSchemaIsRefused(sql: String) throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(path: folder.path(), engine: .lmdb)
        try connection.executeScript("CREATE TABLE t(a UNIQUE); PRAGMA writable_schema=ON")
        let error = try databaseError { try connection.execute(sql) }
        #expect(error?.message == "sqlite_schema of a store: a row has a NULL")
        try #expect(connection.queryValue("SELECT count(*) FROM sqlite_schema") == .integer(2))
    }

    /// The change runs where the other tables have no rows.
    @Test func aChangeOfTheSchemaReadsNoOtherTable() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(path: folder.path(), engine: .lmdb)
        try connection.executeScript("CREATE TABLE t(a); PRAGMA writable_schema=ON")
        for sql in [
            "DELETE FROM sqlite_schema WHERE name IN (SELECT a FROM t)", "DELETE FROM sqlite_schema WHERE name IN t",
            "UPDATE sqlite_schema SET sql=a FROM t", "DELETE FROM sqlite_schema RETURNING name",
            "WITH w AS (SELECT a FROM t) DELETE FROM sqlite_schema WHERE name IN w",
        ] {
            let error = try databaseError { try connection.execute(sql) }
            #expect(
                error?.message == "a change of sqlite_schema on a store reads no other table, and has no RETURNING")
        }
        try #expect(connection.queryValue("SELECT count(*) FROM sqlite_schema") == .integer(1))
    }

    /// `sqlite3_blob_open` reads pages of SQLite's own B-tree.
    @Test func aBlobIsNotOpenedInPlace() throws {
        let folder = try TemporaryFolder()
        let connection = try Connection(path: folder.path(), engine: .lmdb)
        try connection.executeScript("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t(b) VALUES (x'00')")
        var blob: OpaquePointer?
        #expect(sqlite3_blob_open(connection.handle, "main", "t", "b", 1, 0, &blob) & 0xff == SQLITE_ERROR)
        #expect(String(cString: sqlite3_errmsg(connection.handle)) == "cannot open virtual table: t")
    }
}
