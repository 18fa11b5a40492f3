// LoadedFileTests.swift - module kv on files that mdb_load wrote, and what LMDB's own tools read back.

import CLMDB
import CSQLite
import Foundation
import Testing

@Suite(.enabled(if: LMDBTools.arePresent, "lmdb-utils is not installed"))
struct LoadedFileTests {
    let folder: Folder
    let session: SQLSession

    init() throws {
        folder = try Folder()
        session = try SQLSession()
    }

    static let dump = """
        VERSION=3
        format=print
        type=btree
        database=people
        HEADER=END
         anna
         {"age":31}
         bert
         {"age":42}
        DATA=END
        VERSION=3
        format=print
        type=btree
        database=tags
        dupsort=1
        HEADER=END
         anna
         a
         anna
         b
         bert
         a
        DATA=END

        """

    @Test func whatMdbLoadWroteIsReadAndWritten() throws {
        let path = folder.path("f")
        try LMDBTools.load(path, Self.dump)
        try session.run("CREATE VIRTUAL TABLE people USING kv('\(path)', people, key=text, value=json)")
        try session.run("CREATE VIRTUAL TABLE tags USING kv('\(path)', tags, key=text, value=text)")
        let join = "SELECT tags.value, people.value ->> '$.age' FROM tags JOIN people USING (key) ORDER BY 1, 2"
        #expect(try session.run(join) == ["'a'|31", "'a'|42", "'b'|31"])
        try session.run("UPDATE people SET value = json_set(value, '$.age', 32) WHERE key = 'anna'")
        try session.run("INSERT INTO tags SELECT key, 'adult' FROM people")
        #expect(try LMDBTools.dump(path, "people") == ["anna", #"{"age":32}"#, "bert", #"{"age":42}"#])
        #expect(
            try LMDBTools.dump(path, "tags") == [
                "anna", "a", "anna", "adult", "anna", "b", "bert", "a", "bert", "adult",
            ])
    }

    /// Another process writes while the tables are in use: the next statement sees it, a tree that is new included.
    @Test func whatAnotherProcessWritesIsSeen() throws {
        let path = folder.path("f")
        try LMDBTools.load(path, Self.dump)
        try session.run("CREATE VIRTUAL TABLE people USING kv('\(path)', people, key=text, value=json)")
        #expect(try session.run("SELECT count(*) FROM people") == ["2"])
        let more = Self.dump.replacingOccurrences(of: "bert", with: "carl")
        try LMDBTools.load(path, more.replacingOccurrences(of: "=tags", with: "=labels"))
        #expect(try session.run("SELECT count(*) FROM people") == ["3"])
        try session.run("CREATE VIRTUAL TABLE labels USING kv('\(path)', labels, key=text, value=text)")
        #expect(try session.run("SELECT count(*) FROM labels") == ["3"])
    }

    @Test func aFolderAndAnUnnamedTreeWithDuplicates() throws {
        let path = folder.path("environment")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let dump = "VERSION=3\nformat=print\ntype=btree\ndupsort=1\nHEADER=END\n a\n 1\n a\n 2\nDATA=END\n"
        try LMDBTools.load(path, directory: true, dump)
        try session.run("CREATE VIRTUAL TABLE k USING kv('\(path)', key=text, value=text)")
        #expect(try session.run("SELECT * FROM k ORDER BY key, value DESC") == ["'a'|'2'", "'a'|'1'"])
        #expect(try session.run("SELECT name, entries, flags FROM kv_trees('\(path)')") == ["NULL|2|'dupsort'"])
    }

    @Test func theTreesOfAFileAreListed() throws {
        let path = folder.path("f")
        try LMDBTools.load(path, Self.dump)
        #expect(
            try session.run("SELECT name, entries, flags, depth, pages FROM kv_trees('\(path)')")
                == ["NULL|2|''|1|1", "'people'|2|''|1|1", "'tags'|3|'dupsort'|1|1"])
        #expect(try session.message("SELECT * FROM kv_trees").contains("kv_trees('path')"))
        #expect(try session.message("SELECT * FROM kv_trees('\(folder.path("none"))')").contains("No such file"))
    }
}
