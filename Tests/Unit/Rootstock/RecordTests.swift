// RecordTests.swift - rows as Swift types, and Swift types as rows, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct RecordTests {
    enum Genre: String, Codable { case novel, essay }
    struct Author: Codable, Equatable { var name: String, born: Int? }
    struct Book: Codable, Equatable {
        var id: Int64?
        var title: String
        var genre: Genre
        var price: Decimal
        var published: Date?
        var cover: Data?
        var tags: [String]
        var author: Author?
        var key: UUID
        var weight: Float
        var link: URL?
    }

    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    func library(_ engine: Engine) throws -> Connection {
        let connection = try Connection(path: folder.path(), engine: engine, options: StoreOptions(durability: .off))
        try connection.executeScript(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, genre TEXT, price TEXT, published TEXT, cover BLOB,
                tags TEXT, author TEXT, key BLOB, weight REAL, link TEXT);
            CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
            INSERT INTO person VALUES (1, 'Ursula', 1929), (2, 'Nobody', NULL);
            """)
        return connection
    }

    let book = Book(
        id: nil, title: "Sea", genre: .novel, price: Decimal(string: "12.50")!,
        published: Date(timeIntervalSince1970: 1.25),
        cover: Data([1, 2]), tags: ["a", "b"], author: Author(name: "Ursula", born: nil), key: UUID(), weight: 0.25,
        link: nil)

    @Test(arguments: apiEngines) func aRecordComesBackAsItWasInserted(engine: Engine) throws {
        let connection = try library(engine)
        let id = try connection.insert(into: "book", values: book)
        #expect(id == 1)
        var read = try #require(try connection.queryOne("SELECT * FROM book WHERE id = ?", [id], as: Book.self))
        #expect(read.id == 1)
        read.id = nil
        #expect(read == book)
        #expect(try connection.queryValue("SELECT author FROM book") == #"{"name":"Ursula"}"#)

        read.title = "Land"
        read.author = nil
        read.id = 1
        #expect(try connection.update("book", set: read, where: "id = \(id)") == 1)
        #expect(try connection.query("SELECT * FROM book", as: Book.self) == [read])
        #expect(try connection.update("book", set: ["title": "Sky"], where: "id = \(99)") == 0)
    }

    @Test func theHelpersShowTheirSQL() throws {
        let insert = try SQL.insert(into: "a \"b\"", or: .replace, values: Author(name: "x", born: nil))
        #expect(insert.text == #"INSERT OR REPLACE INTO "a ""b""" ("name", "born") VALUES (?, ?)"#)
        #expect(insert.arguments == ["x", nil])
        let update = try SQL.update("t", set: Author(name: "x", born: 1), where: "id = \(5) AND name <> \("y")")
        #expect(update.text == #"UPDATE "t" SET "name" = ?, "born" = ? WHERE id = ? AND name <> ?"#)
        #expect(update.arguments == ["x", 1, 5, "y"])
        struct Empty: Encodable {
            enum CodingKeys: CodingKey {}
            func encode(to encoder: any Encoder) { _ = encoder.container(keyedBy: CodingKeys.self) }
        }
        #expect(try SQL.insert(into: "t", values: Empty()).text == #"INSERT INTO "t" DEFAULT VALUES"#)
        #expect(try databaseError { _ = try SQL.update("t", set: Empty(), where: "1") }?.code == .mismatch)
        #expect(try databaseError { _ = try SQL.insert(into: "t", values: 5) }?.code == .mismatch)
    }

    @Test(arguments: apiEngines) func aConflictIsMetAsTheClauseSays(engine: Engine) throws {
        let connection = try library(engine)
        try connection.insert(into: "book", values: book)
        #expect(
            try databaseError { try connection.insert(into: "book", values: book) }?.extendedCode == .uniqueConstraint)
        try connection.insert(into: "book", or: .ignore, values: book)
        #expect(connection.changes == 0)
        try connection.insert(into: "book", or: .replace, values: book)
        #expect(try connection.queryValue("SELECT count(*) FROM book") == 1)
    }

    @Test(arguments: apiEngines) func nestedTypesTakePrefixedColumns(engine: Engine) throws {
        struct Written: Decodable, Equatable { var title: String, author: Author?, editor: Author? }
        let connection = try library(engine)
        let rows = try connection.query(
            """
            SELECT 'Sea' AS TITLE, p.name AS "author.name", p.born AS "author.born", q.name AS "editor.name", q.born AS "editor.born"
            FROM person p LEFT JOIN person q ON q.id = p.id + 7 ORDER BY p.id
            """, as: Written.self)
        #expect(
            rows == [
                Written(title: "Sea", author: Author(name: "Ursula", born: 1929), editor: nil),
                Written(title: "Sea", author: Author(name: "Nobody", born: nil), editor: nil),
            ])
    }

    @Test(arguments: apiEngines) func aSingleColumnIsAValue(engine: Engine) throws {
        let connection = try library(engine)
        #expect(try connection.query("SELECT name FROM person ORDER BY id", as: String.self) == ["Ursula", "Nobody"])
        #expect(try connection.query("SELECT born FROM person ORDER BY id", as: Int?.self) == [1929, nil])
        #expect(try connection.queryOne("SELECT 'essay'", as: Genre.self) == .essay)
        #expect(try connection.queryOne("SELECT '1970-01-02'", as: Date.self) == Date(timeIntervalSince1970: 86_400))
        #expect(try connection.queryOne("SELECT '[1,2]'", as: [Int].self) == [1, 2])
        #expect(try connection.queryOne("SELECT 1 WHERE 0", as: Int.self) == nil)
    }

    @Test(arguments: apiEngines) func whatDoesNotFitIsAnErrorThatNamesTheColumn(engine: Engine) throws {
        let connection = try library(engine)
        func message(_ sql: String) throws -> String? {
            let error = try databaseError { _ = try connection.query(sql, as: Author.self) }
            return error?.message
        }
        #expect(try message("SELECT 1 AS name, 2 AS born") == "column name holds integer 1, not String")
        #expect(try message("SELECT NULL AS name, 2 AS born") == "column name holds null, not String")
        #expect(try message("SELECT 'a' AS name, 'b' AS born") == "column born holds text 'b', not Int")
        #expect(try message("SELECT 2 AS born") == "no such column: name")
        enum Grade: Int, Decodable { case one = 1 }
        struct Graded: Decodable { var grade: Grade, small: UInt8 }
        for (sql, words) in [
            ("SELECT 9 AS grade, 1 AS small", "column grade: Cannot initialize Grade from invalid Int value 9"),
            ("SELECT 1 AS grade, 300 AS small", "column small holds integer 300, not UInt8"),
        ] {
            let error = try databaseError { _ = try connection.query(sql, as: Graded.self) }
            #expect(error?.message == words)
        }
        struct Large: Encodable { var a: UInt64?, b: UInt }
        for large in [Large(a: .max, b: 0), Large(a: nil, b: .max)] {
            let error = try databaseError { _ = try SQL.insert(into: "t", values: large) }
            #expect(error?.message.hasPrefix("18446744073709551615 is above the greatest integer of SQL") == true)
        }
        struct Counted: Decodable { var counts: [String: Int] }
        for text in ["{", #"{"a":"b"}"#] {
            let error = try databaseError { _ = try connection.query("SELECT ? AS counts", [text], as: Counted.self) }
            #expect(error?.code == .mismatch)
            #expect(error?.message.hasPrefix("column counts holds no Dictionary<String, Int> as JSON text: ") == true)
        }
        let row = try #require(try connection.queryOne("SELECT 1 AS a"))
        #expect(try row["A", as: Int.self] == 1)
        #expect(try databaseError { _ = try row[1, as: Int.self] }?.code == .range)
        #expect(try databaseError { _ = try row["b", as: Int.self] }?.code == .error)
    }

    @Test(arguments: apiEngines) func aCursorStreamsAndEnds(engine: Engine) throws {
        let connection = try library(engine)
        let rows = try connection.cursor("SELECT id, name FROM person ORDER BY id")
        #expect(try rows.next()?["name"] == "Ursula")
        #expect(try rows.next()?["name"] == "Nobody")
        #expect(try rows.next() == nil)
        #expect(try rows.next() == nil)
        let numbers = try connection.cursor(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", as: Int.self)
        #expect(try [numbers.next(), numbers.next()] == [1, 2])
        numbers.close()
        #expect(try numbers.next() == nil)
        let mixed = try connection.cursor("SELECT 1 UNION ALL SELECT 'x' UNION ALL SELECT 3", as: Int.self)
        #expect(try mixed.next() == 1)
        #expect(try databaseError { _ = try mixed.next() }?.code == .mismatch)
        #expect(try mixed.next() == nil)
        var sum = 0
        // A cursor is no Sequence: its steps throw.
        // swift-format-ignore: ReplaceForEachWithForLoop
        try connection.cursor("SELECT id FROM person", as: Int.self).forEach { sum += $0 }
        #expect(sum == 3)
        // Nothing holds a snapshot: the table can go.
        try connection.execute("DROP TABLE person")
    }

    @Test(arguments: apiEngines) func aChangedSchemaGivesTheRowItsNewColumns(engine: Engine) throws {
        let connection = try library(engine)
        struct Person: Decodable, Equatable { var id: Int, name: String, note: String? }
        let sql = "SELECT * FROM person WHERE id = 1"
        #expect(try connection.query(sql, as: Person.self) == [Person(id: 1, name: "Ursula", note: nil)])
        try connection.execute("ALTER TABLE person ADD COLUMN note TEXT DEFAULT 'new'")
        #expect(try connection.query(sql, as: Person.self) == [Person(id: 1, name: "Ursula", note: "new")])
    }

    /// `SELECT book.*` has the column that the join was made by, which is no author.
    @Test(arguments: apiEngines) func aColumnOfTheSameNameHidesNoNestedType(engine: Engine) throws {
        struct Written: Decodable, Equatable { var title: String, author: Author? }
        struct Certain: Decodable, Equatable { var author: Author }
        let connection = try library(engine)
        try connection.executeScript(
            """
            CREATE TABLE work (title TEXT, author INTEGER);
            INSERT INTO work VALUES ('Sea', 1), ('Land', NULL), ('Lost', 9);
            """)
        let sql = """
            SELECT work.*, person.name AS "author.name", person.born AS "author.born"
            FROM work LEFT JOIN person ON person.id = work.author ORDER BY work.rowid
            """
        #expect(
            try connection.query(sql, as: Written.self) == [
                Written(title: "Sea", author: Author(name: "Ursula", born: 1929)), Written(title: "Land", author: nil),
                Written(title: "Lost", author: nil),
            ])
        #expect(try connection.queryOne(sql, as: Certain.self)?.author.name == "Ursula")
        // A single value under a prefix is none, and never another column's.
        struct Odd: Decodable { var genre: Genre }
        struct Listed: Decodable { var tags: [String] }
        let odd = try databaseError { _ = try connection.query("SELECT 'novel', 1 AS \"genre.a\"", as: Odd.self) }
        #expect(odd?.message == "genre has named columns, not one value")
        let list = try databaseError { _ = try connection.query("SELECT '{}', 1 AS \"tags.a\"", as: Listed.self) }
        #expect(list?.message == "tags has named columns, not a list")
    }

    /// What has no column of its own is JSON that SQL reads: dates are text there, too.
    @Test(arguments: apiEngines) func composedValuesAreJSONThatSQLReads(engine: Engine) throws {
        enum Event: Codable, Equatable {
            case lent(to: String, on: Date)
            case lost
        }
        struct Copy: Codable, Equatable {
            var number: Int, bought: Date?, price: Decimal, key: UUID, cover: Data, genre: Genre, history: [Event]
        }
        struct Shelf: Codable, Equatable { var id: Int, copies: [Copy], first: Copy?, notes: [String: Date] }
        let connection = try library(engine)
        try connection.execute("CREATE TABLE shelf (id INTEGER PRIMARY KEY, copies TEXT, first TEXT, notes BLOB)")
        let date = Date(timeIntervalSince1970: 1_795_506_242.125)
        let copy = Copy(
            number: 1, bought: date, price: Decimal(string: "0.1")!, key: UUID(), cover: Data([0, 255]),
            genre: .essay, history: [.lent(to: "Ann", on: date), .lost])
        let shelf = Shelf(id: 7, copies: [copy, copy], first: copy, notes: ["late": date])
        try connection.insert(into: "shelf", values: shelf)
        #expect(try connection.queryOne("SELECT * FROM shelf", as: Shelf.self) == shelf)
        let bought = try connection.queryOne(
            "SELECT strftime('%s', json_extract(first, '$.bought')), json_extract(notes, '$.late') FROM shelf")
        #expect(bought?.values == ["1795506242", "2026-11-24 07:44:02.125"])
    }

    /// Keys that a type nests by itself are columns, of the row's own or behind a point.
    @Test(arguments: apiEngines) func nestedKeysComeBackAsTheyWereInserted(engine: Engine) throws {
        struct Place: Codable, Equatable {
            enum Keys: CodingKey { case name, position }
            enum Inner: CodingKey { case x, y }
            var name: String, x: Double, y: Double?

            init(name: String, x: Double, y: Double?) { (self.name, self.x, self.y) = (name, x, y) }

            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: Keys.self)
                name = try values.decode(String.self, forKey: .name)
                let position = try values.nestedContainer(keyedBy: Inner.self, forKey: .position)
                x = try position.decode(Double.self, forKey: .x)
                y = try position.decodeIfPresent(Double.self, forKey: .y)
            }

            func encode(to encoder: any Encoder) throws {
                var values = encoder.container(keyedBy: Keys.self)
                try values.encode(name, forKey: .name)
                var position = values.nestedContainer(keyedBy: Inner.self, forKey: .position)
                try position.encode(x, forKey: .x)
                try position.encodeIfPresent(y, forKey: .y)
            }
        }
        let connection = try library(engine)
        try connection.execute("CREATE TABLE place (name TEXT, x REAL, y REAL)")
        let places = [Place(name: "a", x: 1, y: nil), Place(name: "b", x: 2, y: 2.5)]
        for place in places { try connection.insert(into: "place", values: place) }
        #expect(try connection.query("SELECT * FROM place", as: Place.self) == places)
        let named = "SELECT name, x AS \"position.x\", y AS \"position.y\" FROM place"
        #expect(try connection.query(named, as: Place.self) == places)
    }
}
