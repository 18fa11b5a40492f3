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
        // Otherwise a file of that name, in whatever folder the program runs.
        let file = try databaseError { _ = try Store(path: ":memory:", engine: .lmdb) }
        #expect(file?.message.contains("engine lmdb keeps files: name one") == true)
        let cut = try databaseError { _ = try Store(path: folder.path("a") + "\0b") }
        #expect(cut?.message.hasPrefix("a path holds a NUL") == true)
        #expect(!FileManager.default.fileExists(atPath: folder.path("a")))
    }

    /// What cannot be opened is named, with what to do about it.
    @Test(arguments: apiEngines) func whatCannotBeOpenedIsToldWithTheCure(engine: Engine) throws {
        func message(_ path: String, _ options: StoreOptions = StoreOptions()) throws -> String {
            let error = try databaseError { _ = try Store(path: path, engine: engine, options: options) }
            #expect(error?.message.contains(path) == true && error?.sql == nil)
            return error?.message ?? "none"
        }
        #expect(try message(folder.path("no/such/file")).contains("make"))
        #expect(try message(folder.url.path).contains("it is a directory"))
        var options = StoreOptions()
        options.readOnly = true
        #expect(try message(folder.path("none"), options).lowercased().contains("no such file"))
        try Data(repeating: 0x20, count: 9000).write(to: folder.url.appendingPathComponent("text"))
        #expect(try message(folder.path("text")).contains("name another file"))
        for other in apiEngines where other != engine {
            let path = folder.path("of-\(other)")
            try Store(path: path, engine: other).write { try $0.execute("CREATE TABLE t (a)") }
            // A store of engine sqlite-btree is a SQLite database.
            if engine == .sqlite && other == "sqlite-btree" { continue }
            #expect(
                try message(path)
                    == "\(path) is a file of engine \(other), not of \(engine): open it without naming an engine")
        }
        let store = try Store(path: folder.path("a"), engine: engine)
        for copy in [store.backup(to:), { try store.copy(to: $0, engine: engine) }] as [(String) throws -> Void] {
            let error = try databaseError { try copy(folder.path("no/such/copy")) }
            let directory = folder.path("no/such")
            #expect(
                error?.message == "cannot make \(directory)/copy: there is no directory \(directory); make it first")
        }
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
        let stopped = Progress(totalUnitCount: 1)
        stopped.cancel()
        await #expect(throws: CancellationError.self) { try await store.backup(to: none, reporting: stopped) }
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

    /// Whatever a store makes of a text, and whoever lets go of the statement in the middle.
    @Test(arguments: apiEngines) func slowStatementsAreToldAsTheyWereWritten(engine: Engine) throws {
        let slow = Collected<String>()
        var options = StoreOptions(durability: .off)
        options.slowStatement = SlowStatementHook(over: .nanoseconds(-1)) { sql, _ in slow.add(sql) }
        let store = try Store(path: folder.path(), engine: engine, options: options)
        let texts = [
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b)", "INSERT INTO t (b) VALUES (1), (2) RETURNING a",
            "UPDATE t SET b = (SELECT max(b) FROM t)", "DELETE FROM t WHERE a IN (SELECT a FROM t LIMIT 1)",
        ]
        // One that left its closure belongs to the next connection object, which is told of all the same.
        let kept = try store.write { $0 }
        try store.write { connection in
            for text in texts { try connection.execute(text) }
            let rows = try connection.cursor("SELECT b, a FROM t")
            _ = try rows.next()
        }
        for text in texts + ["SELECT b, a FROM t"] { #expect(slow.all.contains(text), "\(text)") }
        withExtendedLifetime(kept) {}
    }

    @Test(arguments: apiEngines) func aWriterWaitsForOneOfAnotherProcess(engine: Engine) throws {
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = .milliseconds(200)
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.write { try $0.execute("CREATE TABLE t (a)") }
        let process = program("rootstock-process", [engine.name, folder.path(), "hold"])
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        #expect(output.fileHandleForReading.availableData == Data("held\n".utf8))
        let start = ContinuousClock.now
        #expect(try databaseError { try store.write { try $0.execute("INSERT INTO t VALUES (1)") } }?.code == .busy)
        #expect(ContinuousClock.now - start >= .milliseconds(150))
        #expect(try store.read { try $0.queryValue("SELECT count(*) FROM t") } == 0)
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        try store.write { try $0.execute("INSERT INTO t VALUES (1)") }
    }
}
