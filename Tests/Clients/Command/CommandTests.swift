import Foundation
import Testing

/// What a run of a program left behind.
struct Transcript: Equatable {
    var output: String
    var error: String
    var status: Int32
}

/// Runs a program to its end, as a shell would.
func run(
    _ program: URL, _ arguments: [String], input: String = "",
    environment: [String: String] = ProcessInfo.processInfo.environment
) throws -> Transcript {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = environment
    let (standardInput, standardOutput, standardError) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    try process.run()
    standardInput.fileHandleForWriting.write(Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
    let error = standardError.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Transcript(
        output: String(decoding: output, as: UTF8.self), error: String(decoding: error, as: UTF8.self),
        status: process.terminationStatus)
}

/// The built commands, which lie beside the tests.
let command = built("rootstock")
let lab = built("rootstock-lab")

private func built(_ name: String) -> URL {
    #if os(Linux)
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
        let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
    #endif
    return tests.deletingLastPathComponent().appendingPathComponent(name)
}

let sqliteShell = URL(fileURLWithPath: "/usr/bin/sqlite3")

/// The engines that the command promises the same output on.
let engines = ["sqlite", "lmdb"]

@Suite final class CommandTests {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func sql(_ engine: String, _ arguments: [String], input: String = "") throws -> Transcript {
        let path = folder.appendingPathComponent("\(engine).store").path
        return try run(command, ["sql", "--engine", engine, path] + arguments, input: input)
    }

    static let script = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b REAL, c);
        INSERT INTO t (a, b, c) VALUES ('plain', 1.5, 1), ('two
        lines', 0.1, NULL), ('"quoted", and ''so''', 1e20, 'é'), ('', -2, ' '), (NULL, 9007199254740993, 'tab\there');
        SELECT * FROM t ORDER BY id;
        SELECT 1 AS one WHERE 0;
        SELECT count(*) AS "how many", avg(b), 1/3.0, 1e999 FROM t;
        UPDATE t SET b = b + 1 WHERE id < 3;
        SELECT changes(), b FROM t WHERE id = 1;
        """

    @Test(
        "The output is that of the sqlite3 shell",
        .enabled(if: FileManager.default.isExecutableFile(atPath: sqliteShell.path)),
        arguments: engines,
        [["--list"], ["--list", "--header"], ["--table"], ["--json"], ["--csv"], ["--csv", "--header"]])
    func outputIsThatOfTheShell(engine: String, modes: [String]) throws {
        let expected = try run(sqliteShell, modes.map { String($0.dropFirst()) } + [":memory:"], input: Self.script)
        #expect(expected.status == 0)
        #expect(expected.output.contains("plain"))
        #expect(try sql(engine, modes, input: Self.script) == expected)
    }

    @Test(arguments: engines) func argumentsRunOneAfterTheOther(engine: String) throws {
        let first = try sql(engine, ["CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)", "SELECT a FROM t"])
        #expect(first == Transcript(output: "1\n2\n", error: "", status: 0))
        let second = try sql(engine, ["SELECT sum(a), typeof(sum(a)) FROM t"])
        #expect(second == Transcript(output: "3|integer\n", error: "", status: 0))
    }

    @Test(arguments: engines) func theFirstErrorEndsTheCommand(engine: String) throws {
        let failed = try sql(
            engine,
            [
                "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1); SELECT a FROM t; INSERT INTO t VALUES (1); DELETE FROM t"
            ])
        #expect(failed == Transcript(output: "1\n", error: "Error: UNIQUE constraint failed: t.a\n", status: 1))
        #expect(try sql(engine, ["SELECT count(*) FROM t"]).output == "1\n")
    }

    @Test(
        arguments: [
            ("SELECT 1;\n-- why\n/* and\n how */ SELECT 2;\n\nSELECT nope;\n", "line 6: no such column: nope"),
            ("SELECT 1;\n\n -- why\n /* a\nb */ SELECT x'1';\n", #"line 5: unrecognized token: "x'1'""#),
            (
                "CREATE TABLE t (a UNIQUE);\nINSERT INTO t VALUES (1),\n (1);\nSELECT 1;",
                "line 2: UNIQUE constraint failed: t.a"
            ),
            ("SELECT nope\n", "no such column: nope"),
            ("SELECT 1;\n.banana\nSELECT 2;\n", "line 2: there is no command .banana: .help lists them"),
            (".banana", "there is no command .banana"),
            ("SELECT 1; /* no end\n.dump", ""),
        ], engines)
    func anErrorNamesTheLineOfAScript(script: (text: String, error: String), engine: String) throws {
        let transcript = try sql(engine, ["--create"], input: script.text)
        #expect(transcript.status == (script.error.isEmpty ? 0 : 1))
        #expect(transcript.error.hasPrefix(script.error.isEmpty ? "" : "Error: \(script.error)"))
    }

    @Test(arguments: engines) func openingFailsByName(engine: String) throws {
        let failed = try run(command, ["sql", "--engine", engine, "/nowhere/at.all", "SELECT 1"])
        #expect(failed.status == 1)
        #expect(failed.output == "")
        #expect(failed.error.hasPrefix("Error: "))
        #expect(failed.error.contains("/nowhere/at.all"))
        let readOnly = try sql(engine, ["--read-only", "SELECT 1"])
        #expect(readOnly.status == 1)
    }

    @Test(arguments: engines) func onlyAStatementThatWritesMakesAStore(engine: String) throws {
        let path = folder.appendingPathComponent("\(engine).store").path
        for (text, words) in [
            ("SELECT 1", "does not exist"), ("SELECT a FROM t", "no such table: t"), ("SELEC", "syntax error"),
            ("", "--create"),
            ("BEGIN; SELECT count(*) FROM sqlite_schema; COMMIT", "does not exist"),
        ] {
            let refused = try sql(engine, [], input: text)
            #expect(refused.status == 1 && refused.output == "" && refused.error.contains(words), "\(refused)")
            #expect(refused.error.contains("\(path) does not exist"), "\(refused)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
        #expect(
            try sql(engine, ["SELECT 1; BEGIN; CREATE TABLE t (a); COMMIT; SELECT count(*) FROM t"]).output == "1\n0\n")
        #expect(try sql(engine, ["SELECT count(*) FROM t"]).output == "0\n")
        let other = folder.appendingPathComponent("other").path
        #expect(try run(command, ["sql", "--engine", engine, "--create", other, "SELECT 1"]).output == "1\n")
        #expect(FileManager.default.fileExists(atPath: other))
    }

    @Test func whatCannotBeReadIsSaidInOneLine() throws {
        let other = folder.appendingPathComponent("other.json").path
        try Data("{}".utf8).write(to: URL(fileURLWithPath: other))
        for (path, words) in [
            ("missing.json", "does not exist"), (folder.path, "is a directory"), (other, "is not"),
        ] {
            let report = try run(command, ["report", path])
            #expect(report.status == 1 && report.output == "")
            #expect(report.error.contains(words) && report.error.contains("compare --json"), "\(report.error)")
            #expect(report.error.split(separator: "\n").count == 1, "\(report.error)")
        }
    }

    @Test func jsonShowsEveryByteOfABlob() throws {
        let transcript = try sql(
            "sqlite", ["--create", "--json", "SELECT x'00417fff22' AS b, 'a' || char(0) AS t, -1e999 AS i, NULL AS n"])
        #expect(transcript.output == #"[{"b":"\u0000A\u007f\u00ff\"","t":"a\u0000","i":-1e999,"n":null}]"# + "\n")
    }

    @Test func anUnknownEngineIsRefused() throws {
        let transcript = try sql("granite", ["SELECT 1"])
        #expect(transcript.status == 1)
        #expect(transcript.error.contains("granite"))
    }

    @Test func versionNamesTheLibraries() throws {
        let transcript = try run(command, ["--version"])
        let names = transcript.output.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(names.starts(with: ["Rootstock", "SQLite"]))
        #expect(transcript.output.contains(/SQLite 3\.\d+\.\d+/))
        #expect(transcript.status == 0)
    }

    @Test func wrongUsageIsToldApart() throws {
        for words in [
            ["sql"], ["run"], ["compare", "engine", "nosuch"], ["compare", "engine", "--directory", "/dev/null"],
        ] {
            let transcript = try run(command, words)
            #expect(transcript.status == 64)
            #expect(transcript.error.contains("Usage: rootstock \(words[0]) "), "\(transcript.error)")
        }
        let own = try run(command, ["compare", "--database", "nosuch", "--workload", "nosuch.sql", "--no-history"])
        #expect(
            own.error.contains("there is no file nosuch.sql; 'rootstock suggest' writes a workload"), "\(own.error)")
    }
}
