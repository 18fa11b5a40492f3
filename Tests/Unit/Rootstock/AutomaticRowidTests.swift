// Automatic rowids across transactions: a connection remembers a table's highest one after its own commit, and only then.

import Foundation
import Rootstock
import Testing

@Suite struct AutomaticRowidTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Each statement is a transaction of its own, on one of two connections; every rowid is native SQLite's.
    @Test(arguments: [Engine.lmdb, Engine(name: "sqlite-btree")]) func rowidsAreNativesAcrossTransactions(
        engine: Engine
    ) throws {
        let steps: [(connection: Int, sql: String)] = [
            (0, "INSERT INTO t (a) VALUES ('one')"),
            (0, "INSERT INTO t (a) VALUES ('two')"),
            (1, "INSERT INTO t (a) VALUES ('three')"),
            (0, "INSERT INTO t (a) VALUES ('four')"),
            (0, "DELETE FROM t WHERE rowid = 4"),
            (0, "INSERT INTO t (a) VALUES ('four again')"),
            (1, "DELETE FROM t WHERE rowid >= 3"),
            (0, "INSERT INTO t (a) VALUES ('three again')"),
            (0, "INSERT INTO t (rowid, a) VALUES (100, 'hundred')"),
            (0, "INSERT INTO t (a) VALUES ('after')"),
            (0, "UPDATE t SET rowid = 500 WHERE a = 'after'"),
            (0, "INSERT INTO t (a) VALUES ('after that')"),
            (0, "INSERT OR IGNORE INTO t (rowid, a) VALUES (501, 'ignored')"),
            (1, "INSERT INTO t (a) VALUES ('other')"),
            (0, "INSERT INTO t (a) VALUES ('mine')"),
            (0, "BEGIN; INSERT INTO t (a) VALUES ('x'); INSERT INTO t (a) VALUES ('y'); ROLLBACK"),
            (0, "INSERT INTO t (a) VALUES ('z')"),
            (
                0,
                "BEGIN; INSERT INTO t (a) VALUES ('x'); SAVEPOINT s; INSERT INTO t (a) VALUES ('y'); ROLLBACK TO s; COMMIT"
            ),
            (0, "INSERT INTO t (a) VALUES ('z')"),
            (0, "DELETE FROM t"),
            (0, "INSERT INTO t (a) VALUES ('first')"),
            (1, "INSERT INTO t (a) VALUES ('second')"),
            (0, "BEGIN; INSERT OR IGNORE INTO t (rowid, a) VALUES (1, 'no'); COMMIT"),
            (1, "INSERT INTO t (a) VALUES ('third')"),
            (0, "INSERT INTO t (a) VALUES ('fourth')"),
        ]
        func run(_ engine: Engine, _ name: String) throws -> [[[Value]]] {
            let connections = try (0..<2).map { _ in try Connection(path: folder.path(name), engine: engine) }
            try connections[0].execute("CREATE TABLE t (a)")
            var seen: [[[Value]]] = []
            for step in steps {
                try connections[step.connection].executeScript(step.sql)
                let other = connections[1 - step.connection]
                seen.append(try other.query("SELECT rowid, a FROM t ORDER BY rowid").map(\.values))
            }
            return seen
        }
        let native = try run(.sqlite, "native.db")
        let ours = try run(engine, "store")
        for (index, step) in steps.enumerated() {
            #expect(native[index] == ours[index], "after step \(index): \(step.sql)")
        }
    }
}
