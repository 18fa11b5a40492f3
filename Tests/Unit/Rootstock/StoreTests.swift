import Foundation
import Rootstock
import Testing

@Suite struct StoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func store(_ engine: Engine, options: StoreOptions = StoreOptions(durability: .off, native: .wal)) throws -> Store {
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.write { try $0.execute("CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
        return store
    }

    @Test(arguments: engines) func aWriteIsKeptOrUndoneWhole(engine: Engine) throws {
        struct Stop: Error {}
        let store = try store(engine)
        try store.write { connection in
            for number in 1...3 { try connection.execute("INSERT INTO t VALUES (?)", [Value(number)]) }
        }
        #expect(throws: Stop.self) {
            try store.write { connection in
                try connection.execute("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(try store.read { try $0.queryValue("SELECT sum(a) FROM t") } == 6)
    }

    @Test(arguments: engines) func aReadSeesOneSnapshotWhileOthersWrite(engine: Engine) throws {
        let store = try store(engine)
        let (before, after) = try store.read { connection in
            let before = try connection.queryValue("SELECT count(*) FROM t")
            try store.write { try $0.execute("INSERT INTO t VALUES (1)") }
            return (before, try connection.queryValue("SELECT count(*) FROM t"))
        }
        #expect(before == 0)
        #expect(after == 0)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM t") } == 1)
    }

    @Test(arguments: engines) func aReadCanWriteNothing(engine: Engine) throws {
        let path = folder.path("other.store")
        for readers in [0, 4] {
            var options = StoreOptions(durability: .off)
            options.readerConnections = readers
            let store = try Store(path: path, engine: engine, options: options)
            try store.write { try $0.execute("CREATE TABLE IF NOT EXISTS t (a)") }
            // The second time the statement comes from the cache of a connection that may have run it.
            try store.write { try $0.execute("INSERT INTO t VALUES (1)") }
            for sql in ["INSERT INTO t VALUES (1)", "DROP TABLE t", "CREATE INDEX i ON t (a)", "BEGIN IMMEDIATE"] {
                let error = try databaseError { try store.read { try $0.execute(sql) } }
                #expect(error?.code == .readOnly, "\(sql) with \(readers) readers")
            }
            store.close()
        }
    }

    @Test(arguments: engines) func manyThreadsReadAndWrite(engine: Engine) async throws {
        let store = try store(engine)
        let writes = 25
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<writes {
                        try store.write { connection in
                            let last = try connection.queryOne("SELECT max(a) FROM t")?.get(0, as: Int?.self) ?? 0
                            try connection.execute("INSERT INTO t VALUES (?)", [Value(last + 1)])
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<writes {
                        let row = try store.read { try $0.queryOne("SELECT count(*), ifnull(max(a), 0) FROM t") }
                        #expect(row?[0] == row?[1])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.queryValue("SELECT max(a) FROM t") } == Value(4 * writes))
    }

    @Test(arguments: engines) func aWriteInsideAWriteIsRefused(engine: Engine) throws {
        let store = try store(engine)
        let error = try databaseError { try store.write { _ in try store.write { _ in } } }
        #expect(error?.code == .misuse)
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
    }

    /// Two threads that each have one of two connections and want the other's: one of them is refused, and so both end.
    @Test(arguments: engines) func readsInsideReadsOfTwoThreadsEnd(engine: Engine) throws {
        var options = StoreOptions(durability: .off, native: .wal)
        options.readerConnections = 2
        let store = try store(engine, options: options)
        let inside = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<2 {
            Thread.detachNewThread {
                try? store.read { _ in
                    inside.signal()
                    goOn.wait()
                    _ = try store.read { try $0.queryValue("SELECT 1") }
                }
                ended.signal()
            }
        }
        for _ in 0..<2 { inside.wait() }
        for _ in 0..<2 { goOn.signal() }
        for _ in 0..<2 { #expect(ended.wait(timeout: .now() + 30) == .success) }
        #expect(try store.read { try $0.queryValue("SELECT 1") } == 1)
    }

    @Test(arguments: engines) func aStoreIsClosedInsideItsOwnClosure(engine: Engine) throws {
        let store = try store(engine)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? store.withConnection { connection in
                store.close()
                let one = try connection.queryValue("SELECT 1")
                #expect(one == 1)
                ended.signal()
            }
        }
        try #require(ended.wait(timeout: .now() + 30) == .success)
        #expect(throws: DatabaseError.self) { try store.read { try $0.queryValue("SELECT 1") } }
        store.close()
    }

    @Test(arguments: engines) func twoStoresOfOneFileTakeTurns(engine: Engine) throws {
        let first = try store(engine)
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = .milliseconds(50)
        let second = try store(engine, options: options)
        try first.write { connection in
            try connection.execute("INSERT INTO t VALUES (1)")
            let start = ContinuousClock.now
            #expect(
                try databaseError { try second.write { try $0.execute("INSERT INTO t VALUES (2)") } }?.code == .busy)
            #expect(ContinuousClock.now - start >= .milliseconds(40))
            #expect(try second.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
        }
        try second.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try first.read { try $0.query("SELECT a FROM t ORDER BY a").map { $0[0] } } == [1, 2])
    }

    /// Within a quarter of what was asked for, whoever has the lock: a writer of this store, or another store.
    @Test(arguments: [.sqlite, .lmdb, Engine(name: "sqlite-btree"), .memory], [100, 400])
    func aWriterWaitsAsLongAsAsked(engine: Engine, milliseconds: Int) throws {
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = .milliseconds(milliseconds)
        let store = try store(engine, options: options)
        let other = try self.store(engine, options: options)
        let (inside, goOn, ended) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        Thread.detachNewThread {
            try? store.write { connection in
                try connection.execute("INSERT INTO t VALUES (1)")
                inside.signal()
                goOn.wait()
            }
            ended.signal()
        }
        inside.wait()
        for waiting in [store, other] {
            // What else the machine does lengthens a wait and never shortens one: no wait is too short, and of twenty
            // one is not too long.
            var waits = [Double]()
            repeat {
                let start = ContinuousClock.now
                let error = try databaseError { try waiting.write { try $0.execute("INSERT INTO t VALUES (2)") } }
                #expect(error?.code == .busy)
                waits.append((ContinuousClock.now - start) / .milliseconds(1))
            } while waits.last! > Double(milliseconds) * 1.25 && waits.count < 20
            let shortest = try #require(waits.min())
            #expect(shortest >= Double(milliseconds) * 0.75 && shortest <= Double(milliseconds) * 1.25, "\(waits)")
        }
        goOn.signal()
        ended.wait()
        try store.write { try $0.execute("INSERT INTO t VALUES (3)") }
        #expect(try store.read { try $0.query("SELECT a FROM t").map { $0[0] } } == [1, 3])
    }

    @Test(arguments: engines) func aSchemaChangedByAnotherStoreIsSeen(engine: Engine) throws {
        let first = try store(engine)
        let second = try store(engine)
        let sql = "SELECT * FROM t"
        for store in [first, second] { #expect(try store.read { try $0.query(sql) }.isEmpty) }
        try first.write { try $0.executeScript("DROP TABLE t; CREATE TABLE t (b, c); INSERT INTO t VALUES (1, 2)") }
        for store in [first, second] {
            #expect(try store.read { try $0.query(sql) } == [Row(columnNames: ["b", "c"], values: [1, 2])])
        }
        try second.write { try $0.execute("INSERT INTO t (c) VALUES (3)") }
        #expect(try first.read { try $0.queryValue("SELECT count(*) FROM t") } == 2)
    }

    @Test(arguments: engines) func aForgottenRowKeepsNoSnapshot(engine: Engine) throws {
        let store = try store(engine)
        try store.write { try $0.executeScript("INSERT INTO t VALUES (1), (2), (3)") }
        nonisolated(unsafe) var forgotten: Statement?  // one thread runs every closure here
        try store.read { connection in
            forgotten = try connection.prepare("SELECT a FROM t")
            _ = try forgotten?.step()
        }
        try store.write { try $0.execute("DROP TABLE t") }
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM sqlite_schema WHERE name = 't'") } == 0)
        forgotten = nil
    }

    @Test(arguments: engines) func aTransactionLeftOpenIsRolledBack(engine: Engine) throws {
        let store = try store(engine)
        try store.withConnection { try $0.executeScript("BEGIN; INSERT INTO t VALUES (1)") }
        try store.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try store.read { try $0.query("SELECT a FROM t").map { $0[0] } } == [2])
    }

    @Test(arguments: engines) func aClosedStoreRefusesAndOpensAgain(engine: Engine) throws {
        let first = try store(engine)
        try first.write { try $0.execute("INSERT INTO t VALUES (7)") }
        first.close()
        first.close()
        #expect(try databaseError { try first.read { _ in } }?.message == "the store \(folder.path()) is closed")
        #expect(try databaseError { try first.write { _ in } }?.code == .misuse)
        #expect(try store(engine).read { try $0.queryValue("SELECT a FROM t") } == 7)
    }

    @Test(arguments: engines) func aReadOnlyStoreReads(engine: Engine) throws {
        try store(engine).write { try $0.execute("INSERT INTO t VALUES (7)") }
        var options = StoreOptions()
        options.readOnly = true
        let store = try Store(path: folder.path(), engine: engine, options: options)
        #expect(try store.read { try $0.queryValue("SELECT a FROM t") } == 7)
        #expect(try databaseError { try store.write { try $0.execute("DELETE FROM t") } }?.code == .readOnly)
    }

    @Test func memoryIsOneDatabaseForReadsAndWrites() throws {
        let store = try Store(path: ":memory:", engine: .sqlite)
        try store.write { try $0.executeScript("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        #expect(try store.read { try $0.queryValue("SELECT a FROM t") } == 1)
    }
}
