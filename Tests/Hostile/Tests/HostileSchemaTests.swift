// HostileSchemaTests.swift - what the schema of a file from anybody can make a connection do: nothing beyond what SQLite allows
// the schema of a native file.

import CLMDB
import CSQLite
import Foundation
import RootstockTable
import Testing

@Suite struct HostileSchemaTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    /// The tests' own way of writing a catalog makes a store that opens, so that the refusals below mean something.
    @Test func aCatalogWrittenByHandOpens() throws {
        try writeCatalog(folder.path("s"), [("table", "t", "t", "CREATE TABLE t(a, b DEFAULT 5)", 1)])
        let session = try Session(store: folder.path("s"))
        try session.run("INSERT INTO t(a) VALUES (1)")
        #expect(try session.run("SELECT * FROM t") == ["1|5"])
        #expect(try session.run("PRAGMA quick_check(t)") == ["ok"])
    }

    @Test(arguments: [
        "ATTACH 'PATH' AS other", "CREATE TABLE t(a); ATTACH 'PATH' AS other; CREATE TABLE other.t(a)",
        "VACUUM INTO 'PATH'", "PRAGMA journal_mode=WAL", "CREATE TEMP TABLE t(a)", "CREATE TABLE temp.t(a)",
        "CREATE TABLE main.t(a)", "CREATE TABLE IF NOT EXISTS t(a)",
        "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n",
        "SELECT writefile('PATH', 'x')", "DROP TABLE t", "BEGIN", "COMMIT",
        "CREATE VIRTUAL TABLE t USING rtree(a,b,c); SELECT 1", "CREATE VIRTUAL TABLE u USING rtree(a,b,c)",
        "CREATE TABLE t(a) -- and", "CREATE TABLE t(a); SELECT 1", "CREATE TABLE u(a)", "", " ", "nonsense",
        "CREATE TABLE t(a", "CREATE VIEW t AS SELECT 1", "INSERT INTO sqlite_master VALUES(1,2,3,4,5)",
    ])
    func aCatalogTextIsTheOneCreateThatItSaysItIs(_ text: String) throws {
        let sql = text.replacingOccurrences(of: "PATH", with: folder.path("victim"))
        try writeCatalog(folder.path("s"), [("table", "t", "t", sql, 1)])
        let failure = #expect(throws: Refused.self) { try Session(store: folder.path("s")) }
        #expect(failure?.code == SQLITE_CORRUPT | 1 << 8, "\(failure?.description ?? "")")
        #expect(failure?.message.contains("malformed catalog") == true, "\(failure?.description ?? "")")
        #expect(!folder.names.contains { $0.hasPrefix("victim") })
    }

    /// Tables of modules that no interposer brought are in the schema and cannot be used, whatever the module.
    @Test(arguments: ["rtree(a,b,c)", "fts5(a)", "kv('PATH')", "csv(filename='PATH')", "nosuch"])
    func aModulesTableIsRefusedByName(_ module: String) throws {
        let sql = "CREATE VIRTUAL TABLE t USING " + module.replacingOccurrences(of: "PATH", with: folder.path("victim"))
        try writeCatalog(folder.path("s"), [("table", "t", "t", sql, 0)])
        guard let session = try? Session(store: folder.path("s")) else { return }
        #expect(throws: Refused.self) { try session.run("SELECT * FROM t") }
        #expect(throws: Refused.self) { try session.run("INSERT INTO t VALUES (1)") }
        #expect(!folder.names.contains { $0.hasPrefix("victim") })
    }

    @Test func aCatalogOfAnotherProgramIsNoStore() throws {
        try writeCatalog(folder.path("s"), [], magic: "Something else")
        let failure = #expect(throws: Refused.self) { try Session(store: folder.path("s")) }
        #expect(failure?.code == SQLITE_NOTADB, "\(failure?.description ?? "")")
        #expect(failure?.message.contains("mark") == true)
    }

    /// Texts that a schema can hold, each with what reaches for something that is the application's.
    static let reaching = [
        "rootstock_open('PATH')", "rootstock_ddl('DROP TABLE secret')", "rootstock_run('DELETE FROM secret')",
        "rootstock_rewrite('x')", "rootstock_allow('PATH')", "load_extension('PATH')", "for_applications_only(1)",
        "(SELECT count(*) FROM kv_trees('PATH'))", "(SELECT * FROM rootstock_integrity_check)",
    ]

    private func hostile(_ schema: String) throws -> Session {
        try Session(store: folder.path("s")).run("CREATE TABLE secret(a); INSERT INTO secret VALUES (1);" + schema)
        let session = try Session(store: folder.path("s"))
        try registerForApplicationsOnly(session)
        return session
    }

    private func registerForApplicationsOnly(_ session: Session) throws {
        let code = sqlite3_create_function_v2(
            session.database, "for_applications_only", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, nil,
            { context, _, _ in sqlite3_result_text(context, "reached", -1, nil) }, nil, nil, nil)
        try #require(code == SQLITE_OK)
    }

    private func expectUnreached(_ session: Session, _ statement: String) throws {
        let refusal = session.refusal(statement)
        #expect(refusal.contains("unsafe use of") || refusal.contains("prohibited"), "\(statement): \(refusal)")
        #expect(try session.run("SELECT * FROM secret") == ["1"])
        #expect(!folder.names.contains { $0.hasPrefix("victim") })
    }

    @Test(arguments: reaching) func aDefaultReachesNothing(_ call: String) throws {
        if call.contains("SELECT") { return }  // SQLite takes no subquery there
        let call = call.replacingOccurrences(of: "PATH", with: folder.path("victim"))
        let session = try hostile("CREATE TABLE t(a, b DEFAULT (\(call)))")
        try expectUnreached(session, "INSERT INTO t(a) VALUES (1)")
        try expectUnreached(session, "INSERT INTO t DEFAULT VALUES")
        try expectUnreached(session, "INSERT INTO t(a) VALUES (1) RETURNING b")
        try session.run("INSERT INTO t VALUES (1, 2)")  // it is not asked for
    }

    @Test(arguments: reaching) func aTriggerReachesNothing(_ call: String) throws {
        let call = call.replacingOccurrences(of: "PATH", with: folder.path("victim"))
        for (name, body) in [
            ("select", "BEGIN SELECT \(call); END"), ("write", "BEGIN INSERT INTO log VALUES (\(call)); END"),
            ("when", "WHEN \(call) BEGIN SELECT 1; END"),
            ("upsert", "BEGIN INSERT INTO log VALUES (1) ON CONFLICT (l) DO UPDATE SET l = \(call); END"),
        ] {
            let session = try hostile(
                "CREATE TABLE t(a); CREATE TABLE log(l UNIQUE); INSERT INTO log VALUES (1); CREATE TRIGGER fires_\(name) "
                    + "AFTER INSERT ON t \(body)")
            try expectUnreached(session, "INSERT INTO t(a) VALUES (1)")
            #expect(try session.run("SELECT count(*) FROM t") == ["0"])
            try session.run("DROP TABLE t; DROP TABLE log; DROP TABLE secret")
        }
    }

    @Test(arguments: reaching) func aViewReachesNothing(_ call: String) throws {
        let call = call.replacingOccurrences(of: "PATH", with: folder.path("victim"))
        let session = try hostile(
            "CREATE VIEW v AS SELECT \(call) AS c; CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN SELECT \(call); END")
        try expectUnreached(session, "SELECT * FROM v")
        try expectUnreached(session, "INSERT INTO v VALUES (1)")
    }

    /// CHECKs and generated columns know the application's functions, but none that is not for schemas. A store that was made
    /// where they were known opens: what needs them is refused.
    @Test func expressionsOfATableReachNothing() throws {
        for sql in [
            "CREATE TABLE t(a, CHECK (for_applications_only(a) > 0))",
            "CREATE TABLE t(a, CHECK (unknown(a) > 0))",
            "CREATE TABLE t(a, b AS (rootstock_open(a)))",
        ] {
            try writeCatalog(folder.path("s"), [("table", "t", "t", sql, 1)])
            let session = try Session(store: folder.path("s"))
            try registerForApplicationsOnly(session)
            let refusal = session.refusal("INSERT INTO t(a) VALUES ('\(folder.path("victim"))')")
            #expect(
                ["unsafe use of", "unknown function"].contains { refusal.contains($0) },
                "\(sql): \(refusal)")
            #expect(try session.run("SELECT count(*) FROM t") == ["0"])
            #expect(!folder.names.contains { $0.hasPrefix("victim") })
        }
    }

    @Test func untrustedSchemasCallInnocuousFunctionsOnly() throws {
        let session = try hostile("CREATE TABLE t(a, b DEFAULT (mine(1)), c DEFAULT (abs(-2)))")
        sqlite3_create_function_v2(
            session.database, "mine", 1, SQLITE_UTF8, nil, { context, _, _ in sqlite3_result_int(context, 7) }, nil,
            nil,
            nil)
        try session.run("INSERT INTO t(a) VALUES (1)")
        try session.run("PRAGMA trusted_schema=OFF", rewritten: false)
        #expect(session.refusal("INSERT INTO t(a) VALUES (2)").contains("unsafe use of mine()"))
        try session.run("INSERT INTO t(a, b) VALUES (3, 3)")
        #expect(try session.run("SELECT * FROM t") == ["1|7|2", "3|3|2"])
    }

    // MARK: native files

    /// A database file with a declaration of module kv, as its author would write it.
    private func databaseNaming(_ path: String) throws -> String {
        let author = try Session(folder.path("db"))
        try author.run("PRAGMA writable_schema=ON", rewritten: false)
        try author.run(
            "INSERT INTO sqlite_master VALUES ('table','t','t',0,'CREATE VIRTUAL TABLE t USING kv(''\(path)'', '''')')",
            rewritten: false)
        return folder.path("db")
    }

    @Test func aSchemasPathIsOpenedOnlyIfTheApplicationNamedIt() throws {
        let victim = folder.path("victim")
        try Session(store: folder.path("other")).run("CREATE TABLE u(a)")
        let session = try Session(try databaseNaming(victim))
        for statement in ["SELECT * FROM t", "INSERT INTO t VALUES (1, 2)", "DELETE FROM t", "SELECT count(*) FROM t"] {
            let refusal = session.refusal(statement)
            #expect(refusal.contains("rootstock_allow('\(victim)')"), "\(refusal)")
        }
        #expect(!folder.names.contains { $0.hasPrefix("victim") })
        // Nor can the schema allow it itself.
        #expect(
            session.refusal("CREATE VIEW w AS SELECT rootstock_allow('\(victim)'); SELECT * FROM w").contains(
                "unsafe use"))
        // The application can.
        try makeLMDBFile(victim)
        try session.run("SELECT rootstock_allow('\(victim)')")
        #expect(try session.run("SELECT count(*) FROM t") == ["1"])
    }

    @Test func whatTheApplicationCreatedGoesOn() throws {
        let file = folder.path("data.lmdb")
        try makeLMDBFile(file)
        let session = try Session(folder.path("native"))
        try session.run("CREATE VIRTUAL TABLE t USING kv('\(file)', '')")
        // The schema is read again.
        try session.run("ALTER TABLE t RENAME TO u; CREATE TABLE another(a)", rewritten: false)
        #expect(try session.run("SELECT count(*) FROM u") == ["1"])
        let later = try Session(folder.path("native"))
        #expect(later.refusal("SELECT * FROM u").contains("rootstock_allow"))
    }

    @Test func aSidecarIsNotMadeByReadingAndNotFoundThroughALink() throws {
        let path = folder.path("db")
        let author = try Session(path)
        try author.run("PRAGMA writable_schema=ON", rewritten: false)
        try author.run(
            "INSERT INTO sqlite_master VALUES ('table','t','t',0,'CREATE VIRTUAL TABLE t USING lmdb(a)')",
            rewritten: false)
        #expect(try Session(path).refusal("SELECT * FROM t").contains("is missing"))
        #expect(folder.names == ["db"])
        try Session(store: folder.path("elsewhere")).run("CREATE TABLE t(a); INSERT INTO t VALUES ('secret')")
        try FileManager.default.createSymbolicLink(
            atPath: path + "-lmdb", withDestinationPath: folder.path("elsewhere"))
        #expect(try Session(path).refusal("SELECT * FROM t").contains("symbolic link"))
    }
}

/// An LMDB file with one record in its unnamed tree.
func makeLMDBFile(_ path: String) throws {
    var environment: OpaquePointer?
    var transaction: OpaquePointer?
    var handle: MDB_dbi = 0
    guard mdb_env_create(&environment) == 0, mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o644) == 0,
        mdb_txn_begin(environment, nil, 0, &transaction) == 0, mdb_dbi_open(transaction, nil, 0, &handle) == 0
    else { throw Refused(code: 1, message: "cannot make \(path)") }
    defer { mdb_env_close(environment) }
    var bytes: [UInt8] = [65]
    let code = bytes.withUnsafeMutableBytes { bytes -> Int32 in
        var key = MDB_val(mv_size: 1, mv_data: bytes.baseAddress)
        var value = key
        return mdb_put(transaction, handle, &key, &value, 0)
    }
    guard code == 0, mdb_txn_commit(transaction) == 0 else { throw Refused(code: code, message: "cannot fill \(path)") }
}
