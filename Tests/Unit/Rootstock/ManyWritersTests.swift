import Foundation
import Rootstock
import Testing

@testable import RootstockMemory

/// Engine memory for several writers: each works on a copy, and is refused where any other has committed since it began. It refuses
/// as many commits besides as it is told to.
private final class RefusingEngine: KeyValueEngine, @unchecked Sendable {
    private let lock = NSLock()
    private var left = 0

    let name = "refusing"
    let version = "1"
    let capabilities: EngineCapabilities = [.manyWriters]

    /// Commits to refuse from now on.
    var refusals: Int {
        get { lock.withLock { left } }
        set { lock.withLock { left = newValue } }
    }

    func isRefused() -> Bool {
        lock.withLock {
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    func open(path: String, options: EngineOptions) throws(EngineError) -> any KeyValueEnvironment {
        Environment(engine: self, inner: MemoryEnvironment(options))
    }

    fileprivate final class Environment: KeyValueEnvironment {
        let engine: RefusingEngine
        let inner: MemoryEnvironment

        init(engine: RefusingEngine, inner: MemoryEnvironment) {
            self.engine = engine
            self.inner = inner
        }

        var maximumKeySize: Int { inner.maximumKeySize }
        var lastCommit: UInt64 { inner.lastCommit }
        func sync() throws(EngineError) { try inner.sync() }
        func statistics() throws(EngineError) -> EnvironmentStatistics { try inner.statistics() }
        func close() { inner.close() }

        func begin(writing: Bool, busy: BusyHandler) throws(EngineError) -> any KeyValueTransaction {
            let transaction = try inner.begin(writing: writing, busy: busy)
            guard writing else { return transaction }
            // The next writer may begin: this one has its copy.
            inner.endWriting(nil)
            return Transaction(environment: self, inner: transaction)
        }
    }

    private final class Transaction: KeyValueTransaction {
        let environment: Environment
        let inner: any KeyValueTransaction

        init(environment: Environment, inner: any KeyValueTransaction) {
            self.environment = environment
            self.inner = inner
        }

        func commit() throws(EngineError) {
            if !environment.engine.isRefused(), environment.inner.lastCommit + 1 == inner.identifier {
                return try inner.commit()
            }
            inner.abort()
            throw EngineError(.conflict, "another writer was in the way")
        }

        func abort() { inner.abort() }
        func reset() { inner.reset() }
        func renew() throws(EngineError) { try inner.renew() }
        var identifier: UInt64 { inner.identifier }

        func openTree(_ name: String, create: Bool) throws(EngineError) -> TreeHandle? {
            try inner.openTree(name, create: create)
        }
        func clear(_ tree: TreeHandle) throws(EngineError) { try inner.clear(tree) }
        func statistics(_ tree: TreeHandle) throws(EngineError) -> TreeStatistics { try inner.statistics(tree) }
        func get(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
            try inner.get(tree, key: key)
        }
        func put(
            _ tree: TreeHandle, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, mode: PutMode
        ) throws(EngineError) -> Bool { try inner.put(tree, key: key, value: value, mode: mode) }
        func remove(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
            try inner.remove(tree, key: key)
        }
        func cursor(_ tree: TreeHandle) throws(EngineError) -> any KeyValueCursor { try inner.cursor(tree) }
    }
}

private let refusing = RefusingEngine()
private let engine = Result { try Engine.register(refusing) }

/// What a refused write leaves, and who begins it again. Tests/Clients/Postgres has writers that are really in each other's way.
@Suite(.serialized) struct ManyWritersTests {
    func store(timeout: Duration = .seconds(5)) throws -> Store {
        refusing.refusals = 0
        var options = StoreOptions()
        options.busyTimeout = timeout
        let store = try Store(path: "refused-\(UUID())", engine: engine.get(), options: options)
        try store.write { try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a INT)") }
        return store
    }

    @Test func aRefusedWriteIsRunAgain() throws {
        let store = try store()
        refusing.refusals = 3
        var runs = 0
        try store.write { connection in
            runs += 1
            try connection.execute("INSERT INTO t (a) VALUES (?)", [Value(runs)])
        }
        #expect(runs > 1)
        #expect(refusing.refusals == 0)
        #expect(try store.read { try $0.query("SELECT a FROM t", as: Int.self) } == [runs])
    }

    @Test func anAsynchronousWriteIsRunAgain() async throws {
        let store = try store()
        refusing.refusals = 2
        try await store.write { try $0.execute("INSERT INTO t (a) VALUES (1)") }
        #expect(refusing.refusals == 0)
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 1)
    }

    @Test func theTimeoutEndsIt() throws {
        let store = try store(timeout: .milliseconds(50))
        refusing.refusals = 1_000_000
        let begun = ContinuousClock.now
        let error = #expect(throws: DatabaseError.self) {
            try store.write { try $0.execute("INSERT INTO t (a) VALUES (1)") }
        }
        #expect(error?.extendedCode == .busySnapshot)
        #expect(.now - begun >= .milliseconds(50))
        refusing.refusals = 0
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
    }

