// Suite `library` on Foundation's UserDefaults: the lists encoded as property lists, one value each.
//
// Invariant: times run from objects in to objects out, as on the engines. A change decodes the lists that it needs, changes them,
// encodes them and has UserDefaults write its file. The answers are those of SQL, row by row. Where UserDefaults writes is the
// process's affair: XDG_CONFIG_HOME names the folder before anything is asked of it.

import Foundation

extension LibrarySuite {
    /// The lists, as a program keeps them that has no database.
    private final class Defaults {
        let defaults: UserDefaults
        private let encoder = PropertyListEncoder()
        private let decoder = PropertyListDecoder()

        /// The file is named after the store, in the folder that XDG_CONFIG_HOME names.
        init(_ layer: LayerSession) throws {
            let name = URL(fileURLWithPath: layer.path).lastPathComponent
            guard let defaults = UserDefaults(suiteName: name) else {
                throw WorkloadError("UserDefaults has no suite \(name)")
            }
            self.defaults = defaults
            encoder.outputFormat = .binary
        }

        func save<T: Encodable>(_ list: [T], _ key: String) throws {
            defaults.set(try encoder.encode(list), forKey: key)
        }

        func load<T: Decodable>(_ key: String) throws -> [T] {
            guard let data = defaults.data(forKey: key) else { throw WorkloadError("UserDefaults holds no \(key)") }
            return try decoder.decode([T].self, from: data)
        }

        func saveAll(_ library: Library) throws {
            try save(library.publishers, "publishers")
            try save(library.authors, "authors")
            try save(library.books, "books")
        }

        func write() throws {
            guard defaults.synchronize() else { throw WorkloadError("UserDefaults could not write its file") }
        }
    }

    /// The workload of a case on UserDefaults; null for the case that has none: saving row by row would save every list anew
    /// for each row.
    static func onUserDefaults(_ name: String) -> (@Sendable (LayerSession, Meter) throws -> Void)? {
        switch name {
        case "save-all": { try change($0, $1, isFilled: false) { defaults, library in try defaults.saveAll(library) } }
        case "read-all": { layer, meter in try read(layer, meter, readAll) }
        case "authors-named": { layer, meter in try read(layer, meter, authorsNamed) }
        case "books-most-authors": { layer, meter in try read(layer, meter, booksWithMostAuthors) }
        case "publishers-most-books": { layer, meter in try read(layer, meter, publishersWithMostBooks) }
        case "set-dates":
            {
                try change($0, $1) { defaults, _ in
                    var books: [LibraryBook] = try defaults.load("books")
                    for index in books.indices { books[index].publishDate = 700000000.5 }
                    try defaults.save(books, "books")
                }
            }
        case "rename-authors":
            {
                try change($0, $1) { defaults, _ in
                    var authors: [LibraryAuthor] = try defaults.load("authors")
                    for index in authors.indices where authors[index].firstName == "Diena" {
                        authors[index].firstName = "Alona"
                    }
                    try defaults.save(authors, "authors")
                }
            }
        case "delete-all":
            {
                try change($0, $1) { defaults, _ in
                    try defaults.save([LibraryPublisher](), "publishers")
                    try defaults.save([LibraryAuthor](), "authors")
                    try defaults.save([LibraryBook](), "books")
                }
            }
        case "delete-authors-of-books":
            {
                try change($0, $1) { defaults, _ in
                    var books: [LibraryBook] = try defaults.load("books")
                    var authors: [LibraryAuthor] = try defaults.load("authors")
                    let gone = Set(books.filter { $0.id <= 3 }.flatMap(\.authors))
                    authors.removeAll { gone.contains($0.id) }
                    for index in books.indices { books[index].authors.removeAll { gone.contains($0) } }
                    try defaults.save(authors, "authors")
                    try defaults.save(books, "books")
                }
            }
        case "delete-publishers-by-title":
            {
                try change($0, $1) { defaults, _ in
                    let books: [LibraryBook] = try defaults.load("books")
                    var publishers: [LibraryPublisher] = try defaults.load("publishers")
                    let titles: Set = ["Annie Oakley", "Tokyo Zombie (Tokyo zonbi)"]
                    let gone = Set(books.filter { titles.contains($0.title) }.map(\.publisher))
                    publishers.removeAll { gone.contains($0.id) }
                    try defaults.save(publishers, "publishers")
                }
            }
        default: nil
        }
    }

