// ArgumentTests.swift - Swift values as arguments, and back, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct ArgumentTests {
    enum Genre: String, Codable, ValueConvertible { case novel, essay }
    struct Identifier: RawRepresentable, ValueConvertible, Hashable { var rawValue: Int64 }

    func connection(_ engine: Engine) throws -> (Connection, TemporaryFolder) {
        let folder = try TemporaryFolder()
        return (try Connection(path: folder.path(), engine: engine, options: StoreOptions(durability: .off)), folder)
    }

    @Test(arguments: apiEngines) func everyTypeComesBackAsItWent(engine: Engine) throws {
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value)")
        func comesBack<T: ValueConvertible & Equatable>(_ value: T, _ storage: String) throws {
            try connection.execute("INSERT OR REPLACE INTO t VALUES (1, ?)", [value])
            let row = try #require(try connection.queryOne("SELECT value, typeof(value) FROM t"))
            #expect(try row[0, as: T.self] == value)
            #expect(try row[1, as: String.self] == storage)
        }
        try comesBack(Data([0, 1, 255]), "blob")
        try comesBack([UInt8](), "blob")
        try comesBack(Date(timeIntervalSince1970: 1_795_506_242.125), "text")
        try comesBack(Date(timeIntervalSince1970: -1.5), "text")
        try comesBack(UUID(), "blob")
        try comesBack(URL(string: "https://example.org/a?b=c#d")!, "text")
        try comesBack(Decimal(string: "12345678901234567890.000001")!, "text")
        try comesBack(Genre.essay, "text")
        try comesBack(Identifier(rawValue: -7), "integer")
        try comesBack(Float(0.1), "real")
        try comesBack(Int?.none, "null")
        try comesBack(Int?.some(3), "integer")
        try comesBack("", "text")
        try comesBack(true, "integer")
    }

    @Test(arguments: apiEngines) func sqlitesDateFunctionsReadADate(engine: Engine) throws {
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        for seconds in [0, 951_782_399.999, -62_167_219_200, 253_402_300_799, 1_795_506_242.125, -0.001] {
            let date = Date(timeIntervalSince1970: seconds)
            let row = try connection.queryOne("SELECT strftime('%Y-%m-%d %H:%M:%f', ?1), ?1", [date])
            #expect(row?[0] == row?[1])
            #expect(try row.map { try $0[0, as: Date.self] } == date)
        }
    }

    @Test func datesAreReadFromSQLitesTextForms() {
        func seconds(_ text: String) -> Double? { Date(databaseValue: .text(text))?.timeIntervalSince1970 }
        #expect(seconds("1970-01-02") == 86_400)
        #expect(seconds("1970-01-01 01:00") == 3600)
        #expect(seconds("1970-01-01T00:00:01.5Z") == 1.5)
        #expect(seconds("1970-01-01 01:00:00+01:00") == 0)
        #expect(seconds("1970-01-01 00:00:00.25 -00:30") == 1800.25)
        #expect(seconds("2000-02-29") == 951_782_400)
        for text in ["", "1970", "1970-13-01", "1970-01-01 24:00", "1970-01-01x", "1970-01-01 00:00:00.", "now"] {
            #expect(seconds(text) == nil, "\(text)")
        }
        #expect(Date(databaseValue: 12) == Date(timeIntervalSince1970: 12))
        #expect(Date(timeIntervalSince1970: 1e12).databaseValue == 1e12)
    }

    @Test func whatStandsForNoValueIsRefused() {
        #expect(UUID(databaseValue: .blob([1, 2])) == nil)
        #expect(UUID(databaseValue: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f") != nil)
        #expect(Decimal(databaseValue: "12 apples") == nil)
        #expect(Decimal(databaseValue: 7) == 7)
        #expect(Genre(databaseValue: "poem") == nil)
        #expect(Data(databaseValue: "text") == nil)
        #expect(URL(databaseValue: 1) == nil)
    }

    @Test(arguments: apiEngines) func argumentsGoByPositionByNameAndFromAnEncodable(engine: Engine) throws {
        struct Filter: Encodable { var id: Int, title: String?, tags: [String] }
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        let (id, title) = (7, "Sea")
        let positional = try connection.queryOne("SELECT ?, ?, ?", [id, title, nil])
        #expect(positional.map { Array($0) } == [7, "Sea", nil])
        let named = try connection.queryOne("SELECT :id, @title, $none", ["id": id, "@title": title, "$none": nil])
        #expect(named.map { Array($0) } == [7, "Sea", nil])
        let encoded = try connection.queryOne(
            "SELECT :id, :title, :tags", Arguments(encoding: Filter(id: 1, title: nil, tags: ["a", "b"])))
        #expect(encoded.map { Array($0) } == [1, nil, #"["a","b"]"#])
        #expect(try connection.queryValue("SELECT ?1 || ?2", Arguments(["a", "b"])) == "ab")
        #expect(try databaseError { try connection.execute("SELECT ?", [1, 2]) }?.code == .range)
        #expect(try databaseError { try connection.execute("SELECT :a", ["b": 2]) }?.code == .range)
        #expect(try databaseError { try connection.execute("SELECT :a, :b", ["b": 2]) }?.code == .range)
        #expect(try databaseError { try connection.prepare("SELECT ?").bind(1, at: 2) }?.code == .range)
        #expect(try databaseError { _ = try Arguments(encoding: [1, 2]) }?.code == .mismatch)
    }

    @Test(arguments: apiEngines) func interpolationBindsAndNeverSplices(engine: Engine) throws {
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, isbn TEXT)")
        let hostile = "'); DROP TABLE book; --"
        try connection.execute(literal: "INSERT INTO book (isbn) VALUES (\(hostile)), (\(nil as String?)), (\("2"))")
        #expect(try connection.queryValue(literal: "SELECT id FROM book WHERE isbn = \(hostile)") == 1)
        #expect(
            try connection.query(
                literal: "SELECT id FROM book WHERE id IN \(list: [1, 3, 9]) ORDER BY id", as: Int.self)
                == [1, 3])
        let condition: SQL = "isbn IS \(nil as String?)"
        #expect(try connection.queryOne(literal: "SELECT id FROM book WHERE \(condition)", as: Int.self) == 2)
        let table = "odd \" name"
        try connection.execute(literal: "CREATE TABLE \(identifier: table) (a)")
        let sql: SQL = "SELECT \(1), \(raw: "2") FROM \(identifier: table) WHERE a = \(Date(timeIntervalSince1970: 0))"
        #expect(sql.text == "SELECT ?, 2 FROM \"odd \"\" name\" WHERE a = ?")
        #expect(sql.arguments == [1, "1970-01-01 00:00:00.000"])
        #expect(try connection.query(literal: sql).isEmpty)
    }

    /// A parameter whose argument has another's name would be NULL without a word.
    @Test(arguments: apiEngines) func aParameterTakesOneArgument(engine: Engine) throws {
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        let twice = try databaseError { try connection.execute("SELECT :a, :b", ["a": 1, ":a": 2]) }
        #expect(twice?.message == "two arguments were given for the parameter :a" && twice?.code == .range)
        let kept = try connection.prepare("SELECT :a, $b")
        try kept.bind(["$b": 2, "a": 1])
        #expect(try kept.step() && kept.int64(at: 0) == 1 && kept.int64(at: 1) == 2)
    }

    @Test(arguments: apiEngines) func decimalsKeepTheirDigits(engine: Engine) throws {
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        try connection.execute("CREATE TABLE t (text TEXT, number NUMERIC)")
        for text in ["0.1", "3.133", "12.5", "-0.007", "1e20", "99999999.99"] {
            let decimal = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
            try connection.execute("DELETE FROM t")
            try connection.execute("INSERT INTO t VALUES (?1, ?1)", [decimal])
            let row = try #require(try connection.queryOne("SELECT * FROM t"))
            #expect(try row["text", as: Decimal.self] == decimal, "\(text)")
            #expect(try row["number", as: Decimal.self] == decimal, "\(text)")
        }
        let digits = String(repeating: "1234567890", count: 4)
        #expect(Decimal(databaseValue: .text("0." + digits)) == nil)
        #expect(Decimal(databaseValue: .text("0." + digits.prefix(38)))?.description == "0." + digits.prefix(38))
        for text in ["", ".", "-", "1.2.3", "1-2", "12e", "e5", "+-1", "1 ", "0x10", "nan", "1e999"] {
            #expect(Decimal(databaseValue: .text(text)) == nil, "\(text)")
        }
        #expect(Decimal(databaseValue: "-.5") == Decimal(string: "-0.5"))
        #expect(Decimal(databaseValue: "00012.500") == Decimal(string: "12.5"))
        #expect(Decimal.nan.databaseValue.isNull)
    }

    @Test(arguments: apiEngines) func datesAreNumbersByChoice(engine: Engine) throws {
        struct Visit: Codable, Equatable { var at: SecondsSince1970, left: SecondsSince1970?, seen: SecondsSince1970? }
        let (connection, folder) = try connection(engine)
        defer { withExtendedLifetime(folder) {} }
        try connection.execute("CREATE TABLE visit (at INTEGER, left REAL, seen INTEGER)")
        let visit = Visit(
            at: SecondsSince1970(Date(timeIntervalSince1970: 1_795_506_242)),
            left: SecondsSince1970(Date(timeIntervalSince1970: 1_795_506_243.5)), seen: nil)
        try connection.insert(into: "visit", values: visit)
        #expect(try connection.queryOne("SELECT * FROM visit", as: Visit.self) == visit)
        #expect(
            try connection.queryOne("SELECT at = unixepoch('2026-11-24 07:44:02'), left - at, seen FROM visit")?.values
                == [1, 1.5, nil])
        #expect(try connection.queryValue("SELECT count(*) FROM visit WHERE at < ?", [visit.left]) == 1)
        // A date reads either.
        #expect(try connection.queryOne("SELECT at FROM visit", as: Date.self) == visit.at.date)
        #expect(SecondsSince1970(databaseValue: "2026-11-24") == nil)
    }

    @Test(arguments: apiEngines) func everyCallTakesALiteral(engine: Engine) async throws {
        let (connection, folder) = try connection(engine)
        try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)")
        try connection.execute(literal: "INSERT INTO book (title) VALUES (\("Sea")), (\("Land"))")
        let title = "Land"
        #expect(try connection.queryOne(literal: "SELECT id FROM book WHERE title = \(title)")?.values == [2])
        let rows = try connection.cursor(literal: "SELECT * FROM book WHERE id > \(1)").collect()
        #expect(rows.map(\.values) == [[2, "Land"]])
        #expect(try connection.query(literal: "SELECT 1 FROM book WHERE id IN \(list: [Int]())").isEmpty)
        connection.close()
        let store = try Store(path: folder.path())
        var titles: [String] = []
        for try await found in store.stream(literal: "SELECT title FROM book WHERE title <> \(title)", as: String.self)
        {
            titles.append(found)
        }
        #expect(titles == ["Sea"])
    }
}
