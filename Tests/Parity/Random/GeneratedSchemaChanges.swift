// GeneratedSchemaChanges.swift - schema statements in the middle of a script: renamed and dropped columns and tables, tables made of
// queries, temp tables and attached ones beside the store's.

import Foundation
import TestSupport

extension ScriptGenerator {
    /// Tables outside of main take part in every kind of statement. They have no indexes of their own and no foreign keys.
    mutating func makeTablesElsewhere() {
        if has(.temporary), random.once(in: 3) { makeTableElsewhere("x0", create: "CREATE TEMP TABLE x0") }
        if has(.attached), random.once(in: 4) {
            emit("ATTACH ':memory:' AS aux")
            makeTableElsewhere("y0", create: "CREATE TABLE aux.y0")
        }
    }

    private mutating func makeTableElsewhere(_ name: String, create: String) {
        var table = makeTable(name, elsewhere: true)
        table.isElsewhere = true
        schema.tables.append(table)
        emit(table.declaration.replacingOccurrences(of: "CREATE TABLE \(name)", with: create))
    }

    /// What an ALTER TABLE makes of a table's names. Outside of any transaction: a ROLLBACK would take it away from under the model.
    mutating func alteration() -> String {
        emit("ROLLBACK")
        let at = random.number(0...schema.tables.count - 1)
        let table = schema.tables[at]
        switch random.number(0...5) {
        case 0, 1:
            let column = random.number(0...table.columns.count - 1)
            let old = table.columns[column].name
            renames += 1
            // A view of an older name would be in the way of the check that SQLite makes of the whole schema.
            schema.tables[at].columns[column].name = "n\(renames)"
            for i in schema.tables[at].indexedExpressions.indices
            where schema.tables[at].indexedExpressions[i].column == old {
                schema.tables[at].indexedExpressions[i].column = "n\(renames)"
            }
            for i in schema.tables[at].indexedConditions.indices
            where schema.tables[at].indexedConditions[i].column == old {
                schema.tables[at].indexedConditions[i].column = "n\(renames)"
            }
            return "ALTER TABLE \(table.name) RENAME COLUMN \(old) TO n\(renames)"
        case 2:
            renames += 1
            schema.tables[at].name = "m\(renames)"
            return "ALTER TABLE \(table.name) RENAME TO m\(renames)"
        case 3:
            renames += 1
            let name = "k\(renames)"
            var terms = (0..<random.number(1...3)).map { "\(term(table, "t")) AS e\($0)" }.joined(separator: ", ")
            if !random.once(in: 4) { terms = "\(random.pick(Self.parameters)) AS p, \(terms)" }
            emit(
                "CREATE TABLE \(name) AS SELECT \(terms) FROM \(table.name) AS t ORDER BY \(table.totalOrder("t")) "
                    + "LIMIT \(random.pick(["8", "8", "?1"]))"
            )
            if random.once(in: 3) { emit(refusedParameter(table)) }
            emit("SELECT *, rowid FROM \(name)")
            return "DROP TABLE \(name)"
        default:
            let name = "added\(schema.tables[at].columns.count)"
            var column = GeneratedColumn(name: name, type: "TEXT", kind: .text)
            if random.once(in: 2) { column.constraints = " DEFAULT 'added'" }
            if random.once(in: 4), has(.check) { column.constraints += " CHECK (\(name) <> 'no')" }
            if random.once(in: 5), has(.generated) {
                // It must not name a column that stands after it.
                emit("ALTER TABLE \(table.name) ADD COLUMN \(name) TEXT\(column.constraints)")
                return "ALTER TABLE \(table.name) DROP COLUMN \(name)"
            }
            schema.tables[at].columns.append(column)
            return "ALTER TABLE \(table.name) ADD COLUMN \(name) TEXT\(column.constraints)"
        }
    }

    /// What a CREATE TABLE AS may do with a parameter (`boundValues` says what each is).
    private static let parameters = [
        "?1", "?2 || ?5", "CAST(?3 AS TEXT)", "ifnull(?6, ?4)", ":a + :b", "?2 = 7", "typeof(?3)",
    ]

    /// Everywhere else in the schema a parameter is refused.
    private mutating func refusedParameter(_ table: GeneratedTable) -> String {
        let column = random.pick(table.columns).name
        return random.pick([
            "CREATE VIEW refused AS SELECT \(column), ?1 FROM \(table.name)",
            "CREATE TABLE refused(a DEFAULT (?1))", "CREATE TABLE refused(a CHECK (a <> ?1))",
            "CREATE TABLE refused(a, b AS (a + ?1))",
            "CREATE INDEX refused ON \(table.name)(\(column)) WHERE \(column) = ?1",
            "CREATE TRIGGER refused AFTER DELETE ON \(table.name) BEGIN SELECT ?1; END",
            "ALTER TABLE \(table.name) ADD COLUMN refused DEFAULT (?1)",
        ])
    }

    /// Switches that change what later statements mean, and questions of the whole database.
    mutating func pragma() -> String {
        switch random.number(0...7) {
        case 0 where has(.foreignKeys):
            return "PRAGMA foreign_keys = \(random.pick(["ON", "ON", "OFF"]))"
        // Not OFF: SQLite then forgets the violations that it has counted (Vendor-notes/sqlite.md).
        case 1 where has(.foreignKeys): return "PRAGMA defer_foreign_keys = ON"
        case 2 where has(.recursion): return "PRAGMA recursive_triggers = \(random.pick(["ON", "OFF"]))"
        case 3: return "SELECT count(*) FROM pragma_foreign_key_check"
        case 4 where has(.reopen): return ScriptGenerator.reopening
        case 5: return "PRAGMA user_version = \(random.number(0...9))"
        case 6: return "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE type <> 'index' OR sql IS NOT NULL"
        default: return "ANALYZE"
        }
    }

    /// Closes the database and opens it again.
    static let reopening = "-- @reopen"

    /// Asked of the store alone.
    static let checking = "PRAGMA integrity_check"
}
