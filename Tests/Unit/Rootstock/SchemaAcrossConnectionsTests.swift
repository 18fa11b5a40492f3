// SchemaAcrossConnectionsTests.swift - a schema that one connection changes is the other's at its next transaction.

import Foundation
import Rootstock
import Testing

@Suite struct SchemaAcrossConnectionsTests {
    /// Two stores on one file, each with connections of its own.
    private func pair(_ engine: Engine) throws -> (TemporaryFolder, Store, Store) {
        let folder = try TemporaryFolder()
        return (
            folder, try Store(path: folder.path(), engine: engine), try Store(path: folder.path(), engine: engine)
        )
    }

    @Test(arguments: engines) func tablesIndexesAndColumnsArrive(_ engine: Engine) throws {
        let (folder, one, other) = try pair(engine)
        defer {
            withExtendedLifetime(folder) { one.close() }
            other.close()
        }
        try one.write {
            try $0.executeScript("CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t(a) VALUES (1), (2)")
        }
        try #expect(other.read { try $0.queryValue("SELECT count(*) FROM t") } == .integer(2))
        try other.write { try $0.execute("CREATE INDEX i ON t(a)") }
        try #expect(one.read { try $0.queryValue("SELECT id FROM t WHERE a = 2") } == .integer(2))
        try one.write { try $0.execute("ALTER TABLE t ADD COLUMN z DEFAULT 'new'") }
        try #expect(other.read { try $0.queryValue("SELECT group_concat(z) FROM t") } == .text("new,new"))
        try other.write { try $0.execute("DROP TABLE t") }
        let error = try databaseError { _ = try one.read { try $0.query("SELECT * FROM t") } }
        #expect(error?.message == "no such table: t")
    }

    @Test(arguments: engines) func aStatementPreparedBeforeGoesOn(_ engine: Engine) throws {
        let (folder, one, other) = try pair(engine)
        defer {
            withExtendedLifetime(folder) { one.close() }
            other.close()
        }
        try one.write { try $0.executeScript("CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try one.withConnection { connection in
            let statement = try connection.prepare("SELECT a FROM t")
            try #expect(statement.step())
            statement.reset()
            try other.write { try $0.executeScript("ALTER TABLE t ADD COLUMN b DEFAULT 7; UPDATE t SET a = b") }
            try #expect(statement.step())
            #expect(statement.int64(at: 0) == 7)
            try #expect(!statement.step())
        }
    }
}
