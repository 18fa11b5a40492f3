// FunctionTests.swift - functions and collations of the program's own, the same on every engine.

import Foundation
import Rootstock
import Testing

@Suite struct FunctionTests {
    let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    struct Refusal: Error, CustomStringConvertible { var description: String { "refused by hand" } }

    func store(_ engine: Engine) throws -> Store {
        var options = StoreOptions(durability: .off, native: .wal)
        options.functions = [
            SQLFunction("hypotenuse", isDeterministic: true) { (x: Double, y: Double) in (x * x + y * y).squareRoot() },
            SQLFunction("initial", isDeterministic: true) { (name: String?) in name.map { String($0.prefix(1)) } },
            SQLFunction("answer") { () in 42 },
            SQLFunction("refuse") { (_: Value) throws -> Int in throw Refusal() },
            SQLFunction("fill") { () throws -> Int in throw DatabaseError(.full, "no room") },
            SQLFunction(variadic: "joined") { $0.map { String(databaseValue: $0) ?? "-" }.joined(separator: "+") },
            SQLFunction(variadic: "same") { $0.first ?? .null },
            SQLFunction(aggregate: "product", arguments: 1, initial: 1) { product, row in
                guard let factor = Int(databaseValue: row[0]) else { throw Refusal() }
                product *= factor
            } result: {
                $0
            },
            SQLFunction(aggregate: "total_length", arguments: 1, initial: 0) {
                $0 += String(databaseValue: $1[0])?.count ?? 0
            } remove: {
                $0 -= String(databaseValue: $1[0])?.count ?? 0
            } result: {
                $0
            },
        ]
        options.collations = [SQLCollation("backwards") { $0 < $1 ? 1 : $0 == $1 ? 0 : -1 }]
        let store = try Store(path: folder.path(), engine: engine, options: options)
        try store.write {
            try $0.executeScript(
                """
                CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, name TEXT, x REAL, n INTEGER);
                INSERT OR IGNORE INTO t VALUES (1, 'ann', 3, 2), (2, 'bea', 6, 3), (3, NULL, 0, 7);
                """)
        }
        return store
    }

    @Test(arguments: apiEngines) func functionsServeEveryConnection(engine: Engine) throws {
        let store = try store(engine)
        for access in [store.read as ((Connection) throws -> Void) throws -> Void, store.write] {
            try access { connection in
                #expect(try connection.queryValue("SELECT hypotenuse(3, 4)") == 5.0)
                #expect(
                    try connection.query("SELECT initial(name) FROM t ORDER BY id", as: String?.self) == [
                        "a", "b", nil,
                    ])
                #expect(try connection.queryValue("SELECT answer()") == 42)
                #expect(try connection.queryValue("SELECT joined('a', 1, 'b')") == "a+-+b")
                #expect(
                    try connection.query("SELECT name FROM t WHERE hypotenuse(x, 4) > 6", as: String.self) == ["bea"])
                let same = try connection.queryOne(
                    "SELECT same('a'), same(1), same(0.5), same(x'00'), same(NULL), same(''), same(x'')")
                #expect(same.map { Array($0) } == ["a", 1, 0.5, .blob([0]), nil, "", .blob([])])
            }
        }
    }

    @Test(arguments: apiEngines) func aggregatesAndWindows(engine: Engine) throws {
        let store = try store(engine)
        try store.read { connection in
            #expect(try connection.queryValue("SELECT product(n) FROM t") == 42)
            #expect(try connection.queryValue("SELECT product(n) FROM t WHERE id > 9") == 1)
            #expect(
                try connection.query("SELECT product(n) FROM t GROUP BY id < 3 ORDER BY 1", as: Int.self) == [6, 7])
            #expect(
                try connection.query(
                    "SELECT total_length(name) OVER (ORDER BY id ROWS 1 PRECEDING) FROM t ORDER BY id", as: Int.self)
                    == [3, 6, 3])
            let refused = try databaseError { _ = try connection.query("SELECT product(n) OVER () FROM t") }
            #expect(refused?.message == "product() may not be used as a window function")
        }
    }

    @Test(arguments: apiEngines) func whatAFunctionThrowsEndsTheStatement(engine: Engine) throws {
        let store = try store(engine)
        let expected = [
            "SELECT refuse(1)": "refused by hand",
            "SELECT product(name) FROM t": "refused by hand",
            "SELECT fill()": "no room",
            "SELECT hypotenuse('a', 1)": "argument 1 of hypotenuse() is text, not Double",
            "SELECT hypotenuse(1)": "wrong number of arguments to function hypotenuse()",
        ]
        for (sql, message) in expected {
            let error = try databaseError { _ = try store.read { try $0.query(sql) } }
            #expect(error?.message == message)
            if message == "no room" { #expect(error?.code == .full) }
        }
        let refused = try databaseError { try store.write { try $0.execute("UPDATE t SET n = refuse(n)") } }
        #expect(refused?.message == "refused by hand")
        #expect(try store.read { try $0.queryValue("SELECT sum(n) FROM t") } == 12)
    }

    @Test(arguments: apiEngines) func aDeterministicFunctionServesAnIndex(engine: Engine) throws {
        let store = try store(engine)
        try store.write { try $0.execute("CREATE INDEX by_initial ON t (initial(name))") }
        try store.write { try $0.execute("INSERT INTO t (name) VALUES ('bob')") }
        let sql = "SELECT name FROM t WHERE initial(name) = 'b' ORDER BY name"
        #expect(try store.read { try $0.query(sql, as: String.self) } == ["bea", "bob"])
        let plan = try store.read { try $0.query("EXPLAIN QUERY PLAN \(sql)") }
        #expect(plan.contains { "\($0["detail"] ?? nil)".contains("USING INDEX by_initial") }, "\(plan)")
        #expect(try store.read { try $0.integrityFaults() }.isEmpty)
    }

    @Test(arguments: apiEngines) func aCollationOrders(engine: Engine) throws {
        let store = try store(engine)
        try store.read { connection in
            let names = try connection.query(
                "SELECT name FROM t WHERE name IS NOT NULL ORDER BY name COLLATE backwards", as: String.self)
            #expect(names == ["bea", "ann"])
            #expect(try connection.queryValue("SELECT 'a' < 'b' COLLATE backwards") == 0)
        }
    }

    @Test(arguments: apiEngines) func aCollationServesAnIndex(engine: Engine) throws {
        let store = try store(engine)
        try store.write { try $0.execute("CREATE INDEX by_name ON t (name COLLATE backwards)") }
        #expect(try store.read { try $0.integrityFaults() }.isEmpty)
        guard engine.isNative else { return }
        let plan = try store.read {
            try $0.queryOne("EXPLAIN QUERY PLAN SELECT name FROM t ORDER BY name COLLATE backwards")?["detail"]
        }
        #expect(plan == "SCAN t USING COVERING INDEX by_name")
    }

    @Test(arguments: apiEngines) func aFunctionThatSQLiteDoesNotTakeIsNamed(engine: Engine) throws {
        let store = try store(engine)
        let error = try databaseError {
            try store.withConnection {
                try $0.add(
                    SQLFunction(aggregate: "many", arguments: 200, initial: 0) { _, _ in
                    } result: {
                        $0
                    })
            }
        }
        #expect(error?.code == .misuse && error?.message.contains("many of 200 arguments") == true)
    }
}
