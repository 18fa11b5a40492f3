// RandomClassesTests.swift - the random scripts draw what random tests once missed: each class of fault that independent tests found is
// drawn, and a fault of it that is planted into SQLite itself is found.

import Foundation
import Parity
import TestSupport
import Testing

/// A class of statements: how one is known, and a fault planted into it, as another text to run.
struct DrawnClass: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let pattern: String
    let fault: String

    static let all: [DrawnClass] = [
        DrawnClass(
            testDescription: "a DEFAULT on a key's column",
            pattern: "^(CREATE TABLE .*?)( PRIMARY KEY| AUTOINCREMENT)( DEFAULT [^,)]*)",
            fault: "$1$2$3 CHECK (c0 IS NOT 7)"),
        DrawnClass(
            testDescription: "ON CONFLICT of a constraint", pattern: "^(CREATE TABLE .*?) ON CONFLICT (IGNORE|REPLACE)",
            fault: "$1 ON CONFLICT FAIL"),
        DrawnClass(
            testDescription: "OR of a change through a view",
            pattern: "^(INSERT|UPDATE) OR (IGNORE|REPLACE) (.*door\\d)", fault: "$1 OR ABORT $3"),
        DrawnClass(
            testDescription: "a trigger of a view that has an OR",
            pattern: "(INSTEAD OF INSERT ON door\\d BEGIN INSERT) OR (IGNORE|REPLACE)",
            fault: "$1"),
        DrawnClass(
            testDescription: "SET reads the changed table",
            pattern: "^(UPDATE.* SET .*FROM \\w+ AS o WHERE) (o.\\w+ (?:IS|=|>))",
            fault: "$1 0 AND $2"),
        DrawnClass(
            testDescription: "IN over the changed table in SET",
            pattern: "^(UPDATE.* SET .*IN \\(SELECT o.\\w+ FROM \\w+ AS o)( WHERE true)?\\)", fault: "$1 LIMIT 1)"),
        DrawnClass(testDescription: "DROP of a table with rows", pattern: "^DROP TABLE t\\d$", fault: "SELECT 1"),
        DrawnClass(
            testDescription: "UPSERT without a target", pattern: " ON CONFLICT DO UPDATE SET .*",
            fault: " ON CONFLICT DO NOTHING"),
        DrawnClass(
            testDescription: "ALTER of a STRICT table",
            pattern: "^(ALTER TABLE \\w+ ADD COLUMN \\w+ (?:INTEGER|INT|BLOB|ANY)) DEFAULT .*",
            fault: "$1"),
        DrawnClass(
            testDescription: "a WITH that hides a table", pattern: "^WITH (t\\d)\\((.*\\) (UPDATE|INSERT INTO) )",
            fault: "WITH hidden($2"),
        DrawnClass(
            testDescription: "RETURNING of a common table", pattern: "^(WITH w\\(.* RETURNING \\*, ).*", fault: "$1 -1"),
        DrawnClass(
            testDescription: "a parameter in CREATE TABLE AS",
            pattern: "^(CREATE TABLE \\w+ AS SELECT ).*? AS p,", fault: "$1NULL AS p,"),
        DrawnClass(
            testDescription: "a change by another connection", pattern: "^-- @other (?!CREATE)[^\\n]*",
            fault: "-- @other SELECT 1"),
        DrawnClass(
            testDescription: "a schema change by another connection", pattern: "^-- @other (ALTER TABLE [^\\n]*)",
            fault: "-- @other SELECT 1"),
        DrawnClass(
            testDescription: "a foreign key of a table to itself",
            pattern: "^(CREATE TABLE (t\\d)\\(.*), FOREIGN KEY\\([^)]*\\) REFERENCES \\2\\([^)]*\\)[^,)]*", fault: "$1"),
        DrawnClass(
            testDescription: "a trigger that changes its own table",
            pattern: "^(CREATE TRIGGER g\\d+ .* ON (t\\d).* BEGIN )(?:DELETE FROM|UPDATE) \\2 [^;]*;",
            fault: "$1SELECT 1;"),
        DrawnClass(
            testDescription: "a trigger that logs", pattern: "^(CREATE TRIGGER g\\d+ .*)INSERT INTO log[^;]*;",
            fault: "$1SELECT 1;"),
        DrawnClass(
            testDescription: "changes() in a trigger",
            pattern: "(INSERT INTO log.* VALUES \\('g\\d+', )changes\\(\\)", fault: "$1-1"),
        DrawnClass(
            testDescription: "GENERATED in a type",
            pattern: "^(CREATE TABLE .* GENERATED ALWAYS) (?:NOT NULL|UNIQUE|COLLATE \\w+)", fault: "$1"),
        DrawnClass(
            testDescription: "IN over another table in SET",
            pattern: "^(UPDATE.* SET .*)(?<! NOT) (IN \\(SELECT [^o(]*s\\.)", fault: "$1 NOT $2"),
        DrawnClass(
            testDescription: "a compound behind IN",
            pattern: "^(UPDATE.* IN \\(SELECT .*) UNION ALL SELECT [^)]*\\)", fault: "$1)"),
        DrawnClass(
            testDescription: "a foreign key that fits no index",
            pattern: "^(CREATE TABLE mismatched\\(a, b) REFERENCES .*", fault: "$1)"),
        DrawnClass(
            testDescription: "a subquery in RETURNING", pattern: "( RETURNING \\*, )\\(SELECT count.*\\) AS n$",
            fault: "$1-1 AS n"),
        DrawnClass(
            testDescription: "a statement that fails in savepoints",
            pattern: "^INSERT.* INTO (\\w+)\\(.* FROM \\1 AS t ORDER BY .* LIMIT 3$", fault: "SELECT 1"),
    ]

    func planted(in statement: String) -> String {
        statement.replacingOccurrences(of: pattern, with: fault, options: .regularExpression)
    }

    func isDrawn(in statement: String) -> Bool { statement.range(of: pattern, options: .regularExpression) != nil }
}

@Suite struct RandomClassesTests {
    /// Scripts of fixed seeds: what is drawn is a function of them.
    private static let scripts: [[String]] = (1...200).map { seed in
        var generator = ScriptGenerator(seed: UInt64(seed), features: Set(Feature.allCases))
        return generator.script(count: 120)
    }

    @Test(arguments: DrawnClass.all) func isDrawn(drawn: DrawnClass) {
        let times = Self.scripts.joined().count { drawn.isDrawn(in: $0) }
        #expect(times >= 5, "drawn \(times) times in 200 scripts")
    }

    /// Native SQLite with the fault beside native SQLite without it.
    @Test(arguments: DrawnClass.all) func aPlantedFaultIsFound(drawn: DrawnClass) throws {
        final class Faulty: Target {
            let name = "faulty"
            let native: NativeTarget
            let drawn: DrawnClass
            init(_ drawn: DrawnClass) throws {
                native = try NativeTarget()
                self.drawn = drawn
            }
            func run(_ sql: String) -> Outcome { native.run(drawn.planted(in: sql)) }
            func runOnOther(_ sql: String) throws -> Outcome {
                let planted = drawn.planted(in: ScriptGenerator.other + sql)
                return try native.runOnOther(String(planted.dropFirst(ScriptGenerator.other.count)))
            }
            func reopen() throws { try native.reopen() }
            func close() { native.close() }
        }
        // Only scripts that draw it are worth a run.
        let candidates = Self.scripts.filter { $0.contains { drawn.isDrawn(in: $0) } }
        let found = try candidates.contains { try firstDifference($0) { try Faulty(drawn) } != nil }
        #expect(found, "not found in \(candidates.count) scripts")
    }
}
