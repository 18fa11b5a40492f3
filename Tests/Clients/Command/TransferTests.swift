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

    /// A module's rows are in tables of its own: a dump gives them once.
    @Test func aDumpHasVirtualTables() throws {
        let file = path("words.sqlite")
        let made = "CREATE VIRTUAL TABLE word USING fts5(a); INSERT INTO word VALUES ('it''s'); CREATE TABLE t(a)"
        try rootstock("sql", "--create", file, made)
        let shell = URL(fileURLWithPath: "/usr/bin/sqlite3")
        let dump = try rootstock("dump", file)
        #expect(try run(shell, [file, ".dump"]).output == dump)
        let again = try run(shell, [path("again.sqlite")], input: dump)
        #expect(again.status == 0, "\(again.error)")
        #expect(try run(shell, [path("again.sqlite"), "SELECT * FROM word('it')"]).output == "it's\n")
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
        // No byte is lost behind a NUL.
        try rootstock(
            "sql", store, "CREATE TABLE bytes (a); INSERT INTO bytes VALUES ('a' || char(0) || 'b'), (x'00ff')")
        try rootstock("export", store, path("bytes.csv"), "--table", "bytes")
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: path("bytes.csv")))
                == Data("a\n\"a\0b\"\n\"\0".utf8) + [0xff] + Data("\"\n".utf8))
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

    /// Where a record ends, and what of it is a carriage return, is what the sqlite3 shell takes it for.
    @Test func carriageReturnsAreTheSqliteShells() throws {
        for (number, text) in [
            "a,b\r1,2\r3,4\r", "a,b\r\n1,2\r\n3,4\r", "a,b\n1,\"x\ry\"\n2,p\rq\r\n\"z\",w\r\n,\r\n", "a\r\n\r\n1\r\r\n",
        ].enumerated() {
            try Data(text.utf8).write(to: folder.appendingPathComponent("in.csv"))
            let script = """
                .mode csv
                .import \(path("in.csv")) t
                .headers on
                .mode quote
                SELECT * FROM t;
                SELECT name FROM pragma_table_info('t');

                """
            let native = try run(sqliteShell, [path("native\(number)")], input: script)
            let ours = try run(command, ["sql", path("store\(number).lmdb")], input: script)
            let rows = ours.output.drop { $0 != "\n" }.dropFirst()
            #expect(ours.error == "" && native.error == "" && rows == native.output, "\(text.debugDescription)")
        }
    }

    /// What ends an import into a store that is there takes nothing and leaves nothing.
    @Test(arguments: [("lmdb", SIGINT), ("sqlite", SIGTERM)])
    func anInterruptedImportOfRowsLeavesTheStore(engine: String, signal: Int32) throws {
        let store = path("store")
        try rootstock(
            "sql", "--create", "--engine", engine, store, "CREATE TABLE t (a, b); INSERT INTO t VALUES (0, 'kept')")
        let rows = (1...400_000).map { "\($0),text\n" }.joined()
        try Data(rows.utf8).write(to: folder.appendingPathComponent("rows.csv"))
        var wasInterrupted = false
        for _ in 0..<5 where !wasInterrupted {
            let process = Process()
            process.executableURL = command
            process.arguments = ["import", path("rows.csv"), store, "--table", "t"]
            process.standardError = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            // Somewhere among the rows.
            usleep(300_000)
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            wasInterrupted = process.terminationReason == .uncaughtSignal
            try #expect(rootstock("sql", store, "SELECT count(*) % 400000, min(b) FROM t") == "1|kept\n")
        }
        #expect(wasInterrupted)
        try #expect(rootstock("sql", store, "PRAGMA integrity_check") == "ok\n")
        try #expect(rootstock("import", path("rows.csv"), store, "--table", "t") == "400000 rows into t\n")
    }

    /// A folder on a disk of four megabytes needs a mount, which a namespace of its own allows root, or anybody.
    private static let smallDisk: [String]? = [["-m"], ["-rm"]].first { options in
        let tried = try? run(
            URL(fileURLWithPath: "/usr/bin/unshare"), options + ["sh", "-c", "mount -t tmpfs -o size=4m tmpfs /mnt"])
        return tried?.status == 0
    }

    /// The disk is full amid the work: the error says so, no part of a file is left, and what was there before is whole.
    @Test(.enabled(if: smallDisk != nil, "no file system can be mounted here"))
    func aFullDiskLeavesNothing() throws {
        try rootstock(
            "sql", path("app.lmdb"),
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b); WITH n(a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM n WHERE a < 20000) "
                + "INSERT INTO t SELECT a, hex(randomblob(200)) FROM n")
        try rootstock("export", path("app.lmdb"), path("rows.csv"), "--table", "t")
        try rootstock("export", path("app.lmdb"), path("app.sqlite"))
        let script = """
            mount -t tmpfs -o size=4m tmpfs "$1/disk" && cd "$1/disk" || exit 9
            for store in here.lmdb here.sqlite; do
                "$0" sql $store "CREATE TABLE t (a, b); INSERT INTO t VALUES (0, 'kept')"
            done
            ls -A > before
            # What SQLite left of a transaction goes at the next opening.
            fails() {
                told=$("$0" "$@" 2>&1) && echo "$*: succeeded"
                case "$told" in *[Ff]ull* | *"No space left"*) ;; *) echo "$*: $told" ;; esac
            }
            clean() { ls -A | diff before - || echo "left by $*"; }
            copies() { fails "$@"; clean "$@"; }
            copies import ../app.sqlite copy.lmdb
            copies import ../app.sqlite copy.lmdb --durability off
            copies import ../app.lmdb copy.store --engine sqlite-btree
            copies copy ../app.sqlite copy.sqlite --engine sqlite
            copies export ../app.lmdb copy.sqlite
            copies export ../app.lmdb copy.csv --table t
            copies backup ../app.lmdb copy.lmdb
            copies backup ../app.sqlite copy.sqlite
            copies import ../rows.csv copy.lmdb --table t
            "$0" dump ../app.lmdb 2>&1 > dump.sql | grep -q "No space left" || echo "dump says nothing"
            rm dump.sql
            for store in here.sqlite here.lmdb; do
                fails import ../rows.csv $store --table t
                "$0" sql $store "PRAGMA integrity_check; SELECT count(*), b FROM t"
                clean $store
                "$0" sql $store "INSERT INTO t VALUES (1, 'more')" || echo "$store: takes no row"
            done
            """
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("disk"), withIntermediateDirectories: false)
        let answer = try run(
            URL(fileURLWithPath: "/usr/bin/unshare"),
            Self.smallDisk! + ["bash", "-c", script, command.path, folder.path])
        #expect(answer == Transcript(output: "ok\n1|kept\nok\n1|kept\n", error: "", status: 0), "\(answer)")
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
