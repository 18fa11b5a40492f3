// main.swift - a library of books: migrates, inserts, streams, searches, observes, cancels, backs up.
//
// Usage: SampleApp ENGINE PATH. What it prints is the same on every engine.

import Foundation
import Rootstock

enum Genre: String, Codable { case novel, essay, poem }

struct Book: Codable, Sendable {
    var id: Int64?
    var title: String
    var genre: Genre
    var published: Date
    var tags: [String]
    var isbn: UUID
}

struct Shelf: Decodable, Sendable {
    var genre: Genre
    var books: Int
    var newest: Date
}

func run(engine: String, path: String) async throws {
    var options = StoreOptions()
    options.functions = [SQLFunction("initial", isDeterministic: true) { (text: String) in String(text.prefix(1)) }]
    let store = try Store(path: path, engine: Engine(name: engine), options: options)

    // Migrate.
    var migrator = Migrator()
    migrator.register("books") { connection in
        try connection.execute(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, genre TEXT NOT NULL, published TEXT NOT NULL, tags TEXT NOT NULL)
            """)
    }
    migrator.register("isbn") { connection in
        try connection.executeScript(
            "ALTER TABLE book ADD COLUMN isbn BLOB; CREATE UNIQUE INDEX book_isbn ON book (isbn)")
    }
    try await migrator.migrate(store)
    print("migrated:", try await store.read { [migrator] in try migrator.applied(on: $0) }.joined(separator: ", "))

    // Observe.
    var counts = store.observe { try $0.queryOne("SELECT count(*) FROM book", as: Int.self) ?? 0 }.makeAsyncIterator()
    print("observed:", try await counts.next() ?? -1)

    // Insert from Codable.
    let genres: [Genre] = [.novel, .essay, .poem]
    let books = (1...300).map { number in
        Book(
            id: nil, title: "Book \(number)", genre: genres[number % 3],
            published: Date(timeIntervalSince1970: Double(number) * 86_400), tags: number % 50 == 0 ? ["round"] : [],
            isbn: UUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012d", number))")!)
    }
    try await store.write { connection in
        for book in books { try connection.insert(into: "book", values: book) }
    }
    print("observed:", try await counts.next() ?? -1)

    // A constraint.
    do {
        try await store.write { try $0.insert(into: "book", values: books[0]) }
    } catch let error as DatabaseError where error.extendedCode == .uniqueConstraint {
        print("refused:", error.message)
    }

    // Stream.
    let longest = try await store.read { connection in
        var longest = ""
        let rows = try connection.cursor("SELECT * FROM book ORDER BY id", as: Book.self)
        while let book = try rows.next() {
            if book.title.count > longest.count || book.tags == ["round"] { longest = book.title }
        }
        return longest
    }
    print("streamed to:", longest)

    // Search.
    let genre = Genre.poem
    let word = "%9"
    let found = try await store.read { connection in
        try connection.query(
            literal:
                "SELECT title FROM book WHERE title LIKE \(word) AND genre = \(genre.rawValue) ORDER BY id LIMIT 3",
            as: String.self)
    }
    print("found:", found.joined(separator: ", "))
    let shelves = try await store.read { connection in
        try connection.query(
            "SELECT genre, count(*) AS books, max(published) AS newest FROM book GROUP BY genre ORDER BY genre",
            as: Shelf.self)
    }
    for shelf in shelves { print("shelf:", shelf.genre.rawValue, shelf.books, Int(shelf.newest.timeIntervalSince1970)) }
    let initials = try await store.read { try $0.query("SELECT DISTINCT initial(title) FROM book", as: String.self) }
    print("initials:", initials.joined())

    // Cancel.
    let endless = Task {
        try await store.read {
            try $0.queryValue("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
        }
    }
    try await Task.sleep(for: .milliseconds(50))
    endless.cancel()
    do {
        _ = try await endless.value
    } catch is CancellationError {
        print("cancelled")
    }

    // Update, which the observer sees.
    try await store.write { connection in
        var book = try connection.queryOne("SELECT * FROM book WHERE id = ?", [1], as: Book.self)!
        book.title = "The first"
        try connection.update("book", set: book, where: "id = \(1)")
        try connection.execute(
            "INSERT INTO book (title, genre, published, tags) VALUES ('Last', 'essay', ?, '[]')",
            [Date(timeIntervalSince1970: 0)])
    }
    print("observed:", try await counts.next() ?? -1)

    // Back up.
    let copy = path + "-copy"
    try await store.backup(to: copy)
    let titles = try Connection(path: copy, options: options).query(
        "SELECT title FROM book WHERE id IN (1, 301) ORDER BY id", as: String.self)
    print("copied:", titles.joined(separator: ", "))
    store.close()
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
    print("usage: SampleApp ENGINE PATH")
    exit(2)
}
try await run(engine: arguments[1], path: arguments[2])
