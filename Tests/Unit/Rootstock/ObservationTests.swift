// ObservationTests.swift - who is told of which commits, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct ObservationTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    func store(_ engine: Engine, busy: Duration = .seconds(5)) throws -> Store {
        var options = StoreOptions(durability: .off, native: .wal)
        options.busyTimeout = busy
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.withConnection {
            try $0.executeScript(
                """
                CREATE TABLE IF NOT EXISTS book (id INTEGER PRIMARY KEY, title TEXT);
                CREATE TABLE IF NOT EXISTS word (word TEXT PRIMARY KEY) WITHOUT ROWID;
                CREATE TABLE IF NOT EXISTS other (a);
                CREATE VIEW IF NOT EXISTS titles AS SELECT title FROM book;
                """)
        }
        return store
    }

    /// How many elements `changes` gives up to the end of `body`, and a while after it: until there are as many as `wanted`, at most a
    /// minute on a busy machine.
    func told(_ store: Store, of tables: Set<String>?, wanted: Int = 0, _ body: () async throws -> Void) async throws
        -> Int
    {
        let changes = store.changes(of: tables)
        let counter = Counter()
        let task = Task { for await _ in changes { counter.add() } }
        while counter.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
        try await body()
        let deadline = ContinuousClock.now + .seconds(60)
        while counter.count - 1 < wanted, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        // Longer than the store waits between two looks for commits of others.
        if wanted == 0 { try await Task.sleep(for: .milliseconds(700)) }
        task.cancel()
        return counter.count - 1
    }

    final class Counter: @unchecked Sendable {  // its lock
        private let lock = NSLock()
        private var number = 0
        func add() { lock.withLock { number += 1 } }
        var count: Int { lock.withLock { number } }
    }

    @Test(arguments: apiEngines) func aCommitIsToldToThoseOfItsTables(engine: Engine) async throws {
        let store = try store(engine)
        // Whoever begins while the writer is at work may be told once too often: on a busy machine the last one's look for commits is.
        var (one, none) = (0, 0)
        for _ in 1...5 where one != 1 {
            one = try await told(store, of: ["BOOK"]) {
                try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('a')") }
            }
            #expect(one >= 1)
        }
        #expect(one == 1)
        for turn in 1...5 where turn == 1 || none != 0 {
            none = try await told(store, of: ["book"]) {
                try await store.write { try $0.execute("INSERT INTO other VALUES (1)") }
                try await store.write { try $0.execute("UPDATE book SET title = 'b' WHERE id = 99") }
                _ = try await store.read { try $0.query("SELECT * FROM book") }
            }
        }
        #expect(none == 0)
        for sql in ["DELETE FROM book", "INSERT INTO word VALUES ('w')", "CREATE TABLE IF NOT EXISTS new (a)"] {
            let some = try await told(store, of: sql.contains("word") ? ["word"] : ["book"]) {
                try await store.write { connection in
                    if sql.hasPrefix("DELETE") {
                        try connection.execute("INSERT INTO book (title) VALUES ('c'), ('d')")
                    }
                    try connection.execute(sql)
                }
            }
            #expect(some >= 1, "\(sql)")
        }
    }

    @Test(arguments: apiEngines) func commitsOfOtherStoresAreFound(engine: Engine) async throws {
        let (store, other) = try (store(engine), store(engine))
        let found = try await told(store, of: ["book"], wanted: 1) {
            try await other.write { try $0.execute("INSERT INTO book (title) VALUES ('a')") }
        }
        #expect(found >= 1)
    }

    @Test(arguments: apiEngines) func commitsOfOtherProcessesAreFound(engine: Engine) async throws {
        let store = try store(engine)
        var titles = store.observe { try $0.query("SELECT title FROM book", as: String.self) }.makeAsyncIterator()
        #expect(try await titles.next() == [])
        let found = try await told(store, of: ["book"], wanted: 1) {
            let process = program("rootstock-process", [engine.name, folder.path(), "write", "theirs"])
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(found >= 1)
        #expect(try await titles.next() == ["theirs"])
    }

    /// A closure that reads another table than the last time hears of that one, from the moment at which it read it.
    @Test(arguments: apiEngines) func theTablesAreThoseOfTheLastRun(engine: Engine) async throws {
        let store = try store(engine)
        let runs = Counter()
        var counts = store.observe { connection -> Int in
            runs.add()
            if runs.count == 1 { return try connection.queryOne("SELECT count(*) FROM book", as: Int.self) ?? -1 }
            let count = try connection.queryOne("SELECT count(*) FROM other", as: Int.self) ?? -1
            // Somebody commits while it reads, as another thread might.
            if runs.count == 2 { try store.write { try $0.execute("INSERT INTO other VALUES (1)") } }
            return count
        }.makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('a')") }
        #expect(try await counts.next() == 0)
        #expect(try await counts.next() == 1)
        try await store.write { try $0.execute("INSERT INTO other VALUES (2)") }
        #expect(try await counts.next() == 2)
    }

    @Test(arguments: apiEngines) func observersEndWithTheirStore(engine: Engine) async throws {
        let store = try store(engine)
        var counts = store.observe { try $0.queryValue("SELECT count(*) FROM book") }.makeAsyncIterator()
        var changes = store.changes().makeAsyncIterator()
        #expect(try await counts.next() == 0)
        #expect(await changes.next() != nil)
        store.close()
        #expect(try await counts.next() == nil)
        while await changes.next() != nil {}
        var late = store.changes().makeAsyncIterator()
        while await late.next() != nil {}
        // One that nobody refers to any more has ended, too.
        var orphans = try self.store(engine).changes().makeAsyncIterator()
        while await orphans.next() != nil {}
    }

    /// SQLite's authorizer does not hear of a table of which only the columns of USING are read.
    @Test(arguments: apiEngines) func aTableThatIsOnlyJoinedIsObserved(engine: Engine) async throws {
        let store = try store(engine)
        try await store.write {
            try $0.executeScript(
                """
                INSERT INTO book VALUES (1, 'a'), (2, 'b');
                CREATE TABLE lent (title TEXT, id INTEGER);
                CREATE VIEW away AS SELECT book.title FROM book JOIN lent USING (id);
                """)
        }
        for sql in [
            "SELECT book.id FROM book JOIN lent USING (title)", "SELECT title FROM away", "SELECT 1 FROM away",
            "SELECT book.id FROM book NATURAL JOIN lent",
        ] {
            try await store.write { try $0.execute("DELETE FROM lent") }
            var counts = store.observe { try $0.query(sql).count }.makeAsyncIterator()
            #expect(try await counts.next() == 0)
            try await store.write { try $0.execute("INSERT INTO lent VALUES ('a', 1)") }
            var count = try await counts.next()
            if count == 0 { count = try await counts.next() }
            #expect(count == 1, "\(sql)")
        }
    }

    @Test(arguments: apiEngines) func aQueryIsObservedByTheTablesThatItReads(engine: Engine) async throws {
        let store = try store(engine)
        var values = store.observe { try $0.query("SELECT title FROM titles ORDER BY 1", as: String.self) }
            .makeAsyncIterator()
        #expect(try await values.next() == [])
        try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('a')") }
        #expect(try await values.next() == ["a"])
        // What the view does not read brings no element: the next one is the rows of both changes.
        try await store.write { try $0.execute("INSERT INTO other VALUES (1)") }
        try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('b')") }
        try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('c')") }
        #expect(try await values.next() == ["a", "b", "c"])
        // A query that a store answers without its rows is observed all the same.
        var counts = store.observe { try $0.queryValue("SELECT count(*) FROM book") }.makeAsyncIterator()
        #expect(try await counts.next() == 3)
        try await store.write { try $0.execute("INSERT INTO book (title) VALUES ('b')") }
        #expect(try await counts.next() == 4)
        #expect(try await values.next() == ["a", "b", "b", "c"])
        // The kept statement hears of its tables again.
        try await store.write { try $0.execute("DELETE FROM book WHERE title = 'b'") }
        #expect(try await values.next() == ["a", "c"])
    }

    /// Readers wait for no writer, and those that observe do not either. What others commit meanwhile is found after it.
    @Test(arguments: apiEngines) func anObservationBeginsBesideAWriter(engine: Engine) async throws {
        let (store, other) = try (store(engine, busy: .seconds(300)), store(engine))
        let (write, goOn) = await paused { pause in try await store.withConnection { _ in pause() } }
        let start = ContinuousClock.now
        var titles = store.observe { try $0.query("SELECT title FROM book", as: String.self) }.makeAsyncIterator()
        #expect(try await titles.next() == [])
        #expect(ContinuousClock.now - start < .seconds(100))
        try await other.write { try $0.execute("INSERT INTO book (title) VALUES ('a')") }
        goOn.signal()
        try await write.value
        var last = try await titles.next()
        while last == [] { last = try await titles.next() }
        #expect(last == ["a"])
    }

    @Test(arguments: apiEngines) func anObservationEndsWithItsTask(engine: Engine) async throws {
        let store = try store(engine)
        let counter = Counter()
        let task = Task {
            for try await _ in store.observe({ try $0.queryValue("SELECT count(*) FROM book") }) { counter.add() }
        }
        while counter.count == 0 { try await Task.sleep(for: .milliseconds(5)) }
        task.cancel()
        try await task.value
        #expect(counter.count == 1)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            for try await _ in store.observe({ _ throws -> Int in throw Stop() }) {}
        }
    }
}
