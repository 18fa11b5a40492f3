// LimitTests.swift - statements that a store runs itself have SQLite's own limits of parameters and columns.

import Foundation
import Rootstock
import Testing

@Suite struct LimitTests {
    private func open(_ folder: TemporaryFolder) throws -> Connection {
        let connection = try Connection(path: folder.path(), engine: .lmdb)
        try connection.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        return connection
    }

    /// Past the number of arguments that an SQL function takes, and past that number squared.
    @Test(arguments: [1, 12, 13, 16, 17, 99, 100, 101, 127, 128, 999, 10_000, 10_001])
    func parametersKeepTheirOrder(count: Int) throws {
        let folder = try TemporaryFolder()
        let connection = try open(folder)
        let tuples = Array(repeating: "(?)", count: count).joined(separator: ",")
        let values = (0..<count).map { Value.integer(Int64($0) * 7) }
        let rows = try connection.query("INSERT INTO t(b) VALUES \(tuples) RETURNING b", Arguments(values))
        #expect(rows.count == count)
        let isKept = rows.map { $0[0] } == values
        #expect(isKept)
        let clause = "ON CONFLICT (a) DO UPDATE SET b = excluded.b"
        try connection.execute(
            "INSERT INTO t(a, b) VALUES \(Array(repeating: "(?, ?)", count: max(1, count / 2)).joined(separator: ",")) \(clause)",
            Arguments((0..<max(1, count / 2)).flatMap { [$0 + 1, -$0] }))
        try #expect(
            connection.queryValue(
                "SELECT count(*) FROM t WHERE a <= ?1 AND b = 1 - a", [max(1, count / 2)])
                == .integer(Int64(max(1, count / 2))))
    }

    @Test func namedAndNumberedParameters() throws {
        let folder = try TemporaryFolder()
        let connection = try open(folder)
        let statement = try connection.prepare("INSERT INTO t(a, b) VALUES (?2000, :name), (?3, ?2000) RETURNING a, b")
        try #require(statement.parameterCount == 2001)
        try statement.bind(7, at: 2000)
        try statement.bind("named", at: 2001)
        try statement.bind(8, at: 3)
        var rows: [[Value]] = []
        while try statement.step() { rows.append(statement.row.values) }
        #expect(rows == [[7, "named"], [8, 7]])
    }

    @Test(arguments: [
        ("INSERT INTO t(b) VALUES (?0) RETURNING a", "variable number must be between ?1 and ?250000"),
        ("INSERT INTO t(b) VALUES (?250001) RETURNING a", "variable number must be between ?1 and ?250000"),
        ("INSERT INTO t(b) VALUES (?250000), (?) RETURNING a", "too many SQL variables"),
    ])
    func beyondThemSQLiteSpeaks(sql: String, message: String) throws {
        let folder = try TemporaryFolder()
        let connection = try open(folder)
        let native = try Connection(path: ":memory:", engine: .sqlite)
        try native.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        let expected = try databaseError { try native.execute(sql) }
        let error = try databaseError { try connection.execute(sql) }
        #expect(error?.message == expected?.message)
        #expect(error?.code == expected?.code)
        #expect(error?.message == message)
    }

    @Test(arguments: [255, 256, 257, 2000]) func columnsOfReturning(count: Int) throws {
        let folder = try TemporaryFolder()
        let connection = try open(folder)
        let list = (0..<count).map { "b + \($0) AS c\($0)" }.joined(separator: ", ")
        let rows = try connection.query("INSERT INTO t(b) VALUES (1), (?) RETURNING \(list)", [1000])
        for (row, base) in zip(rows, [1, 1000] as [Int64]) {
            let expected: [Value] = (0..<count).map { .integer(Int64($0) + base) }
            #expect(row.values == expected)
        }
        #expect(rows.count == 2)
        #expect(rows[0].columnNames.last == "c\(count - 1)")
    }
}
