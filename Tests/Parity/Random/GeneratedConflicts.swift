// GeneratedConflicts.swift - what decides a row's fate besides the statement's own words: ON CONFLICT clauses of constraints, views that
// are written through their triggers, SET lists that read the changed table, parents that are dropped with their rows.

import TestSupport

/// A view that is written through INSTEAD OF triggers.
struct GeneratedDoor: Sendable {
    var name: String
    var table: String
    var columns: [Int]
}

extension ScriptGenerator {
    /// An ON CONFLICT clause for a constraint of the table, or nothing. None on a STRICT table, where SQLite 3.40.1 itself keeps the rows
    /// before a wrong type; no FAIL beside AUTOINCREMENT, whose sqlite_sequence it forgets then.
    mutating func conflictClause(_ table: inout GeneratedTable, strict: Bool) -> String {
        guard has(.conflicts), !strict, random.once(in: 5) else { return "" }
        table.hasConflictClause = true
        // Whose turn comes first decides which row stays.
        table.isOrderSensitive = true
        let counts = table.columns[0].constraints.contains("AUTOINCREMENT")
        return " ON CONFLICT "
            + random.pick(["ABORT", counts ? "ABORT" : "FAIL", "IGNORE", "IGNORE", "REPLACE", "REPLACE", "ROLLBACK"])
    }

    /// DEFAULTs of key columns: one of an INTEGER PRIMARY KEY is never used.
    mutating func addKeyDefaults(_ table: inout GeneratedTable, strict: Bool) {
        guard has(.defaults), !strict else { return }
        for index in table.key where random.once(in: 4) {
            table.columns[index].constraints += " DEFAULT " + random.pick(["7", "'k'", "(1 + 2)", "-1", "NULL"])
        }
    }

    mutating func makeDoor() {
        let tables = schema.tables.filter { !$0.isElsewhere }
        guard let table = tables.randomElement(using: &random) else { return }
        let name = "door\(schema.doors.count)"
        let columns = table.writable
        let names = columns.map { table.columns[$0].name }.joined(separator: ", ")
        schema.doors.append(GeneratedDoor(name: name, table: table.name, columns: columns))
        emit("CREATE VIEW \(name) AS SELECT \(names) FROM \(table.name)")
        let mode = table.isStrict ? "" : random.pick(["", "", "", " OR IGNORE", " OR REPLACE", " OR ABORT"])
        let values = columns.map { "new.\(table.columns[$0].name)" }.joined(separator: ", ")
        emit(
            "CREATE TRIGGER \(name)_in INSTEAD OF INSERT ON \(name) BEGIN "
                + "INSERT\(mode) INTO \(table.name)(\(names)) VALUES (\(values)); END")
        guard let key = table.key.first, table.key.count == 1, table.hasAlias else { return }
        let column = table.columns[random.pick(columns)].name
        let one = "\(table.columns[key].name) = old.\(table.columns[key].name)"
        emit(
            "CREATE TRIGGER \(name)_up INSTEAD OF UPDATE ON \(name) BEGIN "
                + "UPDATE \(table.name) SET \(column) = new.\(column) WHERE \(one); END")
        emit(
            "CREATE TRIGGER \(name)_out INSTEAD OF DELETE ON \(name) BEGIN DELETE FROM \(table.name) WHERE \(one); END")
    }

    /// A statement on such a view, of one row: the order of a view's rows is the plan's choice.
    mutating func throughDoor() -> String? {
        guard let door = schema.doors.randomElement(using: &random),
            let table = schema.tables.first(where: { $0.name == door.table })
        else { return nil }
        let mode =
            table.isStrict
            ? "" : notForgetful(random.pick(["", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ROLLBACK"]))
        if table.hasAlias, table.key.count == 1, random.once(in: 3) {
            let key = table.columns[table.key[0]].name
            if random.once(in: 3) { return "DELETE FROM \(door.name) WHERE \(key) = \(random.number(-1...25))" }
            let column = table.columns[random.pick(door.columns)].name
            return "UPDATE\(mode) \(door.name) SET \(column) = \(value()) WHERE \(key) = \(random.number(-1...25))"
        }
        let values = door.columns.map { value(for: $0, of: table) }.joined(separator: ", ")
        return "INSERT\(mode) INTO \(door.name) VALUES (\(values))"
    }

    /// A value of a SET list that reads the table that is changed.
    mutating func ownSubquery(_ table: GeneratedTable, sets column: String) -> String {
        let other = random.pick(table.columns).name
        // SQLite 3.40.1 itself overlooks a NULL in a DESC index that it looks the list of IN up in.
        let mayDescend = table.hasIndex || table.declaration.contains(" DESC")
        return random.pick([
            "(SELECT count(*) FROM \(table.name) AS o WHERE o.\(column) IS \(table.name).\(column))",
            "(SELECT count(*) FROM \(table.name) AS o WHERE o.\(other) > \(table.name).\(other))",
            "(SELECT count(\(column)) FROM \(table.name))",
            "EXISTS (SELECT 1 FROM \(table.name) AS o WHERE o.\(column) = \(table.name).\(other))",
            "\(other) IN (SELECT o.\(column) FROM \(table.name) AS o\(mayDescend ? " WHERE true" : ""))",
        ])
    }

    /// A table dropped with its rows, and brought back: what its foreign keys and their actions make of the DROP shows before.
    mutating func dropAndReturn() -> String {
        let table = random.pick(schema.tables.filter { !$0.isElsewhere })
        emit("ROLLBACK")
        emit(random.pick(["BEGIN", "SAVEPOINT dropped"]))
        emit("DROP TABLE \(table.name)")
        for other in schema.tables where other.name != table.name {
            emit("SELECT * FROM \(other.name) ORDER BY \(other.totalOrder(other.name))")
        }
        return "ROLLBACK"
    }
}
