// DepthTests.swift - statements that nest as deep as SQLite lets them, on a thread with a small stack: they work, or are refused, and
// the connection goes on.

import CSQLite
import Foundation
import RootstockTable
import Testing

@Suite struct DepthTests: @unchecked Sendable {  // the folder never changes
    let folder: Folder
    init() throws { folder = try Folder() }

    /// Runs the body on a thread with a stack of so many KiB.
    private func on<Result: Sendable>(stack kibibytes: Int, _ body: @escaping @Sendable () throws -> Result) throws
        -> Result
    {
        let box = Box<Result>()
        let thread = Thread { box.result = Swift.Result(catching: body) }
        thread.stackSize = kibibytes << 10
        thread.start()
        while !thread.isFinished { Thread.sleep(forTimeInterval: 0.002) }
        return try box.result!.get()
    }

    /// The script's outcome: its rows, or what refused it.
    private func outcome(_ session: Session, _ sql: String) -> String {
        do { return try session.run(sql).joined(separator: "\n") } catch {
            return (error as? Refused).map { "\($0.code & 0xff)" } ?? "\(error)"
        }
    }

    private func nested(_ open: String, _ inner: String, _ close: String, _ depth: Int) -> String {
        String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
    }

    private static let table = "CREATE TABLE t(a INTEGER PRIMARY KEY, b, c); INSERT INTO t VALUES (1, 2, 3);"

    /// Each text is as deep as SQLite's own limit, and deeper by far. Near the limit SQLite's code generator itself needs more than 256 KiB.
    @Test(arguments: [50, 490, 990, 1010, 20000]) func deepTextsAreAnsweredAsBySQLite(_ depth: Int) throws {
        let sum = Array(repeating: "b", count: depth).joined(separator: "+")
        let one = Array(repeating: "1", count: depth).joined(separator: "+")
        let texts = [
            "SELECT \(nested("(", "1", ")", depth))", "SELECT \(sum) FROM t",
            "SELECT * FROM t WHERE \(nested("NOT ", "b", "", depth))",
            "SELECT \(nested("abs(", "b", ")", depth)) FROM t",
            "SELECT * FROM \(nested("(SELECT * FROM ", "t", ")", depth))",
            "UPDATE t SET b = \(sum)", "UPDATE t SET b = 1 RETURNING \(sum)",
            "UPDATE t SET b = \(nested("CASE WHEN b THEN ", "1", " END", depth))",
            "INSERT INTO t VALUES (5, \(one), 3) RETURNING b", "DELETE FROM t WHERE \(sum) > 0",
            "CREATE TABLE k(a, CHECK (\(sum.replacingOccurrences(of: "b", with: "a")) > 0)); INSERT INTO k VALUES (1)",
            "CREATE TABLE k(a, b DEFAULT (\(one))); INSERT INTO k(a) VALUES (1); SELECT b FROM k",
            "CREATE TABLE k(b, a AS (\(sum))); CREATE INDEX ka ON k(a); INSERT INTO k VALUES (2); SELECT a FROM k",
            "CREATE INDEX x ON t(\(sum)); INSERT INTO t VALUES (7, 8, 9); SELECT a FROM t WHERE \(sum) = \(8 * depth)",
            "CREATE INDEX x ON t(b) WHERE \(sum) > 3; INSERT INTO t VALUES (7, 8, 9); SELECT count(*) FROM t",
            "CREATE TRIGGER g AFTER INSERT ON t WHEN \(sum.replacingOccurrences(of: "b", with: "new.b")) BEGIN "
                + "UPDATE t SET c = \(one) WHERE a = new.a; END; INSERT INTO t VALUES (7, 8, 9); SELECT c FROM t",
            "SELECT json('\(nested("[", "", "]", depth))')", nested("/*", "", "*/", depth) + "SELECT 1",
            nested("BEGIN ", "", "", depth), nested("'", "", "", depth), nested("{\"a\":", "1", "}", depth),
            nested("SELECT (", "1", ")", depth),
            nested("WITH w AS (", "SELECT 1", ") SELECT * FROM w", min(depth, 2000)),
        ]
        for text in texts {
            let native = try outcome(Session(), Self.table + text)
            let path = folder.path(UUID().uuidString)
            let (store, check) = try on(stack: depth < 900 ? 256 : 2048) {
                let session = try Session(store: path)
                return (
                    self.outcome(session, Self.table + text),
                    self.outcome(session, "ROLLBACK") + self.outcome(session, "PRAGMA integrity_check")
                )
            }
            #expect(store == native, "\(depth): \(text.prefix(80))")
            #expect(check.hasSuffix("ok"), "\(depth): \(text.prefix(80)): \(check)")
        }
    }

