// FormatTests.swift - stores as older versions left them: every one in Tests/Fixtures opens, is sound, answers as it always did
// and can be written. A newer format is refused.
//
// `format-N.lmdb` was written once, by the version that had the format (Tests/Fixtures/make.sh), and does not change.

import Foundation
import Rootstock
import Testing

@Suite final class FormatTests {
    private static let fixtures = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    /// The versions there are fixtures of.
    static let versions: [Int] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: fixtures.path)) ?? []
        return names.compactMap { name in
            name.hasPrefix("format-") && name.hasSuffix(".lmdb") ? Int(name.dropFirst(7).dropLast(5)) : nil
        }.sorted()
    }()

    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-format-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func fixture(_ version: Int, _ suffix: String) -> URL {
        Self.fixtures.appendingPathComponent("format-\(version).\(suffix)")
    }

    private func text(_ version: Int, _ suffix: String) throws -> String {
        try String(contentsOf: fixture(version, suffix), encoding: .utf8)
    }

    /// The fixture, copied, for the fixture itself is never opened: opening for writing leaves traces.
    private func copy(_ version: Int) throws -> String {
        let path = folder.appendingPathComponent("format-\(version).lmdb").path
        try FileManager.default.copyItem(atPath: fixture(version, "lmdb").path, toPath: path)
        return path
    }

    private func native(_ version: Int) throws -> Connection {
        let connection = try Connection(path: ":memory:", engine: .sqlite)
        try connection.executeScript(try text(version, "sql"))
        return connection
    }

    /// The lines of a script, each a statement.
    private func statements(_ version: Int, _ suffix: String) throws -> [String] {
        try text(version, suffix).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("--") }
    }

    /// What a connection says to each statement: rows, or the error.
    private func answers(_ connection: Connection, _ statements: [String]) -> [String] {
        statements.flatMap { sql -> [String] in
            do {
                return try connection.query(sql).map { row in String(describing: row.values) }
            } catch {
                return ["\(sql.prefix(60)): \((error as? DatabaseError)?.message ?? "\(error)")"]
            }
        }
    }

    @Test func thereIsAFixtureOfTodaysFormat() throws {
        let path = folder.appendingPathComponent("new").path
        let format = try Connection(path: path, engine: .lmdb).storeInfo().format
        try Connection(path: path, engine: .lmdb).execute("CREATE TABLE t (a)")
        var options = StoreOptions()
        options.checksum = true
        let checked = try Connection(path: path + "-2", engine: .lmdb, options: options)
        try checked.execute("CREATE TABLE t (a)")
        #expect(try checked.storeInfo().format == format + 1)
        #expect(Self.versions == Array(1...format + 1), "Tests/Fixtures/make.sh makes one")
    }

    @Test(arguments: versions) func opensAndAnswers(_ version: Int) throws {
        let path = try copy(version)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        var readOnly = StoreOptions()
        readOnly.readOnly = true
        for options in [readOnly, StoreOptions()] {
            let connection = try Connection(path: path, engine: .lmdb, options: options)
            try #expect(connection.storeInfo().format == version)
            try #expect(connection.integrityFaults() == [])
            try #expect(connection.foreignKeyViolations() == [])
            let queries = try statements(version, "queries.sql")
            let given = answers(connection, queries)
            #expect(given == answers(try native(version), queries))
            connection.close()
        }
        // What only reads changes nothing.
        try #expect(Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    /// The kept answers are what SQLite said when the fixture was made.
    @Test(arguments: versions) func theCommandPrintsTheKeptAnswers(_ version: Int) throws {
        let path = try copy(version)
        let printed = try rootstock("sql", "--read-only", path, try text(version, "queries.sql"))
        #expect(printed.error == "")
        try #expect(printed.lines == text(version, "answers").split(separator: "\n").map(String.init))
    }

    @Test(arguments: versions) func canBeWritten(_ version: Int) throws {
        let path = try copy(version)
        let (store, twin) = (try Connection(path: path, engine: .lmdb), try native(version))
        let changes = try statements(version, "changes.sql")
        for change in changes { #expect(answers(store, [change]) == answers(twin, [change]), "\(change.prefix(80))") }
        store.close()
        let again = try Connection(path: path, engine: .lmdb)
        try #expect(again.integrityFaults() == [])
        let queries = try statements(version, "queries.sql")
        for query in queries {
            #expect(answers(again, [query]) == answers(twin, [query]), "\(query)")
        }
    }

    /// The catalog's format number, one higher, by hand.
    @Test func aNewerFormatIsRefused() throws {
        let store = try BrokenStore("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        try RawStore.edit(store.path) { raw in
            var meta = try #require(raw.entries("rootstock").first { $0.key == Array("M".utf8) })
            // Seven columns: a header byte, types, ends, and then the format's one byte.
            #expect(meta.value[0] == 7 && meta.value[15] == 1)
            meta.value[15] = 3
            try raw.put("rootstock", meta)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: store.path))
        for readOnly in [false, true] {
            var options = StoreOptions()
            options.readOnly = readOnly
            do {
                _ = try Connection(path: store.path, engine: .lmdb, options: options)
                Issue.record("a newer format was opened")
            } catch {
                #expect(error.code == .notADatabase)
                #expect(
                    error.message
                        == "\(store.path): written by a newer Rootstock (store format 3, this one reads up to 2)")
            }
        }
        try #expect(Data(contentsOf: URL(fileURLWithPath: store.path)) == before, "and left as it was")
    }
}
