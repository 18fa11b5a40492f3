// Parity.swift - runs the same statements on two targets and collects where they part.

/// Where two targets differ, with the statement that shows it.
package struct Difference: CustomStringConvertible, Sendable {
    package var statement: String
    package var what: [Disagreement]

    package init(statement: String, what: [Disagreement]) {
        self.statement = statement
        self.what = what
    }

    package var description: String {
        "\(shownStatement)\n    " + what.map(\.description).joined(separator: "\n    ")
    }

    package var shownStatement: String { statement.shownStatement }
}

package final class Parity {
    package let expected: any Target
    package let actual: any Target
    /// How many statements were compared, and which were not because the engine claims nothing that they ask about.
    package private(set) var statements = 0
    package private(set) var leftOut: [String] = []
    /// Whether last_insert_rowid() is nobody's promise at the moment.
    private var rowIDIsOpen = false

    package init(expected: any Target, actual: any Target) {
        self.expected = expected
        self.actual = actual
    }

    /// Runs one statement on both.
    package func run(_ statement: String) -> Difference? {
        var expectedOutcome = expected.run(statement)
        let actualOutcome = actual.run(statement)
        statements += 1
        if !actual.givesSpaceBack, statement.hasPrefix("PRAGMA freelist_count"), actualOutcome.failure == nil {
            leftOut.append(statement)
            return nil
        }
        // SQLite promises that a failed INSERT leaves last_insert_rowid() alone, and does not keep it when a foreign key fails at
        // the statement's end. After a failure nothing is promised until the next INSERT that succeeds.
        if expectedOutcome.failure != nil {
            rowIDIsOpen = true
        } else if expectedOutcome.changes > 0, expectedOutcome.lastInsertRowID == actualOutcome.lastInsertRowID,
            statement.hasPrefix("INSERT") || statement.hasPrefix("REPLACE")
        {
            rowIDIsOpen = false
        }
        // ALTER TABLE ADD COLUMN has the columns of a check that SQLite runs inside it.
        if statement.hasPrefix("ALTER") { expectedOutcome.columns = actualOutcome.columns }
        if rowIDIsOpen { expectedOutcome.lastInsertRowID = actualOutcome.lastInsertRowID }
        let what =
            actualOutcome
            .differences(from: expectedOutcome, ordered: statement.asksForOrder, changesData: statement.changesData)
        return what.isEmpty ? nil : Difference(statement: statement, what: what)
    }

    /// Compares every table of the database, whole: with its rowids where it has them.
    package func compareContent() -> [Difference] {
        let tables = expected.run(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%' ORDER BY 1")
        return tables.rows.compactMap { row in
            guard case .text(let bytes) = row[0] else { return nil }
            let name = "\"" + String(decoding: bytes, as: UTF8.self).replacing("\"", with: "\"\"") + "\""
            // What triggers add to sqlite_sequence, SQLite writes in an order of its own, at the statement's end.
            let hasRowID =
                name != "\"sqlite_sequence\"" && expected.run("SELECT rowid FROM \(name) LIMIT 0").failure == nil
            return run("SELECT \(hasRowID ? "rowid, " : "")* FROM \(name)")
        }
    }

    /// Runs the script to its end and compares the content that it leaves.
    ///
    /// - Parameter beginning: Told of each statement before it runs.
    package func run(_ script: Script, beginning: (String) -> Void = { _ in }) throws -> [Difference] {
        var differences: [Difference] = []
        for step in script.steps {
            switch step {
            case .statement(let sql):
                beginning(sql)
                if let difference = run(sql) { differences.append(difference) }
            case .reopen:
                try expected.reopen()
                try actual.reopen()
            }
        }
        return differences + compareContent()
    }
}
