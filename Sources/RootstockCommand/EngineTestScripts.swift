// EngineTestScripts.swift - SQL on the engine under test and on native SQLite, script by script.
//
// Invariant: a script runs in a process of its own, as a rule of the contract does. This process never opens a store.

import CommandSupport
import Conformance
import Foundation
import Parity
import Rootstock
import RootstockEngineTest

/// The scripts of one `engine-test`.
struct EngineTestScripts {
    let engine: Engine
    let files: [ScriptFile]

    static let prefixes: [ScriptFile.Kind: String] = [.sql: "sql.", .sqllogictest: "sqllogictest."]

    /// Those that `--scripts` names, or else the project's; of them those whose names begin with `--only`.
    init(engine: Engine, scripts: [String], only: String?) throws {
        self.engine = engine
        let only = only ?? ""
        guard Self.prefixes.values.contains(where: { $0.hasPrefix(only) || only.hasPrefix($0) }) else {
            files = []
            return
        }
        var paths = scripts
        if paths.isEmpty {
            let found = InstalledFile.find(installed: ["../share/rootstock/parity"], built: "Tests/Parity/Scripts")
            guard let found else {
                throw CommandFailure(
                    "the SQL scripts are neither in ../share/rootstock/parity nor in the source tree: --scripts names them"
                )
            }
            paths = [found]
        }
        do {
            files = try ScriptFile.find(in: paths).filter { Self.rule($0).hasPrefix(only) }
        } catch {
            throw CommandFailure(error)
        }
    }

    /// What a script is called where rules are told: "sql.vacuum".
    static func rule(_ file: ScriptFile) -> String { prefixes[file.kind]! + file.name }

    /// Runs one script; returns false where it could not be run.
    func run(_ file: ScriptFile, _ options: inout rootstock_engine_test_options, _ progress: ScriptProgress) -> Bool {
        let check = ScriptCheck(engine: engine, file: file, progress: progress)
        let code = withExtendedLifetime(check) {
            rootstock_engine_test_apart(
                &options, Self.rule(file), "",
                { context, directory in
                    let check = Unmanaged<ScriptCheck>.fromOpaque(context!).takeUnretainedValue()
                    // The process ends with these words: nobody frees them.
                    return UnsafePointer(check.words(directory: String(cString: directory!)).flatMap { strdup($0) })
                }, Unmanaged.passUnretained(check).toOpaque())
        }
        return code >= 0
    }
}

/// One script, in the process that runs it.
private final class ScriptCheck {
    private static let shown = 3
    private let engine: Engine
    private let file: ScriptFile
    private let progress: ScriptProgress

    init(engine: Engine, file: ScriptFile, progress: ScriptProgress) {
        self.engine = engine
        self.file = file
        self.progress = progress
    }

    /// Where the engine parts from native SQLite; nil where it does not.
    func words(directory: String) -> String? {
        let folder = URL(fileURLWithPath: directory)
        do {
            switch file.kind {
            case .sql: return try sql(in: folder)
            case .sqllogictest: return try logicTest(in: folder)
            }
        } catch {
            return "\(file.path): \(CommandFailure(error))\n"
        }
    }

    private func sql(in folder: URL) throws -> String? {
        let script = try Script(path: file.path)
        let native = try NativeTarget(folder: folder)
        let store = try StoreTarget(engine: engine, folder: folder)
        let parity = Parity(expected: native, actual: store)
        let differences = try parity.run(script) { progress.begin($0) }
        native.close()
        store.close()
        progress.counts.statements = parity.statements
        progress.counts.leftOut = parity.leftOut.count
        return told(differences.count, "statement") {
            differences.prefix(Self.shown).map { difference in
                "  statement: \(difference.shownStatement)\n"
                    + difference.what.map(told).joined()
            }
        }
    }

    private func told(_ disagreement: Disagreement) -> String {
        "    native SQLite: \(disagreement.what): \(disagreement.expected)\n"
            + "    \(engine): \(disagreement.what): \(disagreement.actual)\n"
    }

    private func logicTest(in folder: URL) throws -> String? {
        // Where native SQLite itself answers otherwise than the file expects, as SQLite's versions do, its answer counts.
        let native = try LogicTestSuite(engine: .sqlite).run(file: file.path, in: folder)
        let store = try LogicTestSuite(engine: engine).run(file: file.path, in: folder) { self.progress.begin($0) }
        progress.counts.statements = store.statements + store.queries
        let usual = Dictionary(native.failures.map { ($0.line, $0.reason) }) { first, _ in first }
        let others = store.failures.filter { usual[$0.line] != $0.reason }
        let lines = Set(store.failures.map(\.line))
        let onlyNative = native.failures.filter { !lines.contains($0.line) }
        return told(others.count + onlyNative.count, "record") {
            others.prefix(Self.shown).map { failure in
                "  line \(failure.line): \(failure.sql.prefix(400))\n"
                    + "    native SQLite: \(usual[failure.line] ?? "as the file expects")\n    \(engine): \(failure.reason)\n"
            }
                + onlyNative.prefix(Self.shown).map { failure in
                    "  line \(failure.line): \(failure.sql.prefix(400))\n"
                        + "    native SQLite: \(failure.reason)\n    \(engine): as the file expects\n"
                }
        }
    }

    private func told(_ count: Int, _ thing: String, _ lines: () -> [String]) -> String? {
        if count == 0 { return nil }
        let more = count > Self.shown ? "; the first \(Self.shown):" : ""
        return "\(file.path): \(count) \(thing)\(count == 1 ? " differs" : "s differ")\(more)\n" + lines().joined()
    }
}

/// What the process of a script tells while it runs, in memory that it shares with the one that waits: a crash loses nothing of it.
final class ScriptProgress {
    struct Counts {
        var statements = 0
        var leftOut = 0
    }

    private static let size = 4096
    private let memory: UnsafeMutableRawPointer

    init?() {
        let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        self.memory = memory
    }

    deinit { munmap(memory, Self.size) }

    var counts: Counts {
        get { memory.load(as: Counts.self) }
        set { memory.storeBytes(of: newValue, as: Counts.self) }
    }

    /// The statement that runs; behind the counts, ended by a zero.
    func begin(_ statement: String) {
        let room = UnsafeMutableRawBufferPointer(
            start: memory + MemoryLayout<Counts>.size, count: Self.size - MemoryLayout<Counts>.size)
        let bytes = statement.utf8.prefix(room.count - 1)
        room.copyBytes(from: bytes)
        room[bytes.count] = 0
    }

    var statement: String {
        String(cString: (memory + MemoryLayout<Counts>.size).assumingMemoryBound(to: CChar.self))
    }
}
