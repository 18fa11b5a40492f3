// GeneratedConnections.swift - changes before which a WITH stands, columns added to STRICT tables, and a second connection that changes rows
// and schema between the statements of the first.

import TestSupport

extension ScriptGenerator {
    /// Runs on a second connection to the same database.
    static let other = "-- @other "

    /// Whether a statement that begins with WITH is a change.
    static func changes(_ statement: String) -> Bool {
        [") UPDATE ", ") INSERT INTO ", ") DELETE FROM "].contains { statement.contains($0) }
    }

    /// A change whose SET, DO UPDATE or RETURNING reads a common table, which at times has the name of a table.
    mutating func changeWithCommonTable() -> String {
        let table = random.pick(schema.tables.filter { !$0.isElsewhere })
        let source = random.pick(schema.tables)
        let column = random.pick(source.columns).name
        // Of the source's own name, and without a schema before it, a common table would read itself.
        let hidden = random.pick(schema.tables).name
        let name = random.pick(["w", "w", source.isElsewhere && hidden == source.name ? "w" : hidden])
        let kept = random.pick(["", "", "MATERIALIZED ", "NOT MATERIALIZED "])
        let from = source.isElsewhere ? source.name : "main.\(source.name)"
        let with =
            "WITH \(name)(p, q) AS \(kept)(SELECT count(\(column)), count(*) FROM \(from))"
            + (random.once(in: 4) ? ", w2 AS (SELECT p + q AS p FROM \(name))" : "")
        let reader = with.contains("w2") ? random.pick(["w2", name]) : name
        let read = random.pick([
            "(SELECT p FROM \(reader))", "(SELECT max(p) FROM \(reader) WHERE p > 1)",
            "EXISTS (SELECT 1 FROM \(reader) WHERE p > 2)",
            "(SELECT p + 1 FROM \(reader)) + (SELECT count(*) FROM \(reader))",
        ])
        // The RETURNING of SQLite 3.40.1 shows numbers before their affinity where a column is REAL or generated.
        let isShown = !table.columns.contains { $0.kind == .real || $0.isGenerated }
        let shown = isShown && random.once(in: 2) ? " RETURNING *, \(read)" : ""
        let set = table.columns[random.pick(plainColumns(table))].name
        switch random.number(0...3) {
        case 0, 1: return "\(with) UPDATE \(table.name) SET \(set) = \(read) WHERE \(singleRow(table))\(shown)"
        case 2: return "\(with) DELETE FROM \(table.name) WHERE \(singleRow(table))\(shown)"
        default:
            let names = table.writable.map { table.columns[$0].name }.joined(separator: ", ")
            let values = table.writable.map { index in
                random.once(in: 4) && !isAlias(index, table) && !table.isStrict ? read : value(for: index, of: table)
            }
            let upserts = has(.upsert) && !table.isStrict && !table.declaration.contains("ON CONFLICT REPLACE")
            return "\(with) INSERT INTO \(table.name)(\(names)) VALUES (\(values.joined(separator: ", ")))"
                + (upserts ? " ON CONFLICT DO UPDATE SET \(set) = \(read)" : "") + shown
        }
    }

    /// A column added to a STRICT table: its DEFAULT must be of its type, and rows that are there get it.
    mutating func strictColumn(_ at: Int, _ name: String) -> String {
        let (type, kind, fits) = random.pick([
            ("TEXT", GeneratedColumn.Kind.text, "'added'"), ("INTEGER", .integer, "7"), ("INT", .integer, "'7'"),
            ("BLOB", .blob, "x'61'"),
            ("ANY", .none, "'a'"),
        ])
        var column = GeneratedColumn(name: name, type: type, kind: kind)
        if random.once(in: 5) {
            // Of the wrong type: refused, whether there are rows or not.
            emit("ALTER TABLE \(schema.tables[at].name) ADD COLUMN wrong INTEGER NOT NULL DEFAULT 'x'")
            emit("ALTER TABLE \(schema.tables[at].name) ADD COLUMN computed BLOB AS (1 + 1)")
            return "ALTER TABLE \(schema.tables[at].name) DROP COLUMN computed"
        }
        if random.once(in: 2) { column.constraints = " DEFAULT \(fits)" }
        schema.tables[at].columns.append(column)
        return "ALTER TABLE \(schema.tables[at].name) ADD COLUMN \(name) \(type)\(column.constraints)"
    }

    /// A change of rows or schema by another connection, while this one is in no transaction.
    mutating func throughOther() -> String {
        let tables = schema.tables.filter { !$0.isElsewhere }
        let table = random.pick(tables)
        emit("ROLLBACK")
        let statement: String
        switch random.number(0...5) {
        case 0: statement = makeIndex()
        case 1 where has(.alter) && !table.isStrict:
            let at = schema.tables.firstIndex { $0.name == table.name }!
            let name = "c\(schema.tables[at].columns.count)"
            schema.tables[at].columns.append(GeneratedColumn(name: name, type: "TEXT", kind: .text))
            statement = "ALTER TABLE \(table.name) ADD COLUMN \(name) TEXT"
        case 2: statement = "DELETE FROM \(table.name) WHERE \(singleRow(table))"
        default:
            let names = table.writable.map { table.columns[$0].name }.joined(separator: ", ")
            let values = table.writable.map { value(for: $0, of: table) }.joined(separator: ", ")
            statement = "INSERT INTO \(table.name)(\(names)) VALUES (\(values))"
        }
        return ScriptGenerator.other + statement
    }
}
