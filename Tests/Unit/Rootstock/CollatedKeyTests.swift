// CollatedKeyTests.swift - keys and indexes under a collation of the application, on every engine.

import CSQLite
import Rootstock
import TestSupport
import Testing

/// Texts go by their length; equally long ones are equal.
private func register(_ connection: Connection) {
    sqlite3_create_collation_v2(
        connection.handle, "length", SQLITE_UTF8, nil, { _, left, _, right, _ in left - right }, nil)
}

@Suite struct CollatedKeyTests {
    private static let tables = [
        "CREATE TABLE t(a TEXT COLLATE length PRIMARY KEY, b)",
        "CREATE TABLE t(a TEXT COLLATE length UNIQUE, b)",
        "CREATE TABLE t(a COLLATE length, b, PRIMARY KEY(a DESC)) WITHOUT ROWID",
        "CREATE TABLE t(a COLLATE length, b); CREATE UNIQUE INDEX i ON t(a)",
    ]

    @Test(arguments: apiEngines, tables) func orderAndUniquenessAreTheCollations(engine: Engine, sql: String) throws {
        let folder = try TemporaryFolder()
        for time in 0..<2 {
            let connection = try Connection(path: folder.path(), engine: engine)
            register(connection)
            if time == 0 {
                for statement in sql.split(separator: ";") { try connection.execute(String(statement)) }
                try connection.execute("INSERT INTO t VALUES ('four', 1), ('x', 2), ('seventy', 3), ('', 4)")
            }
            let error = try databaseError { try connection.execute("INSERT INTO t VALUES ('nine', 6)") }
            #expect(error?.message == "UNIQUE constraint failed: t.a")
            try #expect(connection.queryValue("SELECT b FROM t WHERE a = 'five'") == .integer(1))
            try #expect(
                connection.queryValue("SELECT group_concat(b) FROM (SELECT b FROM t WHERE a > '?' ORDER BY a)")
                    == .text("1,3"))
            try connection.execute("INSERT OR REPLACE INTO t VALUES ('nine', 1)")
            try #expect(
                connection.queryValue("SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)")
                    == .text(",x,nine,seventy"))
            try #expect(connection.queryValue("PRAGMA integrity_check") == .text("ok"))
            try connection.execute("UPDATE t SET a = 'four' WHERE a = '....'")
        }
    }

    @Test(arguments: apiEngines) func withoutItAChangeSaysWhatIsMissing(engine: Engine) throws {
        let folder = try TemporaryFolder()
        do {
            let connection = try Connection(path: folder.path(), engine: engine)
            register(connection)
            try connection.execute("CREATE TABLE t(a, b)")
            try connection.execute("CREATE INDEX i ON t(a COLLATE length)")
            try connection.execute("INSERT INTO t VALUES ('x', 1)")
        }
        let connection = try Connection(path: folder.path(), engine: engine)
        let error = try databaseError { try connection.execute("INSERT INTO t VALUES ('y', 2)") }
        #expect(error?.message == "no such collation sequence: length")
        try #expect(connection.queryValue("SELECT b FROM t WHERE a = 'x'") == .integer(1))
    }
}