    // MARK: Changes

    private static func change(
        _ layer: LayerSession, _ meter: Meter, isFilled: Bool = true, _ body: (Defaults, Library) throws -> Void
    ) throws {
        let defaults = try Defaults(layer)
        if layer.isChecking { return try takeContent(defaults, layer) }
        let library = Library(layer.parameters)
        if isFilled {
            try defaults.saveAll(library)
            try defaults.write()
        }
        meter.begin()
        try body(defaults, library)
        try defaults.write()
        meter.lap()
        meter.end()
    }

    /// The rows of the content queries, in their order.
    private static func takeContent(_ defaults: Defaults, _ layer: LayerSession) throws {
        let publishers: [LibraryPublisher] = try defaults.load("publishers")
        let books: [LibraryBook] = try defaults.load("books")
        let authors: [LibraryAuthor] = try defaults.load("authors")
        for publisher in publishers { layer.take([.integer(publisher.id), .text(publisher.name)]) }
        for book in books { layer.take(row(book)) }
        for author in authors { layer.take(row(author)) }
        takeLinks(books, layer)
    }

    private static func row(_ book: LibraryBook) -> [LayerSession.Column] {
        [
            .integer(book.id), .text(book.title), .text(book.isbn), .real(book.publishDate), .integer(book.publisher),
        ]
    }

    private static func row(_ author: LibraryAuthor) -> [LayerSession.Column] {
        [.integer(author.id), .text(author.firstName), .text(author.lastName)]
    }

    private static func takeLinks(_ books: [LibraryBook], _ layer: LayerSession) {
        for book in books { for author in book.authors { layer.take([.integer(book.id), .integer(author)]) } }
    }

    // MARK: Reads

    private static func read(
        _ layer: LayerSession, _ meter: Meter, _ body: (Defaults, LayerSession) throws -> Void
    ) throws {
        let defaults: Defaults
        if let known = layer.resource as? Defaults {
            defaults = known
        } else {
            defaults = try Defaults(layer)
            try defaults.saveAll(Library(layer.parameters))
            try defaults.write()
            layer.resource = defaults
        }
        meter.begin()
        for _ in 0..<repetitions {
            try body(defaults, layer)
            meter.lap()
        }
        meter.end()
    }

    private static func readAll(_ defaults: Defaults, _ layer: LayerSession) throws {
        let publishers: [LibraryPublisher] = try defaults.load("publishers")
        for publisher in publishers { layer.take([.integer(publisher.id), .text(publisher.name)]) }
        let authors: [LibraryAuthor] = try defaults.load("authors")
        for author in authors { layer.take(row(author)) }
        let books: [LibraryBook] = try defaults.load("books")
        takeLinks(books, layer)
        for book in books { layer.take(row(book)) }
        layer.answers.add(UInt64(publishers.count + authors.count + books.count))
    }

    private static func authorsNamed(_ defaults: Defaults, _ layer: LayerSession) throws {
        let authors: [LibraryAuthor] = try defaults.load("authors")
        for author in authors where author.firstName == "Diena" { layer.take(row(author)) }
    }

    private static func booksWithMostAuthors(_ defaults: Defaults, _ layer: LayerSession) throws {
        let books: [LibraryBook] = try defaults.load("books")
        let sorted = books.filter { !$0.authors.isEmpty }.sorted {
            ($1.authors.count, $0.id) < ($0.authors.count, $1.id)
        }
        for book in sorted.prefix(2) { layer.take(row(book) + [.integer(book.authors.count)]) }
    }

    private static func publishersWithMostBooks(_ defaults: Defaults, _ layer: LayerSession) throws {
        let books: [LibraryBook] = try defaults.load("books")
        let publishers: [LibraryPublisher] = try defaults.load("publishers")
        let counts = books.reduce(into: [Int: Int]()) { $0[$1.publisher, default: 0] += 1 }
        let counted = publishers.compactMap { publisher in counts[publisher.id].map { (publisher, $0) } }
        let most = counted.sorted { ($1.1, $0.0.id) < ($0.1, $1.0.id) }.prefix(20)
        for (publisher, count) in most.sorted(by: { ($0.1, $0.0.id) < ($1.1, $1.0.id) }) {
            layer.take([.integer(publisher.id), .text(publisher.name), .integer(count)])
        }
    }
}
