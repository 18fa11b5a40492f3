// Suite `library`: publishers, books and authors, after Zabicki 2018.
//
// Invariant: times run from objects in to objects out: what is read becomes values of Swift, what is saved comes from them.
// The people and titles that the cases look for are in the data at every size.

extension Suite {
    public static let library = Suite(
        name: "library",
        title: "Publishers, books and authors: object graphs in and out",
        source: "Zabicki 2018, \"Comparison of performance and methods of implementing databases in iOS\"",
        unit: "publishers (1 small, 10 medium, 100 large, 10000 huge)", defaultSize: 100, smallestSize: 10,
        fixtures: [LibrarySuite.filled],
        workloads: LibrarySuite.workloads.map { workload in
            var workload = workload
            workload.runInUserDefaults = LibrarySuite.onUserDefaults(workload.name)
            return workload
        },
        remarks: [
            "There are six books and three authors to a publisher.",
            "An operation of a case that changes the store is the whole case; of a read, one repetition.",
            "Layer user-defaults keeps the lists as property lists in Foundation's UserDefaults: reads decode what it holds in "
                + "memory, changes end when it has written its file, unsynced.",
        ])
}

struct LibraryPublisher: Sendable, Codable {
    var id: Int
    var name: String
}

struct LibraryBook: Sendable, Codable {
    var id: Int
    var title: String
    var isbn: String
    var publishDate: Double
    var publisher: Int
    var authors: [Int]
}

struct LibraryAuthor: Sendable, Codable {
    var id: Int
    var firstName: String
    var lastName: String
}

enum LibrarySuite {
    static let schema = """
        CREATE TABLE Publisher (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE Book (id INTEGER PRIMARY KEY, title TEXT, isbn TEXT, publishDate REAL, \
        publisher_id INTEGER REFERENCES Publisher(id));
        CREATE TABLE Author (id INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT);
        CREATE TABLE authors_books (book_id INTEGER REFERENCES Book(id), author_id INTEGER REFERENCES Author(id), \
        PRIMARY KEY (book_id, author_id)) WITHOUT ROWID;
        CREATE INDEX book_publisher ON Book (publisher_id);
        CREATE INDEX book_author ON authors_books (author_id)
        """
    static let contents = [
        "SELECT * FROM Publisher ORDER BY id", "SELECT * FROM Book ORDER BY id", "SELECT * FROM Author ORDER BY id",
        "SELECT * FROM authors_books ORDER BY book_id, author_id",
    ]
    static let repetitions = 20

    // MARK: Data

    struct Library: Sendable {
        var publishers: [LibraryPublisher] = []
        var books: [LibraryBook] = []
        var authors: [LibraryAuthor] = []

        init(_ parameters: Parameters) {
            let samples = Samples(seed: parameters.seed)
            let size = parameters.size
            publishers = (1...size).map {
                LibraryPublisher(id: $0, name: samples.lastNames.pick(UInt64($0)) + " Press")
            }
            authors = (1...size * 3).map { id in
                let random = mixed(id, parameters.seed)
                // Every thirtieth author is the one that the thesis looks for.
                let first = id % 30 == 3 ? "Diena" : samples.firstNames.pick(random)
                return LibraryAuthor(id: id, firstName: first, lastName: samples.lastNames.pick(random >> 9))
            }
            books = (1...size * 6).map { id in
                let random = mixed(id, parameters.seed &+ 1)
                let titles = ["Annie Oakley", "Tokyo Zombie (Tokyo zonbi)"]
                let title = id % 60 < 2 ? titles[id % 60] : samples.titles.pick(random)
                let count = 1 + Int(random >> 20) % 3
                let writers = Set((0..<count).map { 1 + Int((random >> UInt64(8 * $0 + 24)) % UInt64(size * 3)) })
                return LibraryBook(
                    id: id, title: title, isbn: "978-\(100_000_000 + id)", publishDate: Double(random % 1_000_000_000),
                    publisher: 1 + Int(random >> 5) % size, authors: writers.sorted())
            }
        }
    }

    static let filled = Fixture(name: "library") { session in
        try session.execute(schema)
        try session.execute("BEGIN")
        try save(Library(session.parameters), session)
        try session.execute("COMMIT")
    }

    static func save(_ library: Library, _ session: Session) throws {
        let publisher = try session.statement("INSERT INTO Publisher VALUES (?, ?)")
        for item in library.publishers {
            try publisher.bind(1, item.id)
            try publisher.bind(2, item.name)
            try publisher.run()
        }
        let author = try session.statement("INSERT INTO Author VALUES (?, ?, ?)")
        for item in library.authors {
            try author.bind(1, item.id)
            try author.bind(2, item.firstName)
            try author.bind(3, item.lastName)
            try author.run()
        }
        let book = try session.statement("INSERT INTO Book VALUES (?, ?, ?, ?, ?)")
        let link = try session.statement("INSERT INTO authors_books VALUES (?, ?)")
        for item in library.books {
            try book.bind(1, item.id)
            try book.bind(2, item.title)
            try book.bind(3, item.isbn)
            try book.bind(4, item.publishDate)
            try book.bind(5, item.publisher)
            try book.run()
            for writer in item.authors {
                try link.bind(1, item.id)
                try link.bind(2, writer)
                try link.run()
            }
        }
    }

    // MARK: Cases

