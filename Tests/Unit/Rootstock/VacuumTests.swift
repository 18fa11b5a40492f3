// VacuumTests.swift - VACUUM and backups of a store that others are using meanwhile.

import Foundation
import Rootstock
import Testing

@Suite struct VacuumTests {
    static let engines: [Engine] = [.sqlite, .lmdb, .memory, Engine(name: "sqlite-btree")]
    static let inFiles = engines.filter { $0 != .memory }
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func makeStore(_ engine: Engine, rows: Int = 3000) throws -> Store {
        let store = try Store(
            path: folder.path(), engine: engine, options: StoreOptions(durability: .off, native: .wal))
        try store.write { connection in
            try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB)")
            try connection.execute("CREATE INDEX i ON t (a)")
            try connection.execute(
                "INSERT INTO t (a, b) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'a' || i, zeroblob(400) FROM n",
                [Value(rows)])
            try connection.execute("DELETE FROM t WHERE id % 4 <> 0")
        }
        return store
    }

    private func bytes(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    @Test(arguments: engines) func connectionsGoOnInTheNewFile(_ engine: Engine) throws {
        let store = try makeStore(engine)
        let other = try Connection(path: folder.path(), engine: engine)
        let reading = try Connection(path: folder.path(), engine: engine)
        try #expect(other.queryValue("SELECT count(*) FROM t") == 750)
        let before = engine == .lmdb ? try bytes(folder.path()) : 0

        // A statement of another connection is between two rows meanwhile, and goes on to its end.
        let statement = try reading.prepare("SELECT id FROM t ORDER BY id")
        try #expect(statement.step())
        try store.withConnection { try $0.execute("VACUUM") }
        var rows = 1
        while try statement.step() { rows += 1 }
        #expect(rows == 750)

        if engine == .lmdb { try #expect(bytes(folder.path()) < before / 2) }
        for connection in [other, reading] {
            try #expect(connection.queryValue("SELECT count(*) FROM t WHERE a > ''") == 750)
            try connection.execute("INSERT INTO t (a) VALUES ('new')")
            try connection.execute("DELETE FROM t WHERE a = 'new'")
        }
        try other.execute("CREATE TABLE u (x)")
        try store.write { try $0.execute("INSERT INTO u VALUES (1)") }
        try #expect(reading.queryValue("SELECT x FROM u") == 1)
        try #expect(store.read { try $0.queryValue("SELECT count(*) FROM t") } == 750)
        try store.withConnection { try #expect($0.integrityFaults() == []) }
        try #expect(reading.storeInfo().tables.map(\.name).sorted() == ["t", "u"])
    }

    @Test(arguments: engines) func whatWasPreparedBeforeGoesOn(_ engine: Engine) throws {
        let store = try makeStore(engine)
        let other = try Connection(path: folder.path(), engine: engine)
        let select = try other.prepare("SELECT count(*) FROM t WHERE id < ?")
        let insert = try other.prepare("INSERT INTO t (a) VALUES (?)")
        for round in 1...3 {
            try insert.bind(["round \(round)"])
            _ = try insert.step()
            insert.reset()
            try store.withConnection { try $0.execute("VACUUM") }
            try select.bind([1_000_000])
            try #expect(select.step())
            #expect(select.int64(at: 0) == Int64(750 + round))
            select.reset()
        }
        try #expect(other.integrityFaults() == [])
    }

    /// A transaction that read before the VACUUM keeps its snapshot, and cannot write on top of it.
    @Test func aTransactionUnderWayKeepsItsSnapshot() throws {
        let store = try makeStore(.lmdb)
        let other = try Connection(path: folder.path(), engine: .lmdb)
        try other.execute("BEGIN")
        try #expect(other.queryValue("SELECT count(*) FROM t") == 750)
        try store.withConnection { try $0.execute("VACUUM") }
        try store.write { try $0.execute("DELETE FROM t") }
        try #expect(other.queryValue("SELECT count(*) FROM t") == 750)
        let error = try databaseError { try other.execute("INSERT INTO t (a) VALUES ('x')") }
        #expect(error?.code == .busy)
        try other.execute("ROLLBACK")
        try #expect(other.queryValue("SELECT count(*) FROM t") == 0)
        try other.execute("INSERT INTO t (a) VALUES ('x')")
        try #expect(store.read { try $0.queryValue("SELECT count(*) FROM t") } == 1)
    }

    @Test(arguments: engines) func refusals(_ engine: Engine) throws {
        let store = try makeStore(engine)
        try store.withConnection { connection in
            let statement = try connection.prepare("SELECT id FROM t")
            try #expect(statement.step())
            #expect(
                try databaseError { try connection.execute("VACUUM") }?.message
                    == "cannot VACUUM - SQL statements in progress")
            statement.reset()
            try connection.execute("BEGIN")
            #expect(
                try databaseError { try connection.execute("VACUUM") }?.message
                    == "cannot VACUUM from within a transaction")
            try connection.execute("ROLLBACK")
            try connection.execute("VACUUM")
        }
        let error = try databaseError { try store.read { try $0.execute("VACUUM") } }
        #expect(error != nil)
        if engine != .memory {
            var options = StoreOptions()
            options.readOnly = true
            store.close()
            let reader = try Connection(path: folder.path(), engine: engine, options: options)
            #expect(try databaseError { try reader.execute("VACUUM") }?.code == .readOnly)
        }
    }

    @Test(arguments: engines) func aWriterIsInTheWay(_ engine: Engine) throws {
        let store = try makeStore(engine, rows: 10)
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = .milliseconds(20)
        let other = try Connection(path: folder.path(), engine: engine, options: options)
        try store.write { _ in
            let error = try databaseError { try other.execute("VACUUM") }
            #expect(error?.code == .busy || engine == .memory)
        }
        try other.execute("VACUUM")
    }

    /// The busy timeout holds for what opens a savepoint of its own, and for the first write of a transaction.
    @Test(
        arguments: engines,
        ["VACUUM", "CREATE TABLE u (x)", "ANALYZE", "BEGIN; INSERT INTO t (a) VALUES ('x'); COMMIT"])
    func waitsForTheWriter(_ engine: Engine, sql: String) async throws {
        let store = try makeStore(engine, rows: 10)
        let path = folder.path()
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        async let writing: Void = Task.detached {
            try store.write { connection in
                try connection.execute("INSERT INTO t (a) VALUES ('first')")
                beginning.yield()
                usleep(150_000)
            }
        }.value
        for await _ in begun { break }
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = .seconds(20)
        let other = try Connection(path: path, engine: engine, options: options)
        try other.executeScript(sql)
        try await writing
        try #expect(other.queryValue("SELECT count(*) FROM t WHERE a = 'first'") == 1)
    }

    @Test func threadsWriteReadAndVacuum() async throws {
        let store = try makeStore(.lmdb, rows: 400)
        let path = folder.path()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    for number in 0..<60 {
                        try store.write {
                            try $0.execute("INSERT INTO t (a) VALUES (?)", ["w\(writer) \(number)"])
                        }
                    }
                    return 60
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<60 {
                        try store.read { connection in
                            let first = try connection.queryValue("SELECT count(*) FROM t WHERE a > ''")
                            let second = try connection.queryValue("SELECT count(*) FROM t")
                            #expect(first == second)
                        }
                    }
                    return 0
                }
            }
            group.addTask {
                let connection = try Connection(
                    path: path, engine: .lmdb, options: StoreOptions(durability: .off))
                for _ in 0..<25 { try connection.execute("VACUUM") }
                return 0
            }
            let written = try await group.reduce(0, +)
            #expect(written == 120)
        }
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM t") } == 220)
        try await store.withConnection { try #expect($0.integrityFaults() == []) }
    }

    @Test(arguments: inFiles) func aBackupIsTheLastCommit(_ engine: Engine) throws {
        let store = try makeStore(engine)
        let copy = folder.path("copy")
        try store.write { connection in
            try connection.execute("INSERT INTO t (a) VALUES ('not yet')")
            try store.backup(to: copy)
        }
        let copied = try Connection(path: copy, engine: engine)
        try #expect(copied.queryValue("SELECT count(*) FROM t") == 750)
        try #expect(copied.integrityFaults() == [])
        try copied.execute("INSERT INTO t (a) VALUES ('written')")
        copied.close()
        // Nothing is overwritten.
        let size = try bytes(copy)
        let error = try databaseError { try store.backup(to: copy) }
        #expect(error?.message.contains("output file already exists") == true)
        try #expect(bytes(copy) == size)
        #expect(try databaseError { try store.backup(to: folder.path("missing/copy")) }?.code == .cannotOpen)
        // By SQL, from an expression.
        try store.withConnection { try $0.execute("VACUUM INTO ? || '2'", [copy]) }
        try #expect(Connection(path: copy + "2", engine: engine).queryValue("SELECT count(*) FROM t") == 751)
    }

    @Test func memoryHasNoFiles() throws {
        let store = try makeStore(.memory)
        let error = try databaseError { try store.backup(to: folder.path("copy")) }
        #expect(error?.message == "engine memory has no files, and so no copies of them")
    }
}
