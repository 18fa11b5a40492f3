// HarnessTests.swift - the harness itself: two native databases never differ, and each kind of difference is seen.

import Parity
import Testing

/// Native SQLite that answers wrongly in one chosen way.
private final class LyingTarget: Target {
    let name = "lying"
    private let native: NativeTarget
    private let lie: (inout Outcome) -> Void

    init(_ lie: @escaping (inout Outcome) -> Void) throws {
        native = try NativeTarget()
        self.lie = lie
    }

    func run(_ sql: String) -> Outcome {
        var outcome = native.run(sql)
        lie(&outcome)
        return outcome
    }

    func reopen() throws { try native.reopen() }
    func close() { native.close() }
}

@Suite struct HarnessTests {
    @Test(arguments: try Script.all())
    func twoNativeDatabasesAgree(script: Script) throws {
        let parity = Parity(expected: try NativeTarget(), actual: try NativeTarget())
        defer {
            parity.expected.close()
            parity.actual.close()
        }
        let differences = try parity.run(script)
        #expect(differences.isEmpty, "\(differences.first?.description ?? "")")
    }

    /// A script whose every statement fails would agree with anything.
    @Test(arguments: try Script.all())
    func scriptsMostlySucceed(script: Script) throws {
        let native = try NativeTarget()
        defer { native.close() }
        var failed: [String] = []
        var statements = 0
        for case .statement(let sql) in script.steps {
            statements += 1
            let outcome = native.run(sql)
            if let failure = outcome.failure {
                failed.append(sql)
                #expect(!failure.message.contains("syntax error") || sql.contains("syntax"), "\(sql): \(failure)")
            }
        }
        #expect(statements > 0)
        #expect(failed.count * 2 <= statements, "\(failed.count) of \(statements) statements fail: \(failed)")
    }

    private static let lies: [(String, @Sendable (inout Outcome) -> Void)] = [
        ("a row is missing", { if !$0.rows.isEmpty { $0.rows.removeLast() } }),
        ("a row is doubled", { if let row = $0.rows.last { $0.rows.append(row) } }),
        ("the order is turned", { $0.rows.reverse() }),
        (
            "an integer became a real",
            { outcome in
                outcome.rows = outcome.rows.map { row in
                    row.map { cell in
                        if case .integer(let integer) = cell { .real(Double(integer).bitPattern) } else { cell }
                    }
                }
            }
        ),
        ("a column's name", { $0.columns = $0.columns.map { $0 + "?" } }),
        ("changes()", { $0.changes += 1 }),
        ("last_insert_rowid()", { $0.lastInsertRowID += 1 }),
        ("an error is swallowed", { $0.failure = nil }),
        ("an error's extended code", { if $0.failure != nil { $0.failure?.code &= 0xFF } }),
        ("an error's message", { if $0.failure != nil { $0.failure?.message += "!" } }),
        ("the transaction's state", { $0.inTransaction.toggle() }),
    ]

    @Test(arguments: 0..<lies.count)
    func everyLieIsSeen(lie: Int) throws {
        let parity = Parity(expected: try NativeTarget(), actual: try LyingTarget(Self.lies[lie].1))
        defer {
            parity.expected.close()
            parity.actual.close()
        }
        let script = try Script(
            name: "lie",
            text: """
                CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT UNIQUE);
                INSERT INTO t VALUES (1, 'one'), (2, 'two');
                SELECT a, b FROM t ORDER BY a;
                INSERT INTO t VALUES (3, 'one');
                """)
        #expect(try !parity.run(script).isEmpty, "\(Self.lies[lie].0) went unseen")
    }

    @Test func rowsWithoutOrderAreMultisets() {
        var one = Outcome()
        var other = Outcome()
        one.columns = ["n"]
        other.columns = ["n"]
        one.rows = [[.integer(1)], [.integer(2)], [.integer(1)]]
        other.rows = [[.integer(2)], [.integer(1)], [.integer(1)]]
        #expect(one.differences(from: other, ordered: false, changesData: false).isEmpty)
        #expect(!one.differences(from: other, ordered: true, changesData: false).isEmpty)
        other.rows = [[.integer(2)], [.integer(2)], [.integer(1)]]
        #expect(!one.differences(from: other, ordered: false, changesData: false).isEmpty)
    }

    @Test func scriptsAreCutAsSQLiteCutsThem() throws {
        let script = try Script(
            name: "cut",
            text: """
                -- a comment; with a semicolon
                SELECT ';'; SELECT 2;
                -- @reopen
                CREATE TRIGGER t AFTER INSERT ON x BEGIN
                  SELECT 1; SELECT 2;
                END;
                """)
        #expect(script.steps.count == 4)
        #expect(script.steps[1] == .statement("SELECT 2;"))
        #expect(script.steps[2] == .reopen)
        #expect(throws: HarnessError.self) { try Script(name: "open", text: "SELECT 1") }
    }

    /// What `rootstock engine-test` tells of a script: the statement, and both answers.
    @Test func aDifferenceNamesStatementAndAnswers() throws {
        let parity = Parity(expected: try NativeTarget(), actual: try LyingTarget { $0.rows = $0.rows.dropLast() })
        defer {
            parity.expected.close()
            parity.actual.close()
        }
        let script = try Script(name: "told", text: "CREATE TABLE t(a);\n-- Why.\nSELECT 7 UNION ALL SELECT 8;\n")
        let difference = try #require(try parity.run(script).first)
        #expect(difference.shownStatement == "SELECT 7 UNION ALL SELECT 8;")
        #expect(
            difference.what == [
                Disagreement("rows", expected: "2 rows, row 2 [8]", actual: "1 row, no row 2")
            ])
    }

    /// An engine that cannot give space back is not asked how much it keeps; every other one is.
    @Test func spaceIsComparedWhereItIsGivenBack() throws {
        final class Full: Target {
            let name = "full"
            let native: NativeTarget
            let givesSpaceBack: Bool
            init(givesSpaceBack: Bool) throws {
                native = try NativeTarget()
                self.givesSpaceBack = givesSpaceBack
            }
            func run(_ sql: String) -> Outcome {
                var outcome = native.run(sql)
                if sql.hasPrefix("PRAGMA freelist") { outcome.rows = [[.integer(9)]] }
                return outcome
            }
            func reopen() throws { try native.reopen() }
            func close() { native.close() }
        }
        for givesSpaceBack in [true, false] {
            let parity = Parity(expected: try NativeTarget(), actual: try Full(givesSpaceBack: givesSpaceBack))
            #expect((parity.run("PRAGMA freelist_count") == nil) == !givesSpaceBack)
            #expect(parity.leftOut.count == (givesSpaceBack ? 0 : 1))
            parity.expected.close()
            parity.actual.close()
        }
    }

    @Test func orderIsAskedForOnlyAtTheTop() {
        #expect("SELECT a FROM t ORDER BY a".asksForOrder)
        #expect(!"SELECT a, row_number() OVER (ORDER BY a) FROM t".asksForOrder)
        #expect(!"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3)".asksForOrder)
        #expect(!"SELECT ' ORDER BY ' FROM t".asksForOrder)
        #expect("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x".changesData)
        #expect(!"WITH x AS (SELECT 1) SELECT * FROM x".changesData)
    }
}
