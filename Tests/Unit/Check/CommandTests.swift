// CommandTests.swift - `rootstock check` and `rootstock info` as a shell sees them.

import Foundation
import Rootstock
import Testing

/// What a run of the command left behind.
struct Transcript: Equatable {
    var lines: [String]
    var error: String
    var status: Int32
}

/// The built command, which lies beside the tests.
let command: URL = {
    #if os(Linux)
        let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
        let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
    #endif
    return tests.deletingLastPathComponent().appendingPathComponent("rootstock")
}()

func rootstock(_ arguments: String...) throws -> Transcript {
    let process = Process()
    process.executableURL = command
    process.arguments = arguments
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = error.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Transcript(
        lines: String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init),
        error: String(decoding: complaint, as: UTF8.self), status: process.terminationStatus)
}

@Suite struct CheckCommandTests {
    @Test func soundStores() throws {
        let store = try BrokenStore(IntegrityTests.script)
        let ok = Transcript(lines: ["ok"], error: "", status: 0)
        try #expect(rootstock("check", store.path) == ok)
        try #expect(rootstock("check", "--quick", "--foreign-keys", store.path) == ok)
        let native = store.folder.appendingPathComponent("native.sqlite").path
        try Connection(path: native, engine: .sqlite).executeScript(IntegrityTests.script)
        try #expect(rootstock("check", "--engine", "sqlite", native) == ok)
    }

    @Test func faultsAreListedAndEndWithOne() throws {
        let store = try BrokenStore(IntegrityTests.script)
        try RawStore.edit(store.path) { try $0.remove("t2", $0.entries("t2")[1].key) }
        let faults = ["row 3 missing from index i", "wrong # of entries in index i"]
        try #expect(rootstock("check", store.path) == Transcript(lines: faults, error: "", status: 1))
        try #expect(rootstock("check", "--limit", "1", store.path).lines == [faults[0]])
        try #expect(rootstock("check", "--quick", store.path).status == 0)
    }

    @Test(arguments: ["lmdb", "sqlite"]) func foreignKeys(engine: String) throws {
        let store = try BrokenStore("")
        let path = store.folder.appendingPathComponent(engine).path
        try Connection(path: path, engine: Engine(name: engine)).executeScript(
            "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(a REFERENCES p); INSERT INTO c VALUES (7);")
        try #expect(rootstock("check", "--engine", engine, path).status == 0)
        let report = try rootstock("check", "--engine", engine, "--foreign-keys", path)
        #expect(
            report
                == Transcript(lines: ["row 1 of c refers to no row of p (foreign key 0)"], error: "", status: 1))
    }

    @Test(arguments: ["check", "info"]) func whatIsNotThereIsNotMade(subcommand: String) throws {
        let store = try BrokenStore("")
        let path = store.folder.appendingPathComponent("nothing").path
        let report = try rootstock(subcommand, path)
        #expect(report.status == 1 && report.lines.isEmpty && report.error.contains(path))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func info() throws {
        let store = try BrokenStore(IntegrityTests.script)
        let report = try rootstock("info", store.path)
        #expect(report.status == 0)
        for line in ["path         \(store.path)", "engine       lmdb ", "format       1", "readers      0 of "] {
            #expect(report.lines.contains { $0.hasPrefix(line) }, "\(line) in \(report.lines)")
        }
        let trees = report.lines.suffix(4).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(trees.prefix(2) == ["tree rows", "t 3"] && trees.suffix(2).sorted() == ["i 3", "u 3"])
        let json = try rootstock("info", "--json", store.path).lines.joined(separator: "\n")
        let decoded = try JSONDecoder().decode(StoreInfo.self, from: Data(json.utf8))
        #expect(decoded.engine == "lmdb" && decoded.tables.first?.rows == 3)
    }
}
