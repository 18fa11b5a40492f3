// OpeningTests.swift - what opening finds out by itself, copies of a store in use, and the hook for slow statements.

import Foundation
import Rootstock
import TestSupport
import Testing

@Suite struct OpeningTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    @Test func theFileTellsItsEngineAndANewOneItsName() throws {
        for (name, engine) in [("a.sqlite", Engine.sqlite), ("b.db", .sqlite), ("c.store", .lmdb), ("d", .lmdb)] {
            let store = try Store(path: folder.path(name))
            #expect(store.engine == engine, "\(name)")
            try store.write { try $0.execute("CREATE TABLE t (a)") }
        }
        for engine in apiEngines {
            let path = folder.path("odd-\(engine).sqlite")
            let first = try Store(path: path, engine: engine)
            try first.write { try $0.execute("CREATE TABLE t (a)") }
            first.close()
            #expect(try Store(path: path).engine == engine)
            #expect(try Connection(path: path).engine == engine)
        }
        #expect(try Store(path: ":memory:").engine == .sqlite)
    }

    @Test func aURLIsAPath() throws {
        let url = folder.url.appendingPathComponent("with space.sqlite")
        try Store(url: url).write { try $0.execute("CREATE TABLE t (a)") }
        #expect(FileManager.default.fileExists(atPath: url.path))
        #expect(try Connection(url: url).queryValue("SELECT count(*) FROM t") == 0)
        #expect(try databaseError { _ = try Store(url: URL(string: "https://example.org/a")!) }?.code == .misuse)
    }

    @Test func aNewDatabaseIsInWALAndAnExistingOneIsLeftAlone() throws {
        func mode(_ name: String) throws -> Value? {
            try Store(path: folder.path(name)).withConnection { try $0.queryValue("PRAGMA journal_mode") }
        }
        #expect(try mode("new.sqlite") == "wal")
        var options = StoreOptions()
        options.native.journalMode = .delete
        let old = try Store(path: folder.path("old.sqlite"), options: options)
        try old.write { try $0.execute("CREATE TABLE t (a)") }
        old.close()
        #expect(try mode("old.sqlite") == "delete")
        #expect(try Store(path: ":memory:").withConnection { try $0.queryValue("PRAGMA journal_mode") } == "memory")
    }

    @Test(arguments: apiEngines) func aTaskCopiesAStoreInUse(engine: Engine) async throws {
        let store = try Store(path: folder.path(), engine: engine, options: StoreOptions(durability: .off))
        try await store.write {
            try $0.executeScript(
                """
                CREATE TABLE t (a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO t SELECT randomblob(500) FROM n
                """)
        }
        let progress = Progress(totalUnitCount: 1)
        let copy = folder.path("copy")
        try await store.backup(to: copy, reporting: progress)
        #expect(progress.fractionCompleted == 1 && progress.totalUnitCount > 1_000_000)
        #expect(try await Store(path: copy).read { try $0.queryValue("SELECT count(*) FROM t") } == 2000)
        let none = folder.path("none")
        let cancelled = Task {
            while !Task.isCancelled { await Task.yield() }
            try await store.backup(to: none)
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.hasPrefix("none") })
    }

    @Test(arguments: apiEngines) func slowStatementsAreTold(engine: Engine) throws {
        let slow = Collected<String>()
        var options = StoreOptions(durability: .off)
        options.slowStatement = SlowStatementHook(over: .milliseconds(20)) { sql, time in
            if time > .milliseconds(20) { slow.add(sql) }
        }
        let store = try Store(path: folder.path(), engine: engine, options: options)
        let long =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT max(i) FROM n"
        #expect(try store.read { try $0.queryValue(long) } == 1_000_000)
        #expect(slow.all.contains(long))
        #expect(!slow.all.contains("BEGIN DEFERRED"))
    }
}
