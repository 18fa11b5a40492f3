import Foundation
import Testing

@testable import OwnData
@testable import Rootstock

@Suite struct ImportTests {
    /// A rate is that of the work itself, not of what was done before it.
    @Test func aRateBeginsWithTheFirstRows() throws {
        var meter = RowMeter("comparing", of: 2_000_000)
        Thread.sleep(forTimeInterval: 0.5)
        let begun = Date()
        let nothing = meter.line(at: 0)
        #expect(nothing == nil)
        Thread.sleep(forTimeInterval: 0.25)
        let shown = meter.line(at: 1_000_000)
        let line = try #require(shown)
        let words = line.split(separator: " ")
        let rate = try #require(words.firstIndex(of: "rows/s,").flatMap { Int(words[$0 - 1]) })
        #expect(Double(rate) >= (1e6 / Date().timeIntervalSince(begun)).rounded(.down), "\(line)")
    }

    /// Everything arrives on every engine; the original keeps every byte and gets no company.
    @Test(arguments: ["sqlite", "lmdb", "memory", "sqlite-btree"])
    func everythingArrives(engine: String) throws {
        let sample = try Sample()
        let before = try sample.files()
        let target = try Connection(path: sample.file("copy-\(engine)"), engine: Engine(name: engine))
        do {
            let source = try SourceDatabase(path: sample.path, scratch: sample.directory)
            let schema = try SourceSchema(of: source.connection)
            let report = try StoreCopier(source: source.connection, schema: schema).run(into: target)
            try source.checkUnchanged()
            #expect(
                report.tables.map(\.name) == [
                    "feed", "article", "odd \"name", "hidden", "tag", "log", "typed", "stern", "bare",
                ])
            #expect(report.tables.map(\.rows) == [19, 300, 3, 3, 143, 3, 6, 2, 0])
            #expect(report.skipped.count == 3)
            #expect(report.skipped[0].hasPrefix("table search: a virtual table of module fts5 is not kept in a store"))
            #expect(report.skipped[0].contains("search_content"))
            #expect(
                report.skipped.dropFirst() == [
                    "view found: it uses table search", "trigger toSearch: it uses table search",
                ])
        }
        #expect(try sample.files() == before)
        #expect(try target.queryValue("SELECT seq FROM sqlite_sequence WHERE name = 'feed'") == 20)
        #expect(try target.queryValue("PRAGMA user_version") == 7)
        #expect(try target.queryValue("PRAGMA application_id") == 1234)
        #expect(try target.queryValue("SELECT group_concat(rowid) FROM log") == "1,3,4")
        #expect(try target.queryValue("SELECT sum(n) FROM unreadCount") == 200)
        #expect(try target.queryValue("SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'article'") != 0)
        // The trigger and the foreign key are alive.
        try target.execute("PRAGMA foreign_keys = ON")
        try target.execute("UPDATE article SET read = 1 WHERE uniqueID = 'u1'")
        #expect(try target.queryValue("SELECT line FROM log ORDER BY rowid DESC LIMIT 1") == "u1 read")
        #expect(throws: DatabaseError.self) {
            try target.execute("INSERT INTO article (uniqueID, feed) VALUES ('new', 4711)")
        }
        if engine == "sqlite" { #expect(try target.queryValue("PRAGMA page_size") == 8192) }
    }

    /// What went into a store comes out of it again: the same schema texts, every row, and the counters.
    @Test(arguments: ["lmdb", "sqlite-btree"], ["sqlite", "lmdb"])
    func aStoreIsReadBack(engine: String, back: String) throws {
        let sample = try Sample(rows: 40)
        let kept = sample.file("kept")
        do {
            let source = try SourceDatabase(path: sample.path, scratch: sample.directory)
            let connection = try Connection(path: kept, engine: Engine(name: engine))
            _ = try StoreCopier(source: source.connection, schema: try SourceSchema(of: source.connection)).run(
                into: connection)
            connection.close()
        }
        #expect(Engine.recognized(at: kept) == Engine(name: engine))
        #expect(Engine.recognized(at: sample.path) == .sqlite)
        let before = try Data(contentsOf: URL(fileURLWithPath: kept))
        let source = try SourceDatabase(path: kept, engine: Engine(name: engine), scratch: sample.directory)
        let schema = try SourceSchema(of: source.connection)
        #expect(schema.skipped.isEmpty)
        let target = try Connection(path: sample.file("back"), engine: Engine(name: back))
        let report = try StoreCopier(source: source.connection, schema: schema).run(into: target)
        try source.checkUnchanged()
        #expect(report.tables.map(\.rows) == [19, 40, 3, 3, 20, 3, 6, 2, 0])
        #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == before)
        let sql =
            "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE sql NOT NULL AND name NOT IN "
            + "('search', 'found', 'toSearch') AND name NOT LIKE 'search!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' "
            + "ESCAPE '!' ORDER BY type, name)"
        let original = try Connection(path: sample.path, engine: .sqlite)
        #expect(try target.queryValue(sql) == original.queryValue(sql))
        #expect(try target.queryValue("SELECT seq FROM sqlite_sequence WHERE name = 'feed'") == 20)
        #expect(try target.queryValue("PRAGMA user_version") == 7)
        #expect(try target.queryValue("PRAGMA integrity_check") == "ok")
        #expect(throws: OwnDataError.self) {
            try SourceDatabase(path: sample.path, engine: .lmdb, scratch: sample.directory)
        }
    }

    @Test func aRowThatDiffersIsFound() throws {
        let sample = try Sample(rows: 20)
        let source = try SourceDatabase(path: sample.path, scratch: sample.directory)
        let copier = StoreCopier(source: source.connection, schema: try SourceSchema(of: source.connection))
        let target = try Connection(path: sample.file("copy"), engine: .lmdb)
        _ = try copier.run(into: target)
        for (change, words) in [
            ("UPDATE article SET body = x'01' WHERE uniqueID = 'u7'", "table article"),
            ("UPDATE article SET date = 1 WHERE uniqueID = 'u7'", "column \"date\""),
            ("DELETE FROM tag WHERE name = 't2'", "table tag"),
            ("INSERT INTO bare VALUES (1, 2)", "table bare has more rows"),
            ("UPDATE sqlite_sequence SET seq = 99", "sqlite_sequence"), ("DROP VIEW unreadCount", "view unreadCount"),
            ("PRAGMA user_version = 8", "user_version"), ("UPDATE log SET rowid = 77 WHERE rowid = 3", "table log"),
        ] {
            try target.execute("BEGIN")
            try target.execute(change)
            let error = #expect(throws: DatabaseError.self) { try copier.compare(with: target) }
            #expect(error?.description.contains(words) == true, "\(change): \(error?.description ?? "")")
            try target.execute("ROLLBACK")
        }
        #expect(try copier.compare(with: target).count == 9)
        #expect(throws: DatabaseError.self) { try copier.run(into: target) }
    }

    /// A log that nobody has open belongs to the content; reading it leaves no file beside it.
    @Test func aLogWithoutItsProgramIsRead() throws {
        let sample = try Sample(rows: 20)
        let writer = try Connection(path: sample.path, engine: .sqlite)
        try writer.execute("INSERT INTO bare VALUES ('in the log', 1)")
        let orphan = sample.file("orphan.sqlite")
        try FileManager.default.copyItem(atPath: sample.path, toPath: orphan)
        try FileManager.default.copyItem(atPath: sample.path + "-wal", toPath: orphan + "-wal")
        do {
            let scratch = sample.directory.appendingPathComponent("scratch")
            let source = try SourceDatabase(path: orphan, scratch: scratch)
            #expect(try source.integer("SELECT count(*) FROM bare") == 1)
            try source.checkUnchanged()
        }
        #expect(!FileManager.default.fileExists(atPath: orphan + "-shm"))
        // With its program running it is read in place, in one snapshot.
        do {
            let source = try SourceDatabase(path: sample.path, scratch: sample.directory)
            try writer.execute("INSERT INTO bare VALUES ('later', 1)")
            #expect(try source.integer("SELECT count(*) FROM bare") == 1)
            #expect(throws: (any Error).self) { try source.run("DELETE FROM bare") }
        }
        #expect(try writer.queryValue("SELECT count(*) FROM bare") == 2)
    }

    @Test func whatCannotBeReadIsSaid() throws {
        let sample = try Sample(rows: 5)
        let scratch = sample.directory
        func message(_ path: String) -> String {
            let error = #expect(throws: OwnDataError.self) { try SourceDatabase(path: path, scratch: scratch) }
            return error?.description ?? ""
        }
        #expect(message(sample.file("missing")).contains("there is no file"))
        #expect(
            message(try sample.write("no database at all, though long enough", to: "text")).contains(
                "neither a SQLite database nor a store of engine lmdb"))
        #expect(message(try sample.write("SQLite format 3\0 and no more", to: "cut")).contains("cannot be read"))
        try FileManager.default.copyItem(atPath: sample.path, toPath: sample.file("hot"))
        _ = try sample.write("journal", to: "hot-journal")
        #expect(message(sample.file("hot")).contains("rollback journal"))
    }

    @Test func aChangeMeanwhileIsNoticed() throws {
        let sample = try Sample(rows: 5)
        let source = try SourceDatabase(path: sample.path, scratch: sample.directory)
        let other = try Connection(path: sample.path, engine: .sqlite)
        try other.execute("INSERT INTO bare VALUES (1, 2)")
        other.close()
        #expect(throws: OwnDataError.self) { try source.checkUnchanged() }
    }
}
