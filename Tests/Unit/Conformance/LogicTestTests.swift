// LogicTestTests.swift - the sqllogictest runner passes what is right, and sees each kind of wrong answer.

import Conformance
import Foundation
import Rootstock
import Testing

private func run(_ script: String, database: String = "sqlite", stop: Bool = false) throws -> LogicTestRunner.Result {
    var runner = LogicTestRunner(
        connection: try Connection(path: ":memory:", engine: .sqlite), database: database, stopsAtFailure: stop)
    return runner.run(try LogicTest(Array(script.utf8)))
}

private let table = """
    statement ok
    CREATE TABLE t(a INTEGER, b TEXT)

    statement ok
    INSERT INTO t VALUES (2, 'x'), (10, 'y'), (NULL, ''), (4294967297, char(9) || 'ü')


    """

@Suite struct LogicTestTests {
    @Test func rightAnswersPass() throws {
        let result = try run(
            table + """
                # a comment
                query IT nosort
                SELECT a, b FROM t WHERE a > 1 ORDER BY a
                ----
                2
                x
                10
                y
                1
                @@@

                query IT rowsort
                SELECT a, b FROM t
                ----
                1
                @@@
                10
                y
                2
                x
                NULL
                (empty)

                query R
                SELECT 1.0 / 3
                ----
                0.333

                query I valuesort
                SELECT a FROM t WHERE a < 100
                ----
                10
                2

                query I
                SELECT a FROM t WHERE a > 5000000000

                statement error
                INSERT INTO missing VALUES (1)
                """)
        #expect(result.failures.isEmpty, "\(result.failures)")
        #expect(result.statements == 3 && result.queries == 5)
    }

    @Test func carriageReturnsAndHashes() throws {
        // md5("1\n2\n3\n")
        let script =
            "query I\r\nVALUES (1), (2), (3)\r\n----\r\n3 values hashing to c0710d6b4f15dfa88f600b0e6b624077\r\n"
        #expect(try run(script).failures.map(\.reason) == [])
        #expect(try run(script.replacing("(3)", with: "(4)")).failures.count == 1)
    }

    @Test(arguments: [
        "query I\nSELECT 1\n----\n2",  // a value
        "query I\nSELECT 1\n----\n1\n1",  // a row too few
        "query I\nSELECT 1 UNION SELECT 2\n----\n1",  // a row too many
        "query II\nSELECT 1\n----\n1",  // the number of columns
        "query I\nVALUES (2), (1)\n----\n1\n2",  // the order
        "query I\nSELECT missing\n----\n1",
        "query I\nSELECT missing\n----",
        "statement ok\nSELECT missing",
        "statement error\nSELECT 1",
        "query I nosort same\nSELECT 1\n----\n1\n\nquery I nosort same\nSELECT 2\n----\n2",
        "query T\nSELECT NULL\n----\n(empty)",
        "query R\nSELECT 0.5\n----\n0.5",
    ])
    func wrongAnswersFail(script: String) throws {
        #expect(try run(script).failures.count == 1)
    }

    @Test func conditionsNameADatabase() throws {
        let script = """
            skipif mysql
            statement error
            SELECT 1

            onlyif mysql
            statement ok
            SELECT missing

            skipif SQLite
            query I nosort x
            SELECT 5
            ----
            1

            query I nosort x
            SELECT 1
            ----
            1
            """
        let onSQLite = try run(script)
        #expect(onSQLite.failures.map(\.line) == [2])
        #expect(onSQLite.skipped == 2)
        #expect(try run(script, database: "mysql").failures.map(\.line) == [6, 10, 15])
    }

    @Test func haltEndsTheFileAndStopsAtTheFirstFailure() throws {
        let halted = try run("statement ok\nSELECT 1\n\nhalt\n\nstatement ok\nSELECT missing")
        #expect(halted.halted && halted.failures.isEmpty && halted.statements == 1)
        #expect(try run("onlyif mysql\nhalt\n\nstatement ok\nSELECT missing").failures.count == 1)
        #expect(try run("statement ok\nSELECT x\n\nstatement ok\nSELECT y", stop: true).failures.count == 1)
    }

    @Test func aQueryThatFailsWhileItRunsMayExpectNothing() throws {
        let result = try run("query I\nSELECT abs(-9223372036854775808)\n----")
        #expect(result.failures.isEmpty && result.endedEarly == 1)
    }

    @Test(arguments: [
        "banana", "statement maybe\nSELECT 1", "query I upsidedown\nSELECT 1", "hash-threshold", "skipif\nhalt",
    ])
    func nonsenseIsNamedWithItsLine(script: String) {
        #expect(throws: LogicTest.SyntaxError.self) { try LogicTest(Array("\n\(script)".utf8)) }
    }
}
