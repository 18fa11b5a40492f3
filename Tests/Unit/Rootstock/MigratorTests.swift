// MigratorTests.swift - schemas made step by step, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct MigratorTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    func store(_ engine: Engine) throws -> Store {
        try Store(path: folder.path(), engine: engine, options: StoreOptions(durability: .off, native: .wal))
    }

    func migrator(_ count: Int) -> Migrator {
        var migrator = Migrator()
        for number in 1...count {
            migrator.register("step \(number)") { connection in
                try connection.execute("CREATE TABLE t\(number) (a INTEGER)")
                try connection.execute("INSERT INTO t\(number) VALUES (\(number))")
            }
        }
        return migrator
    }

    func tables(_ store: Store) throws -> [String] {
        try store.read { connection in
            try connection.query(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 't_' ORDER BY 1", as: String.self)
        }
    }

    @Test(arguments: apiEngines) func eachStepRunsOnceInOrder(engine: Engine) throws {
        let store = try store(engine)
        try migrator(2).migrate(store)
        #expect(try tables(store) == ["t1", "t2"])
        try migrator(2).migrate(store)
        #expect(try store.read { try migrator(2).isAt(on: $0) })
        #expect(try store.read { try !migrator(3).isAt(on: $0) })
        #expect(try store.read { try migrator(3).isAt("step 2", on: $0) })
        try migrator(4).migrate(store, upTo: "step 3")
        #expect(try store.read { try migrator(4).applied(on: $0) } == ["step 1", "step 2", "step 3"])
        #expect(try databaseError { try migrator(4).migrate(store, upTo: "step 9") }?.code == .misuse)
    }

    @Test(arguments: apiEngines) func aStepThatFailsLeavesNothing(engine: Engine) throws {
        struct Stop: Error {}
        let store = try store(engine)
        var broken = migrator(1)
        broken.register("broken") { connection in
            try connection.execute("CREATE TABLE t2 (a)")
            throw Stop()
        }
        #expect(throws: Stop.self) { try broken.migrate(store) }
        #expect(try tables(store) == ["t1"])
        try migrator(2).migrate(store)
        #expect(try tables(store) == ["t1", "t2"])
    }

    @Test(arguments: apiEngines) func aDatabaseOfAnotherVersionIsRefused(engine: Engine) throws {
        let store = try store(engine)
        try migrator(3).migrate(store)
        let older = try databaseError { try migrator(2).migrate(store) }
        #expect(older?.message == "the database has run migration step 3, which this program does not know")
        var reordered = Migrator()
        for name in ["step 2", "step 1", "step 3", "step 4"] { reordered.register(name) { _ in } }
        #expect(try databaseError { try reordered.migrate(store) }?.code == .misuse)
    }

    /// Two stores of one file, as two processes have them: each step runs once all the same.
    @Test(arguments: apiEngines) func twoProgramsMigrateAtOnce(engine: Engine) async throws {
        let stores = try [store(engine), store(engine)]
        let migrator = migrator(8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores { group.addTask { try await migrator.migrate(store) } }
            try await group.waitForAll()
        }
        #expect(try tables(stores[0]).count == 8)
        #expect(try await stores[1].read { try $0.queryValue("SELECT count(*) FROM t1") } == 1)
    }

    @Test(arguments: apiEngines) func inDevelopmentAChangedStepMakesTheDatabaseAnew(engine: Engine) throws {
        let store = try store(engine)
        func migrator(_ columns: String) -> Migrator {
            var migrator = Migrator()
            migrator.eraseOnSchemaChange = true
            migrator.register("tables") { connection in
                try connection.executeScript(
                    """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY);
                    CREATE TABLE child (\(columns), parent REFERENCES parent (id));
                    CREATE INDEX by_parent ON child (parent);
                    CREATE VIEW both AS SELECT * FROM child, parent;
                    """)
            }
            return migrator
        }
        try migrator("a").migrate(store)
        try store.write { try $0.executeScript("INSERT INTO parent VALUES (1); INSERT INTO child VALUES (1, 1)") }
        try migrator("a").migrate(store)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM both") } == 1)
        try migrator("a, b").migrate(store)
        #expect(try store.read { try $0.query("SELECT a, b FROM child") }.isEmpty)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM parent") } == 0)
    }

    /// A step may call what the program has added to SQL: the check for a changed schema runs it, too.
    @Test(arguments: apiEngines) func inDevelopmentAStepMayCallFunctionsOfTheProgram(engine: Engine) throws {
        var options = StoreOptions(durability: .off, native: .wal)
        options.functions = [SQLFunction("initial", isDeterministic: true) { (text: String) in String(text.prefix(1)) }]
        options.collations = [SQLCollation("backwards") { $0 < $1 ? 1 : $0 == $1 ? 0 : -1 }]
        let store = try Store(path: folder.path(), engine: engine, options: options)
        var migrator = Migrator()
        migrator.eraseOnSchemaChange = true
        migrator.register("person") { connection in
            try connection.executeScript(
                """
                CREATE TABLE person (name TEXT);
                CREATE INDEX by_initial ON person (initial(name));
                CREATE VIEW last AS SELECT name FROM person ORDER BY name COLLATE backwards LIMIT 1;
                INSERT INTO person VALUES ('ann'), ('bea');
                """)
        }
        try migrator.migrate(store)
        try store.write { try $0.execute("DELETE FROM person WHERE name = 'ann'") }
        try migrator.migrate(store)
        #expect(try store.read { try $0.query("SELECT name FROM person", as: String.self) } == ["bea"])
    }

    @Test(arguments: apiEngines) func aStepThatEndsItsTransactionIsNotRecorded(engine: Engine) throws {
        let store = try store(engine)
        var migrator = migrator(1)
        migrator.register("ends") { try $0.executeScript("CREATE TABLE early (a); COMMIT") }
        let error = try databaseError { try migrator.migrate(store) }
        #expect(error?.code == .misuse && error?.message.contains("migration ends") == true)
        #expect(try store.read { try migrator.applied(on: $0) } == Array(migrator.names.prefix(1)))
    }

    @Test(arguments: apiEngines) func processesMigrateAtOnce(engine: Engine) throws {
        let processes = (0..<3).map { _ in program("rootstock-process", [engine.name, folder.path(), "migrate"]) }
        for process in processes { try process.run() }
        let store = try store(engine)
        try migrator(8).migrate(store)
        for process in processes {
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(try store.read { try migrator(8).isAt(on: $0) })
        #expect(try tables(store).count == 8)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM t8") } == 1)
    }

    /// A table that others refer to is made anew, and no cascade runs; what leads nowhere at the end undoes the step.
    @Test(arguments: apiEngines) func foreignKeysAreCheckedAtTheEndOfAStep(engine: Engine) throws {
        var options = StoreOptions(durability: .off, native: .wal)
        options.foreignKeys = true
        let store = try Store(path: folder.path(), engine: engine, options: options)
        var migrator = Migrator()
        migrator.register("tables") { connection in
            try connection.executeScript(
                """
                CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE);
                INSERT INTO parent VALUES (1, 'a');
                INSERT INTO child VALUES (1, 1), (2, 1);
                """)
        }
        migrator.register("anew") { connection in
            try connection.executeScript(
                """
                CREATE TABLE fresh (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
                INSERT INTO fresh SELECT * FROM parent;
                DROP TABLE parent;
                ALTER TABLE fresh RENAME TO parent;
                """)
        }
        try migrator.migrate(store)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM child") } == 2)
        migrator.register("broken") { try $0.execute("DELETE FROM parent") }
        let error = try databaseError { try migrator.migrate(store) }
        #expect(error?.extendedCode == .foreignKeyConstraint)
        #expect(error?.message == "migration broken: row 1 of child refers to no row of parent (foreign key 0)")
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM parent") } == 1)
        // They are enforced again.
        #expect(
            try databaseError { try store.write { try $0.execute("INSERT INTO child VALUES (3, 9)") } }?.extendedCode
                == .foreignKeyConstraint)
        try store.write { try $0.execute("DELETE FROM parent WHERE id = 1") }
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM child") } == 0)
    }
}
