// ObjectTests.swift - the object store, the same on every engine.

import Foundation
import Rootstock
import RootstockObjects
import Testing

struct Author: Entity, Equatable {
    static let table = "author"
    var name: String
}

struct Book: Entity, Equatable {
    static let table = "book"
    var title: String
    var author: Reference<Author>?
    var price: Double?
    var tags: [String] = []
}

@Suite struct ObjectTests {
    static let engines: [Engine] = [.sqlite, .lmdb, "sqlite-btree", .memory]

    let folder: URL
    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// A store with 250 books of three authors, and what it has read since.
    func library(_ engine: Engine) throws -> Store {
        let store = try Store(
            path: folder.appendingPathComponent("library").path, engine: engine, options: StoreOptions(durability: .off)
        )
        try store.write {
            try $0.executeScript(
                """
                CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, version INTEGER NOT NULL);
                CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author INTEGER REFERENCES author, price REAL,
                    tags TEXT NOT NULL, version INTEGER NOT NULL);
                INSERT INTO author VALUES (1, 'Ursula', 1), (2, 'Stanislaw', 1), (3, 'Arkadi', 1);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250)
                    INSERT INTO book SELECT i, 'Book ' || i, nullif(i % 4, 0), i / 4.0, '[]', 1 FROM n;
                """)
        }
        return store
    }

    @Test(arguments: engines) func aFetchGivesOneObjectARow(engine: Engine) throws {
        let store = try library(engine)
        let context = ObjectContext(store)
        let cheap = try context.fetch(Book.self, where: "price < \(2)", orderBy: "id DESC")
        #expect(cheap.map(\.id) == [7, 6, 5, 4, 3, 2, 1])
        #expect(try cheap[0].values == Book(title: "Book 7", author: Reference(3), price: 1.75))
        #expect(cheap[0].version == 1)
        let some = try context.fetch(Book.self, orderBy: "id", limit: 3, offset: 5)
        #expect(some.map(\.id) == [6, 7, 8])
        #expect(some[1] === cheap[0])
        #expect(context.object(Book.self, Reference(7)) === cheap[0])
        #expect(try context.count(Book.self) == 250)
        #expect(try context.count(Book.self, where: "author IS NULL") == 62)
        #expect(try context.faults(Book.self, offset: 248).map(\.id) == [249, 250])
    }

    @Test(arguments: engines) func faultsAreFilledOneByOneOrTogether(engine: Engine) throws {
        let store = try library(engine)
        let context = ObjectContext(store)
        var books = try context.faults(Book.self, orderBy: "id", batch: 100)
        #expect(books.count == 250 && books.allSatisfy(\.isFault))
        #expect(try books[120].values.title == "Book 121")
        #expect(books.indices.filter { !books[$0].isFault } == Array(100..<200))
        #expect(try books[249].values.title == "Book 250")
        #expect(books.count { !$0.isFault } == 150)
        // What nobody refers to is forgotten, and is a fault again.
        books = []
        let alone = try context.faults(Book.self, orderBy: "id", batch: 1)
        #expect(try alone[3].values.author == nil)
        #expect(alone.count { !$0.isFault } == 1)
        try store.write { try $0.execute("DELETE FROM book WHERE id = 9") }
        #expect(throws: ObjectError.gone(table: "book", id: 9)) { try alone[8].values }
    }

    @Test(arguments: engines) func relationshipsAreFollowedAndPrefetched(engine: Engine) throws {
        let store = try library(engine)
        let context = ObjectContext(store)
        let books = try context.fetch(Book.self, orderBy: "id")
        let authors = try context.prefetch(books, \.author)
        #expect(authors.compactMap(\.id) == [1, 2, 3] && authors.allSatisfy { !$0.isFault })
        try store.write { try $0.executeScript("UPDATE author SET name = name || ' later'") }
        #expect(try context.related(books[1], \.author) === authors[1])
        #expect(try context.related(books[1], \.author)?.values.name == "Stanislaw")
        #expect(try context.related(books[3], \.author) == nil)
        let written = try context.referring(to: authors[2], by: "author", as: Book.self, orderBy: "id")
        #expect(written.count == 62 && written[0] === books[2])
        // In quotes alone it would be a text that no reference equals.
        #expect(throws: DatabaseError.self) { try context.referring(to: authors[2], by: "writer", as: Book.self) }
        context.refresh(authors[0])
        #expect(try authors[0].values.name == "Ursula later")
    }

