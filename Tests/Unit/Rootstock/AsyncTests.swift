// AsyncTests.swift - reads and writes for tasks, and what leaves its closure, the same on every engine.

import CSQLite
import Foundation
import Rootstock
import Testing

@Suite struct AsyncTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    func store(_ engine: Engine, busy: Duration = .seconds(30), readers: Int = 2) throws -> Store {
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = busy
        options.readerConnections = readers
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.withConnection { try $0.execute("CREATE TABLE IF NOT EXISTS t (a INTEGER)") }
        return store
    }

    @Test(arguments: apiEngines) func tasksReadAndWrite(engine: Engine) async throws {
        let store = try store(engine)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await store.write { try $0.execute("INSERT INTO t VALUES (?)", [number]) }
                    let sum = try await store.read { try $0.queryOne("SELECT count(*) FROM t", as: Int.self) }
                    #expect((1...40).contains(sum ?? 0))
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { try $0.queryValue("SELECT sum(a) FROM t") } == 780)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await store.write { connection in
                try connection.execute("DELETE FROM t")
                throw Stop()
            }
        }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 40)
    }

    /// More tasks wait, for the writer and for readers, than the cooperative pool has threads: what needs none of them goes on.
    @Test(arguments: apiEngines) func aWaitTakesNoThreadOfTheCooperativePool(engine: Engine) async throws {
        let store = try store(engine)
        let (write, goOn) = await paused { pause in try await store.write { _ in pause() } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await store.write { try $0.execute("INSERT INTO t VALUES (?)", [number]) } }
            }
            group.addTask {
                try await Task.sleep(for: .milliseconds(50))
                #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
                goOn.signal()
            }
            try await group.waitForAll()
        }
        try await write.value
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 50)
    }

    @Test(arguments: apiEngines) func cancellingATaskEndsItsStatement(engine: Engine) async throws {
        let store = try store(engine)
        let read = Task { try await store.read { try $0.queryValue(Self.endless) } }
        let write = Task {
            try await store.write { connection in
                try connection.execute("INSERT INTO t VALUES (1)")
                _ = try connection.queryValue(Self.endless)
            }
        }
        try await Task.sleep(for: .milliseconds(100))
        read.cancel()
        write.cancel()
        await #expect(throws: CancellationError.self) { _ = try await read.value }
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
        // The connections serve on.
        try await store.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try await store.read { try $0.queryValue("SELECT a FROM t") } == 2)
    }

    /// SQLite forgets an interrupt that comes before the first step.
    @Test(arguments: apiEngines) func aStatementThatBeginsAfterTheCancellationEnds(engine: Engine) async throws {
        let store = try store(engine)
        let (read, goOn) = await paused { pause in
            try await store.read { connection in
                let statement = try connection.prepare(Self.endless)
                pause()
                _ = try statement.step()
            }
        }
        read.cancel()
        goOn.signal()
        await #expect(throws: CancellationError.self) { try await read.value }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
    }

    @Test(arguments: apiEngines) func aTaskCancelledInAClosureCommitsNothing(engine: Engine) async throws {
        let store = try store(engine)
        let (write, goOn) = await paused { pause in
            try await store.write { connection in
                try connection.execute("INSERT INTO t VALUES (1)")
                pause()
            }
        }
        // One that waits in line is out of it at once.
        let waiting = Task { try await store.write { try $0.execute("INSERT INTO t VALUES (2)") } }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        write.cancel()
        goOn.signal()
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
    }

    @Test(arguments: apiEngines) func aTaskWaitsForAWriterAsLongAsAsked(engine: Engine) async throws {
        let store = try store(engine, busy: .milliseconds(100))
        let (write, goOn) = await paused { pause in try await store.write { _ in pause() } }
        let start = ContinuousClock.now
        let error = await #expect(throws: DatabaseError.self) {
            try await store.write { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.code == .busy)
        #expect(ContinuousClock.now - start >= .milliseconds(75))
        goOn.signal()
        try await write.value
        try await store.write { try $0.execute("INSERT INTO t VALUES (1)") }
    }

    /// SQLite's wait for a lock ends for nothing but its timeout.
    @Test(arguments: apiEngines) func aCancelledTaskWaitsForNoLockOfAnotherStore(engine: Engine) async throws {
        let long = Duration.seconds(300)
        let (holder, store) = (try store(engine), try store(engine, busy: long))
        let hasty = try self.store(engine, busy: .milliseconds(500))
        let (second, third) = (try self.store(engine, busy: long), try self.store(engine, busy: long))
        let (write, goOn) = await paused { pause in try await holder.write { _ in pause() } }
        let waiting = Task { try await store.write { try $0.execute("INSERT INTO t VALUES (1)") } }
        try await Task.sleep(for: .milliseconds(50))
        // Nor one without a transaction around it.
        let bare = Task { try await second.withConnection { try $0.execute("INSERT INTO t VALUES (1)") } }
        let prepared = Task { try await third.withConnection { try $0.prepare("INSERT INTO t VALUES (1)").run() } }
        try await Task.sleep(for: .milliseconds(50))
        let start = ContinuousClock.now
        for task in [waiting, bare, prepared] {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(ContinuousClock.now - start < .seconds(100))
        // One that is not cancelled waits as long as asked.
        let asked = ContinuousClock.now
        let error = await #expect(throws: DatabaseError.self) { try await hasty.write { _ in } }
        #expect(error?.code == .busy)
        #expect(ContinuousClock.now - asked >= .milliseconds(450))
        let alone = ContinuousClock.now
        let refused = await #expect(throws: DatabaseError.self) {
            try await hasty.withConnection { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(refused?.code == .busy)
        #expect(ContinuousClock.now - alone >= .milliseconds(450))
        goOn.signal()
        try await write.value
        try await hasty.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try await store.read { try $0.queryValue("SELECT a FROM t") } == 2)
        #expect(try await hasty.withConnection { try $0.queryValue("PRAGMA busy_timeout") } == 500)
    }

    /// The timeout is known without asking, until the application sets it.
    @Test(arguments: apiEngines) func aTimeoutThatTheApplicationSetsHoldsForTasks(engine: Engine) async throws {
        let (holder, store) = (try store(engine), try store(engine))
        let timeout = { @Sendable (connection: Connection) in try connection.queryValue("PRAGMA busy_timeout") }
        try await store.withConnection { connection in
            for milliseconds in [700, 300] {
                let set = try connection.prepare("PRAGMA \"busy_Timeout\" = \(milliseconds)")
                for _ in 0..<2 { try set.run() }
                #expect(try timeout(connection) == .integer(Int64(milliseconds)))
            }
            try connection.execute("INSERT INTO t VALUES (1)")
            #expect(try timeout(connection) == 300)
        }
        let (write, goOn) = await paused { pause in try await holder.write { _ in pause() } }
        for bare in [false, true] {
            let asked = ContinuousClock.now
            let error = await #expect(throws: DatabaseError.self) {
                let insert = { @Sendable (connection: Connection) in try connection.execute("INSERT INTO t VALUES (2)")
                }
                if bare { try await store.withConnection(insert) } else { try await store.write(insert) }
            }
            #expect(error?.code == .busy)
            #expect((.milliseconds(250) ..< .seconds(10)).contains(ContinuousClock.now - asked))
            #expect(try await store.withConnection(timeout) == 300)
        }
        goOn.signal()
        try await write.value
    }

    @Test(arguments: apiEngines) func aClosureMayCloseItsConnection(engine: Engine) async throws {
        let store = try store(engine, readers: 1)
        try await store.withConnection { $0.close() }
        try await store.write { try $0.execute("INSERT INTO t VALUES (3)") }
        _ = try? await store.read { $0.close() }
        #expect(try await store.read { try $0.queryValue("SELECT a FROM t") } == 3)
    }

    @Test(arguments: apiEngines) func aClosedStoreRefusesTasks(engine: Engine) async throws {
        let store = try store(engine)
        store.close()
        let error = await #expect(throws: DatabaseError.self) { try await store.read { _ in } }
        #expect(error?.code == .misuse)
    }

    // MARK: What leaves its closure

    @Test(arguments: apiEngines) func whatLeavesItsClosureIsRefused(engine: Engine) throws {
        let store = try store(engine)
        try store.write { try $0.execute("INSERT INTO t VALUES (7)") }
        // Not Sendable, and nothing crosses a boundary.
        let connection = try store.read { $0 }
        #expect(try databaseError { try connection.execute("SELECT 1") }?.code == .misuse)
        #expect(
            try databaseError { _ = try connection.query("SELECT 1") }?.message
                == "the connection to \(folder.path()) is used outside the closure that it was given to")
        let statement = try store.read { connection in
            let statement = try connection.prepare("SELECT a FROM t")
            #expect(try statement.step())
            return statement
        }
        #expect(statement.isNull(at: 0) && statement.columnCount == 0 && statement.columnNames.isEmpty)
        #expect(try databaseError { _ = try statement.step() }?.code == .misuse)
        #expect(try databaseError { try statement.bind(1, at: 1) }?.code == .misuse)
        statement.clearBindings()
        statement.reset()
        #expect(try databaseError { try connection.backup(to: folder.path("copy")) }?.code == .misuse)
        #expect(try databaseError { try connection.withTransaction {} }?.code == .misuse)
        let cursor = try store.read { try $0.cursor("SELECT a FROM t", as: Int.self) }
        #expect(try databaseError { _ = try cursor.next() }?.code == .misuse)
        // What was kept holds no snapshot, and no connection: there are as many as before.
        try store.write { try $0.execute("DROP TABLE t") }
        let kept = try (0..<5).map { _ in try store.read { $0 } }
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM sqlite_schema") } == 0)
        #expect(kept.allSatisfy { !$0.isInTransaction })
    }

    @Test(arguments: apiEngines) func aConnectionThatIsNotKeptIsUsedAgainWithItsStatements(engine: Engine) throws {
        let store = try store(engine, readers: 1)
        func handles() throws -> (ObjectIdentifier, OpaquePointer) {
            try store.read { (ObjectIdentifier($0), try $0.prepare("SELECT a FROM t").handle) }
        }
        let (first, second) = (try handles(), try handles())
        #expect(first == second)
        // One that was kept is another object, and has the statements all the same.
        let kept = try store.read { $0 }
        let third = try handles()
        #expect(third.1 == first.1 && third.0 != ObjectIdentifier(kept))
    }

    @Test(arguments: apiEngines) func anEmptyReadPreparesNothing(engine: Engine) throws {
        let store = try store(engine, readers: 1)
        for _ in 0..<10 { try store.read { _ in } }
        let runs = try store.read { connection in
            var runs: [String: Int32] = [:]
            var statement = sqlite3_next_stmt(connection.handle, nil)
            while let current = statement {
                runs[String(cString: sqlite3_sql(current))] = sqlite3_stmt_status(current, SQLITE_STMTSTATUS_RUN, 0)
                statement = sqlite3_next_stmt(connection.handle, current)
            }
            return runs
        }
        #expect(runs["BEGIN DEFERRED"] == 11)
        #expect(runs["COMMIT"] == 10)
    }
}
