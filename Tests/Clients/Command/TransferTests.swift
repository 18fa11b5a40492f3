import Foundation
import Testing

/// `rootstock import`, `export` and `dump`: what goes out of a store comes back, as SQL, as CSV and as a database.
@Suite final class TransferTests {
    static let stores = ["lmdb", "sqlite-btree"]
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "rootstock-transfer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasSuffix("-lock") }.sorted()
    }

    private func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// Runs the command, which has to succeed, and returns what it printed.
    @discardableResult private func rootstock(_ arguments: String...) throws -> String {
        let answer = try run(command, arguments)
        #expect(answer.error == "" && answer.status == 0)
        return answer.output
    }

    private func refusal(_ arguments: String...) throws -> String {
        let answer = try run(command, arguments)
        #expect(answer.status != 0)
        return answer.error
    }

    private static let schema = """
        CREATE TABLE book (isbn TEXT PRIMARY KEY, title TEXT DEFAULT '?', price REAL) WITHOUT ROWID;
        CREATE TABLE loan (id INTEGER PRIMARY KEY AUTOINCREMENT, book REFERENCES book);
        CREATE INDEX "by title" ON book (title);
        INSERT INTO book VALUES ('1', 'a, "b"', 1.5), ('2', NULL, NULL), ('3', '', -1e999), ('4', 'two' || char(13, 10) || 'lines', 0);
        INSERT INTO loan (book) VALUES ('1'), ('4');
        """

    @Test(arguments: stores) func aStoreBecomesADatabaseAndSQLText(engine: String) throws {
        try rootstock("sql", "--create", "--engine", engine, path("app.store"), Self.schema)
        #expect(
            try rootstock("export", path("app.store"), path("app.sqlite"))
                == "6 rows in 2 tables, equal to the original's\n")
        let dump = try rootstock("dump", path("app.store"))
        #expect(try rootstock("dump", path("app.sqlite")) == dump)
        #expect(try rootstock("dump", path("app.store"), "loan").contains("INSERT INTO loan VALUES(2,'4');"))
        try rootstock("sql", "--create", path("again.sqlite"), dump)
        #expect(try rootstock("dump", path("again.sqlite")) == dump)
        #expect(
            try rootstock("copy", path("app.store"), path("copy.lmdb"))
                == "6 rows in 2 tables, equal to the original's\n")
        #expect(try rootstock("dump", path("copy.lmdb")) == dump)
    }

    @Test(arguments: stores) func rowsGoThroughCSV(engine: String) throws {
        let store = path("app.store")
        try rootstock("sql", "--create", "--engine", engine, store, Self.schema)
        try rootstock("export", store, path("book.csv"), "--table", "book")
        #expect(
            try text("book.csv")
                == "isbn,title,price\n1,\"a, \"\"b\"\"\",1.5\n2,,\n3,\"\",-Inf\n4,\"two\r\nlines\",0.0\n")
        try rootstock("export", store, path("none.csv"), "--query", "SELECT isbn AS \"a b\" FROM book WHERE price > 7")
        #expect(try text("none.csv") == "\"a b\"\n")
        #expect(try rootstock("import", path("book.csv"), store, "--table", "new") == "4 rows into new\n")
        #expect(
            try rootstock(
                "sql", store, "SELECT count(*) FROM new JOIN book USING (isbn) WHERE new.title = ifnull(book.title, '')"
            )
                == "4\n")
        // Into a table that exists each line is a row, but for those skipped.
        try rootstock("sql", store, "DELETE FROM loan; DELETE FROM book")
        #expect(
            try rootstock("import", path("book.csv"), store, "--table", "book", "--skip", "1") == "4 rows into book\n")
        #expect(try rootstock("sql", store, "SELECT price, typeof(price) FROM book WHERE isbn = '1'") == "1.5|real\n")
    }

    /// All rows or none, and an error that names the line.
    @Test(arguments: stores) func aWrongCSVFileChangesNothing(engine: String) throws {
        let store = path("app.store")
        try rootstock("sql", "--create", "--engine", engine, store, Self.schema)
        for (lines, words) in [
            ("5,five,5\n6,six\n", "wrong.csv:2: 2 fields, and book has 3 columns; nothing was imported"),
            ("5,five,5\n1,one,1\n", "wrong.csv:2: UNIQUE constraint failed: book.isbn; nothing was imported"),
            ("5,five,5\n6,\"six,6\n7,seven,7\n", "line 2: a quoted field has no end; nothing was imported"),
        ] {
            try Data(lines.utf8).write(to: folder.appendingPathComponent("wrong.csv"))
            #expect(try refusal("import", path("wrong.csv"), store, "--table", "book").contains(words))
            #expect(try rootstock("sql", store, "SELECT count(*) FROM book") == "4\n")
        }
        #expect(try refusal("import", path("missing.csv"), path("new.store"), "--table", "t").contains("cannot read"))
        #expect(try refusal("import", path("wrong.csv"), store).contains("--table NAME"))
        #expect(try names() == ["app.store", "wrong.csv"])
    }

    @Test func anExportNeverOverwritesAndLeavesNoPart() throws {
        try rootstock("sql", "--create", path("app.lmdb"), Self.schema)
        try Data("mine".utf8).write(to: folder.appendingPathComponent("taken"))
        #expect(try refusal("export", path("app.lmdb"), path("taken")).contains("exists"))
        #expect(try refusal("export", path("app.lmdb"), path("taken"), "--table", "book").contains("exists"))
        #expect(
            try refusal("export", path("app.lmdb"), path("x.csv"), "--table", "nosuch").contains(
                "no such table: nosuch"))
        #expect(try refusal("export", path("app.lmdb"), path("x.csv"), "--query", "DELETE FROM book") != "")
        #expect(try refusal("export", path("app.lmdb"), path("x.csv")).contains("--table NAME or --query SQL"))
        #expect(try refusal("dump", path("nosuch.lmdb")).contains("there is no file"))
        #expect(try names() == ["app.lmdb", "taken"])
        #expect(try text("taken") == "mine")
    }
}
