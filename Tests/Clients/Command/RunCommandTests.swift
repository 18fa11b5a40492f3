import Foundation
import Testing

/// `rootstock run`: what it hands to the program. What becomes of the program's databases is for `Tests/Clients/DropIn`.
@Suite struct RunCommandTests {
    static let library: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        repeat {
            folder.deleteLastPathComponent()
        } while folder.path != "/"
            && !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
        return folder.appendingPathComponent("build/librootstock_interpose.so")
    }()
    static let isBuilt = FileManager.default.fileExists(atPath: library.path)

    @Test(.enabled(if: isBuilt, "make interpose builds the library"))
    func aProgramsDatabaseIsAStore() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("app.db").path
        let arguments = [
            "run", "--library", Self.library.path, "--durability", "off", "--verbose", "--", sqliteShell.path,
        ]
        let made = try run(command, arguments + [path, "CREATE TABLE t(a); INSERT INTO t VALUES(1) RETURNING a"])
        #expect(made == Transcript(output: "1\n", error: "rootstock: \(path): a store, engine lmdb\n", status: 0))
        let read = try run(command, ["sql", path, "SELECT a FROM t"])
        #expect(read == Transcript(output: "1\n", error: "", status: 0))
    }

    @Test(.enabled(if: isBuilt, "make interpose builds the library"))
    func theProgramsStatusIsTheCommands() throws {
        let answer = try run(
            command, ["run", "--library", Self.library.path, "--", "/bin/sh", "-c", "echo $ROOTSTOCK_ENGINE; exit 7"])
        #expect(answer == Transcript(output: "lmdb\n", error: "", status: 7))
    }

    @Test func whatIsMissingIsNamed() throws {
        #expect(try run(command, ["run"]).error.contains("name a program: rootstock run -- PROGRAM ARGS..."))
        let option = try run(command, ["run", "--verbos", "--", "true"])
        #expect(option.status == 64 && option.error.contains("run has no option --verbos"), "\(option.error)")
        let library = try run(command, ["run", "--library", "/nowhere.so", "--", "true"])
        #expect(library == Transcript(output: "", error: "Error: there is no /nowhere.so\n", status: 1))
    }

    #if os(Linux)
        @Test func anExecutableThatLinksTheInterposerIsOnStores() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "rootstock-linked-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appendingPathComponent("app.db").path
            let answer = try run(
                command.deletingLastPathComponent().appendingPathComponent("rootstock-drop-in"), [path])
            #expect(
                answer
                    == Transcript(
                        output: """
                            1|1
                            2|b|5
                            1|a|1
                            error 1: no such column: missing
                            close 0
                            [2]
                            1
                            close 0

                            """, error: "", status: 0))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(bytes[16..<20] == Data([0xDE, 0xC0, 0xEF, 0xBE]))
            let native = try Data(contentsOf: URL(fileURLWithPath: path + ".native"))
            #expect(native.starts(with: "SQLite format 3".utf8))
        }
    #endif
}
