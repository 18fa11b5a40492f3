// CommentSnippets.swift - the code in the comments of the API, compiled. SnippetTests hold the comments against it, block by block.

import Foundation
import Rootstock
import RootstockMemory

private struct Log: Sendable {
    func warning(_ message: String) {}
}

private actor List {
    func reload() {}
}

private struct Book: Codable, Sendable {
    var id: Int64, title: String, published: Date?
}

private func connections() throws {
    let connection = try Connection(path: "notes.store", engine: .lmdb)
    try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
    let titles = try connection.query("SELECT title FROM note ORDER BY id")
    _ = titles
}

private func queries(_ connection: Connection) throws {
    do {
        try connection.execute("UPDATE note SET title = ? WHERE id = ?", ["Shopping", 1])
        print(connection.changes)
    }
    do {
        struct Book: Decodable { var id: Int64, title: String, published: Date? }
        let books = try connection.query("SELECT * FROM book WHERE title LIKE ?", ["%sea%"], as: Book.self)
        _ = books
    }
    do {
        let count = try connection.queryValue("SELECT count(*) FROM note")
        _ = count
    }
    do {
        for row in try connection.query("SELECT id, title FROM note") {
            print(row[0], try row["title", as: String.self])
        }
    }
    do {
        struct Visit: Codable { var page: String, at: SecondsSince1970, left: SecondsSince1970? }
        try connection.insert(into: "visit", values: Visit(page: "home", at: SecondsSince1970(Date()), left: nil))
    }
    do {
        try connection.execute("INSERT INTO note VALUES (?, ?, ?, ?)", [1, "Groceries", 2.5, nil])
    }
    do {
        let statement = try connection.prepare("SELECT title FROM note WHERE id > ?")
        try statement.bind(10, at: 1)
        while try statement.step() {
            print(statement.text(at: 0))
        }
    }
    do {
        let books = try connection.cursor("SELECT * FROM book ORDER BY title", as: Book.self)
        while let book = try books.next() { print(book.title) }
    }
    do {
        let info = try connection.storeInfo()
        for table in info.tables { print(table.name, table.rows) }
    }
}

/// Apart, as in ArticleSnippets: a catch that lets errors through crashes swift 6.3.1 in a function with much else.
private func refusals(_ connection: Connection) throws {
    do {
        try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
    } catch let error where error.extendedCode == .uniqueConstraint {
        // there is one already
    }
}

private func arguments(_ connection: Connection, id: Int64, title: String, date: Date) throws {
    try connection.execute("INSERT INTO book (id, title, published) VALUES (?, ?, ?)", [id, title, date])
    let book = try connection.queryOne("SELECT * FROM book WHERE id = :id", ["id": id], as: Book.self)
    _ = book
}

private func literals(_ connection: Connection, isbn: String, book: Book) throws {
    let books = try connection.query(literal: "SELECT * FROM book WHERE isbn = \(isbn)", as: Book.self)
    _ = books
    print(try SQL.insert(into: "book", values: book).text)
    try connection.update("book", set: book, where: "id = \(book.id)")
}

private func enginesOf() throws {
    do {
        let native = try Store(path: "notes.sqlite", engine: .sqlite)
        let mapped = try Store(path: "notes.store", engine: .lmdb)
        _ = (native, mapped)
    }
    do {
        typealias ShelfEngine = MemoryEngine
        let shelf = try Engine.register(ShelfEngine())
        let store = try Store(path: "books", engine: shelf)
        _ = store
    }
}

private func stores() throws {
    do {
        let store = try Store(path: "notes.store", engine: .lmdb)
        try store.write { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
            try connection.execute("INSERT INTO note (title) VALUES (?)", ["Groceries"])
        }
        let count = try store.read { try $0.queryValue("SELECT count(*) FROM note") }
        _ = count
    }
    do {
        var options = StoreOptions()
        options.functions = [SQLFunction("distance") { (x: Double, y: Double) in (x * x + y * y).squareRoot() }]
        let store = try Store(path: "places.store", options: options)
        let near = try store.read { try $0.query("SELECT name FROM place WHERE distance(x, y) < ?", [2.5]) }
        _ = near
    }
}

private func migrations(_ store: Store) throws {
    var migrator = Migrator()
    migrator.register("books") { connection in
        try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL)")
    }
    migrator.register("isbn") { connection in
        try connection.execute("ALTER TABLE book ADD COLUMN isbn TEXT")
    }
    try migrator.migrate(store)
}

private func functions(_ connection: Connection, _ log: Log) throws {
    var options = StoreOptions()
    _ =
        SQLFunction(aggregate: "product", arguments: 1, initial: 1.0) { product, row in
            product *= Double(databaseValue: row[0]) ?? 1
        } result: {
            $0
        }
    options.collations = [SQLCollation("german") { $0.localizedStandardCompare($1).rawValue }]
    let people = try connection.query("SELECT name FROM person ORDER BY name COLLATE german")
    options.log = LogHook { entry in print(entry.level, entry.message, entry.metadata) }
    options.slowStatement = SlowStatementHook(over: .milliseconds(50)) { sql, time in log.warning("\(time): \(sql)") }
    _ = (options, people)
}

private func copying(_ store: Store) throws {
    let report = try store.copy(to: "library.sqlite")
    print("\(report.rows) rows in \(report.tables.count) tables")
}

private func asynchronously(_ store: Store, _ list: List) async throws {
    do {
        let books = try await store.read { try $0.query("SELECT * FROM book", as: Book.self) }
        _ = books
    }
    do {
        for try await book in store.stream("SELECT * FROM book ORDER BY title", as: Book.self) { print(book.title) }
    }
    do {
        for await _ in store.changes(of: ["book"]) { await list.reload() }
    }
    do {
        for try await titles in store.observe({ try $0.query("SELECT title FROM book", as: String.self) }) {
            print(titles)
        }
    }
}
