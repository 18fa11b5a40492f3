import Foundation
import Testing

/// `rootstock backup` and VACUUM beside another process that writes without pause.
@Suite final class BackupCommandTests {
    static let engines = ["lmdb", "sqlite-btree"]
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-backup-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// A process that commits a pair of rows after another.
    private func startWriter(_ engine: String, _ path: String) throws -> Process {
        let (process, input) = (Process(), Pipe())
        process.executableURL = command
        process.arguments = ["sql", "--engine", engine, "--durability", "off", path]
        process.standardInput = input
        try process.run()
        let script = (1...4000).map { number in
            """
            BEGIN IMMEDIATE; INSERT INTO one VALUES (\(number), zeroblob(200)); UPDATE last SET n = \(number);
            INSERT INTO two VALUES (\(number)); COMMIT;
            """
        }
        input.fileHandleForWriting.write(Data(script.joined(separator: "\n").utf8))
        try input.fileHandleForWriting.close()
        return process
    }

    private func sql(_ engine: String, _ path: String, _ statement: String) throws -> String {
        let answer = try run(command, ["sql", "--engine", engine, path, statement])
        #expect(answer.error == "" && answer.status == 0)
        return answer.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test(arguments: engines) func copiesACommittedState(engine: String) throws {
        let store = path("store")
        _ = try sql(
            engine, store,
            "CREATE TABLE one (n INTEGER PRIMARY KEY, b); CREATE TABLE two (n INT UNIQUE); CREATE TABLE last (n); INSERT INTO last VALUES (0)"
        )
        let writer = try startWriter(engine, store)
        var states: [Int] = []
        for number in 0..<6 {
            if number == 3 { _ = try sql(engine, store, "VACUUM") }
            let copy = path("copy\(number)")
            let backup = try run(command, ["backup", "--engine", engine, store, copy])
            #expect(backup == Transcript(output: "", error: "", status: 0))
            try #expect(run(command, ["check", "--engine", engine, copy]).output == "ok\n")
            // All of a commit or nothing of it, and all before it.
            let state = try sql(
                engine, copy,
                "SELECT (SELECT n FROM last), (SELECT count(*) FROM one), (SELECT max(n) FROM one), (SELECT count(*) FROM two)"
            )
            let numbers = state.split(separator: "|", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
            #expect(Set(numbers).count == 1, "\(state)")
            states.append(numbers[0])
        }
        #expect(states[0] < 4000, "the writer was beside: \(states)")
        writer.waitUntilExit()
        #expect(writer.terminationStatus == 0)
        #expect(states == states.sorted() && states.last! > states[0], "it wrote meanwhile: \(states)")
        try #expect(sql(engine, store, "SELECT count(*), max(n) FROM two") == "4000|4000", "no commit was lost")
        let again = try run(command, ["backup", "--engine", engine, store, path("copy0")])
        #expect(
            again
                == Transcript(
                    output: "",
                    error: "Error: \(path("copy0")) exists: a copy is a new file. Remove it, or give another name\n",
                    status: 1))
    }

    /// Half a copy is none: whatever ends the command, the name that was asked for holds a whole store or nothing.
    @Test(
        arguments: [
            ("backup store copy", SIGINT), ("import store copy", SIGTERM), ("export store copy", SIGINT),
            ("export store copy --table t", SIGTERM), ("import rows.csv copy --table t", SIGINT),
        ])
    func anInterruptedCopyLeavesNothing(line: String, signal: Int32) throws {
        let store = path("store")
        _ = try sql(
            "lmdb", store,
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b); WITH n(a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM n WHERE a < 60000) "
                + "INSERT INTO t SELECT a, randomblob(2000) FROM n")
        let rows = try run(command, ["export", store, path("rows.csv"), "--query", "SELECT a, 'title' FROM t"])
        try #require(rows.status == 0)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        var interrupted = false
        for _ in 0..<10 where !interrupted {
            let process = Process()
            process.executableURL = command
            process.arguments = line.split(separator: " ").map(String.init)
            process.currentDirectoryURL = folder
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            var part: String?
            while part == nil, process.isRunning {
                part = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                    .first { $0.hasPrefix("copy.partial-") }
            }
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            interrupted = process.terminationReason == .uncaughtSignal && process.terminationStatus == signal
            if !interrupted {
                // On a busy machine the copy may be whole before the signal arrives: once more.
                #expect(process.terminationReason == .exit && process.terminationStatus == 0)
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                for name in names where name.hasPrefix("copy") {
                    try FileManager.default.removeItem(atPath: path(name))
                }
            }
        }
        #expect(interrupted)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(arguments: engines) func aFileCutShortIsRefused(engine: String) throws {
        let store = path("store")
        _ = try sql(
            engine, store,
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b); WITH n(a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM n WHERE a < 2000) "
                + "INSERT INTO t SELECT a, randomblob(1000) FROM n")
        let copy = path("copy")
        try #expect(run(command, ["backup", "--engine", engine, store, copy]).status == 0)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
        for part in [3, 2, 1] {
            let short = path("short\(part)")
            try bytes.prefix(bytes.count / 4 * part / 4096 * 4096).write(to: URL(fileURLWithPath: short))
            let answer = try run(command, ["sql", "--engine", engine, short, "SELECT count(*) FROM t"])
            #expect(answer.status == 1 && answer.output == "", "\(answer)")
        }
    }
}
