// RandomDifferential.swift - random scripts on plain SQLite and on every engine, compared after every statement, whole content
// included. A difference is shrunk and printed as a script that can be pasted into both.
//
// ROOTSTOCK_TEST_SEED runs one seed again, ROOTSTOCK_TEST_SECONDS says for how long, ROOTSTOCK_RANDOM_STATEMENTS how long a
// script is, ROOTSTOCK_RANDOM_FEATURES what it may use, ROOTSTOCK_PARITY_ENGINES on which engines.

import Foundation
import Parity
import Rootstock
import TestSupport
import Testing

private let environment = ProcessInfo.processInfo.environment

/// What every engine can do; ROOTSTOCK_RANDOM_FEATURES asks for others ("none" for none).
private let features: Set<Feature> =
    environment["ROOTSTOCK_RANDOM_FEATURES"].map { names in
        Set(names.split(separator: ",").compactMap { Feature(rawValue: $0.trimmingCharacters(in: .whitespaces)) })
    } ?? Set(Feature.allCases)

private let statementsPerScript = environment["ROOTSTOCK_RANDOM_STATEMENTS"].flatMap { Int($0) } ?? 120

/// Whether a table holds the greatest rowid there is: behind it SQLite chooses rowids at random, and answers may differ.
///
/// Generated values stay away from it, but not what expressions make of them, an `UPDATE` of a key or a trigger.
private func hasGreatestRowid(_ target: any Target) -> Bool {
    let tables = target.run(
        "SELECT schema || '.' || char(34) || replace(name, char(34), char(34) || char(34)) || char(34) FROM pragma_table_list"
            + " WHERE type = 'table' AND NOT wr")
    return tables.rows.contains { row in
        guard case .text(let name) = row[0] else { return false }
        let greatest = target.run("SELECT max(_rowid_) FROM \(String(decoding: name, as: UTF8.self))")
        return greatest.rows == [[.integer(.max)]]
    }
}

/// Of a join of a text under RTRIM with a number SQLite's transient index misses rows that its scan finds (Vendor-notes/sqlite.md):
/// plain SQLite does without, wherever it runs.
private let withoutTransientIndexes = "PRAGMA automatic_index = OFF"

/// Runs a script on fresh databases until the first difference, or until SQLite chooses rowids at random.
func firstDifference(_ script: [String], actual make: () throws -> any Target) throws -> Difference? {
    guard let difference = try compare(script, actual: make) else { return nil }
    return difference.isOfRandomRowids ? nil : difference.difference
}

private func compare(
    _ script: [String], actual make: () throws -> any Target
) throws -> (difference: Difference, isOfRandomRowids: Bool)? {
    let native = try NativeTarget(setup: withoutTransientIndexes)
    let parity = Parity(expected: native, actual: try make())
    defer {
        parity.expected.close()
        parity.actual.close()
    }
    for statement in script {
        if statement == ScriptGenerator.reopening {
            try parity.expected.reopen()
            try parity.actual.reopen()
            continue
        }
        if statement.hasPrefix(ScriptGenerator.other) {
            let text = String(statement.dropFirst(ScriptGenerator.other.count))
            let expected = try parity.expected.runOnOther(text)
            let what = try parity.actual.runOnOther(text).differences(
                from: expected, ordered: false, changesData: false)
            let difference = what.isEmpty ? parity.compareContent().first : Difference(statement: statement, what: what)
            if let difference { return (difference, hasGreatestRowid(parity.expected)) }
            continue
        }
        if statement == ScriptGenerator.checking {
            if let difference = faultOfStoreAlone(parity) { return (difference, false) }
            continue
        }
        if let difference = parity.run(statement) { return (difference, hasGreatestRowid(parity.expected)) }
        // What changes nothing need not be followed by the whole content.
        if statement.hasPrefix("SELECT") || (statement.hasPrefix("WITH") && !ScriptGenerator.changes(statement)) {
            continue
        }
        if var difference = parity.compareContent().first {
            difference.statement = "\(statement); then \(difference.statement)"
            return (difference, hasGreatestRowid(parity.expected))
        }
    }
    return nil
}

