import Foundation
import Testing

/// The commands of `rootstock sql` from a script, and its prompt on a terminal.
@Suite final class ShellTests {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-shell-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static let schema = """
        CREATE TABLE book (isbn TEXT PRIMARY KEY, title TEXT, price REAL, cover BLOB) WITHOUT ROWID;
        CREATE TABLE "order" (id INTEGER PRIMARY KEY AUTOINCREMENT, "a b", twice AS ("a b" * 2));
        CREATE INDEX by_title ON book (title);
        CREATE VIEW cheap AS SELECT title FROM book WHERE price < 10;
        INSERT INTO book VALUES ('1', 'It''s', 9.5, x'00ff'), ('2', 'two
        lines', 1e999, NULL), ('3', NULL, 0.1, '');
        INSERT INTO "order" ("a b") VALUES (1), (-9007199254740993);

        """

    /// The same on SQLite's own B-tree and on a store.
    @Test(arguments: engines) func aScriptMayHoldCommands(engine: String) throws {
        let script =
            Self.schema + """
                .tables
                .indexes book
                .headers on
                SELECT isbn, title
                  FROM book WHERE price < 10 ORDER BY isbn;
                .mode box
                SELECT 1 AS one, 'é' AS two;
                .mode markdown
                SELECT 1 AS one, 'two' AS two;
                .mode line
                SELECT 1 AS one, NULL AS two;
                .mode insert t
                .headers off
                SELECT 1, 'a''b', x'0f', 1.5, NULL;
                .mode list
                .eqp on
                SELECT title FROM book WHERE isbn = '1';
                .quit
                SELECT 'never';
                """
        let transcript = try run(command, ["sql", "--engine", engine, path("store")], input: script)
        #expect(transcript.error == "" && transcript.status == 0)
        #expect(
            transcript.output.hasPrefix(
                """
                book
                cheap
                order
                by_title
                isbn|title
                1|It's
                3|
                ┌─────┬─────┐
                │ one │ two │
                ├─────┼─────┤
                │ 1   │ é   │
                └─────┴─────┘
                | one | two |
                |-----|-----|
                | 1   | two |
                  one = 1
                  two = 
                INSERT INTO t VALUES(1,'a''b',X'0f',1.5,NULL);
                QUERY PLAN
                `--SEARCH book USING 
                """), "\(transcript.output)")
        #expect(transcript.output.hasSuffix("It's\n"))
    }

    /// What .dump prints makes the same database again, in sqlite3 and on a store.
    @Test(arguments: engines) func aDumpMakesTheSameAgain(engine: String) throws {
        let store = path("store")
        #expect(try run(command, ["sql", "--engine", engine, store], input: Self.schema).status == 0)
        let dump = try run(command, ["sql", "--engine", engine, store], input: ".dump\n")
        #expect(dump.error == "")
        let native = try run(sqliteShell, [path("native")], input: dump.output)
        #expect(native == Transcript(output: "", error: "", status: 0), "\(native)")
        let question =
            "SELECT quote(isbn), quote(title), quote(price), quote(cover) FROM book; SELECT * FROM \"order\"; SELECT * FROM cheap;"
        let expected = try run(command, ["sql", "--engine", engine, store, question]).output
        #expect(try run(sqliteShell, [path("native"), question]).output == expected)
        #expect(try run(command, ["sql", "--engine", "lmdb", path("again")], input: dump.output).error == "")
        #expect(try run(command, ["sql", path("again"), question]).output == expected)
        let next = "INSERT INTO \"order\" (\"a b\") VALUES (0) RETURNING id"
        #expect(try run(command, ["sql", path("again"), next]).output == "3\n", "AUTOINCREMENT goes on")
    }

    @Test func csvComesInWhole() throws {
        try Data("name,says\n\"a,b\",\"x \"\"y\"\"\r\nz\"\nc,\n".utf8).write(to: URL(fileURLWithPath: path("in.csv")))
        try Data("1,2\n3\n".utf8).write(to: URL(fileURLWithPath: path("short.csv")))
        let made = try run(
            command, ["sql", path("store.lmdb")],
            input:
                "CREATE TABLE p(a,b);\n.import \(path("in.csv")) t\nSELECT name, quote(says) FROM t;\n.import \(path("short.csv")) p\n"
        )
        #expect(made.output == "2 rows\na,b|'x \"y\"\r\nz'\nc|''\n", "\(made)")
        #expect(
            made.error.contains("line 4: \(path("short.csv")):2: 1 fields, and p has 2 columns; nothing was imported"),
            "\(made.error)")
        #expect(try run(command, ["sql", path("store.lmdb"), "SELECT count(*) FROM p"]).output == "0\n")
    }

    @Test func whatIsWrongIsNamed() throws {
        for (script, words) in [
            ("CREATE TABLE t(a);\n.nonsense\n", "line 2: there is no command .nonsense: .help lists them"),
            ("CREATE TABLE t(a);\n.mode pie\n", "line 2: there is no mode pie: there are list,"),
            ("CREATE TABLE t(a);\n\nSELECT b\nFROM t;\n", "line 3: no such column: b"),
            (".read \(path("missing"))\n", "cannot read \(path("missing"))"),
        ] {
            let told = try run(command, ["sql", "--create", path("store\(words.count)")], input: script)
            #expect(told.status == 1 && told.error.contains(words), "\(told.error)")
        }
    }

    /// On a terminal there is a prompt, an error does not end it, and it points at the token.
    @Test func aTerminalGetsAPrompt() throws {
        let program = """
            import os, pty, sys
            os.environ["TERM"] = "dumb"
            os.environ["HOME"] = sys.argv[2]
            lines = [b"CREATE TABLE t(a);\\n", b"INSERT INTO t\\n", b"VALUES (41 + 1);\\n", b"SELECT a FROM t;\\n", b"SELECT b FROM t;\\n", b".quit\\n"]
            child, terminal = pty.fork()
            if child == 0:
                os.execv(sys.argv[1], [sys.argv[1], "sql", sys.argv[3]])
            seen = b""
            def until(mark):
                global seen
                while mark not in seen:
                    seen += os.read(terminal, 1000)
                rest = seen.split(mark, 1)[1]
                sys.stdout.write((seen[: len(seen) - len(rest)]).decode())
                seen = rest
            for line in lines:
                until(b"> ")
                os.write(terminal, line)
            try:
                while True:
                    more = os.read(terminal, 1000)
                    if not more:
                        break
                    sys.stdout.write(more.decode())
            except OSError:
                pass
            """
        let transcript = try run(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", program, command.path, folder.path, path("store.lmdb")])
        let text = transcript.output.replacing("\r\n", with: "\n")
        #expect(text.contains("on engine lmdb"), "\(transcript)")
        #expect(text.contains("\n42\n"), "\(text)")
        #expect(text.contains("Error: no such column: b"), "\(text)")
        #expect(text.contains("^--- here"), "\(text)")
    }
}
