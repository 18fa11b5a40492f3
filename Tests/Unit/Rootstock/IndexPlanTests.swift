// IndexPlanTests.swift - partial indexes and indexes on expressions are used, and said to be, where SQLite uses them.
//
// That the rows are the right ones is the matter of the parity scripts (indexes_partial_expression.sql) and the random tests.

import CSQLite
import Foundation
import Rootstock
import Testing

@Suite struct IndexPlanTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func connection(_ engine: Engine) throws -> Connection {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b INT, c TEXT, d TEXT COLLATE NOCASE);
            CREATE INDEX live ON t(a) WHERE b = 0;
            CREATE INDEX known ON t(d) WHERE c IS NOT NULL;
            CREATE INDEX lowered ON t(lower(c));
            CREATE INDEX total ON t(a + b, id);
            CREATE INDEX named ON t(substr(c, 2, 3)) WHERE b = 1;
            CREATE TABLE u(id INTEGER PRIMARY KEY, y TEXT, z TEXT COLLATE NOCASE);
            """)
        return connection
    }

    private func plan(_ connection: Connection, _ sql: String) throws -> String {
        let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(at: 3)) }
        return lines.joined(separator: "; ")
    }

    /// What `sqlite` says in the same words.
    static let plans = [
        ("SELECT id FROM t WHERE a = 3 AND b = 0", "SEARCH t USING INDEX live (a=?)"),
        ("SELECT id FROM t WHERE b = 0", "SCAN t USING INDEX live"),
        ("SELECT id FROM t WHERE b = 0 ORDER BY a", "SCAN t USING INDEX live"),
        ("SELECT id FROM t WHERE a = 3 AND b = ?", "SCAN t"),
        ("SELECT id FROM t WHERE d = ? AND c > 'x'", "SEARCH t USING INDEX known (d=?)"),
        ("SELECT id FROM t WHERE lower(c) = ?", "SEARCH t USING INDEX lowered (<expr>=?)"),
        (
            "SELECT id FROM t AS k WHERE lower(k.c) BETWEEN 'a' AND 'b'",
            "SEARCH k USING INDEX lowered (<expr>>? AND <expr><?)"
        ),
        ("SELECT id FROM t WHERE a + b = :sum ORDER BY id", "SEARCH t USING INDEX total (<expr>=?)"),
        ("SELECT id FROM t WHERE substr(c, 2, 3) = 'x' AND b = 1", "SEARCH t USING INDEX named (<expr>=?)"),
        ("DELETE FROM t WHERE lower(c) = 'x'", "SEARCH t USING INDEX lowered (<expr>=?)"),
        ("DELETE FROM t NOT INDEXED WHERE lower(c) = 'x'", "SCAN t"),
        ("UPDATE t INDEXED BY total SET c = 1 WHERE id > 3", "SCAN t USING INDEX total"),
        ("UPDATE t INDEXED BY live SET c = 1 WHERE b = 0 AND lower(c) = 'x'", "SCAN t USING INDEX live"),
        ("SELECT d FROM t ORDER BY lower(c) DESC, id DESC LIMIT 5", "SCAN t USING INDEX lowered"),
        ("SELECT lower(c), count(*) FROM t GROUP BY lower(c)", "SCAN t USING INDEX lowered"),
        ("SELECT id FROM t WHERE lower(c) > 'm' ORDER BY lower(c)", "SEARCH t USING INDEX lowered (<expr>>?)"),
        (
            "SELECT id FROM t WHERE lower(c) = 'x' AND id < 5 ORDER BY id DESC",
            "SEARCH t USING INDEX lowered (<expr>=? AND rowid<?)"
        ),
        (
            "SELECT id FROM t WHERE a = 3 AND b = 0 AND rowid BETWEEN 2 AND 5",
            "SEARCH t USING INDEX live (a=? AND rowid>? AND rowid<?)"
        ),
    ]

    @Test(arguments: engines) func indexesAreUsedWhereSQLiteUsesThem(_ engine: Engine) throws {
        let connection = try connection(engine)
        for (sql, expected) in Self.plans { try #expect(plan(connection, sql) == expected, "\(sql)") }
    }

    /// What `sqlite` says in the same words, of tables behind views, subqueries and WITH, and beside others with such indexes.
    static let plansOfReachedTables: [(String, String)] = [
        ("SELECT id FROM v WHERE lower(b) = 'x'", "SEARCH t USING INDEX tb (<expr>=?)"),
        ("SELECT id FROM w AS k WHERE lower(k.b) = ? AND a > 3", "SEARCH t USING INDEX tb (<expr>=?)"),
        ("SELECT id FROM (SELECT * FROM t) WHERE lower(b) = 'x'", "SEARCH t USING INDEX tb (<expr>=?)"),
        (
            "WITH q AS (SELECT * FROM t) SELECT id FROM q WHERE lower(b) > 'x'", "SEARCH t USING INDEX tb (<expr>>?)"
        ),
        (
            "SELECT t.id FROM u JOIN t ON lower(t.b) = lower(u.b) WHERE u.id = 5",
            "SEARCH u USING INTEGER PRIMARY KEY (rowid=?); SEARCH t USING INDEX tb (<expr>=?)"
        ),
        (
            "SELECT t.id FROM u LEFT JOIN t ON t.id = u.a WHERE lower(u.b) = 'x'",
            "SEARCH u USING INDEX ub (<expr>=?); SEARCH t USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
        (
            "SELECT u.a FROM u LEFT JOIN t ON lower(t.b) = 'x'",
            "SCAN u; SEARCH t USING INDEX tb (<expr>=?) LEFT-JOIN"
        ),
        (
            "SELECT t.id FROM t JOIN u USING (id) WHERE lower(t.b) = 'x'",
            "SEARCH t USING INDEX tb (<expr>=?); SEARCH u USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        (
            "SELECT t.id FROM t NATURAL JOIN u WHERE lower(u.b) = 'x'",
            "SEARCH u USING INDEX ub (<expr>=?); SEARCH t USING INTEGER PRIMARY KEY (rowid=?)"
        ),
        (
            "SELECT id FROM t WHERE lower(b) = 'x' UNION ALL SELECT id FROM u WHERE lower(b) = 'x'",
            "COMPOUND QUERY; LEFT-MOST SUBQUERY; SEARCH t USING INDEX tb (<expr>=?); UNION ALL; "
                + "SEARCH u USING INDEX ub (<expr>=?)"
        ),
        ("SELECT id FROM t WHERE lower(b) = 'x' || ?", "SEARCH t USING INDEX tb (<expr>=?)"),
        ("SELECT id FROM t WHERE abs(a) = 7 + 1", "SEARCH t USING INDEX ta (<expr>=?)"),
        ("SELECT id, lower(b) AS k FROM t ORDER BY k LIMIT 3", "SCAN t USING INDEX tb"),
        ("SELECT id, lower(b) FROM t ORDER BY 2 DESC LIMIT 3", "SCAN t USING INDEX tb"),
        ("SELECT lower(b) AS k, count(*) FROM t GROUP BY k", "SCAN t USING INDEX tb"),
        ("SELECT lower(b), count(*) FROM t GROUP BY 1 ORDER BY 1", "SCAN t USING INDEX tb"),
    ]

    @Test(arguments: engines) func indexesAreUsedWhereverTheTableIsReached(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b TEXT, c INT);
            CREATE TABLE u(id INTEGER PRIMARY KEY, a, b TEXT, c INT);
            CREATE INDEX tb ON t(lower(b));
            CREATE INDEX ub ON u(lower(b));
            CREATE INDEX ta ON t(abs(a));
            CREATE VIEW v AS SELECT id, a, b, c FROM t;
            CREATE VIEW w AS SELECT * FROM v WHERE c < 20;
            """)
        for (sql, expected) in Self.plansOfReachedTables { try #expect(plan(connection, sql) == expected, "\(sql)") }
    }

    /// What `sqlite` says in the same words, where the WHERE of a partial index excludes rows as the query does.
    static let plansOfExclusions: [(String, String)] = [
        ("SELECT id FROM t WHERE c = 3 AND a IS NOT NULL", "SEARCH t USING INDEX known (c=?)"),
        ("SELECT id FROM t AS k WHERE k.c = 3 AND k.a NOTNULL", "SEARCH k USING INDEX known (c=?)"),
        ("SELECT id FROM t WHERE c = 3 AND a = ?", "SEARCH t USING INDEX known (c=?)"),
        ("SELECT id FROM t WHERE a IS NOT NULL ORDER BY c", "SCAN t USING INDEX known"),
        ("SELECT id FROM t WHERE a = 3 AND b <> 'x'", "SEARCH t USING INDEX other (a=?)"),
        ("UPDATE t SET b = 1 WHERE c = 3 AND a IS NOT NULL", "SEARCH t USING INDEX known (c=?)"),
        ("DELETE FROM t AS k WHERE k.c = 3 AND k.a IS NOT NULL", "SEARCH k USING INDEX known (c=?)"),
        ("SELECT id FROM (SELECT * FROM t WHERE a IS NOT NULL) WHERE c = 3", "SEARCH t USING INDEX known (c=?)"),
        (
            "SELECT u.k FROM t LEFT JOIN u ON u.id = t.b WHERE t.a IS NOT NULL AND t.c = 3",
            "SEARCH t USING INDEX known (c=?); SEARCH u USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
        (
            "SELECT u.k FROM t LEFT JOIN u ON u.id = t.b AND t.a IS NOT NULL WHERE t.c = 3",
            "SCAN t; SEARCH u USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
        ),
    ]

    @Test(arguments: engines) func partialIndexesServeWhatExcludesTheSameRows(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c INT);
            CREATE TABLE u(id INTEGER PRIMARY KEY, k);
            CREATE INDEX known ON t(c) WHERE a IS NOT NULL;
            CREATE INDEX other ON t(a) WHERE b <> 'x';
            """)
        for (sql, expected) in Self.plansOfExclusions { try #expect(plan(connection, sql) == expected, "\(sql)") }
    }

    /// What `sqlite` says in the same words, where ANALYZE found few values of an index's first columns.
    static let plansBehindFewValues: [(String, String)] = [
        ("SELECT id FROM t WHERE b = 3", "SEARCH t USING COVERING INDEX tab (ANY(a) AND b=?)"),
        ("SELECT d FROM t WHERE b > 390 ORDER BY a DESC, b DESC", "SEARCH t USING INDEX tab (ANY(a) AND b>?)"),
        ("SELECT d FROM t WHERE c = 'c7'", "SEARCH t USING COVERING INDEX tadc (ANY(a) AND ANY(d) AND c=?)"),
        ("UPDATE t SET d = 1 WHERE b = 3", "SEARCH t USING INDEX tab (ANY(a) AND b=?)"),
        ("SELECT id FROM t WHERE a = 1 AND b = 3", "SEARCH t USING COVERING INDEX tab (a=? AND b=?)"),
        ("SELECT e FROM t WHERE a IN (1, 0) ORDER BY a, b", "SEARCH t USING INDEX tab (a=?)"),
    ]

    @Test(arguments: engines) func anIndexIsLookedUpBehindFewValues(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b INT, c TEXT, d INT, e TEXT);
            CREATE INDEX tab ON t(a, b);
            CREATE INDEX tadc ON t(a, d, c);
            INSERT INTO t WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 400)
              SELECT x, x % 2, x, 'c' || x, x % 3, 'text number ' || x FROM i;
            ANALYZE;
            """)
        for (sql, expected) in Self.plansBehindFewValues { try #expect(plan(connection, sql) == expected, "\(sql)") }
    }

    /// A column under another collation than the expression's finds rows that stand elsewhere in the index.
    @Test(arguments: engines.filter { !$0.isNative }) func aJoinOnAnExpressionIsLookedUp(_ engine: Engine) throws {
        let connection = try connection(engine)
        try #expect(
            plan(connection, "SELECT t.id FROM u CROSS JOIN t WHERE lower(t.c) = u.y")
                == "SCAN u; SEARCH t USING INDEX lowered (<expr>=?)")
        try #expect(
            plan(connection, "SELECT t.id FROM u AS k CROSS JOIN t ON k.id < lower(t.c) ORDER BY k.id")
                == "SCAN k; SEARCH t USING INDEX lowered (<expr>>?)")
        try #expect(plan(connection, "SELECT t.id FROM u CROSS JOIN t WHERE lower(t.c) = u.z") == "SCAN u; SCAN t")
    }

    /// SQLite shows a module no list of an expression; a store's rows are looked up value by value.
    @Test(arguments: engines.filter { !$0.isNative }) func aListIsLookedUpValueByValue(_ engine: Engine) throws {
        let connection = try connection(engine)
        let found = try plan(connection, "SELECT id FROM t WHERE lower(c) IN ('x', ?, NULL)")
        let arm = "SEARCH t USING INDEX lowered (<expr>=?)"
        #expect(found == "MULTI-INDEX OR; INDEX 1; \(arm); INDEX 2; \(arm); INDEX 3; \(arm)")
    }

    /// SQLite prepares the statement anew, from a text that names what the index was on.
    @Test(arguments: engines) func aStatementInAnIndexsOrderOutlivesIt(_ engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("INSERT INTO t(id, c) VALUES (1, 'b'), (2, 'C'), (3, 'A'), (4, 'B')")
        let statement = try connection.prepare("SELECT id FROM t ORDER BY lower(c), id")
        func rows() throws -> [Int64] {
            var found: [Int64] = []
            while try statement.step() { found.append(statement.int64(at: 0)) }
            statement.reset()
            return found
        }
        try #expect(rows() == [3, 1, 4, 2])
        try connection.execute("DROP INDEX lowered")
        try #expect(rows() == [3, 1, 4, 2])
        try connection.execute("CREATE INDEX other ON t(upper(c))")
        try #expect(rows() == [3, 1, 4, 2])
    }

    /// The entries hold the primary key; a value that the key does not give back is read with its row.
    @Test(arguments: engines) func anIndexWithoutRowidCoversThePrimaryKey(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE w(k TEXT, n INT, v, x, PRIMARY KEY (k, n)) WITHOUT ROWID;
            CREATE INDEX wv ON w(v);
            """)
        try #expect(plan(connection, "SELECT k, n FROM w WHERE v = ?") == "SEARCH w USING COVERING INDEX wv (v=?)")
        try #expect(plan(connection, "SELECT n FROM w ORDER BY v") == "SCAN w USING COVERING INDEX wv")
        try #expect(plan(connection, "SELECT x FROM w WHERE v = ?") == "SEARCH w USING INDEX wv (v=?)")
    }

    /// Each of the values that are sought together is looked up in the index of all of them.
    @Test(arguments: engines.filter { !$0.isNative }) func rowValuesAreLookedUp(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE v(a INT, b TEXT, c);
            CREATE INDEX vab ON v(a, b);
            CREATE TABLE s(x INT, y TEXT, z INT);
            """)
        let found = "SEARCH v USING INDEX vab (a=? AND b=?)"
        try #expect(
            plan(connection, "SELECT c FROM v WHERE (a, b) IN (SELECT x, y FROM s)")
                == "\(found); LIST SUBQUERY 1; SCAN s")
        try #expect(plan(connection, "SELECT c FROM v WHERE (a, b) = (1, 'x')") == found)
        try #expect(
            plan(connection, "SELECT c FROM v WHERE (a, b) > (1, 'x')") == "SEARCH v USING INDEX vab (a>?)")
    }

    /// Where the values' affinity decides what is equal, no index is asked.
    @Test(arguments: engines.filter { !$0.isNative }) func rowValuesOfOtherAffinityAreNot(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            """
            CREATE TABLE v(a INT, b TEXT, c);
            CREATE INDEX vba ON v(b, a);
            CREATE TABLE s(x INT, y TEXT, z INT);
            """)
        try #expect(
            plan(connection, "SELECT c FROM v WHERE (b, a) IN (SELECT z, x FROM s)").hasPrefix("SCAN v; "))
    }

    /// Joins without an index, in SQLite's words: an automatic one where it pays.
    static let automaticPlans = [
        ("SELECT * FROM a JOIN b ON a.x = b.y", "SCAN a; SEARCH b USING AUTOMATIC COVERING INDEX (y=?)"),
        ("SELECT * FROM a AS k, b AS l WHERE k.x = l.y", "SCAN k; SEARCH l USING AUTOMATIC COVERING INDEX (y=?)"),
        (
            "SELECT * FROM a LEFT JOIN b ON a.x = b.y AND b.v > 3 AND b.u IS a.t",
            "SCAN a; SEARCH b USING AUTOMATIC PARTIAL COVERING INDEX (u=? AND y=?) LEFT-JOIN"
        ),
        ("SELECT * FROM a CROSS JOIN b NOT INDEXED ON a.x = b.y", "SCAN a; SCAN b"),
        ("SELECT * FROM b WHERE y = 5", "SCAN b"),
        ("SELECT * FROM b WHERE y = ?", "SCAN b"),
        ("SELECT * FROM b WHERE y = ? OR u = ?", "SCAN b"),
        ("SELECT (SELECT v FROM b WHERE y = a.x) FROM a", "SCAN a; CORRELATED SCALAR SUBQUERY 1; SCAN b"),
    ]

    @Test(arguments: engines) func joinsAreLookedUpWhereSQLiteWouldMakeAnIndex(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript("CREATE TABLE a(x INT, t TEXT); CREATE TABLE b(y INT, u TEXT, v);")
        for (sql, expected) in Self.automaticPlans { try #expect(plan(connection, sql) == expected, "\(sql)") }
        // A store's plan is told the rows that the literal leaves, SQLite's own weighs what making the index costs: the work is the same.
        let constant =
            engine.isNative ? "SCAN a; SEARCH b USING AUTOMATIC PARTIAL COVERING INDEX (y=?)" : "SCAN b; SCAN a"
        try #expect(plan(connection, "SELECT * FROM a, b WHERE b.y = 5") == constant)
        try connection.executeScript("PRAGMA automatic_index = OFF")
        try #expect(plan(connection, "SELECT * FROM a JOIN b ON a.x = b.y") == "SCAN a; SCAN b")
    }

    /// Row by row it would be 1,600 million steps, each time. (A time limit of the test's own would count what the test waited
    /// for a thread, and fail where the machine is busy.)
    @Test(arguments: engines) func aJoinWithoutAnIndexEnds(_ engine: Engine) throws {
        let connection = try Connection(path: folder.path(), engine: engine)
        nonisolated(unsafe) let watched = connection  // any thread may interrupt
        let watch = DispatchWorkItem { watched.interrupt() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 240, execute: watch)
        defer { watch.cancel() }
        try connection.executeScript(
            """
            CREATE TABLE a(x, t TEXT);
            CREATE TABLE b(y, u TEXT);
            WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999)
              INSERT INTO a SELECT i, 'row ' || i FROM n;
            INSERT INTO b SELECT x * 7 % 40000, t FROM a;
            """)
        func number(_ sql: String) throws -> Int64 {
            let statement = try connection.prepare(sql)
            _ = try statement.step()
            return statement.int64(at: 0)
        }
        try #expect(number("SELECT count(*) FROM a JOIN b ON x = y") == 40000)
        try #expect(number("SELECT count(*) FROM a LEFT JOIN b ON x = y AND t = u WHERE y IS NULL") == 39998)
        try connection.executeScript(
            "BEGIN; INSERT INTO a VALUES(-1, 'row -1'); UPDATE a SET x = y FROM b WHERE t = u;")
        try #expect(number("SELECT count(*) FROM a JOIN b ON x = y AND t = u") == 40000)
        try connection.executeScript("COMMIT")
    }

    /// SQLite wants the index's own term word for word; a store takes what implies it.
    @Test(arguments: engines.filter { !$0.isNative }) func aTermThatImpliesTheIndexIsEnough(_ engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE INDEX big ON t(c) WHERE b > 5")
        try #expect(plan(connection, "SELECT id FROM t WHERE c = ? AND b = 7") == "SEARCH t USING INDEX big (c=?)")
        try #expect(plan(connection, "SELECT id FROM t WHERE c = ? AND b >= 6") == "SEARCH t USING INDEX big (c=?)")
        try #expect(!plan(connection, "SELECT id FROM t WHERE c = ? AND b >= 5").contains("big"))
        try #expect(!plan(connection, "SELECT id FROM t WHERE c = ? AND b > ?").contains("big"))
    }

    /// The index's entries were made with SQLite's own function.
    @Test(arguments: engines.filter { !$0.isNative }) func aFunctionOfTheApplicationIsNotTheIndexes(_ engine: Engine)
        throws
    {
        let connection = try connection(engine)
        try connection.execute("INSERT INTO t(c) VALUES ('X')")
        #expect(redefineLower(connection.handle) == SQLITE_OK)
        try #expect(plan(connection, "SELECT id FROM t WHERE lower(c) = 'mine'") == "SCAN t")
        try #expect(connection.queryValue("SELECT count(*) FROM t WHERE lower(c) = 'mine'") == 1)
    }

    /// Parameters keep their numbers beside the hints that repeat them.
    @Test(arguments: engines) func parametersAreBoundInTheirOrder(_ engine: Engine) throws {
        let connection = try connection(engine)
        try connection.executeScript(
            "INSERT INTO t(id, a, b, c) VALUES (1, 1, 2, 'A'), (2, 2, 2, 'B'), (3, 1, 3, 'a'), (4, 9, 9, 'b')")
        let sql = "SELECT id FROM t WHERE id > ? AND lower(c) = ? AND a < ?"
        #expect(try connection.query(sql, [0, "a", 5]).map { $0[0] } == [1, 3])
        #expect(try connection.query(sql, [1, "a", 5]).map { $0[0] } == [3])
        #expect(try connection.prepare(sql).parameterCount == 3)
        let named = try connection.prepare("SELECT id FROM t WHERE a + b = :sum AND id <> :id")
        #expect(named.parameterCount == 2)
        try named.bind([":sum": 4, ":id": 1])
        try #expect(named.step())
        #expect(named.int64(at: 0) == 2)
        try #expect(
            connection.query("SELECT id FROM t WHERE lower(c) = ?3 AND a = ?1", [9, nil, "b"]).map { $0[0] } == [4])
    }
}

/// Nobody writes to it.
private nonisolated(unsafe) let mine = strdup("mine")

/// Gives the connection a function `lower` that answers "mine".
private func redefineLower(_ database: OpaquePointer) -> Int32 {
    sqlite3_create_function_v2(
        database, "lower", 1, SQLITE_UTF8, nil, { context, _, _ in sqlite3_result_text(context, mine, -1, nil) }, nil,
        nil,
        nil)
}