/// What the store's integrity_check finds and SQLite's own does not. SQLite 3.40.1 itself finds NULLs in generated columns WITHOUT ROWID,
/// and in a STRICT table what ADD COLUMN had as DEFAULT of another type: the store may find these, or `ok`.
private func faultOfStoreAlone(_ parity: Parity) -> Difference? {
    let answer = parity.actual.run(ScriptGenerator.checking)
    let known = parity.expected.run(ScriptGenerator.checking).rows + [[.text(Array("ok".utf8))]]
    guard answer.failure != nil || answer.rows.isEmpty || !answer.rows.allSatisfy(known.contains) else { return nil }
    let found = "\(answer.rows) \(answer.failure?.message ?? "")"
    return Difference(
        statement: ScriptGenerator.checking, what: [Disagreement("check", expected: "\(known)", actual: found)])
}

/// Runs scripts of consecutive seeds until the time is up; returns a report of the first difference.
private func search(seconds: Double, seed firstSeed: UInt64, actual make: () throws -> any Target) throws -> String? {
    let deadline = Date(timeIntervalSinceNow: seconds)
    let isRepeat = environment["ROOTSTOCK_TEST_SEED"] != nil && environment["ROOTSTOCK_TEST_SECONDS"] == nil
    var seed = firstSeed
    repeat {
        var generator = ScriptGenerator(seed: seed, features: features)
        let script = generator.script(count: statementsPerScript)
        // A crash of the tested engine ends this process: the script is left behind for that case.
        let trace = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-random-\(seed).sql")
        try script.map { $0 + ";\n" }.joined().write(to: trace, atomically: true, encoding: .utf8)
        let difference = try firstDifference(script, actual: make)
        if let difference {
            // A table left out makes differences of its own, in what is said of triggers and foreign keys that refer to it.
            let missing = "no such table"
            let isMissing = "\(difference)".contains(missing)
            let fails: ([String]) -> Bool = { shorter in
                guard let found = try? firstDifference(shorter, actual: make) else { return false }
                return isMissing || !"\(found)".contains(missing)
            }
            let small = shrink(script, deadline: Date(timeIntervalSinceNow: 60), fails: fails)
            let shown = try firstDifference(small, actual: make) ?? difference
            try? FileManager.default.removeItem(at: trace)
            return """
                seed \(seed) (ROOTSTOCK_TEST_SEED=\(seed) runs it again)
                \(small.map { $0 + ";" }.joined(separator: "\n"))
                -- \(shown)
                """
        }
        try? FileManager.default.removeItem(at: trace)
        seed += 1
    } while Date() < deadline && !isRepeat && seed - firstSeed < environmentPrograms()
    print("random differential: seeds \(firstSeed) to \(seed - 1), no difference")
    return nil
}

@Suite(.serialized) struct RandomDifferentialTests {
    @Test(arguments: parityEngines)
    func randomScriptsMeanTheSame(engine: Engine) throws {
        let seed = SeededGenerator.environmentSeed()
        let report = try search(seconds: environmentSeconds(default: 10), seed: seed) {
            try StoreTarget.watched(engine: engine, setup: engine == .sqlite ? withoutTransientIndexes : "")
        }
        #expect(report == nil, "on \(engine): \(report ?? "")")
    }

    /// A fault that SQLite's integrity_check finds, too, is no difference, even where SQLite finds more than the store.
    @Test(arguments: parityEngines)
    func aFaultThatSQLiteFindsTooIsNone(engine: Engine) throws {
        let script = [
            "CREATE TABLE t(a INTEGER PRIMARY KEY) STRICT", "INSERT INTO t VALUES (1), (2)",
            "ALTER TABLE t ADD COLUMN wrong INTEGER NOT NULL DEFAULT 'x'",
            "CREATE TABLE w(a, b REAL, c AS (coalesce(a, 'none')), PRIMARY KEY(b)) WITHOUT ROWID",
            "INSERT INTO w(a, b) VALUES (1, 9223372036854775807.0)", ScriptGenerator.checking,
        ]
        let difference = try firstDifference(script) { try StoreTarget.watched(engine: engine) }
        #expect(difference == nil, "\(String(describing: difference))")
    }