    @Test(arguments: engines) func aSaveIsOneTransaction(engine: Engine) throws {
        let store = try library(engine)
        let context = ObjectContext(store)
        let author = context.insert(Author(name: "Octavia"))
        #expect(throws: ObjectError.unsaved(table: "author")) { try author.reference }
        try context.save()
        #expect(author.id == 4 && author.version == 1 && author.state == .saved && !context.hasChanges)
        let book = context.insert(Book(title: "Seed", author: try author.reference, tags: ["a", "b"]))
        let first = try #require(try context.fetch(Book.self, where: "id = 1").first)
        let second = try #require(try context.fetch(Book.self, where: "id = 2").first)
        try first.change { $0.title = "First" }
        try first.change { $0.price = nil }
        try context.delete(second)
        try context.save()
        #expect(book.id == 251 && first.version == 2 && second.state == .deleted)
        #expect(context.object(Book.self, Reference(251)) === book)
        #expect(throws: ObjectError.gone(table: "book", id: 2)) { try second.change { $0.title = "Late" } }
        func row(_ id: Int) throws -> Row? {
            try store.read { try $0.queryOne("SELECT * FROM book WHERE id = ?", [id]) }
        }
        #expect(try row(1)?.values == [1, "First", 1, nil, "[]", 2])
        #expect(try row(2) == nil)
        #expect(try row(251)?.values == [251, "Seed", 4, nil, #"["a","b"]"#, 1])
        // A change to what was there already is none.
        try first.change { $0.title = "First" }
        try context.save()
        #expect(first.version == 2)

        // What one of them meets undoes all of them, and they still wait.
        context.insert(Author(name: "Nobody"))
        context.insert(Author(name: "Ursula"))
        try first.change { $0.title = "Again" }
        #expect(throws: DatabaseError.self) { try context.save() }
        #expect(try context.count(Author.self) == 4)
        #expect(context.hasChanges && first.state == .updated)
        context.rollback()
        #expect(!context.hasChanges && first.state == .saved)
        #expect(try first.values.title == "First")
        try context.save()
        #expect(try context.count(Author.self) == 4)
    }

    @Test(arguments: engines) func twoContextsDoNotOverwriteEachOther(engine: Engine) throws {
        let store = try library(engine)
        let (mine, theirs) = (ObjectContext(store), ObjectContext(store))
        let book = try #require(try mine.fetch(Book.self, where: "id = 5").first)
        let same = try #require(try theirs.fetch(Book.self, where: "id = 5").first)
        try same.change { $0.title = "Theirs" }
        try theirs.save()
        try book.change { $0.title = "Mine" }
        mine.insert(Author(name: "Octavia"))
        #expect(throws: ObjectError.conflict(table: "book", id: 5)) { try mine.save() }
        #expect(try mine.count(Author.self) == 3)
        mine.refresh(book)
        #expect(try book.values.title == "Theirs")
        try book.change { $0.title = "Mine" }
        try mine.save()
        #expect(try mine.count(Author.self) == 4)
        #expect(try theirs.fetch(Book.self, where: "id = 5").first === same)
        #expect(try same.values.title == "Mine" && same.version == 3)
        // Deleting what somebody has changed is a conflict, too, and so is changing what somebody has deleted.
        try book.change { $0.title = "Last" }
        try mine.save()
        try theirs.delete(same)
        #expect(throws: ObjectError.conflict(table: "book", id: 5)) { try theirs.save() }
        theirs.refresh(same)
        try theirs.delete(same)
        try theirs.save()
        try book.change { $0.title = "Late" }
        #expect(throws: ObjectError.conflict(table: "book", id: 5)) { try mine.save() }
    }

    @Test(arguments: engines) func aContextOnAConnectionSavesInItsTransaction(engine: Engine) throws {
        let store = try library(engine)
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try store.write { connection in
                let context = ObjectContext(connection)
                try context.fetch(Book.self, where: "id = 1").first?.change { $0.title = "Never" }
                context.insert(Author(name: "Never"))
                try context.save()
                let held = try connection.queryValue("SELECT count(*) FROM author")
                #expect(held == 4)
                throw Stop()
            }
        }
        #expect(try store.read { try $0.queryValue("SELECT title FROM book WHERE id = 1") } == "Book 1")
        #expect(try ObjectContext(store).count(Author.self) == 3)
    }

    /// An object that outlives its context has what was read, and nothing more.
    @Test func withoutItsContextAnObjectIsNotFilled() throws {
        let store = try library(.lmdb)
        var context: ObjectContext? = ObjectContext(store)
        let books = try #require(try context?.faults(Book.self, orderBy: "id", limit: 2, batch: 1))
        #expect(try books[0].values.title == "Book 1")
        context = nil
        #expect(try books[0].values.title == "Book 1")
        #expect(throws: ObjectError.unsaved(table: "book")) { try books[1].values }
    }

    /// A type that leaves out what it does not have: each value goes into the column of its name all the same.
    @Test(arguments: engines) func valuesOfATypeMayHaveOtherColumns(engine: Engine) throws {
        struct Note: Entity, Equatable {
            static let table = "note"
            enum Keys: CodingKey { case text, number }
            var text: String?
            var number: String?

            init(text: String? = nil, number: String? = nil) { (self.text, self.number) = (text, number) }

            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: Keys.self)
                text = try values.decodeIfPresent(String.self, forKey: .text)
                number = try values.decodeIfPresent(String.self, forKey: .number)
            }

            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: Keys.self)
                if let text { try values.encode(text, forKey: .text) }
                if let number { try values.encode(number, forKey: .number) }
            }
        }
        let store = try library(engine)
        try store.write {
            try $0.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, number TEXT, version INTEGER)")
        }
        let context = ObjectContext(store)
        let note = context.insert(Note(text: "a"))
        context.insert(Note(number: "b"))
        try context.save()
        func rows() throws -> [[Value]] {
            try store.read { try $0.query("SELECT text, number FROM note").map(\.values) }
        }
        #expect(try rows() == [["a", nil], [nil, "b"]])
        try note.change { $0 = Note(number: "a") }
        try context.save()
        #expect(try rows() == [["a", "a"], [nil, "b"]])
    }
}
