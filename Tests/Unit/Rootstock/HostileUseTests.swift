// HostileUseTests.swift - what applications do to an API at the worst moment: cancel, throw, and do much at once.

import Foundation
import Rootstock
import Testing

@Suite struct HostileUseTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    struct Refusal: Error, CustomStringConvertible { var description: String { "refused by hand" } }

    static let functions = [
        SQLFunction("refuse", isDeterministic: true) { (number: Int) in
            if number == 3 { throw Refusal() }
            return number
        },
        SQLFunction("full") { (number: Int) -> Int in
            if number == 3 { throw DatabaseError(.full, "no room") }
            return number
        },
        SQLFunction(aggregate: "late", arguments: 1, initial: 0) { state, _ in
            state += 1
        } result: { (state: Int) -> Int in
            if state > 2 { throw Refusal() }
            return state
        },
    ]

    func store(_ engine: Engine, _ name: String, schema: String) throws -> Store {
        var options = StoreOptions(durability: .off, native: .wal)
        options.functions = Self.functions
        options.busyTimeout = .seconds(60)
        options.readerConnections = 3
        let store = try Store(path: folder.path(name), engine: engine, options: options)
        try store.withConnection { try $0.executeScript(schema) }
        return store
    }

    /// What a task was told is what the database has: all of a write that succeeded, and nothing of one that was cancelled.
    @Test(arguments: apiEngines) func cancellationsAtAnyMoment(engine: Engine) async throws {
        let store = try store(engine, "storm", schema: "CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER)")
        let written = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<200 {
                let delay = Int.random(in: 0..<30_000)
                group.addTask {
                    let task = Task {
                        try await store.write { connection in
                            try connection.execute("INSERT INTO t VALUES (?, 1)", [number])
                            try connection.execute("INSERT INTO t VALUES (?, 1)", [number + 1000])
                        }
                    }
                    if number.isMultiple(of: 2) {
                        try await Task.sleep(for: .microseconds(delay))
                        task.cancel()
                    }
                    do { try await task.value } catch is CancellationError { return nil }
                    return number
                }
                group.addTask {
                    let task = Task { try await store.read { try $0.queryValue("SELECT count(*) % 2 FROM t") } }
                    if number.isMultiple(of: 3) { task.cancel() }
                    var odd: Value? = 0
                    do { odd = try await task.value } catch is CancellationError {}
                    #expect(odd == 0)
                    return nil
                }
                group.addTask {
                    let task = Task {
                        for try await _ in store.stream("SELECT a FROM t ORDER BY a", as: Int.self) {
                            await Task.yield()
                        }
                    }
                    if !number.isMultiple(of: 5) { task.cancel() }
                    do { try await task.value } catch is CancellationError {}
                    return nil
                }
            }
            return try await group.reduce(into: Set<Int>()) { if let number = $1 { $0.insert(number) } }
        }
        let found = try await store.read { try $0.query("SELECT a FROM t", as: Int.self) }
        #expect(written.count >= 100)
        #expect(Set(found) == written.union(written.map { $0 + 1000 }))
        store.close()
    }

    /// The last value that an observer sees is the last one that was committed, whoever committed it, and none goes back.
    @Test(arguments: apiEngines) func anObserverBesideManyWriters(engine: Engine) async throws {
        let schema = "CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY)"
        let stores = try [store(engine, "watched", schema: schema), store(engine, "watched", schema: schema)]
        let observed = Task {
            var last = 0
            for try await count in stores[0].observe({ try $0.queryOne("SELECT count(*) FROM t", as: Int.self) ?? 0 }) {
                #expect(count >= last)
                last = count
                if count == 120 { break }
            }
            return last
        }
        // Observers come and go meanwhile.
        let passing = Task {
            while !Task.isCancelled {
                let short = Task { for try await _ in stores[0].observe({ try $0.queryValue("SELECT a FROM t") }) {} }
                try? await Task.sleep(for: .milliseconds(2))
                short.cancel()
                try await short.value
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<120 {
                group.addTask {
                    try await stores[number % 2].write { try $0.execute("INSERT INTO t VALUES (?)", [number]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await observed.value == 120)
        passing.cancel()
        try await passing.value
    }

    /// Wherever a function throws, the statement ends with its error, and leaves what SQLite's own tables are left with.
    @Test(arguments: apiEngines) func functionsThatThrowAnywhere(engine: Engine) throws {
        let schema = """
            CREATE TABLE five (i INTEGER PRIMARY KEY);
            INSERT INTO five VALUES (1), (2), (3), (4), (5);
            CREATE TABLE t (a INTEGER PRIMARY KEY, b INTEGER);
            INSERT INTO t VALUES (1, 1), (2, 2), (3, 3), (4, 4);
            CREATE TABLE checked (a INTEGER PRIMARY KEY, b CHECK (refuse(b) > 0));
            CREATE TABLE made (a INTEGER PRIMARY KEY, b AS (refuse(a)) STORED);
            CREATE TABLE indexed (a INTEGER PRIMARY KEY, b);
            INSERT INTO indexed VALUES (9, 1);
            CREATE INDEX by_refusal ON indexed (refuse(b));
            CREATE INDEX partly ON indexed (b) WHERE refuse(b) = 1;
            CREATE TABLE fired (a INTEGER PRIMARY KEY);
            CREATE TRIGGER fires AFTER INSERT ON fired BEGIN INSERT INTO t VALUES (new.a + 100, refuse(new.a)); END;
            """
        let statements = [
            "INSERT INTO t SELECT i + 10, refuse(i) FROM five",
            "INSERT OR IGNORE INTO t SELECT i, full(i) FROM five",
            "INSERT OR REPLACE INTO t SELECT i, refuse(i) FROM five",
            "INSERT INTO t VALUES (1, 1) ON CONFLICT DO UPDATE SET b = refuse(3)",
            "UPDATE t SET b = refuse(a) * 10", "UPDATE t SET b = full(a) * 10 WHERE a > 1",
            "UPDATE OR IGNORE t SET a = refuse(a) + 1", "UPDATE t SET b = b + 1 WHERE refuse(a) = a",
            "DELETE FROM t WHERE refuse(a)", "DELETE FROM t WHERE a IN (SELECT full(i) FROM five)",
            "INSERT INTO t VALUES (20, 3) RETURNING refuse(b)", "UPDATE t SET b = 3 WHERE a = 4 RETURNING full(b)",
            "INSERT INTO checked VALUES (1, 1), (2, 3)", "INSERT OR IGNORE INTO checked VALUES (3, 2), (4, 3)",
            "INSERT INTO made (a) VALUES (1), (2), (3)", "INSERT INTO indexed VALUES (1, 1), (2, 3)",
            "UPDATE indexed SET b = 3", "INSERT INTO fired VALUES (1), (2), (3)",
            "CREATE TABLE copied AS SELECT refuse(a) FROM t", "CREATE INDEX later ON t (refuse(a))",
            "SELECT refuse(a) FROM t", "SELECT a FROM t ORDER BY full(a) DESC",
            "SELECT count(*) FROM t GROUP BY refuse(a)",
            "SELECT late(a) FROM t", "SELECT late(a) FROM t GROUP BY a > 1", "SELECT a FROM t LIMIT refuse(3)",
            "SELECT sum(full(a)) OVER (ORDER BY a) FROM t", "SELECT * FROM t JOIN five ON refuse(i) = a",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT refuse(i) + 1 FROM n) SELECT * FROM n",
        ]
        let native = try store(.sqlite, "native", schema: schema)
        let other = try store(engine, "other", schema: schema)
        for statement in statements {
            for inTransaction in [false, true] {
                let (expected, found) = try (
                    outcome(of: statement, on: native, inTransaction), outcome(of: statement, on: other, inTransaction)
                )
                #expect(found == expected, "\(statement), \(inTransaction ? "in a transaction" : "by itself")")
                #expect(!expected.error.isEmpty, "\(statement)")
            }
        }
    }

    private struct Outcome: Equatable {
        var error = ""
        var rows: [Row] = []
        var wasInTransaction = false
    }

    /// What became of a statement, and what the tables are after it. What it did is rolled back.
    private func outcome(of statement: String, on store: Store, _ inTransaction: Bool) throws -> Outcome {
        try store.withConnection { connection in
            var outcome = Outcome()
            if inTransaction {
                try connection.execute("BEGIN")
                try connection.execute("INSERT INTO t VALUES (50, 50)")
            }
            do { _ = try connection.query(statement) } catch let error as DatabaseError {
                outcome.error = "\(error.extendedCode) \(error.message)"
            }
            outcome.wasInTransaction = connection.isInTransaction
            for table in ["t", "checked", "made", "indexed", "fired"] {
                outcome.rows += try connection.query("SELECT * FROM \(table) ORDER BY a")
            }
            outcome.rows += try connection.query("SELECT name FROM sqlite_schema ORDER BY name")
            if inTransaction { try connection.execute("ROLLBACK") }
            return outcome
        }
    }
}