    /// The generator makes statements that mostly run, of every kind.
    @Test func scriptsAreMostlyValid() throws {
        var failures = 0
        var statements = 0
        var heads: [String: Int] = [:]
        var errors: [String: Int] = [:]
        for seed in 1...20 as ClosedRange<UInt64> {
            var generator = ScriptGenerator(seed: seed, features: Set(Feature.allCases))
            let native = try NativeTarget()
            defer { native.close() }
            for statement in generator.script(count: 100) {
                if statement == ScriptGenerator.reopening { continue }
                let isOther = statement.hasPrefix(ScriptGenerator.other)
                let outcome =
                    isOther
                    ? try native.runOnOther(String(statement.dropFirst(ScriptGenerator.other.count)))
                    : native.run(statement)
                statements += 1
                heads[String(statement.prefix { $0 != " " }), default: 0] += outcome.failure == nil ? 1 : 0
                guard let failure = outcome.failure else { continue }
                failures += 1
                errors[failure.message, default: 0] += 1
                #expect(!failure.message.contains("syntax error"), "\(statement): \(failure)")
                #expect(!failure.message.contains("no such column"), "\(statement): \(failure)")
                #expect(!failure.message.contains("ambiguous"), "\(statement): \(failure)")
            }
        }
        #expect(
            failures * 3 < statements,
            "\(failures) of \(statements) statements fail: \(errors.sorted { $0.value > $1.value }.prefix(12))")
        for head in ["CREATE", "INSERT", "UPDATE", "DELETE", "SELECT", "WITH", "BEGIN", "SAVEPOINT", "ALTER", "DROP"] {
            #expect(heads[head, default: 0] > 0, "no \(head) ever ran")
        }
    }

    /// What the scripts ask does not depend on the order in which a plan happens to visit rows.
    @Test func answersDoNotDependOnThePlan() throws {
        final class Reversed: Target {
            let name = "reversed"
            let native: NativeTarget
            init() throws { native = try NativeTarget(setup: withoutTransientIndexes) }
            func run(_ sql: String) -> Outcome {
                // Queries only: what a statement with a conflict clause does may rest on the order of a full scan.
                let isQuery = sql.hasPrefix("SELECT") || (sql.hasPrefix("WITH") && !ScriptGenerator.changes(sql))
                _ = native.run("PRAGMA reverse_unordered_selects = \(isQuery ? "ON" : "OFF")")
                // Of a WITHOUT ROWID table with a stored column SQLite 3.40.1 itself says that another one is NULL.
                return native.run(sql == ScriptGenerator.checking ? "SELECT 'ok'" : sql)
            }
            func runOnOther(_ sql: String) throws -> Outcome { try native.runOnOther(sql) }
            func reopen() throws { try native.reopen() }
            func close() { native.close() }
        }
        let report = try search(seconds: 5, seed: SeededGenerator.environmentSeed()) {
            try Reversed()
        }
        #expect(report == nil, "\(report ?? "")")
    }

    /// A target that forgets one kind of row is found out, and what is printed is short.
    @Test func aDifferenceIsFoundAndShrunk() throws {
        final class Forgetful: Target {
            let name = "forgetful"
            let native: NativeTarget
            init() throws { native = try NativeTarget() }
            func run(_ sql: String) -> Outcome {
                native.run(
                    sql.hasPrefix("DELETE FROM t0 WHERE") ? sql.replacing(" WHERE ", with: " WHERE false AND ") : sql)
            }
            func runOnOther(_ sql: String) throws -> Outcome { try native.runOnOther(sql) }
            func reopen() throws { try native.reopen() }
            func close() { native.close() }
        }
        let report = try search(seconds: 30, seed: 1) { try Forgetful() }
        let shown = try #require(report, "the difference was not found")
        let statements = shown.split(separator: "\n").filter { $0.hasSuffix(";") }
        #expect(statements.count <= 8, "\(shown)")
        #expect(shown.contains("DELETE FROM t0 WHERE") || shown.contains("expected"))
    }

    @Test func aScriptIsAFunctionOfItsSeed() {
        func script(_ seed: UInt64) -> [String] {
            var generator = ScriptGenerator(seed: seed, features: Set(Feature.allCases))
            return generator.script(count: 50)
        }
        #expect(script(7) == script(7))
        #expect(script(7) != script(8))
    }
}
