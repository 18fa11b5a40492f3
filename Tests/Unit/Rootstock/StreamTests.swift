// StreamTests.swift - the rows of a query as an asynchronous sequence, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct StreamTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    static let silent = endless + " WHERE i < 0"

    func store(_ engine: Engine) throws -> Store {
        var options = StoreOptions(durability: .off, native: .wal)
        options.readerConnections = 1
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.write { connection in
            try connection.execute("CREATE TABLE t (a INTEGER PRIMARY KEY)")
            for number in 1...250 { try connection.execute("INSERT INTO t VALUES (?)", [number]) }
        }
        return store
    }

    @Test(arguments: apiEngines) func rowsComeInOrderAndFromOneSnapshot(engine: Engine) async throws {
        let store = try store(engine)
        for count in [0, 1, 99, 100, 101, 200, 250] {
            var numbers: [Int] = []
            let rows = store.stream("SELECT a FROM t WHERE a <= ? ORDER BY a", [count], as: Int.self)
            for try await number in rows {
                if number == 1, count == 250 { try await store.write { try $0.execute("DELETE FROM t") } }
                numbers.append(number)
            }
            #expect(numbers == Array(1..<(count + 1)))
        }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
    }

    /// There is one reading connection, so that each read waits until the stream before it has given it back.
    @Test(arguments: apiEngines) func aStreamEndsWithItsLoopItsErrorAndItsTask(engine: Engine) async throws {
        let store = try store(engine)
        for try await number in store.stream(Self.endless, as: Int.self) where number == 1000 { break }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 250)
        await #expect(throws: DatabaseError.self) {
            for try await _ in store.stream("SELECT a FROM t UNION ALL SELECT 'x'", as: Int.self) {}
        }
        await #expect(throws: DatabaseError.self) {
            for try await _ in store.stream("SELECT b FROM t", as: Int.self) {}
        }
        let task = Task { for try await _ in store.stream(Self.endless, as: Int.self) {} }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 250)
        // One that has no row to hand over is interrupted.
        let silent = Task { for try await _ in store.stream(Self.silent, as: Int.self) {} }
        try await Task.sleep(for: .milliseconds(50))
        silent.cancel()
        await #expect(throws: CancellationError.self) { try await silent.value }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 250)
    }
}
