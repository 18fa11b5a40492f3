// KeyValueLookupTests.swift - keys and values that a statement looks up in another program's tree: the rows are those of a native table.

import Testing

@Suite struct KeyValueLookupTests {
    let folder: Folder
    let session: SQLSession

    init() throws {
        folder = try Folder()
        session = try SQLSession()
    }

    /// A list of numbers is compared with texts as numbers, so that a key may be found that is spelt otherwise.
    @Test(arguments: [
        "SELECT key FROM @ WHERE key IN (SELECT number FROM list)",
        "SELECT key FROM @ WHERE key IN (SELECT word FROM list)",
        "SELECT key FROM @ WHERE key IN (SELECT any FROM list)",
        "SELECT key FROM @ WHERE key IN ('x', '05', 'no', NULL, '05', 5) ORDER BY key DESC",
        "SELECT key FROM @ WHERE value IN (SELECT number FROM list) AND key IN ('x', 'y', '5')",
        "SELECT word, key FROM list CROSS JOIN @ ON key IN (word, 'x', any)",
    ])
    func listsOfKeysAreComparedAsInATable(_ query: String) throws {
        try writeTree(
            folder.path("f"),
            entries: [Entry("05", "1"), Entry("5", "05"), Entry("5.0", "3"), Entry("x", "5"), Entry("y", "z")])
        try session.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
        try session.run("CREATE TABLE native (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        try session.run("INSERT INTO native SELECT key, value FROM k")
        try session.run("CREATE TABLE list (number INTEGER, word TEXT, any)")
        try session.run("INSERT INTO list VALUES (5, '5', 5), ('x', 'y', x'78'), (NULL, '', 'y')")
        #expect(
            try session.run(query.replacing("@", with: "k"))
                == session.run(query.replacing("@", with: "native")))
        let plan = try session.run("EXPLAIN QUERY PLAN SELECT key FROM k WHERE key IN ('x', 'y')")
        #expect(plan.contains { $0.contains("key=?") })
    }

    /// LMDB refuses to look for a value that can be none of several: the empty one, or one longer than a key may be.
    @Test(arguments: ["''", "hex(zeroblob(300))"])
    func aValueThatCanBeNoneOfSeveralIsNotThere(_ value: String) throws {
        try writeTree(
            folder.path("f"), nil, .dupSort, entries: [Entry("k", "a"), Entry("k", "b"), Entry("one", "a")])
        try session.run("CREATE VIRTUAL TABLE k USING kv('\(folder.path("f"))', key=text, value=text)")
        #expect(try session.run("SELECT * FROM k WHERE key = 'k' AND value = \(value)").isEmpty)
        #expect(try session.run("SELECT * FROM k WHERE key = 'one' AND value = \(value)").isEmpty)
        #expect(try session.run("SELECT value FROM k WHERE key = 'k' AND value = 'b'") == ["'b'"])
    }
}
