// GRDB on a store: what works, what is refused, and that nothing is lost without a word.

#if GRDB
    import Foundation
    import GRDB
    import Rootstock
    import RootstockGRDB
    import Testing

    private struct Note: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var title: String
        var score: Double?
        mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
    }

    private func temporaryPath() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent("grdb-\(UUID().uuidString).store").path
    }

    private func remove(_ path: String) {
        for suffix in ["", "-lock", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    private let schema = "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL UNIQUE, score REAL);"

    @Suite struct StoreQueueTests {
        /// The same records with the same results on the native engine, on LMDB and on the control.
        @Test(arguments: ["sqlite", "lmdb", "sqlite-btree", "memory"])
        func recordsComeAndGo(name: String) throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: Engine(name: name))
            try queue.write { database in
                try database.executeStore(sql: schema + " CREATE INDEX note_score ON note (score) -- and a comment")
                for index in 1...10 {
                    var note = Note(id: nil, title: "note \(index)", score: Double(index % 3))
                    try note.insert(database)
                    #expect(note.id == Int64(index))
                }
            }
            let top = try queue.read { database in
                try Note.filter(Column("score") == 2).order(Column("title").desc).fetchAll(database)
            }
            #expect(top.map(\.title) == ["note 8", "note 5", "note 2"])
            #expect(try queue.read { try Note.fetchCount($0) } == 10)
            try queue.write { database in
                #expect(try Note.fetchOne(database, key: 3)?.title == "note 3")
                let one = Note.filter(Column("id") == 3)
                #expect(
                    try one.updateAll(database, Column("title").set(to: "changed"), Column("score").set(to: nil)) == 1)
                #expect(try Note.exists(database, key: 3))
                #expect(try Note.filter(Column("score") == 1).deleteAll(database) == 4)
                #expect(try Note.deleteOne(database, key: 2))
                let sql = try database.storeSQL("UPDATE note SET score = ? WHERE id = ? RETURNING title, score")
                let row = try Row.fetchOne(database, sql: sql, arguments: [7.5, 3])
                #expect(row?["title"] == "changed" && row?["score"] == 7.5)
                try database.executeStore(
                    sql:
                        "INSERT INTO note (title, score) VALUES (?, 1) ON CONFLICT (title) DO UPDATE SET score = score + 1",
                    arguments: ["changed"])
                #expect(try database.tableExists("note"))
                #expect(try database.columns(in: "note").map(\.name) == ["id", "title", "score"])
            }
            let left = try queue.read { try Note.order(Column("id")).fetchAll($0) }
            #expect(left.map(\.id) == [3, 5, 6, 8, 9])
            #expect(left.first == Note(id: 3, title: "changed", score: 8.5))
            try queue.close()
        }

        /// GRDB reads the primary key off the declaration, where a store's table shows none: no row is touched.
        @Test func recordsWithoutTheirKeyAreRefused() throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            try queue.write { database in
                try database.executeStore(sql: schema + " INSERT INTO note VALUES (1, 'a', 1), (2, 'b', 2)")
            }
            let note = Note(id: 2, title: "c", score: 3)
            #expect(throws: (any Error).self) { try queue.write { try note.update($0) } }
            #expect(try queue.write { try note.delete($0) } == false)
            #expect(throws: (any Error).self) {
                try queue.write { database in
                    var saved = note
                    try saved.save(database)
                }
            }
            let titles = try queue.read { try String.fetchAll($0, sql: "SELECT title FROM note ORDER BY id") }
            #expect(titles == ["a", "b"])
        }

        @Test func whatIsWrittenIsThereForEveryone() throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            try queue.write { try $0.executeStore(sql: schema) }
            let store = try Store(path: path, engine: .lmdb)
            try store.write { try $0.execute("INSERT INTO note (title) VALUES ('from Rootstock')") }
            #expect(try queue.read { try Note.fetchAll($0) }.map(\.title) == ["from Rootstock"])
            // A table that another connection makes is seen by the next access.
            try store.write { try $0.execute("CREATE TABLE other (a)") }
            try queue.write { try $0.execute(sql: "INSERT INTO other VALUES (1)") }
            #expect(try store.read { try $0.queryValue("SELECT count(*) FROM other") } == .integer(1))
        }

        @Test func constraintsTriggersAndForeignKeysHold() throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            try queue.write { database in
                try database.executeStore(
                    sql: schema + """
                        CREATE TABLE log (line TEXT);
                        CREATE TABLE part (note INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE);
                        CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO log VALUES (new.title); END;
                        """)
                var note = Note(id: nil, title: "a", score: nil)
                try note.insert(database)
                try database.execute(sql: "INSERT INTO part VALUES (1)")
                #expect(try String.fetchAll(database, sql: "SELECT line FROM log") == ["a"])
            }
            #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { database in
                    var again = Note(id: nil, title: "a", score: nil)
                    try again.insert(database)
                }
            }
            #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { try $0.execute(sql: "INSERT INTO part VALUES (9)") }
            }
            try queue.write { database in
                let isDeleted = try Note.deleteOne(database, key: 1)
                #expect(isDeleted)
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM part") == 0)
            }
        }

        /// GRDB's own definitions would make tables in memory: they are refused, and nothing of the transaction stays.
        @Test func whatWouldBeMadeBesideTheStoreIsRefused() throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            try queue.write { try $0.executeStore(sql: schema) }
            let statements = [
                "CREATE TABLE lost (a)", "CREATE VIEW lost AS SELECT 1", "CREATE TABLE lost AS SELECT * FROM note",
            ]
            for sql in statements {
                let error = #expect(throws: GRDB.DatabaseError.self, "\(sql)") {
                    try queue.write { database in
                        try database.execute(sql: "INSERT INTO note (title) VALUES ('never')")
                        try database.execute(sql: sql)
                    }
                }
                #expect(error?.message?.contains("lost was made beside the store") == true, "\(error as Any)")
            }
            let byGRDB = #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { try $0.create(table: "lost") { $0.column("a") } }
            }
            #expect(byGRDB?.message?.contains("executeStore") == true)
            #expect(try queue.read { try Note.fetchCount($0) } == 0)
            try queue.write { try $0.executeStore(sql: "CREATE VIEW kept AS SELECT title FROM note") }
            #expect(try queue.read { try String.fetchAll($0, sql: "SELECT title FROM kept") } == [])
        }

        /// A column that a record leaves out would be NULL on a store and the DEFAULT on a native database.
        @Test func defaultsThatWouldBeLeftOutAreRefused() throws {
            let path = temporaryPath()
            defer { remove(path) }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            let error = #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { try $0.executeStore(sql: "CREATE TABLE t (a, colour TEXT DEFAULT 'red')") }
            }
            #expect(error?.message?.contains("column colour of table t") == true)
            try queue.write {
                try $0.executeStore(sql: "CREATE TABLE t (a, b DEFAULT NULL, colour TEXT NOT NULL DEFAULT 'red')")
            }
            #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { try $0.execute(sql: "INSERT INTO t (a) VALUES (1)") }
            }
            try queue.write { try $0.executeStore(sql: "INSERT INTO t (a) VALUES (1)") }
            #expect(try queue.read { try String.fetchOne($0, sql: "SELECT colour FROM t") } == "red")
            // Made by another connection, it is refused at the next write.
            try Store(path: path, engine: .lmdb).write { try $0.execute("CREATE TABLE u (a DEFAULT 5)") }
            #expect(throws: GRDB.DatabaseError.self) {
                try queue.write { try $0.execute(sql: "INSERT INTO u DEFAULT VALUES") }
            }
        }

        @Test func errorsNameWhatIsWrong() throws {
            let path = temporaryPath()
            defer { remove(path) }
            #expect(throws: Rootstock.DatabaseError.self) { try StoreQueue(path: path, engine: "abacus") }
            let queue = try StoreQueue(path: path, engine: .lmdb)
            #expect(throws: Rootstock.DatabaseError.self) { try queue.read { try $0.storeSQL("SELECT 1; SELECT 2") } }
            #expect(throws: (any Error).self) { try queue.read { try $0.executeStore(sql: "CREATE TABLE t (a)") } }
            #expect(try queue.read { try $0.tableExists("t") } == false)
        }
    }
#endif
