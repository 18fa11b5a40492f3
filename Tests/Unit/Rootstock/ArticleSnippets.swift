// ArticleSnippets.swift - the code of the README and of the articles on stores and SQL, compiled. SnippetTests hold them against it.

import Foundation
import Rootstock
import RootstockMemory

private typealias ShelfEngine = MemoryEngine

private func readMe() throws {
    let store = try Store(path: "library.store", engine: .lmdb)
    try store.write { connection in  // BEGIN IMMEDIATE ... COMMIT
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS book (isbn TEXT PRIMARY KEY, title TEXT NOT NULL, lent INT DEFAULT 0)")
        try connection.execute(
            "INSERT INTO book (isbn, title) VALUES (?, ?) ON CONFLICT (isbn) DO UPDATE SET lent = lent + 1",
            ["1", "Solaris"])
    }
    let books = try store.read { connection in  // BEGIN ... COMMIT, one snapshot
        try connection.query("SELECT title, lent FROM book WHERE lent >= ?", [0]).map { row in
            try "\(row["title", as: String.self]), lent \(row["lent", as: Int.self]) times"
        }
    }
    print(books)
}

private func overview() throws {
    let store = try Store(path: "notes.store", engine: .lmdb)

    try store.write { connection in
        try connection.execute("CREATE TABLE IF NOT EXISTS note (title TEXT NOT NULL)")
        try connection.execute("INSERT INTO note (title) VALUES (?)", ["Bread"])
    }

    let titles = try store.read { connection in
        try connection.query("SELECT title FROM note ORDER BY title", as: String.self)
    }
    _ = titles
}

private func enginesAndStores() throws {
    do {
        let native = try Store(path: "library.sqlite")
        let mapped = try Store(path: "library.store", engine: .lmdb)
        let scratch = try Store(path: "scratch", engine: .memory)
        _ = (native, mapped, scratch)
    }
    do {
        var options = StoreOptions(durability: .normal)
        options.busyTimeout = .seconds(30)
        let store = try Store(path: "notes.store", engine: .lmdb, options: options)
        _ = store
    }
}

private func runningSQL(_ connection: Connection, _ title: String, _ ids: [Int64]) throws {
    do {
        try connection.execute("UPDATE note SET title = ? WHERE id = ?", ["Shopping", 1])
        let rows = try connection.query("SELECT id, title FROM note WHERE id > ?", [0])
        let first = try connection.queryOne("SELECT * FROM note WHERE id = :id", [1])
        let count = try connection.queryValue("SELECT count(*) FROM note")
        _ = (rows, first, count)
    }
    do {
        try connection.execute("INSERT INTO note (title, made) VALUES (?, ?)", [title, Date()])
        try connection.execute("UPDATE note SET title = :title WHERE id = :id", ["title": title, "id": 1])
        try connection.execute(literal: "DELETE FROM note WHERE id IN \(list: ids)")
    }
    struct Note: Codable { var id: Int64?, title: String, made: Date }

    try connection.insert(into: "note", values: Note(id: nil, title: "Groceries", made: Date()))
    let notes = try connection.query("SELECT * FROM note ORDER BY id", as: Note.self)
    let titles = try connection.query("SELECT title FROM note", as: String.self)
    _ = (notes, titles)
    do {
        let notes = try connection.cursor("SELECT * FROM note", as: Note.self)
        while let note = try notes.next() { print(note.title) }
    }
    do {
        let statement = try connection.prepare("SELECT id, body FROM note")
        while try statement.step() {
            let id = statement.int64(at: 0)
            let size = statement.withUnsafeBlob(at: 1) { $0.count }
            print(id, size)
        }
    }
}

private func refusals(_ connection: Connection) throws {
    do {
        try connection.execute("INSERT INTO note (id, title) VALUES (1, 'again')")
    } catch let error where error.extendedCode == .primaryKeyConstraint {
        print(error.message)
    }
}

private func transactions(_ store: Store) throws {
    try store.write { connection in
        try connection.execute("UPDATE account SET balance = balance - 10 WHERE id = 1")
        try connection.execute("UPDATE account SET balance = balance + 10 WHERE id = 2")
    }
    let total = try store.read { try $0.queryValue("SELECT sum(balance) FROM account") }
    _ = total
}

private func writingAnEngine() throws {
    let shelf = try Engine.register(ShelfEngine())
    let store = try Store(path: "books", engine: shelf)
    _ = store
}
