import Foundation
import Rootstock
import Testing

@Suite struct ConnectionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func connection(_ engine: Engine, options: StoreOptions = StoreOptions()) throws -> Connection {
        try Connection(path: folder.path(), engine: engine, options: options)
    }

    @Test(arguments: engines) func everyStorageClassComesBackAsItWent(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
        let values: [Value] = [
            nil, 0, .integer(.min), .integer(.max), 0.1, .real(-.infinity), .real(.greatestFiniteMagnitude), "",
            "héllo 👋",
            "a\0b", .blob([]), .blob([0, 255, 0]), .text(String(repeating: "x", count: 100_000)),
        ]
        for value in values { try connection.execute("INSERT INTO t (value) VALUES (?)", [value]) }
        #expect(try connection.query("SELECT value FROM t ORDER BY id").map { $0[0] } == values)
    }

    @Test(arguments: engines) func argumentsBindByNumberAndByName(engine: Engine) throws {
        let connection = try connection(engine)
        #expect(try connection.queryValue("SELECT ?2 - ?1", [1, 10]) == 9)
        #expect(try connection.query("SELECT :a - @b - $c", ["a": 10, "@b": 2, "$c": 3]).first?[0] == 5)
        let few = try databaseError { try connection.execute("SELECT ?, ?", [1]) }
        #expect(few?.code == .range)
        let unknown = try databaseError { try connection.execute("SELECT :a", ["b": 1]) }
        #expect(unknown?.message == "the statement has no parameter named b")
        let missing = try databaseError { try connection.execute("SELECT :a, :b", ["a": 1]) }
        #expect(missing?.code == .range)
        #expect(missing?.message == "no argument was given for the parameter :b")
    }

    @Test(arguments: engines) func theFirstStatementIsTheFirstThatIsNotEmpty(engine: Engine) throws {
        #expect(try connection(engine).queryValue("; ; SELECT 1") == 1)
    }

    @Test(arguments: engines) func changesAndRowidsAreCounted(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
        try connection.execute("INSERT INTO t (value) VALUES ('a'), ('b'), ('c')")
        #expect(connection.changes == 3)
        #expect(connection.lastInsertRowid == 3)
        try connection.execute("UPDATE t SET value = 'd' WHERE id > 1")
        #expect(connection.changes == 2)
        try connection.execute("DELETE FROM t WHERE id = 1")
        #expect(connection.changes == 1)
        #expect(connection.totalChanges == 6)
    }

    @Test(arguments: engines) func aClosedConnectionCountsNothing(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        try connection.execute("INSERT INTO t VALUES (7)")
        connection.close()
        #expect(connection.changes == 0 && connection.totalChanges == 0 && connection.lastInsertRowid == 0)
        #expect(!connection.isInTransaction)
    }

    @Test func aColumnOutOfRangeIsAnError() throws {
        let row = Row(columnNames: ["a"], values: [1])
        #expect(try row.get(0, as: Int.self) == 1)
        for index in [-1, 1, Int.max] {
            #expect(try databaseError { _ = try row.get(index, as: Int.self) }?.code == .range)
        }
    }

    @Test(arguments: engines) func errorsCarryCodeMessageAndSQL(engine: Engine) throws {
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL)")
        try connection.execute("INSERT INTO t VALUES (1, 'a')")
        let faults: [(sql: String, code: ResultCode, message: String)] = [
            ("INSERT INTO t VALUES (2, 'a')", .uniqueConstraint, "UNIQUE constraint failed: t.name"),
            ("INSERT INTO t VALUES (1, 'b')", .primaryKeyConstraint, "UNIQUE constraint failed: t.id"),
            ("INSERT INTO t VALUES (3, NULL)", .notNullConstraint, "NOT NULL constraint failed: t.name"),
            ("SELECT * FROM nowhere", .error, "no such table: nowhere"),
            ("SELEC 1", .error, "near \"SELEC\": syntax error"),
        ]
        for fault in faults {
            let error = try databaseError { try connection.execute(fault.sql) }
            #expect(error == DatabaseError(fault.code, fault.message, sql: fault.sql))
        }
        #expect(
            DatabaseError(.uniqueConstraint, "UNIQUE constraint failed: t.name", sql: "INSERT").description
                == "UNIQUE constraint failed: t.name (2067) in: INSERT")
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: engines) func aTextMustHoldOneStatement(engine: Engine) throws {
        let connection = try connection(engine)
        let two = try databaseError { try connection.execute("SELECT 1; SELECT 2") }
        #expect(two?.message == "the text holds more than one statement")
        // SQLite would run what stands before a NUL: here, delete all.
        try connection.executeScript("CREATE TABLE t (id); INSERT INTO t VALUES (1), (2)")
        let cut = try databaseError { try connection.execute("DELETE FROM t\0 WHERE id = 1") }
        #expect(cut?.message.hasPrefix("the text holds a NUL") == true)
        #expect(try connection.queryValue("SELECT count(*) FROM t") == 2)
        let script = try databaseError { try connection.executeScript("SELECT 1;\0DELETE FROM t") }
        #expect(script?.message.hasPrefix("the text holds a NUL") == true)
        for empty in ["", "  ", "-- nothing", "/* nothing"] {
            #expect(try databaseError { try connection.execute(empty) }?.message == "the text holds no statement")
        }
        #expect(try connection.queryValue(" -- one\nSELECT 1; -- and no more\n ; /* ; */") == 1)
    }

    @Test(arguments: engines) func aScriptRunsUpToItsFirstError(engine: Engine) throws {
        let connection = try connection(engine)
        let error = try databaseError {
            try connection.executeScript(
                """
                CREATE TABLE t (a); -- a comment; with a semicolon
                INSERT INTO t VALUES ('x;y'); ;
                INSERT INTO nowhere VALUES (1);
                INSERT INTO t VALUES (2)
                """)
        }
        #expect(error?.message == "no such table: nowhere")
        #expect(try connection.query("SELECT a FROM t").map { $0[0] } == ["x;y"])
    }

    @Test(arguments: engines) func transactionsCommitAndRollBack(engine: Engine) throws {
        struct Stop: Error {}
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (a)")
        for kind in TransactionKind.allCases {
            try connection.withTransaction(kind) {
                #expect(connection.isInTransaction)
                try connection.execute("INSERT INTO t VALUES (?)", [kind.rawValue])
            }
            #expect(throws: Stop.self) {
                try connection.withTransaction(kind) {
                    try connection.execute("INSERT INTO t VALUES ('lost')")
                    throw Stop()
                }
            }
            #expect(!connection.isInTransaction)
        }
        #expect(try connection.query("SELECT a FROM t").map { $0[0] } == ["deferred", "immediate", "exclusive"])
    }

    @Test(arguments: engines) func savepointsUndoTheirOwnPart(engine: Engine) throws {
        struct Stop: Error {}
        let connection = try connection(engine)
        try connection.execute("CREATE TABLE t (a)")
        try connection.withTransaction {
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(throws: Stop.self) {
                try connection.withSavepoint {
                    try connection.execute("INSERT INTO t VALUES (2)")
                    try connection.withSavepoint { try connection.execute("INSERT INTO t VALUES (3)") }
                    throw Stop()
                }
            }
            try connection.withSavepoint { try connection.execute("INSERT INTO t VALUES (4)") }
        }
        #expect(try connection.query("SELECT a FROM t ORDER BY a").map { $0[0] } == [1, 4])
    }

    @Test(arguments: engines) func aStoreIsThereWhenOpenedAgain(engine: Engine) throws {
        var first: Connection? = try connection(engine)
        try first?.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        first?.close()
        let closed = try databaseError { _ = try first?.prepare("SELECT 1") }
        #expect(closed?.code == .misuse)
        first = nil
        #expect(try connection(engine).queryValue("SELECT a FROM t") == 1)
    }

    @Test(arguments: engines) func readOnlyRefusesToWrite(engine: Engine) throws {
        var options = StoreOptions()
        options.readOnly = true
        #expect(try databaseError { _ = try connection(engine, options: options) }?.code == .cannotOpen)

        try connection(engine).executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let reader = try connection(engine, options: options)
        for write in ["INSERT INTO t VALUES (2)", "CREATE TABLE u (a)", "DROP TABLE t", "CREATE INDEX i ON t (a)"] {
            #expect(try databaseError { try reader.execute(write) }?.code == .readOnly, "\(write)")
        }
        #expect(try reader.queryValue("SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: engines) func openingFailsByName(engine: Engine) throws {
        let path = folder.path("missing/test.store")
        let error = try databaseError { _ = try Connection(path: path, engine: engine) }
        #expect(error?.code == .cannotOpen)
        #expect(error?.message.contains(path) == true)

        try Data(repeating: 0x5a, count: 10_000).write(to: URL(fileURLWithPath: folder.path()))
        let foreign = try databaseError { _ = try connection(engine).query("SELECT * FROM sqlite_schema") }
        #expect(foreign?.code == .notADatabase)
    }

    @Test func anUnknownEngineIsRefused() throws {
        let error = try databaseError { _ = try connection("granite") }
        #expect(error?.message.contains("granite") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.path()))
    }

    @Test func optionsOfOtherEnginesAreRefused() throws {
        var options = StoreOptions()
        options.mapSize = 1 << 20
        let error = try databaseError { _ = try connection(.sqlite, options: options) }
        #expect(error?.message == "engine sqlite has no option mapSize")
    }

    @Test func nativeConfigurationIsInEffect() throws {
        var options = StoreOptions(durability: .normal, native: .wal)
        options.native.pragmas = ["cache_size = 123"]
        let connection = try connection(.sqlite, options: options)
        #expect(try connection.queryValue("PRAGMA journal_mode") == "wal")
        #expect(try connection.queryValue("PRAGMA synchronous") == 1)
        #expect(try connection.queryValue("PRAGMA cache_size") == 123)
        let memory = try databaseError { _ = try Connection(path: ":memory:", engine: .sqlite, options: options) }
        #expect(memory?.message == "journal mode wal cannot be had for :memory:")
    }
}
