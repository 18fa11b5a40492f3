// ChecksumTests.swift - a store with checksums: what it keeps, who obeys it, and that no changed bit is ever given as data.

import Foundation
import Rootstock
import TestSupport
import Testing

@Suite final class ChecksumTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-sums-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func options(_ checksum: Bool) -> StoreOptions {
        var options = StoreOptions(durability: .off)
        options.checksum = checksum
        return options
    }

    private func make(_ name: String, _ script: String, checksum: Bool = true) throws -> String {
        let connection = try Connection(path: path(name), engine: .lmdb, options: options(checksum))
        defer { connection.close() }
        try connection.executeScript(script)
        return path(name)
    }

    /// Short and long keys, rows of every shape, indexes that cover and that do not, an emptied tree on the free list.
    private static let everything = """
        CREATE TABLE plain(id INTEGER PRIMARY KEY, a TEXT, b INT, c REAL);
        CREATE INDEX covering ON plain(a, b);
        CREATE UNIQUE INDEX descending ON plain(c DESC, a COLLATE NOCASE);
        CREATE TABLE clustered(k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID;
        CREATE INDEX of_clustered ON clustered(v);
        CREATE TABLE gone(a); INSERT INTO gone VALUES (1); DROP TABLE gone;
        CREATE VIEW seen AS SELECT a FROM plain;
        INSERT INTO plain(a, b, c) VALUES ('one', 1, 1.5), ('TWO', 2, -0.0), (NULL, NULL, NULL), ('four', 4, 4e300);
        INSERT INTO plain(a, b) VALUES ('long ' || hex(zeroblob(400)), 5), ('long ' || hex(zeroblob(401)), 6);
        INSERT INTO clustered VALUES ('k1', x'00ff'), ('k2', NULL), (hex(zeroblob(300)) || 'x', 'text');
        ANALYZE;
        """

    private static let queries = [
        "SELECT * FROM plain", "SELECT * FROM plain WHERE id = 2", "SELECT * FROM plain WHERE id > 2 ORDER BY id DESC",
        "SELECT a, b FROM plain ORDER BY a, b", "SELECT a, b FROM plain ORDER BY a DESC, b DESC",
        "SELECT * FROM plain WHERE a = 'one'", "SELECT * FROM plain WHERE c < 2", "SELECT * FROM plain WHERE a > 'k'",
        "SELECT max(a), min(b) FROM plain", "SELECT * FROM clustered", "SELECT v FROM clustered WHERE k = 'k1'",
        "SELECT k FROM clustered ORDER BY k DESC", "SELECT k FROM clustered WHERE v IS NULL",
        "SELECT k, v FROM clustered WHERE k > 'A'", "SELECT * FROM plain p JOIN clustered c ON c.v IS NOT p.a",
        "SELECT name, sql FROM sqlite_master", "SELECT * FROM seen", "SELECT * FROM sqlite_stat1",
        "SELECT id FROM plain WHERE a IN ('one', 'four') OR b = 2",
    ]

    /// Rows of each query, or nil where it ended in SQLITE_CORRUPT; any other end is an error.
    private func answers(_ connection: Connection) throws -> [[String]?] {
        try Self.queries.map { sql in
            do {
                return try connection.query(sql).map { String(describing: $0.values) }
            } catch let error as DatabaseError where error.code == .corrupt {
                return nil
            }
        }
    }

    /// One bit in one place of one entry at a time, keys too: each is found by the check, and no query gives a row that is not the
    /// store's.
    @Test func noChangedBitIsGivenAsData() throws {
        let original = try make("original", Self.everything)
        let expected = try answersOf(original)
        #expect(!expected.contains(nil))
        var generator = SeededGenerator(seed: 4711)
        var flips = 0
        var trees: [String: [RawEntry]] = [:]
        try RawStore.edit(original) { raw in
            for tree in try raw.trees() { trees[tree] = try raw.entries(tree) }
        }
        #expect(trees.count >= 7)
        for (tree, entries) in trees.sorted(by: { $0.key < $1.key }) {
            for entry in entries {
                // A long key's number and rest, rows, checksums: places are drawn, the short entries' are all taken.
                let places = entry.key.count + entry.value.count
                let step = max(1, places / 8)
                for place in stride(from: Int.random(in: 0..<step, using: &generator), to: places, by: step) {
                    let damaged = path("damaged")
                    for suffix in ["", "-lock"] { try? FileManager.default.removeItem(atPath: damaged + suffix) }
                    try FileManager.default.copyItem(atPath: original, toPath: damaged)
                    let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
                    try RawStore.edit(damaged) { raw in
                        var changed = entry
                        if place < entry.key.count {
                            changed.key[place] ^= bit
                            try raw.remove(tree, entry.key)
                        } else {
                            changed.value[place - entry.key.count] ^= bit
                        }
                        try raw.put(tree, changed)
                    }
                    flips += 1
                    let what = "bit \(bit) of byte \(place) of entry \(entry.key) in \(tree)"
                    // A catalog that does not match is refused when the store is opened.
                    let connection: Connection
                    do {
                        connection = try Connection(path: damaged, engine: .lmdb, options: options(false))
                    } catch {
                        #expect(tree == "rootstock", "\(what): \(error)")
                        #expect([.corrupt, .notADatabase, .error].contains(error.code), "\(what): \(error)")
                        continue
                    }
                    defer { connection.close() }
                    // The mark itself gone or another format: then it is no store with checksums, and nothing may be read.
                    for (sql, (now, then)) in zip(Self.queries, zip(try answers(connection), expected)) {
                        guard let now, let then else { continue }
                        if place < entry.key.count {
                            // Where its key was, an entry is not met: a row may be missed there, never another given.
                            #expect(Set(now).isSubset(of: then), "\(what): \(sql)")
                        } else {
                            // Without ANALYZE's figures a join may come in another order.
                            #expect(now.sorted() == then.sorted(), "\(what): \(sql)")
                        }
                    }
                    #expect(try connection.integrityFaults() != [], "\(what)")
                }
            }
        }
        #expect(flips > 300)
    }

    private func answersOf(_ path: String) throws -> [[String]?] {
        let connection = try Connection(path: path, engine: .lmdb, options: options(false))
        defer { connection.close() }
        #expect(try connection.integrityFaults() == [])
        return try answers(connection)
    }

    /// The error names the table and the row, the index and the key; the check names each and goes on.
    @Test func theErrorNamesTheRow() throws {
        let store = try make(
            "named",
            """
            CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t(b);
            INSERT INTO t VALUES (17, 'seventeen'), (18, 'eighteen'), (19, 'nineteen');
            CREATE TABLE w(k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('kk');
            """)
        try RawStore.edit(store) { raw in
            try raw.change("t1", 0) { $0[$0.count - 8] ^= 1 }
            try raw.change("t1", 2) { $0[$0.count - 1] ^= 0x80 }
            try raw.change("t2", 1) { $0[0] ^= 4 }
            try raw.change("t3", 0) { $0[0] ^= 4 }
        }
        let connection = try Connection(path: store, engine: .lmdb)
        func message(_ sql: String) -> String {
            do {
                try connection.execute(sql)
                return "nothing"
            } catch {
                return error.code == .corrupt ? error.message : "\(error)"
            }
        }
        let mismatch = "does not match its checksum"
        #expect(message("SELECT b FROM t WHERE a = 17") == "\(store): table t: row 17 \(mismatch)")
        #expect(message("SELECT a, b, b FROM t NOT INDEXED") == "\(store): table t: row 17 \(mismatch)")
        #expect(message("SELECT a, b FROM t ORDER BY a DESC") == "\(store): table t: row 19 \(mismatch)")
        #expect(message("UPDATE t SET b = 'x' WHERE a = 19") == "\(store): table t: row 19 \(mismatch)")
        #expect(message("SELECT b FROM t ORDER BY b").hasPrefix("\(store): index i of table t: key x'"))
        #expect(message("SELECT k FROM w").hasPrefix("\(store): table w: key x'"))
        #expect(message("SELECT b FROM t WHERE a = 18") == "nothing")
        let faults = try connection.integrityFaults()
        #expect(faults.filter { $0 == "table t: row 17 \(mismatch)" || $0 == "table t: row 19 \(mismatch)" }.count == 2)
        #expect(faults.contains { $0.hasPrefix("index i of table t: key x'") && $0.hasSuffix(mismatch) })
        #expect(faults.contains { $0.hasPrefix("table w: key x'") && $0.hasSuffix(mismatch) })
    }

    @Test func theStoreSaysWhetherThereAreChecksums() throws {
        let with = try make("with", "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let without = try make("without", "CREATE TABLE t(a); INSERT INTO t VALUES (1)", checksum: false)
        for (path, kept) in [(with, true), (without, false)] {
            let connection = try Connection(path: path, engine: .lmdb)
            try connection.execute("INSERT INTO t VALUES (2)")
            let info = try connection.storeInfo()
            #expect(info.checksum == kept && info.format == (kept ? 2 : 1))
            connection.close()
            // Whoever wrote it, it is verified by whoever reads it.
            try RawStore.edit(path) { raw in
                for number in 0..<2 { try raw.change("t1", number) { $0[0] ^= 0 } }
                let values = try raw.entries("t1").map(\.value.count)
                #expect(values[0] == (kept ? 8 : 4))
            }
            #expect(try Connection(path: path, engine: .lmdb).integrityFaults() == [])
        }
        do {
            _ = try Connection(path: without, engine: .lmdb, options: options(true))
            Issue.record("checksums were promised on a store without")
        } catch {
            #expect(error.message.hasPrefix("\(without): was made without checksums"))
        }
        do {
            _ = try Connection(path: path("native"), engine: .sqlite, options: options(true))
            Issue.record("engine sqlite has no checksums")
        } catch {
            #expect(error.message == "engine sqlite has no option checksum")
        }
    }

    /// Two open a store before there is one: the first to create something decides, and the other obeys or is refused.
    @Test func theFirstCreateDecides() throws {
        for first in [true, false] {
            let path = path("first-\(first)")
            let (with, without) = (
                try Connection(path: path, engine: .lmdb, options: options(true)),
                try Connection(path: path, engine: .lmdb, options: options(false))
            )
            try (first ? with : without).execute("CREATE TABLE t(a)")
            if first {
                try without.execute("INSERT INTO t VALUES (5)")
                #expect(try without.storeInfo().checksum)
                #expect(try with.query("SELECT a FROM t").count == 1)
                #expect(try with.integrityFaults() == [])
            } else {
                #expect(throws: DatabaseError.self) { try with.query("SELECT a FROM t") }
                try without.execute("INSERT INTO t VALUES (5)")
                #expect(try without.integrityFaults() == [])
            }
            with.close()
            without.close()
        }
    }

    /// A first CREATE that was undone leaves the choice open.
    @Test func anUndoneCreateDecidesNothing() throws {
        let path = path("undone")
        let with = try Connection(path: path, engine: .lmdb, options: options(true))
        try with.executeScript("BEGIN; CREATE TABLE t(a); INSERT INTO t VALUES (1); ROLLBACK")
        try with.executeScript("BEGIN; SAVEPOINT s; CREATE TABLE t(a); ROLLBACK TO s; COMMIT")
        with.close()
        let without = try Connection(path: path, engine: .lmdb, options: options(false))
        try without.executeScript("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        #expect(try !without.storeInfo().checksum)
        #expect(try without.integrityFaults() == [])
    }

    @Test(arguments: [Engine.lmdb, .memory, Engine(name: "sqlite-btree")]) func everyEngineKeepsThem(_ engine: Engine)
        throws
    {
        let connection = try Connection(path: path("any"), engine: engine, options: options(true))
        let twin = try Connection(path: ":memory:", engine: .sqlite)
        for each in [connection, twin] { try each.executeScript(Self.everything) }
        let changes = [
            "UPDATE plain SET b = b + 1, a = a || '!'", "DELETE FROM plain WHERE id = 2",
            "INSERT OR REPLACE INTO plain VALUES (1, 'again', 1, 1)", "ALTER TABLE plain ADD COLUMN d DEFAULT 7",
            "ALTER TABLE plain DROP COLUMN b", "SAVEPOINT s", "DELETE FROM clustered", "UPDATE plain SET a = 'gone'",
            "ROLLBACK TO s", "RELEASE s", "VACUUM",
        ].filter { !$0.contains("DROP COLUMN b") }
        for change in changes { for each in [connection, twin] { try each.execute(change) } }
        for sql in [
            "SELECT * FROM plain ORDER BY id", "SELECT * FROM clustered ORDER BY k", "SELECT a FROM plain ORDER BY a",
        ] {
            #expect(try connection.query(sql).map(\.values) == twin.query(sql).map(\.values), "\(sql)")
        }
        #expect(try connection.integrityFaults() == [])
        #expect(try connection.storeInfo().checksum)
    }

    /// VACUUM and backup keep them, import makes them, and `rootstock check` tells how many were verified.
    @Test func copiesKeepThemAndTheCheckCounts() throws {
        let store = try make("source", Self.everything)
        let connection = try Connection(path: store, engine: .lmdb, options: options(false))
        let before = try connection.storeInfo().verified
        #expect(try connection.integrityFaults() == [])
        let info = try connection.storeInfo()
        let entries = info.tables.reduce(0) { $0 + $1.rows + $1.indexes.reduce(0) { $0 + ($1.rows ?? 0) } }
        #expect(info.verified - before >= entries, "every entry of every tree")
        try connection.execute("VACUUM")
        try connection.backup(to: path("copy"))
        connection.close()
        for name in ["source", "copy"] {
            let checked = try rootstock("check", path(name))
            #expect(checked.lines.first == "ok" && checked.lines.count == 2)
            let verified = Int(checked.lines.last?.split(separator: " ").first ?? "")
            #expect(checked.lines.last?.hasSuffix(" checksums verified") == true && (verified ?? 0) >= entries)
        }
        let native = try Connection(path: path("native.db"), engine: .sqlite)
        try native.executeScript("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
        native.close()
        let imported = try rootstock("import", "--checksum", path("native.db"), path("imported"))
        #expect(imported.error.contains("error") == false)
        #expect(try Connection(path: path("imported"), engine: .lmdb).storeInfo().checksum)
        let told = try rootstock("sql", "--checksum", path("new"), "CREATE TABLE t(a)")
        #expect(told.error == "")
        #expect(try rootstock("check", path("new")).lines.first == "ok")
    }
}
