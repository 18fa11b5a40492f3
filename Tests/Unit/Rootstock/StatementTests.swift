import Rootstock
import Testing

@Suite struct StatementTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func connection(_ engine: Engine) throws -> Connection {
        let connection = try Connection(path: folder.path(), engine: engine)
        try connection.executeScript(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'one'), (2, 2.5), (3, NULL), (4, x'00ff')"
        )
        return connection
    }

    @Test(arguments: engines) func columnsAreReadInPlace(engine: Engine) throws {
        let statement = try connection(engine).prepare("SELECT id, a AS \"the value\" FROM t ORDER BY id")
        #expect(statement.columnCount == 2)
        #expect(statement.columnNames == ["id", "the value"])
        #expect(statement.isReadOnly)
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 1)
        #expect(statement.text(at: 1) == "one")
        #expect(statement.withUnsafeText(at: 1) { Array($0) } == Array("one".utf8))
        #expect(try statement.step())
        #expect(statement.double(at: 1) == 2.5)
        #expect(statement.value(at: 1) == 2.5)
        #expect(try statement.step())
        #expect(statement.isNull(at: 1))
        #expect(statement.text(at: 1) == "")
        #expect(try statement.step())
        #expect(statement.blob(at: 1) == [0, 255])
        #expect(statement.withUnsafeBlob(at: 1) { $0.count } == 2)
        #expect(statement.row == Row(columnNames: ["id", "the value"], values: [4, .blob([0, 255])]))
        #expect(try !statement.step())
    }

    /// Its first row is of no table, or there is none: SQLite has the snapshot since the first step.
    @Test(arguments: engines) func aQueryHasItsSnapshotFromTheFirstStep(engine: Engine) throws {
        let writer = try connection(engine)
        if engine.isNative { try writer.execute("PRAGMA journal_mode = WAL") }
        let reader = try Connection(path: writer.path, engine: engine)
        let count = "SELECT count(*) FROM t"
        for round in 0..<2 {
            let statement = try reader.prepare("SELECT 0 UNION ALL SELECT id FROM t")
            #expect(try statement.step())
            try writer.execute("INSERT INTO t(a) VALUES ('new')")
            #expect(try reader.queryValue(count) == .integer(Int64(4 + 2 * round)))
            var rest: [Int64] = []
            while try statement.step() { rest.append(statement.int64(at: 0)) }
            #expect(rest == Array(1...Int64(4 + 2 * round)))
            #expect(try reader.queryValue(count) == .integer(Int64(5 + 2 * round)))
            try reader.execute("BEGIN")
            #expect(try reader.query("SELECT a FROM t WHERE 0").isEmpty)
            try writer.execute("INSERT INTO t(a) VALUES ('newer')")
            #expect(try reader.queryValue(count) == .integer(Int64(5 + 2 * round)))
            #expect(
                try databaseError { try reader.execute("DELETE FROM t") }?.extendedCode
                    == .busySnapshot)
            try reader.execute("COMMIT")
            #expect(try reader.queryValue(count) == .integer(Int64(6 + 2 * round)))
        }
    }

    /// Not of what the front door makes of it.
    @Test(arguments: engines) func anErrorIsOfTheTextThatWasWritten(engine: Engine) throws {
        let connection = try connection(engine)
        for sql in [
            "SELECT nosuch FROM sqlite_schema", "SELECT nosuch FROM t",
            "UPDATE t SET a = nosuch WHERE id > 1 RETURNING id",
        ] {
            #expect(try databaseError { _ = try connection.query(sql) }?.sql == sql)
        }
    }

    @Test(arguments: engines) func rowsOfReturningOutliveManyOtherStatements(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE u (a)")
        let statement = try connection.prepare("INSERT INTO t (a) VALUES ('x'), ('y'), ('z') RETURNING a, a || '!'")
        #expect(try statement.step())
        var seen = [statement.text(at: 1)]
        // More than are kept compiled: what the first one was compiled to is thrown away meanwhile.
        for number in 0..<300 { try connection.execute("INSERT INTO u VALUES (\(number)) RETURNING a + \(number)") }
        while try statement.step() { seen.append(statement.text(at: 1)) }
        #expect(seen == ["x!", "y!", "z!"])
    }

    @Test(arguments: engines) func namesThatBeginLikeKeywordsAreNames(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.executeScript(
            """
            CREATE TABLE u (update_time, returning_x);
            CREATE TRIGGER ut AFTER UPDATE ON u BEGIN INSERT INTO t VALUES (9, 'fired'); END;
            INSERT INTO u VALUES (1, 2);
            """)
        // The front door has something to do with both, and what it makes of the second is a query to SQLite.
        let rows = try connection.query(
            "WITH c AS (SELECT update_time FROM u) SELECT update_time, name FROM c, sqlite_master WHERE name = 'u'")
        #expect(rows.map(\.values) == [[1, "u"]])
        let change = try connection.prepare("UPDATE u SET returning_x = :returning")
        #expect(change.columnCount == 0)
        try change.bind([3])
        try change.run()
        #expect(try connection.queryValue("SELECT returning_x FROM u") == 3)
        #expect(try connection.queryValue("SELECT a FROM t WHERE id = 9") == "fired")
        // A byte order mark is blank to SQLite.
        try connection.execute("\u{feff}CREATE TABLE v (a)")
        #expect(try connection.queryValue("SELECT count(*) FROM sqlite_master WHERE name = 'v'") == 1)
    }

    @Test(arguments: engines) func aStatementRunsAgainAfterItsEndAndAfterAReset(engine: Engine) throws {
        let statement = try connection(engine).prepare("SELECT id FROM t WHERE id >= ? ORDER BY id")
        for first in 1...4 {
            try statement.bind(first, at: 1)
            var seen: [Int64] = []
            while try statement.step() { seen.append(statement.int64(at: 0)) }
            #expect(seen == Array(Int64(first)...4))
        }
        #expect(try statement.step())
        statement.reset()
        try statement.bind(3, at: 1)
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 3)
        statement.reset()
        statement.clearBindings()
        #expect(try !statement.step())
    }

    @Test(arguments: engines) func aFailedStatementCanBeUsedAgain(engine: Engine) throws {
        let connection = try connection(engine)
        let statement = try connection.prepare("INSERT INTO t VALUES (?, ?)")
        try statement.bind([1, "again"])
        #expect(throws: DatabaseError.self) { try statement.step() }
        try statement.bind([5, "five"])
        #expect(try !statement.step())
        #expect(try connection.queryValue("SELECT a FROM t WHERE id = 5") == "five")
    }

    @Test(arguments: engines) func twoUsersOfOneTextDoNotShareBindings(engine: Engine) throws {
        let connection = try connection(engine)
        let sql = "SELECT id FROM t WHERE id >= ? ORDER BY id"
        let first = try connection.prepare(sql)
        let second = try connection.prepare(sql)
        try first.bind(1, at: 1)
        try second.bind(4, at: 1)
        #expect(try first.step())
        #expect(try second.step())
        #expect(first.int64(at: 0) == 1)
        #expect(second.int64(at: 0) == 4)
    }

    @Test(arguments: engines) func theCacheGivesTheSameStatementBackWithoutItsBindings(engine: Engine) throws {
        let connection = try connection(engine)
        let sql = "SELECT ?"
        var handle: OpaquePointer?
        do {
            let statement = try connection.prepare(sql)
            try statement.bind("left over", at: 1)
            #expect(try statement.step())
            handle = statement.handle
        }
        let statement = try connection.prepare(sql)
        #expect(statement.handle == handle)
        #expect(try statement.step())
        #expect(statement.isNull(at: 0))
    }

    @Test(arguments: engines) func theCacheKeepsNoMoreThanItsCapacity(engine: Engine) throws {
        var options = StoreOptions()
        options.statementCacheCapacity = 2
        let connection = try Connection(path: folder.path(), engine: engine, options: options)
        func handle(_ sql: String) throws -> OpaquePointer { try connection.prepare(sql).handle }
        let kept = try handle("SELECT 1")
        _ = try handle("SELECT 2")
        #expect(try handle("SELECT 1") == kept)
        _ = try handle("SELECT 3")  // SELECT 2 goes, unused for longest
        #expect(try handle("SELECT 1") == kept)
    }

    @Test(arguments: engines) func aCachedStatementFollowsTheSchema(engine: Engine) throws {
        let connection = try connection(engine)
        let sql = "SELECT * FROM t WHERE id = 1"
        #expect(try connection.queryOne(sql)?.columnNames == ["id", "a"])
        try connection.executeScript(
            "DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY, b, c); INSERT INTO t VALUES (1, 2, 3);")
        #expect(try connection.queryOne(sql) == Row(columnNames: ["id", "b", "c"], values: [1, 2, 3]))
    }

    @Test(arguments: engines) func onlyWhatReturnsRowsHasColumns(engine: Engine) throws {
        let connection = try connection(engine)
        let statements: [(sql: String, columns: [String])] = [
            ("CREATE TABLE u (a)", []), ("CREATE INDEX i ON t (a)", []), ("DROP TABLE t", []),
            ("INSERT INTO t VALUES (9, 'RETURNING')", []), ("UPDATE t SET a = 1 /* RETURNING */", []),
            ("DELETE FROM t RETURNING id", ["id"]), ("WITH w AS (SELECT 1 AS x) SELECT x FROM w", ["x"]),
            ("WITH w AS (SELECT 1) DELETE FROM t", []), ("VALUES (1, 2)", ["column1", "column2"]),
        ]
        for (sql, columns) in statements {
            let statement = try connection.prepare(sql)
            #expect(statement.columnNames == columns, "\(sql)")
            #expect(statement.columnCount == columns.count, "\(sql)")
        }
    }

    @Test(arguments: engines) func aStatementOutlivesTheCloseOfItsConnection(engine: Engine) throws {
        let connection = try connection(engine)
        let statement = try connection.prepare("SELECT id FROM t ORDER BY id")
        #expect(try statement.step())
        connection.close()
        #expect(try statement.step())
        #expect(statement.int64(at: 0) == 2)
    }
}
