// CopyTests.swift - copies from engine to engine, and what a store tells its log.

import Foundation
import Rootstock
import TestSupport
import Testing

@Suite struct CopyTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    static let pairs = apiEngines.flatMap { from in apiEngines.map { (from, $0) } }

    func library(_ engine: Engine, rows: Int = 3000, log: LogHook? = nil) throws -> Store {
        var options = StoreOptions(durability: .off)
        options.functions = [SQLFunction("shout", isDeterministic: true) { (text: String) in text.uppercased() }]
        options.log = log
        let store = try Store(path: folder.path("library"), engine: engine, options: options)
        try store.write {
            try $0.executeScript(
                """
                CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE);
                CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author INTEGER REFERENCES author, weight, cover BLOB);
                CREATE TABLE word (word TEXT PRIMARY KEY, n) WITHOUT ROWID;
                CREATE INDEX bookTitle ON book (title) WHERE weight > 1;
                CREATE VIEW loud AS SELECT shout(title) AS title FROM book;
                CREATE TRIGGER noted AFTER INSERT ON author BEGIN INSERT OR IGNORE INTO word VALUES (new.name, 1); END;
                INSERT INTO author (name) VALUES ('Ursula'), ('Stanislaw'), ('gone');
                DELETE FROM author WHERE name = 'gone';
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                    INSERT INTO book SELECT i, 'Book ' || i, i % 2 + 1, i * 0.5, randomblob(20) FROM n;
                PRAGMA user_version = 7;
                """)
        }
        return store
    }

    @Test(arguments: pairs) func theCopyHoldsWhatTheStoreHolds(from: Engine, to: Engine) async throws {
        let store = try library(from)
        let progress = Progress(totalUnitCount: 1)
        let report = try await store.copy(
            to: folder.path("copy"), engine: to, options: StoreOptions(durability: .off), reporting: progress)
        #expect(report.rows == 3005 && report.skipped.isEmpty)
        #expect(report.tables.map(\.name) == ["author", "book", "word"])
        #expect(progress.fractionCompleted == 1 && progress.totalUnitCount == 2 * 3005)
        var options = StoreOptions()
        options.functions = store.options.functions
        let copy = try Store(path: folder.path("copy"), options: options)
        #expect(copy.engine == to)
        for sql in [
            "SELECT group_concat(quote(cover) || title || weight) FROM book", "SELECT max(title) FROM loud",
            "SELECT group_concat(word) FROM word",
        ] {
            let held = try await store.read { try $0.queryValue(sql) }
            #expect(try await copy.read { try $0.queryValue(sql) } == held, "\(sql)")
        }
        try await copy.write { connection in
            let faults = try connection.integrityFaults()
            #expect(faults.isEmpty)
            let version = try connection.queryValue("PRAGMA user_version")
            #expect(version == 7)
            let id = try connection.insert(into: "author", values: ["name": "Arkadi"])
            #expect(id == 4)
        }
    }

    @Test func withoutAnEngineTheNameTellsIt() throws {
        let store = try library(.lmdb, rows: 3)
        try store.copy(to: folder.path("copy.sqlite"))
        let copy = try Store(path: folder.path("copy.sqlite"))
        #expect(copy.engine == .sqlite)
        #expect(try copy.withConnection { try $0.queryValue("PRAGMA journal_mode") } == "wal")
        let error = try databaseError { try store.copy(to: folder.path("copy.sqlite")) }
        #expect(error?.message.hasPrefix("output file already exists: remove ") == true)
        #expect(try databaseError { try store.copy(to: folder.path("none"), engine: .memory) }?.code == .error)
        #expect(try copy.read { try $0.queryValue("SELECT count(*) FROM book") } == 3)
    }

    /// What another connection commits meanwhile is in none of it.
    @Test(arguments: apiEngines) func aCopyIsOfOneSnapshot(engine: Engine) async throws {
        let store = try library(engine, rows: 20_000)
        let (path, progress) = (folder.path("copy"), Progress(totalUnitCount: 1))
        let copying = Task { try await store.copy(to: path, engine: .lmdb, reporting: progress) }
        while progress.completedUnitCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        // Native SQLite in its rollback journal would wait for the copy: a store that it makes is in WAL.
        try await store.write { try $0.executeScript("DELETE FROM book; DELETE FROM word") }
        #expect(try await copying.value.rows == 20_005)
    }

    @Test(arguments: pairs) func aCancelledCopyLeavesNothing(from: Engine, to: Engine) async throws {
        let store = try library(from, rows: 50_000)
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.hasPrefix("none") }
        }
        let (path, seen) = (folder.path("none"), HeldProgress(totalUnitCount: 1))
        let task = Task { try await store.copy(to: path, engine: to, reporting: seen) }
        // A busy machine could copy all of it before the test goes on: it waits in its first step.
        while seen.completedUnitCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        seen.goOn.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try files().isEmpty)
        let cancelled = Progress(totalUnitCount: 1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) {
            try await store.copy(to: path, engine: to, reporting: cancelled)
        }
        #expect(try files().isEmpty)
        #expect(try await store.read { try $0.queryValue("SELECT count(*) FROM book") } == 50_000)
    }

    @Test(arguments: apiEngines) func aStoreTellsItsLog(engine: Engine) throws {
        let entries = Collected<LogEntry>()
        let store = try library(engine, rows: 2, log: LogHook { entries.add($0) })
        var migrator = Migrator()
        migrator.register("one") { try $0.execute("CREATE TABLE one (a)") }
        try migrator.migrate(store)
        try migrator.migrate(store)
        let error = try databaseError {
            try store.write { try $0.execute("INSERT INTO author (name) VALUES (?)", ["Ursula"]) }
        }
        #expect(error?.code == .constraint)
        _ = try databaseError { try store.read { _ = try $0.query("SELECT * FROM nowhere") } }
        try store.copy(to: folder.path("copy"), engine: .sqlite)
        try store.backup(to: folder.path("backup"))
        store.close()
        #expect(
            entries.all.map(\.message) == [
                "store opened", "migration ran", "statement failed", "statement failed", "copy made", "backup made",
                "store closed",
            ])
        #expect(entries.all.map(\.level) == [.debug, .info, .warning, .warning, .info, .info, .debug])
        #expect(entries.all[1].metadata["migration"] == "one")
        #expect(entries.all[2].metadata["reason"] == "UNIQUE constraint failed: author.name")
        #expect(entries.all[2].metadata["sql"] == "INSERT INTO author (name) VALUES (?)")
        #expect(entries.all[3].metadata["reason"] == "no such table: nowhere")
        #expect(!entries.all.contains { "\($0.metadata)".contains("VALUES ('Ursula')") })
        #expect(entries.all.allSatisfy { $0.metadata["path"] == store.path })
    }
}

/// Holds whoever reports the first step until it may go on. Unchecked: `Progress` locks its counts, and a semaphore is safe.
private final class HeldProgress: Progress, @unchecked Sendable {
    let goOn = DispatchSemaphore(value: 0)

    override var completedUnitCount: Int64 {
        didSet { if oldValue == 0 && completedUnitCount > 0 { goOn.wait() } }
    }
}
