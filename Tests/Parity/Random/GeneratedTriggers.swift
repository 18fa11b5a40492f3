// GeneratedTriggers.swift - triggers that count or log what they see, raise, recur, and write other tables or their own.

import TestSupport

extension ScriptGenerator {
    /// A trigger that counts what it sees: sums do not depend on the order of the rows.
    mutating func makeTrigger() {
        let at = random.number(0...schema.tables.count - 1)
        let table = schema.tables[at]
        if triggers == 0 {
            emit("CREATE TABLE tally(event TEXT PRIMARY KEY, n INTEGER NOT NULL)")
            emit("CREATE TABLE log(id INTEGER PRIMARY KEY, event TEXT, a, b)")
        }
        let name = "g\(triggers)"
        triggers += 1
        emit("INSERT INTO tally VALUES ('\(name)', 0)")
        let column = table.columns[random.pick(table.writable)].name
        let (event, rows) = random.pick([
            ("INSERT", ["new"]), ("UPDATE", ["old", "new"]), ("UPDATE OF \(column)", ["old", "new"]),
            ("DELETE", ["old"]),
        ])
        let row = random.pick(rows)
        let condition = random.once(in: 3) ? " WHEN \(row).\(column) IS NOT NULL" : ""
        var body = random.pick([
            "UPDATE tally SET n = n + 1 WHERE event = '\(name)'",
            "UPDATE tally SET n = n + coalesce(length(\(row).\(column)), 100) WHERE event = '\(name)'",
        ])
        schema.tables[at].isOrderSensitive = true
        if has(.raise), random.once(in: 5) { body = raisingBody(row, column) }
        if has(.raise), !table.isElsewhere, random.once(in: 5) {
            body = writingBody(row, column, from: table) ?? body
        }
        if has(.log), random.once(in: 3) { body = loggingBody(name, row, column, of: table) }
        if has(.ownRows), !table.isElsewhere, random.once(in: 5) { body = ownBody(row, of: table, by: event) }
        if has(.log), random.once(in: 4) { body += "; " + loggingBody(name, row, column, of: table) }
        let moment = random.pick(["BEFORE", "AFTER"])
        emit(
            "CREATE TRIGGER \(name) \(moment) \(event) ON \(table.name)\(condition) BEGIN \(body); END"
        )
    }

    /// A further term that asks for total_changes(), where that is SQLite's (Vendor-notes/sqlite.md): a store counts the rows of a
    /// statement that a foreign key refuses, and those that a view's trigger passes over.
    var totalChanges: String {
        let counts = schema.doors.isEmpty && !schema.tables.contains { $0.declaration.contains(" REFERENCES ") }
        return counts ? ", total_changes()" : ""
    }

    /// What the trigger saw, in the order in which it did: the row, or what the counters are at the moment.
    private mutating func loggingBody(_ name: String, _ row: String, _ column: String, of table: GeneratedTable)
        -> String
    {
        // Not a generated column: before an UPDATE SQLite 3.40.1 computes it of columns that it has not read.
        let other = table.columns[random.pick(table.writable)].name
        let seen = random.pick([
            "\(row).\(column), \(row).\(other)",
            "\(row).\(column), (SELECT count(*) FROM \(table.name))",
            totalChanges.isEmpty ? "changes(), 0" : "changes()\(totalChanges)", "last_insert_rowid(), changes()",
        ])
        return "INSERT INTO log(event, a, b) VALUES ('\(name)', \(seen))"
    }

    /// Changes or deletes the very row that the statement has in hand, or the rows beside it.
    private mutating func ownBody(_ row: String, of table: GeneratedTable, by event: String) -> String {
        let isOne =
            table.hasRowID
            ? "rowid = \(row).rowid"
            : table.key.map { "\(table.columns[$0].name) = \(row).\(table.columns[$0].name)" }.joined(
                separator: " AND ")
        let which = random.once(in: 4) ? singleRow(table) : isOne
        // An upsert whose row such a trigger deletes leaves SQLite 3.40.1 with a rowid out of order.
        if !event.hasPrefix("UPDATE"), random.once(in: 3) { return "DELETE FROM \(table.name) WHERE \(which)" }
        let column = random.pick(plainColumns(table))
        let name = table.columns[column].name
        let new = table.isStrict ? fittingValue(for: table.columns[column]) : value(for: column, of: table)
        return "UPDATE \(table.name) SET \(name) = \(new) WHERE \(which) AND \(name) IS NOT \(new)"
    }

    /// A trigger's body besides the counting ones: it stops the statement, or writes another table.
    mutating func raisingBody(_ row: String, _ column: String) -> String {
        // SQLite 3.40.1 itself forgets sqlite_sequence when FAIL stops an INSERT.
        let mode = random.pick(["ABORT", "ABORT", "IGNORE", has(.autoincrement) ? "ABORT" : "FAIL", "ROLLBACK"])
        let raise = mode == "IGNORE" ? "RAISE(IGNORE)" : "RAISE(\(mode), 'raised')"
        return "SELECT \(raise) WHERE \(row).\(column) = \(value())"
    }

    /// SQLite 3.40.1 itself leaves out the check of a child's row where a trigger of the same statement changes a parent with SET NULL.
    private func isSetNullParent(_ parent: GeneratedTable) -> Bool {
        schema.tables.contains {
            $0.declaration.contains("REFERENCES \(parent.name)(") && $0.declaration.contains(" SET NULL")
        }
    }

    mutating func writingBody(_ row: String, _ column: String, from table: GeneratedTable) -> String? {
        let others = schema.tables.indices.filter {
            schema.tables[$0].name != table.name && !schema.tables[$0].isElsewhere
                && !isSetNullParent(schema.tables[$0])
        }
        guard let at = others.randomElement(using: &random) else { return nil }
        let other = schema.tables[at]
        schema.tables[at].isOrderSensitive = true
        let columns = other.writable
        let target = other.columns[random.pick(columns)].name
        switch random.number(0...2) {
        case 0:
            let values = columns.map { index in
                // SQLite 3.40.1 itself keeps the rows before a wrong type in a trigger's body under OR ROLLBACK.
                other.hasAlias && other.key == [index]
                    ? "NULL"
                    : other.isStrict
                        ? fittingValue(for: other.columns[index])
                        : random.once(in: 2) ? "\(row).\(column)" : value(for: index, of: other)
            }
            let mode = other.declaration.contains("STRICT") ? "" : random.pick(["", " OR IGNORE", " OR REPLACE"])
            return
                "INSERT\(mode) INTO \(other.name)(\(columns.map { other.columns[$0].name }.joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", ")))"
        case 1: return "DELETE FROM \(other.name) WHERE \(singleRow(other))"
        case 2 where other.isStrict: return "DELETE FROM \(other.name) WHERE \(singleRow(other))"
        default: return "UPDATE \(other.name) SET \(target) = \(row).\(column) WHERE \(singleRow(other))"
        }
    }

    /// Counts once more for each count that ends in 3: a trigger that fires itself where recursive_triggers is on.
    mutating func makeRecursiveTrigger() {
        emit("PRAGMA recursive_triggers = \(random.pick(["ON", "OFF"]))")
        emit(
            "CREATE TRIGGER recurring AFTER UPDATE ON tally WHEN new.n % 10 BETWEEN 3 AND 5 BEGIN "
                + "UPDATE tally SET n = n + 1 WHERE event = new.event; END")
    }
}
