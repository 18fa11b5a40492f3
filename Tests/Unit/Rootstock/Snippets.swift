// Snippets.swift - the code of the articles, compiled. SnippetTests hold the articles against it, block by block.

import Foundation
import Rootstock

private struct Book: Codable, Sendable {
    var id: Int64?
    var title: String
    var published: Date?
}

private func gettingStarted(_ store: Store) async throws {
    do {
        let store = try Store(path: "library.store")
        _ = store
    }
    do {
        var migrator = Migrator()
        migrator.register("books") { connection in
            try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, published TEXT)")
        }
        try await migrator.migrate(store)
    }
    do {
        struct Book: Codable, Sendable {
            var id: Int64?
            var title: String
            var published: Date?
        }

        try await store.write { connection in
            try connection.insert(into: "book", values: Book(id: nil, title: "Sea", published: Date()))
        }
    }
    do {
        let books = try await store.read { connection in
            try connection.query("SELECT * FROM book WHERE title LIKE ?", ["S%"], as: Book.self)
        }
        _ = books
    }
    do {
        for try await titles in store.observe({ try $0.query("SELECT title FROM book", as: String.self) }) {
            print(titles)
        }
    }
    do {
        let migrator = Migrator()
        let store = try Store(path: "test of books", engine: .memory)
        try await migrator.migrate(store)
        try await store.write { try $0.insert(into: "book", values: Book(id: nil, title: "Sea", published: nil)) }
        let count = try await store.read { try $0.queryOne("SELECT count(*) FROM book", as: Int.self) }
        _ = count
    }
}

private func choosingAnEngine(_ store: Store) async throws {
    do {
        let native = try Store(path: "library.sqlite")
        let mapped = try Store(path: "library.store", engine: .lmdb)
        let scratch = try Store(path: "scratch", engine: .memory)
        _ = (native, mapped, scratch)
    }
    do {
        let progress = Progress(totalUnitCount: 1)
        let report = try await store.copy(to: "library.sqlite", reporting: progress)
        print("\(report.rows) rows in \(report.tables.count) tables")
    }
    do {
        var options = StoreOptions()
        options.native.journalMode = .delete
        let store = try Store(path: "library.sqlite", options: options)
        _ = store
    }
}

private func concurrency(_ store: Store) async throws {
    do {
        let books = try await store.read { try $0.query("SELECT title FROM book", as: String.self) }
        try await store.write { try $0.execute("DELETE FROM book") }
        _ = books
    }
    do {
        try await store.write { connection in
            let insert = try connection.prepare("INSERT INTO book (title) VALUES (?)")
            for number in 0..<1_000_000 {
                try connection.checkCancellation()
                try insert.bind("Book \(number)", at: 1)
                try insert.run()
            }
        }
    }
}

private func observing(_ store: Store) async throws {
    do {
        let titles = store.observe { try $0.query("SELECT title FROM book ORDER BY title", as: String.self) }
        for try await list in titles { print(list.count) }
    }
    do {
        for await _ in store.changes(of: ["book"]) { print("books changed") }
    }
}

private func migrations(_ store: Store) async throws {
    var migrator = Migrator()
    defer { _ = migrator }
    do {
        var migrator = Migrator()
        migrator.register("books") { connection in
            try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
        }
        migrator.register("isbn") { connection in
            try connection.execute("ALTER TABLE book ADD COLUMN isbn TEXT")
        }
        try await migrator.migrate(store)
    }
    do {
        #if DEBUG
            migrator.eraseOnSchemaChange = true
        #endif
    }
}