    @Test func aRefusedCommitLeavesNothingAndNoTransaction() throws {
        let store = try store()
        try store.withConnection { connection in
            try connection.execute("INSERT INTO t VALUES (1, 1)")
            try connection.execute("BEGIN")
            #expect(try connection.queryValue("SELECT count(*) FROM t") == 1)
            try connection.execute("INSERT INTO t VALUES (2, 2)")
            try connection.execute("CREATE TABLE u (a)")
            refusing.refusals = 1
            let error = #expect(throws: DatabaseError.self) { try connection.execute("COMMIT") }
            #expect(error?.extendedCode == .busySnapshot)
            #expect(!connection.isInTransaction)
            #expect(try connection.queryValue("SELECT count(*) FROM t") == 1)
            #expect(throws: DatabaseError.self) { try connection.execute("SELECT * FROM u") }
            // A statement alone, and a change of the schema.
            for sql in ["DELETE FROM t", "CREATE INDEX t_a ON t (a)"] {
                refusing.refusals = 1
                let error = #expect(throws: DatabaseError.self) { try connection.execute(sql) }
                #expect(error?.extendedCode == .busySnapshot, "\(sql)")
                #expect(!connection.isInTransaction)
                #expect(try connection.queryValue("SELECT count(*) FROM t") == 1)
                try connection.execute(sql)
                try connection.execute("INSERT OR IGNORE INTO t VALUES (1, 1)")
            }
            #expect(try connection.queryValue("PRAGMA integrity_check") == "ok")
        }
    }

    /// Rowids are what SQLite gives until another writer was in the way. Then they come from blocks, and stay unique.
    @Test func rowidsOfAContendedTableAreReserved() throws {
        let store = try store()
        try store.write { connection in
            try connection.execute("CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, a INT)")
            for _ in 0..<2 {
                try connection.execute("INSERT INTO t (a) VALUES (1)")
                try connection.execute("INSERT INTO counted (a) VALUES (1)")
            }
        }
        let ids = try store.read { try $0.query("SELECT id FROM t UNION ALL SELECT id FROM counted", as: Int.self) }
        #expect(ids == [1, 2, 1, 2])
        refusing.refusals = 1
        try store.write { connection in
            for _ in 0..<100 {
                try connection.execute("INSERT INTO t (a) VALUES (2)")
                try connection.execute("INSERT INTO counted (a) VALUES (2)")
            }
        }
        try store.write { connection in
            #expect(try connection.queryValue("SELECT count(*) = 102 AND min(id) = 1 FROM t") == 1)
            #expect(
                try connection.queryValue("SELECT max(id) <= seq FROM counted, sqlite_sequence WHERE name = 'counted'")
                    == 1)
            // A row of somebody's own choice in the block is an error of its own, and the next automatic one goes round it.
            let error = #expect(throws: DatabaseError.self) {
                try connection.execute("INSERT INTO t SELECT max(id), 3 FROM t")
            }
            #expect(error?.extendedCode == .primaryKeyConstraint)
            try connection.execute("INSERT INTO t SELECT max(id) + 1, 3 FROM t")
            try connection.execute("INSERT INTO t (a) VALUES (4)")
            #expect(try connection.query("SELECT a FROM t ORDER BY id DESC LIMIT 2", as: Int.self) == [4, 3])
        }
        #expect(try store.withConnection { try $0.queryValue("PRAGMA integrity_check") } == "ok")
        // A table of the same tree begins anew.
        try store.write { connection in
            try connection.execute("DROP TABLE t")
            try connection.execute("CREATE TABLE v (id INTEGER PRIMARY KEY)")
            try connection.execute("INSERT INTO v DEFAULT VALUES")
            #expect(try connection.queryValue("SELECT id FROM v") == 1)
        }
    }
}
