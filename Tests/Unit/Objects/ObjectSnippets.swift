// ObjectSnippets.swift - the code of the article on objects, compiled. The test holds the article against it, block by block.

import Foundation
import Rootstock
import RootstockObjects
import Testing

private enum Article {
    struct Author: Entity {
        static let table = "author"
        var name: String
    }

    struct Book: Entity {
        static let table = "book"
        var title: String
        var author: Reference<Author>?
    }

    static func code(_ store: Store, _ context: ObjectContext, _ books: [Object<Book>], _ author: Object<Author>) throws
    {
        do {
            var migrator = Migrator()
            migrator.register("library") { connection in
                try connection.executeScript(
                    """
                    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL);
                    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author INTEGER REFERENCES author,
                        version INTEGER NOT NULL);
                    """)
            }
        }
        do {
            let context = ObjectContext(store)
            let books = try context.fetch(Book.self, where: "title LIKE \("S%")", orderBy: "title", limit: 20)
            for book in books { print(try book.values.title) }
        }
        do {
            let context = ObjectContext(store)
            let books = try context.fetch(Book.self, where: "title LIKE \("S%")", orderBy: "title", limit: 20)
            try context.prefetch(books, \.author)
            for book in books { print(try book.values.title, try context.related(book, \.author)?.values.name ?? "") }
            try books.first?.change { $0.title = "Sea" }
            try context.save()
        }
        do {
            let book = try context.fetch(Book.self, where: "title = \("Sea")").first
            try book?.change { $0.title = "The Sea" }
            try context.save()
        }
        do {
            let everything = try context.faults(Book.self, orderBy: "title", batch: 100)
            print(everything.count, try everything[500].values.title)
        }
        do {
            let authors = try context.prefetch(books, \.author)
            for book in books {
                let author = try context.related(book, \.author)
                print(try book.values.title, try author?.values.name ?? "anonymous")
            }
            print(authors.count)
        }
        do {
            let written = try context.referring(to: author, by: "author", as: Book.self, orderBy: "title")
            _ = written
        }
        do {
            let author = context.insert(Author(name: "Ursula"))
            try context.save()
            let book = context.insert(Book(title: "Sea", author: try author.reference))
            try context.save()
            try book.change { $0.title = "The Sea" }
            try context.save()
            do {
                try context.save()
            } catch ObjectError.conflict {
                context.refresh(book)
                try book.change { $0.title = "The Sea" }
                try context.save()
            }
        }
    }
}

@Suite struct ObjectSnippetTests {
    /// Without indentation, empty lines and comments, which the documents and the source have their own of.
    private func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("//") }.joined(separator: "\n")
    }

    @Test(arguments: [
        "RootstockObjects.docc/RootstockObjects.md", "Entity.swift", "Object.swift", "ObjectContext.swift",
    ])
    func everyBlockIsCompiled(document: String) throws {
        let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/RootstockObjects/\(document)")
        var text = try String(contentsOf: path, encoding: .utf8)
        if document.hasSuffix(".swift") {
            text = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("///") }.map { String($0.dropFirst(3)) }.joined(separator: "\n")
        }
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(source.contains(lines(code)), "\(code)")
        }
    }
}
