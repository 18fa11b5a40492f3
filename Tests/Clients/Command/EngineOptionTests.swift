import Foundation
import Testing

/// A file tells its engine; what is another engine's is refused with what to do.
@Suite final class EngineOptionTests {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test func aFileTellsItsEngine() throws {
        let make = "CREATE TABLE t (a); INSERT INTO t VALUES (1)"
        for arguments in [
            ["a.sqlite"], ["a.lmdb"], ["--engine", "sqlite-btree", "a.store"], ["--engine", "lmdb", "b.db"],
        ] {
            let made = try run(command, ["sql"] + arguments.dropLast() + [path(arguments.last!), make])
            #expect(made == Transcript(output: "", error: "", status: 0))
        }
        for (name, engine) in [("a.lmdb", "lmdb"), ("a.store", "sqlite-btree"), ("b.db", "lmdb")] {
            #expect(try run(command, ["sql", path(name), "SELECT a FROM t"]).output == "1\n")
            #expect(try run(command, ["check", path(name)]).output == "ok\n")
            #expect(try run(command, ["info", path(name)]).output.contains("engine       \(engine) "))
        }
        let head = try Data(contentsOf: URL(fileURLWithPath: path("a.sqlite"))).prefix(15)
        #expect(String(decoding: head, as: UTF8.self) == "SQLite format 3")
        #expect(try run(command, ["sql", path("a.sqlite"), "SELECT a FROM t"]).output == "1\n")
    }

    @Test func anotherEnginesFileIsNamed() throws {
        _ = try run(command, ["sql", path("a.sqlite"), "CREATE TABLE t (a)"])
        _ = try run(command, ["sql", path("a.lmdb"), "CREATE TABLE t (a)"])
        for words in [["check"], ["info"], ["sql", "--engine", "lmdb"]] {
            let refused = try run(command, words + [path("a.sqlite")])
            #expect(refused.status == 1 && refused.output == "")
            #expect(refused.error.contains("is a SQLite database and no store"), "\(refused.error)")
            #expect(refused.error.contains("rootstock import \(path("a.sqlite")) a.lmdb"), "\(refused.error)")
        }
        let other = try run(command, ["sql", "--engine", "sqlite-btree", path("a.lmdb"), "SELECT 1"])
        #expect(other.status == 1 && other.error.contains("is a store of engine lmdb"), "\(other.error)")
        for words in [
            ["check", path("missing")], ["dump", path("missing")], ["backup", path("missing"), path("copy")],
            ["sql", "--read-only", path("missing"), "SELECT 1"],
        ] {
            #expect(try run(command, words).error == "Error: there is no file \(path("missing"))\n")
        }
        _ = try run(command, ["sql", path("it's mine.sqlite"), "CREATE TABLE t (a)"])
        let quoted = try run(command, ["check", path("it's mine.sqlite")])
        #expect(quoted.error.hasSuffix(#"/it'\''s mine.sqlite' 'it'\''s mine.lmdb'"# + "\n"), "\(quoted.error)")
        let unknown = try run(command, ["sql", "--engine", "lmbd", path("new"), "CREATE TABLE t (a)"])
        #expect(unknown.error.hasPrefix("Error: there is no engine lmbd: there are sqlite, lmdb, "), "\(unknown.error)")
    }

    @Test(.enabled(if: geteuid() != 0, "root may read every file")) func whatMayNotBeReadIsNamed() throws {
        for name in ["a.sqlite", "a.lmdb"] {
            _ = try run(command, ["sql", path(name), "CREATE TABLE t (a)"])
            try #require(chmod(path(name), 0) == 0)
            let copied = try run(command, ["import", path(name), path("copy.lmdb")])
            #expect(copied.error == "Error: cannot read \(path(name)): Permission denied\n")
        }
        let opened = try run(command, ["sql", path("a.sqlite"), "SELECT 1"])
        #expect(opened.error.contains("; this user may not read it"), "\(opened.error)")
    }
}