    static let workloads: [Workload] = [
        change("save-rows", "save all, each row a transaction", starting: .fresh, published: "save all") {
            try save($0, $1)
        },
        change("save-all", "save all in one transaction", starting: .fresh, headline: true) { library, session in
            try inTransaction(session) { try save(library, session) }
        },
        Workload(
            name: "read-all", summary: "read all into objects, books with their authors", publishedName: "read all",
            starting: .shared(filled.name), writes: false, isHeadline: true, operations: { _ in repetitions },
            run: readAll),
        query("authors-named", "authors named Diena", "SELECT * FROM Author WHERE firstName = 'Diena' ORDER BY id"),
        query(
            "books-most-authors", "the 2 books with most authors",
            """
            SELECT Book.*, count(*) AS n FROM Book JOIN authors_books ON book_id = id GROUP BY id \
            ORDER BY n DESC, id LIMIT 2
            """),
        query(
            "publishers-most-books", "the 20 publishers with most books, ascending",
            """
            SELECT * FROM (SELECT Publisher.id, name, count(*) AS n FROM Publisher JOIN Book ON publisher_id = Publisher.id \
            GROUP BY Publisher.id ORDER BY n DESC, Publisher.id LIMIT 20) ORDER BY n, id
            """),
        statements("set-dates", "set all publish dates", ["UPDATE Book SET publishDate = 700000000.5"]),
        statements(
            "rename-authors", "rename Diena to Alona",
            ["UPDATE Author SET firstName = 'Alona' WHERE firstName = 'Diena'"]),
        statements(
            "delete-all", "delete all",
            ["DELETE FROM authors_books", "DELETE FROM Book", "DELETE FROM Author", "DELETE FROM Publisher"]),
        statements(
            "delete-authors-of-books", "delete the authors of 3 books",
            [
                "DELETE FROM Author WHERE id IN (SELECT author_id FROM authors_books WHERE book_id IN (1, 2, 3))",
                "DELETE FROM authors_books WHERE author_id NOT IN (SELECT id FROM Author)",
            ]),
        statements(
            "delete-publishers-by-title", "delete the publishers of two titles",
            [
                """
                DELETE FROM Publisher WHERE id IN (SELECT publisher_id FROM Book \
                WHERE title IN ('Annie Oakley', 'Tokyo Zombie (Tokyo zonbi)'))
                """
            ]),
    ]

    private static func inTransaction(_ session: Session, _ body: () throws -> Void) throws {
        try session.statement("BEGIN").run()
        try body()
        try session.statement("COMMIT").run()
    }

    private static func change(
        _ name: String, _ summary: String, starting: Starting, published: String? = nil, headline: Bool = false,
        _ body: @escaping @Sendable (Library, Session) throws -> Void
    ) -> Workload {
        Workload(
            name: name, summary: summary, publishedName: published, starting: starting, writes: true,
            isHeadline: headline, operations: { _ in 1 },
            setUp: { if starting == .fresh { try $0.execute(schema) } }, contentQueries: contents,
            run: { session, meter in
                let library = Library(session.parameters)
                try session.measureChange(meter) { try body(library, session) }
            })
    }

    private static func statements(_ name: String, _ summary: String, _ sql: [String]) -> Workload {
        Workload(
            name: name, summary: summary, starting: .copy(of: filled.name), writes: true, operations: { _ in 1 },
            contentQueries: contents,
            run: { session, meter in
                let prepared = try sql.map { try session.statement($0) }
                try session.measureChange(meter) {
                    try inTransaction(session) { for statement in prepared { try statement.run() } }
                }
            })
    }

    private static func query(_ name: String, _ summary: String, _ sql: String) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(filled.name), writes: false,
            operations: { _ in repetitions },
            run: { session, meter in
                try session.measureRepeated(repetitions, [try session.statement(sql)], meter)
            })
    }

    private static func readAll(_ session: Session, _ meter: Meter) throws {
        let publisher = try session.statement("SELECT id, name FROM Publisher ORDER BY id")
        let author = try session.statement("SELECT id, firstName, lastName FROM Author ORDER BY id")
        let book = try session.statement("SELECT id, title, isbn, publishDate, publisher_id FROM Book ORDER BY id")
        let link = try session.statement("SELECT book_id, author_id FROM authors_books ORDER BY book_id, author_id")
        meter.begin()
        for _ in 0..<repetitions {
            var publishers: [LibraryPublisher] = []
            while try publisher.step() {
                session.take(publisher)
                publishers.append(LibraryPublisher(id: publisher.integer(0), name: publisher.string(1)))
            }
            try publisher.reset()
            var authors: [LibraryAuthor] = []
            while try author.step() {
                session.take(author)
                authors.append(
                    LibraryAuthor(id: author.integer(0), firstName: author.string(1), lastName: author.string(2)))
            }
            try author.reset()
            var writers: [Int: [Int]] = [:]
            while try link.step() {
                session.take(link)
                writers[link.integer(0), default: []].append(link.integer(1))
            }
            try link.reset()
            var books: [LibraryBook] = []
            while try book.step() {
                session.take(book)
                let id = book.integer(0)
                books.append(
                    LibraryBook(
                        id: id, title: book.string(1), isbn: book.string(2), publishDate: book.double(3),
                        publisher: book.integer(4), authors: writers[id] ?? []))
            }
            try book.reset()
            meter.lap()
            session.answers.add(UInt64(publishers.count + authors.count + books.count))
        }
        meter.end()
    }
}