    /// A text ends at its first NUL, wherever that stands, however long it is said to be.
    @Test(arguments: [
        "SELECT a \"\0x,\" FROM t", "SELECT *, b \"\0\" AS c FROM t", "SELECT 1\0; DELETE FROM t",
        "DELETE FROM t WHERE b = 'x\0' OR 1",
        "/* \0 */ DELETE FROM t", "-- \0\nDELETE FROM t", "\0DELETE FROM t",
        "UPDATE t SET b = 5 \0 WHERE a = 2 RETURNING a",
        "CREATE INDEX tb ON t(b)\0 WHERE b > 5", "INSERT INTO t VALUES (9, 9, 9) ON CONFLICT DO NOTHING \0 RETURNING a",
        "SELECT [a\0] FROM t", "SELECT *, a \"", "SELECT *-b, pragma_tablnear \"\0x,\"", "SELECT rowid, oid '",
        "SELECT rowid, [sqlite_", "SELECT x'00\0' FROM t",
    ]) func aTextEndsAtItsFirstNul(_ text: String) throws {
        var found: [String] = []
        for session in [try Session(), try Session(store: folder.path("s"))] {
            try session.run(Self.table)
            let bytes = text.utf8.map { CChar(bitPattern: $0) }
            var rewritten: UnsafeMutablePointer<CChar>?
            var statement: OpaquePointer?
            var code = bytes.withUnsafeBufferPointer {
                rootstock_rewrite(session.database, $0.baseAddress, Int32(bytes.count), &rewritten, nil, nil)
            }
            defer { sqlite3_free(rewritten) }
            if let rewritten {
                var again: UnsafeMutablePointer<CChar>?
                #expect(rootstock_rewrite(session.database, rewritten, -1, &again, nil, nil) == SQLITE_OK)
                if let again { #expect(strcmp(again, rewritten) == 0, "rewritten twice") }
                sqlite3_free(again)
            }
            if code == SQLITE_OK {
                code = bytes.withUnsafeBufferPointer {
                    sqlite3_prepare_v2(
                        session.database, rewritten.map { UnsafePointer($0) } ?? $0.baseAddress,
                        rewritten == nil ? Int32(bytes.count) : -1, &statement, nil)
                }
            }
            var rows = 0
            while statement != nil, sqlite3_step(statement) == SQLITE_ROW { rows += 1 }
            sqlite3_finalize(statement)
            found.append("\(code) \(rows) \(try session.run("SELECT * FROM t; SELECT name, sql FROM sqlite_schema"))")
        }
        #expect(found[0] == found[1])
    }

    /// Triggers that fire each other, and actions of foreign keys.
    private static let recursions: [(String, String, String)] = [
        (
            "CREATE TABLE r(a INTEGER PRIMARY KEY); CREATE TRIGGER g AFTER INSERT ON r WHEN new.a < DEPTH BEGIN "
                + "INSERT INTO r VALUES (new.a + 1); END;", "INSERT INTO r VALUES (1)", "SELECT count(*), max(a) FROM r"
        ),
        (
            "CREATE TABLE r(a INTEGER PRIMARY KEY, b); CREATE TRIGGER g BEFORE INSERT ON r WHEN new.a < DEPTH BEGIN "
                + "INSERT INTO r VALUES (new.a + 1, 1) ON CONFLICT (a) DO UPDATE SET b = 2; END;",
            "INSERT INTO r VALUES (1, 1)", "SELECT count(*), sum(b) FROM r"
        ),
        (
            "CREATE TABLE r(a INTEGER PRIMARY KEY, q REFERENCES r ON DELETE CASCADE); CREATE INDEX rq ON r(q);"
                + "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < DEPTH) "
                + "INSERT INTO r SELECT i, nullif(i - 1, 0) FROM n;", "DELETE FROM r WHERE a = 1",
            "SELECT count(*) FROM r"
        ),
    ]

    private func prepared(_ session: Session, _ number: Int, _ depth: Int) throws {
        try session.run("PRAGMA recursive_triggers = ON; PRAGMA foreign_keys = ON", rewritten: false)
        let schema = Self.recursions[number].0.replacingOccurrences(of: "DEPTH", with: "\(depth)")
        try session.run(schema)
    }

    @Test(arguments: 0..<3, [3, 20, 990, 5000]) func recursionEndsBeforeTheStackDoes(_ number: Int, _ depth: Int) throws
    {
        let (_, statement, question) = Self.recursions[number]
        let path = folder.path("s")
        let (refusal, before, after, check) = try on(stack: 256) {
            let session = try Session(store: path)
            try self.prepared(session, number, depth)
            let before = try session.run(question)
            let refusal = session.refusal(statement)
            return (refusal, before, try session.run(question), try session.run("PRAGMA integrity_check"))
        }
        #expect(check == ["ok"])
        let native = try Session()
        try prepared(native, number, depth)
        let refusedNatively = native.refusal(statement)
        if refusal.isEmpty {
            #expect(refusedNatively.isEmpty)
            #expect(try after == native.run(question))
        } else {
            #expect(depth > 3, "\(refusal)")
            #expect(refusal.contains("too many levels of trigger recursion"), "\(refusal)")
            #expect(after == before, "nothing of it is there")
        }
        // With a stack of the usual size it is SQLite's answer.
        if depth == 990 || depth == 5000 {
            let large = try on(stack: 64 << 10) { self.fresh(number, depth, statement, path + "-large") }
            #expect(large == self.outcomeOf(native, refusedNatively, question))
        }
    }

    private func outcomeOf(_ session: Session, _ refusal: String, _ question: String) -> [String] {
        [refusal.contains("too many levels of trigger recursion") ? "too deep" : refusal]
            + ((try? session.run(question)) ?? ["?"])
    }

    private func fresh(_ number: Int, _ depth: Int, _ statement: String, _ path: String) -> [String] {
        guard let session = try? Session(store: path), (try? prepared(session, number, depth)) != nil else {
            return ["failed"]
        }
        let refusal = session.refusal(statement)
        return outcomeOf(session, refusal, Self.recursions[number].2)
    }

    /// SQLITE_LIMIT_TRIGGER_DEPTH counts the same levels.
    @Test(arguments: 0..<3) func theLimitOfTriggersIsSQLites(_ number: Int) throws {
        let (_, statement, question) = Self.recursions[number]
        for limit in [0, 1, 2, 10] {
            for depth in max(1, limit - 1)...limit + 3 {
                var outcomes: [[String]] = []
                for store in [false, true] {
                    let session = store ? try Session(store: folder.path(UUID().uuidString)) : try Session()
                    try prepared(session, number, depth)
                    sqlite3_limit(session.database, SQLITE_LIMIT_TRIGGER_DEPTH, Int32(limit))
                    outcomes.append(outcomeOf(session, session.refusal(statement), question))
                }
                #expect(outcomes[0] == outcomes[1], "limit \(limit), depth \(depth)")
            }
        }
    }
}

/// Written by one thread, and read when that has ended.
private final class Box<Value>: @unchecked Sendable {
    var result: Result<Value, any Error>?
}
