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
                book   cheap  order
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

    /// Byte for byte what the sqlite3 shell prints: modes, commands, plans, dumps. Its mode quote prints an infinite number as `Inf`,
    /// which is no SQL.
    @Test(arguments: engines) func printsWhatTheSqliteShellPrints(engine: String) throws {
        let schema =
            Self.schema + """
                CREATE TABLE values_of (id INTEGER PRIMARY KEY, a, b, "a b" TEXT);
                INSERT INTO values_of VALUES (1, 1e999, -0.0, 'ü€'), (2, 0.1 + 0.2, x'00ff', 'quote '' " comma,'), \
                (3, NULL, '', 'line\n\\n\r\\012'), (4, -9223372036854775808, 1e300, '\ttab');
                CREATE TRIGGER after_insert AFTER INSERT ON values_of BEGIN DELETE FROM values_of WHERE id < 0; END;

                """
        #expect(try run(sqliteShell, [path("native")], input: schema).status == 0)
        #expect(try run(command, ["sql", "--engine", engine, path("store")], input: schema).status == 0)
        let modes = [
            "list", "csv", "table", "box", "markdown", "line", "column", "quote", "tabs", "insert", "insert t", "html",
            "tcl",
        ]
        var scripts = modes.flatMap { mode in
            ["off", "on"].map { header in
                """
                .mode \(mode)
                .headers \(header)
                SELECT * FROM values_of\(mode == "quote" ? " WHERE id > 1" : "");
                SELECT "a b" FROM "order";
                SELECT 1 WHERE 0;
                SELECT 1.0, 1e15, 123456789012345678, 3.0e-7;

                """
            }
        }
        scripts += [
            ".dump\n", ".tables\n", ".tables %o%\n", ".indexes\n", ".schema\n", ".schema cheap\n",
            ".tab\n.head on\nSELECT 1 AS x;\n",
            ".mode json\nSELECT id, a, \"a b\" FROM values_of;\n", ".mode\n",
            ".nullvalue none\nSELECT * FROM book;\n.mode box\nSELECT * FROM book;\n",
            ".separator ;\nSELECT 1, 2;\n", ".separator ;\n.mode list\nSELECT 1, 2;\n",
            ".mode csv\n.separator ;\nSELECT 'a;b', 'a,b';\n",
            ".separator \"\\t\" \"\\n\\n\"\nSELECT 1, 2;\nSELECT 3;\n",
            ".mode quote\n.separator ;\nSELECT 'a', 2;\n", ".mode ascii\nSELECT 'a', 2;\n",
            "-- of a comment\n.print one\n/* of\n.print two */ -- and\n.print three\n# four\nSELECT 5;\n",
            ".headers off\n.mode column\nSELECT 1 AS x;\n", ".print \"a\\tb\\101\" 'c\\t'\n",
            ".parameter set :x 2+3\n.parameter set @yy 'a b'\n.parameter list\nSELECT :x, @yy, ?;\n.parameter unset :x\nSELECT :x;\n",
            ".limit\n", ".limit expr 77\n.limit expr_depth\n", ".echo on\nSELECT 1;\n", ".changes on\nSELECT 1;\n",
            ".shell echo hi\nSELECT 1;\n", ".cd /\n.system pwd\n",
            ".read \"|echo 'SELECT 7;'\"\nSELECT 8;\n", ".once '|tr 8 9'\nSELECT 8;\nSELECT 8;\n",
            ".width 3 -6\n.mode column\nSELECT 'abcdefg' AS a, 12 AS bb, 'x' AS c;\n.mode box\nSELECT 'abcdefg' AS abcd, 12, 'x';\n",
            ".once \(path("once"))\nSELECT 1;\nSELECT 2;\n",
            ".output \(path("output"))\nSELECT 1;\n.output\nSELECT 2;\n", ".print some words\n",
            "EXPLAIN QUERY PLAN SELECT price FROM book WHERE title = 'x' ORDER BY price;\n",
            ".eqp on\nSELECT price FROM book WHERE title = 'x' ORDER BY price;\n.eqp off\nSELECT 1;\n",
        ]
        let long = "'" + String(repeating: "Grüße, an\teach.of-them ", count: 9) + "', 'two\r\nlines'"
        for mode in ["column", "table", "box", "markdown"] {
            for options in ["", " --wrap 20", " --wrap 17 --wordwrap on", " --wrap 0 --quote", " --ww"] {
                scripts.append(".mode \(mode)\(options)\nSELECT \(long) AS \"a b\";\nSELECT \(long);\n")
            }
        }
        for script in scripts {
            let native = try run(sqliteShell, [path("native")], input: script)
            let ours = try run(command, ["sql", "--engine", engine, path("store")], input: script)
            #expect(ours == native, "\(script)")
        }
    }

    /// What the sqlite3 shell's .dump loses: bytes behind a NUL in a text. Texts that are no UTF-8 stay as they are.
    @Test(arguments: engines) func aDumpLosesNoByteOfAText(engine: String) throws {
        let store = path("store")
        let made = "CREATE TABLE t (a); INSERT INTO t VALUES ('a' || char(0) || 'b''c'), (CAST(x'ff41' AS TEXT));"
        #expect(try run(command, ["sql", "--engine", engine, store, made]).status == 0)
        let shell = URL(fileURLWithPath: "/bin/sh")
        let piped = try run(shell, ["-c", "'\(command.path)' dump '\(store)' | sqlite3 '\(path("native"))'"])
        #expect(piped == Transcript(output: "", error: "", status: 0))
        let question = "SELECT typeof(a), hex(a) FROM t"
        for file in [store, path("native")] {
            #expect(try run(command, ["sql", file, question]).output == "text|6100622763\ntext|FF41\n")
        }
    }

    /// As in the sqlite3 shell: no file has that name.
    @Test func aDatabaseInMemoryIsNoFile() throws {
        let script = "CREATE TABLE t (a); INSERT INTO t VALUES (7); SELECT * FROM t"
        let shell = URL(fileURLWithPath: "/bin/sh")
        let told = try run(shell, ["-c", "cd '\(folder.path)' && '\(command.path)' sql :memory: '\(script)' && ls -A"])
        #expect(told == Transcript(output: "7\n", error: "", status: 0))
    }

    /// With `.bail off` a script goes on after an error, as the sqlite3 shell does; `.exit` gives a status.
    @Test func aScriptMayGoOnAfterAnError() throws {
        let store = path("store.lmdb")
        let script = ".bail off\nCREATE TABLE t(a);\nSELECT b FROM t;\n.nonsense\nSELECT 7;\n"
        let told = try run(command, ["sql", store], input: script)
        #expect(told.output == "7\n" && told.status == 1)
        #expect(told.error.hasPrefix("Error: line 3: no such column: b\n"), "\(told.error)")
        #expect(told.error.contains("\nError: line 4: there is no command .nonsense"), "\(told.error)")
        // A command that ends before it has read all takes no later output along.
        let piped = ".bail off\n.once |true\nSELECT printf('%200000d', 1);\nSELECT 2;\n"
        let broken = try run(command, ["sql", store], input: piped)
        #expect(broken.output == "2\n" && broken.error.contains("Broken pipe"), "\(broken)")
        #expect(try run(command, ["sql", store], input: "SELECT 1;\n.exit 3\nSELECT 2;\n").output == "1\n")
        #expect(try run(command, ["sql", store], input: ".exit 3\n").status == 3)
    }

    /// Options and arguments that a command does not have are told, and no file is made under their names.
    @Test func whatACommandDoesNotTakeIsRefused() throws {
        let store = path("store.lmdb")
        #expect(try run(command, ["sql", store, "CREATE TABLE t(a)"]).status == 0)
        for (line, words) in [
            (".open --new x", ".open has no option --new; usage: .open FILE"), (".stats on", "usage: .stats"),
            (".schema --indent", ".schema has no option --indent"), (".timer", "usage: .timer on|off"),
            (".backup other \(path("copy"))", "usage: .backup [main] FILE"),
            (".mode box --colour", "no option --colour"),
            (".s", "it could be .save, .schema, .separator"), (".import --tsv a b", "no option --tsv"),
        ] {
            let told = try run(command, ["sql", store, line])
            #expect(told.status == 1 && told.error.contains(words), "\(told)")
        }
        #expect(try run(command, ["sql", store, ".backup main \(path("copy.lmdb"))"]).status == 0)
        #expect(try run(command, ["sql", path("copy.lmdb"), ".tables"]).output == "t\n")
    }

    /// What is piped runs as it comes, and what cannot be read as it is is not stored in another way.
    @Test func aPipeRunsStatementByStatement() throws {
        let program = """
            import subprocess, sys
            shell = subprocess.Popen([sys.argv[1], "sql", sys.argv[2]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for number in range(3):
                shell.stdin.write(b"SELECT %d;\\n" % number if number else b"CREATE TABLE t(a); INSERT INTO t VALUES (0);\\nSELECT a FROM t;\\n")
                shell.stdin.flush()
                assert shell.stdout.readline() == b"%d\\n" % number
            shell.stdin.write(b"INSERT INTO t VALUES ('caf\\xe9');\\n")
            shell.stdin.close()
            print(shell.wait())
            """
        let told = try run(
            URL(fileURLWithPath: "/usr/bin/python3"), ["-c", program, command.path, path("store.lmdb")])
        #expect(told.output == "1\n" && told.error.contains("line 5 is no UTF-8"), "\(told)")
        #expect(try run(command, ["sql", path("store.lmdb"), "SELECT a FROM t"]).output == "0\n")
    }

    /// An error of a script points at its token.
    @Test func anErrorPointsAtItsToken() throws {
        let told = try run(
            command, ["sql", path("store.lmdb")], input: "CREATE TABLE t(a);\nSELECT a,\n  nosuch FROM t;\n")
        #expect(
            told.error == "Error: line 2: no such column: nosuch\n    nosuch FROM t;\n    ^--- error here\n",
            "\(told.error)")
    }

    /// Where SQLite tells a place the words of the two differ in the error's beginning only.
    @Test(arguments: engines) func aPlaceIsWhereTheSqliteShellHasIt(engine: String) throws {
        let schema =
            "CREATE TABLE t(a, b); CREATE TABLE u(a UNIQUE); "
            + "CREATE TRIGGER there AFTER INSERT ON u BEGIN DELETE FROM u; END"
        #expect(try run(sqliteShell, [path("native"), schema]).status == 0)
        #expect(try run(command, ["sql", "--engine", engine, path("store"), schema]).status == 0)
        for sql in [
            "CREATE TABLE x(a,, b)", "CREATE TABLE x(a, CHECK (nosuch > 1))", "CREATE TABLE t(b)",
            "CREATE TABLE x(a) STRIKT",
            "CREATE INDEX x ON t(nosuch)", "CREATE INDEX x ON t(a + nosuch)", "CREATE UNIQUE INDEX x ON t(a,)",
            "ALTER TABLE t RENAME COLUMN nosuch TO c", "ALTER TABLE t ADD COLUMN c GENERATED ALWAYS AS (nosuch)",
            "ALTER TABLE t ADD", "CREATE VIEW v AS SELECT FROM t", "DROP TABLE nosuch", "DROP TABEL t",
            "CREATE TRIGGER there AFTER INSERT ON t BEGIN SELECT 1; END",
            "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT; END",
            "INSERT INTO u VALUES (nosuch) ON CONFLICT DO NOTHING", "INSERT INTO u VALUES (1) RETURNING nosuch, b.c",
            "UPDATE t SET a = nosuch, b = 7 WHERE a > 2", "DELETE FROM t WHERE nosuch = 'nosuch'", "REINDEX 7",
            "VACUUM INTO INTO",
            "SELECT nosuch FROM sqlite_schema", "SELECT foo(1)", "SELECT abs(1, 2)", "SELECT 1 FROM (SELECT 2",
            "SELEC 1",
            "SELECT 'it''s a long line with many a word in it that goes before', nosuch, 'and some words behind it, too'",
        ] {
            func place(_ told: String) -> Substring {
                told.split(separator: "\n", maxSplits: 1).dropFirst().first ?? ""
            }
            let native = try run(sqliteShell, [path("native"), sql])
            let ours = try run(command, ["sql", "--engine", engine, path("store"), sql])
            #expect(place(ours.error) == place(native.error), "\(sql): \(ours.error)")
        }
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
            made.error.contains("line 4: \(path("short.csv")):2: 1 field, and p has 2 columns; nothing was imported"),
            "\(made.error)")
        #expect(try run(command, ["sql", path("store.lmdb"), "SELECT count(*) FROM p"]).output == "0\n")
    }

    /// Fields between the separator that is set, ASCII's own, and what a command prints.
    @Test func rowsComeInOtherForms() throws {
        try Data("a|b\n1|\"x|y\"\n".utf8).write(to: URL(fileURLWithPath: path("bars")))
        try Data("a\u{1f}b\u{1e}1\u{1f}\"two\nlines\u{1e}".utf8).write(to: URL(fileURLWithPath: path("ascii")))
        let script = """
            .separator |
            .import \(path("bars")) bars
            .import --ascii \(path("ascii")) ascii
            .import --csv "|echo a,b; echo 3,4" printed
            .mode tabs
            .import "|printf '1\\\\t2\\\\n'" printed
            .mode quote
            SELECT * FROM bars;
            SELECT * FROM ascii;
            SELECT * FROM printed;
            .import --csv "|echo 5,6; exit 2" printed
            """
        let told = try run(command, ["sql", "--create", path("store.lmdb")], input: script)
        #expect(
            told.output == "1 row\n1 row\n1 row\n1 row\n'1','x|y'\n'1','\"two\nlines'\n'3','4'\n'1','2'\n",
            "\(told)")
        #expect(told.error.contains("ended with status 2; nothing was imported"), "\(told.error)")
        #expect(try run(command, ["sql", path("store.lmdb"), "SELECT count(*) FROM printed"]).output == "2\n")
    }

    /// Neither a store without rows nor other bytes than the file's.
    @Test func aCSVFileThatCannotBeReadLeavesNothing() throws {
        for (bytes, words) in [
            ([UInt8]("a,b\n1,".utf8) + [0xff], "line 2: field 2 is no UTF-8"),
            ([UInt8]("a,b\n1\n".utf8), ":2: 1 field, and t has 2 columns"),
            ([UInt8]("a,a\n1,2\n".utf8), "bad.csv:1: duplicate column name: a; nothing was imported"),
            ([UInt8]("a,b\n1,\"2\"3\n".utf8), "line 2: field 2 goes on behind its closing quote"),
        ] {
            try Data(bytes).write(to: URL(fileURLWithPath: path("bad.csv")))
            let told = try run(command, ["import", path("bad.csv"), path("new.lmdb"), "--table", "t"])
            #expect(told.status == 1 && told.error.contains(words), "\(told.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["bad.csv"])
        }
    }

    @Test func whatIsWrongIsNamed() throws {
        try Data(".read \(path("itself.sql"))\n".utf8).write(to: URL(fileURLWithPath: path("itself.sql")))
        try Data("SELECT 1;\nSELECT * FROM nosuch;\n".utf8).write(to: URL(fileURLWithPath: path("wrong.sql")))
        for (script, words) in [
            ("CREATE TABLE t(a);\n.nonsense\n", "line 2: there is no command .nonsense: .help lists them"),
            ("CREATE TABLE t(a);\nSELECT 1;\0SELECT 2;\n", "line 2 holds a NUL byte"),
            ("CREATE TABLE t(a);\n.mode pie\n", "line 2: there is no mode pie: there are list,"),
            ("CREATE TABLE t(a);\n\nSELECT b\nFROM t;\n", "line 3: no such column: b"),
            (".read \(path("missing"))\n", "cannot read \(path("missing"))"),
            (".read \(path("wrong.sql"))\n", "\(path("wrong.sql")): line 2: no such table: nosuch"),
            (".read \(path("itself.sql"))\n", "\(path("itself.sql")) is being read already: it reads itself"),
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
        #expect(text.contains("^--- error here"), "\(text)")
    }
}
