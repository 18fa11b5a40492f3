// JoinPlanTests.swift - joins begin with the table that spares a sort, as SQLite's own do.
//
// That the rows are the right ones is the matter of the parity scripts (join_orders.sql).

import CSQLite
import Foundation
import Rootstock
import Testing

@Suite struct JoinPlanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let schema = """
        CREATE TABLE p(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER);
        CREATE TABLE b(id INTEGER PRIMARY KEY, title TEXT, p_id INTEGER);
        CREATE INDEX b_p ON b(p_id);
        CREATE TABLE l(b_id INTEGER, a_id INTEGER, PRIMARY KEY (b_id, a_id)) WITHOUT ROWID;
        CREATE INDEX l_a ON l(a_id);
        """

    private func plan(_ connection: Connection, _ sql: String) throws -> [String] {
        let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(at: 3)) }
        return lines
    }

    static let joins = [
        "SELECT p.id, count(*) FROM p JOIN b ON b.p_id = p.id GROUP BY p.id",
        "SELECT p.name, count(*) AS n FROM p JOIN b ON b.p_id = p.id GROUP BY p.id ORDER BY n DESC, p.id LIMIT 20",
        "SELECT b.*, count(*) AS n FROM b JOIN l ON b_id = id GROUP BY id ORDER BY n DESC, id LIMIT 2",
        "SELECT p.id, b.id FROM p JOIN b ON b.p_id = p.id ORDER BY p.id",
        "SELECT p.id, b.id FROM p JOIN b ON b.p_id = p.id ORDER BY p.id DESC LIMIT 10",
        "SELECT p.id, b.id FROM b JOIN p ON b.p_id = p.id WHERE p.kind = 1 ORDER BY b.id",
        "SELECT b.id FROM b JOIN p ON p.id = b.p_id WHERE p.kind = 1",
        "SELECT p.id FROM p, b, l WHERE b.p_id = p.id AND l.b_id = b.id AND p.kind = 7 AND b.title = 'x'",
        // Transient indexes, where the front door tells the tables that <> and IS NOT choose rows.
        "SELECT b.id FROM p LEFT JOIN b ON p.name = b.title WHERE p.kind <> 3",
        "SELECT p.id FROM p JOIN b ON b.title = p.name WHERE p.kind IS NOT 4 AND b.p_id <> 5",
        "SELECT p.id FROM b JOIN p ON b.title = p.name AND b.id <> p.id",
        // ... and beside a range whose bounds come from an outer loop.
        "SELECT b.id FROM p CROSS JOIN b ON p.name = b.title AND b.p_id > p.kind",
        "SELECT p.id FROM b CROSS JOIN p ON p.name = b.title AND p.id < b.id",
        "SELECT p.id, (SELECT count(*) FROM b WHERE b.title = p.name AND b.id > p.id) FROM p",
        // A term of one table that xBestIndex is not shown, beside a LEFT JOIN.
        "SELECT p.id FROM p JOIN b z LEFT JOIN b y ON y.p_id = p.id WHERE z.title > z.p_id",
    ]

    /// The same loops in the same order, and the same sorts.
    @Test(arguments: engines) func joinsAreThoseOfNativeTables(_ engine: Engine) throws {
        let native = try Connection(path: ":memory:", engine: .sqlite)
        let store = try Connection(path: folder.path(), engine: engine)
        for connection in [native, store] { try connection.executeScript(Self.schema) }
        for sql in Self.joins { try #expect(plan(store, sql) == plan(native, sql), "\(sql)") }
    }
}
