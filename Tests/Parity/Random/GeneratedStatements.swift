// GeneratedStatements.swift - random statements that change data, transactions and the schema.

import Foundation
import TestSupport

extension ScriptGenerator {
    /// None on a STRICT table: SQLite 3.40.1 itself keeps the rows before a wrong type when the statement has an OR.
    private mutating func conflict(_ table: GeneratedTable) -> String {
        if random.once(in: 2) || table.declaration.contains("STRICT") { return "" }
        return " OR "
            + notForgetful(random.pick(["IGNORE", "IGNORE", "REPLACE", "REPLACE", "ABORT", "FAIL", "ROLLBACK"]))
    }

    /// Whether a constraint's clause can stop a statement halfway.
    var canFail: Bool { schema.tables.contains { $0.declaration.contains("ON CONFLICT FAIL") } }

    /// SQLite 3.40.1 itself forgets sqlite_sequence when FAIL stops a statement that inserts, itself or by a trigger.
    func notForgetful(_ mode: String) -> String {
        schema.tables.contains { $0.columns[0].constraints.contains("AUTOINCREMENT") }
            ? mode.replacingOccurrences(of: "FAIL", with: "ABORT") : mode
    }

    mutating func returning(_ table: GeneratedTable) -> String {
        // The RETURNING of SQLite 3.40.1 shows numbers before their affinity where a column is REAL or generated.
        let isShown = !table.columns.contains { $0.kind == .real || $0.isGenerated }
        guard has(.returning), isShown, random.once(in: 6) else { return "" }
        let column = random.pick(table.columns).name
        var shown = ["*", "\(column) AS r", "typeof(\(column)), *"]
        // A count of the table itself while it is changed would depend on the order of the rows.
        let others = schema.tables.filter { $0.name != table.name }
        if has(.nested), !table.isOrderSensitive, let other = others.randomElement(using: &random) {
            let its = random.pick(other.columns).name
            // Without the row: the RETURNING of SQLite 3.40.1 finds NULL in an index, and converts the left side of an IN itself.
            shown.append("*, (SELECT count(*) FROM \(other.name) AS s WHERE s.\(its) \(comparison()) \(value())) AS n")
        }
        return " RETURNING " + random.pick(shown)
    }

    func isAlias(_ column: Int, _ table: GeneratedTable) -> Bool { table.hasAlias && table.key == [column] }

    /// Writable columns but the rowid, where there are any.
    func plainColumns(_ table: GeneratedTable) -> [Int] {
        let columns = table.writable.filter { !isAlias($0, table) }
        return columns.isEmpty ? table.writable : columns
    }

    mutating func insert(_ table: GeneratedTable) -> String {
        if random.once(in: 30) {
            let mode = conflict(table)
            return "INSERT\(mode) INTO \(table.name) DEFAULT VALUES\(returning(table))"
        }
        var columns = table.writable
        if random.once(in: 4) {
            columns = Array(columns.shuffled(using: &random).prefix(random.number(1...columns.count)))
        }
        if table.hasAlias, random.once(in: 2), columns.count > 1 { columns.removeAll { table.key == [$0] } }
        let names = columns.map { table.columns[$0].name }.joined(separator: ", ")
        // On a STRICT table SQLite 3.40.1 itself keeps the rows before a wrong type with DO NOTHING, too.
        // With a REPLACE of its own SQLite 3.40.1 itself can leave an entry of the replaced row in an index.
        let upserts =
            has(.upsert) && random.once(in: 6) && !table.declaration.contains("STRICT")
            && !table.declaration.contains("ON CONFLICT REPLACE")
        let mode = upserts ? "" : conflict(table)
        let head = "INSERT\(mode) INTO \(table.name)(\(names)) "
        if random.once(in: 10) {
            let source = random.pick(schema.tables)
            let terms = columns.map { isAlias($0, table) ? "NULL" : term(source, "s") }.joined(separator: ", ")
            // Ordered and cut: no table doubles without end.
            return head
                + "SELECT \(terms) FROM \(source.name) AS s WHERE \(predicate(source, "s")) ORDER BY \(source.totalOrder("s")) LIMIT \(table.isStrict ? 1 : 5)"
                + (upserts ? upsert(table) : "") + returning(table)
        }
        let count = random.once(in: 3) ? random.number(2...4) : 1
        // SQLite 3.40.1 itself keeps the rows before a "datatype mismatch" when the statement has an OR: none in several rows.
        let keepsToNumbers = count > 1 && (head.hasPrefix("INSERT OR") || upserts || table.hasConflictClause)
        let rows = (0..<count).map { _ in
            "("
                + columns.map { column in
                    keepsToNumbers && isAlias(column, table)
                        ? "\(random.number(-2...40))"
                        : count > 1 && table.isStrict && !isAlias(column, table)
                            ? fittingValue(for: table.columns[column]) : value(for: column, of: table)
                }
                .joined(separator: ", ") + ")"
        }
        return head + "VALUES \(rows.joined(separator: ", "))" + (upserts ? upsert(table) : "") + returning(table)
    }

    /// What the column of a STRICT table takes: SQLite 3.40.1 itself keeps the rows before a wrong type where nothing else in the
    /// statement could abort it.
    mutating func fittingValue(for column: GeneratedColumn) -> String {
        switch column.kind {
        case .integer, .numeric: return "\(random.number(-5...60))"
        case .real: return "\(random.number(-5...60)).5"
        case .text: return random.pick(["'a'", "'A'", "'b '", "'3'", "''", "NULL"])
        case .blob: return random.pick(["x'61'", "x'ff'", "x''", "NULL"])
        case .none: return value()
        }
    }

    private mutating func upsert(_ table: GeneratedTable) -> String {
        var targets: [[Int]] =
            table.uniqueGroups + table.columns.indices.filter { table.columns[$0].isUnique }.map { [$0] }
        if !table.key.isEmpty { targets.append(table.key) }
        let target = targets.randomElement(using: &random).map { group in
            "(" + group.map { table.columns[$0].name }.joined(separator: ", ") + ")"
        }
        if has(.clauses), targets.count > 1, random.once(in: 3) {
            // Several clauses: the first whose target is violated decides; the last may go without a target.
            let chosen = targets.shuffled(using: &random).prefix(random.number(2...3))
            return chosen.enumerated().map { at, group in
                let names = group.map { table.columns[$0].name }.joined(separator: ", ")
                let column = table.columns[random.pick(plainColumns(table))].name
                let bare = at == chosen.count - 1 && random.once(in: 3)
                return " ON CONFLICT\(bare ? "" : " (\(names))") "
                    + (random.once(in: 3) ? "DO NOTHING" : "DO UPDATE SET \(column) = \(excluded(column, table))")
            }.joined()
        }
        // Of an index that may be gone, and not of columns that have another name now.
        if has(.memberships), renames == 0, random.once(in: 2),
            let target = table.indexTargets.randomElement(using: &random)
        {
            let column = table.columns[random.pick(plainColumns(table))].name
            return " ON CONFLICT\(target) DO "
                + (random.once(in: 2) ? "NOTHING" : "UPDATE SET \(column) = \(excluded(column, table))")
        }
        if has(.mismatches), random.once(in: 20) {
            return " ON CONFLICT(\(random.pick(table.columns).name)) DO NOTHING"
        }
        if has(.clauses), random.once(in: 6) {
            let column = table.columns[random.pick(plainColumns(table))].name
            return " ON CONFLICT DO UPDATE SET \(column) = \(random.pick([excluded(column, table), value()]))"
        }
        guard let target, !random.once(in: 3) else {
            return " ON CONFLICT\(random.once(in: 2) ? "" : target ?? "") DO NOTHING"
        }
        let column = table.columns[random.pick(plainColumns(table))].name
        let expression = random.pick([
            excluded(column, table), "\(table.name).\(column) || \(excluded(column, table))", value(),
            "coalesce(\(table.name).\(column), 0) + 1", has(.memberships) ? membership(table) : "NULL",
        ])
        let filter = random.once(in: 3) ? " WHERE \(predicate(table, table.name))" : ""
        return " ON CONFLICT\(target) DO UPDATE SET \(column) = \(expression)\(filter)"
    }

    /// Whether something of the row is among the values of another table: which affinity the two meet under is the question.
    private mutating func membership(_ table: GeneratedTable) -> String {
        let others = schema.tables.filter { $0.name != table.name }
        let left = "\(table.name).\(random.pick(table.columns).name)"
        let term = random.pick([
            left, left, "+\(left)", "CAST(\(left) AS TEXT)", "CAST(\(left) AS INTEGER)", "\(left) || ''", value(),
            "\(left) COLLATE NOCASE",
        ])
        let negation = random.pick(["", "", "NOT "])
        guard let other = others.randomElement(using: &random), !random.once(in: 5) else {
            return "\(term) \(negation)IN (\((0..<random.number(1...4)).map { _ in value() }.joined(separator: ", ")))"
        }
        let right = "s.\(random.pick(other.columns).name)"
        let list = random.pick([right, right, "+\(right)", "CAST(\(right) AS TEXT)", "\(right) + 0", "\(right) || ''"])
        return random.pick([
            "\(term) \(negation)IN (SELECT \(list) FROM \(other.name) AS s WHERE true)",
            "\(term) \(negation)IN (SELECT \(list) FROM \(other.name) AS s WHERE true UNION ALL SELECT \(value()))",
            "EXISTS (SELECT 1 FROM \(other.name) AS s WHERE \(list) = \(term))",
            "\(term) = (SELECT \(list) FROM \(other.name) AS s ORDER BY \(other.totalOrder("s")) LIMIT 1)",
        ])
    }

    /// SQLite 3.40.1 itself rounds large integers of `excluded` where a table has a REAL and a generated column.
    private func excluded(_ column: String, _ table: GeneratedTable) -> String {
        let rounds = table.columns.contains { $0.kind == .real } && table.columns.contains { $0.isGenerated }
        return rounds ? "7" : "excluded.\(column)"
    }

    /// A condition that asks nothing of other rows of the table itself: SQLite 3.40.1 lets the subqueries of an UPDATE or DELETE see
    /// rows that the same statement has changed already.
    private mutating func outsidePredicate(_ table: GeneratedTable) -> String {
        while true {
            let candidate = predicate(table, table.name)
            if !candidate.contains("FROM \(table.name) AS s") { return candidate }
        }
    }

    mutating func update(_ table: GeneratedTable) -> String {
        var columns = Array(table.writable.shuffled(using: &random).prefix(random.once(in: 3) ? 2 : 1))
        var source = ""
        var assignments: [String] = []
        let readsItself = has(.ownSubqueries) && random.once(in: 8)
        let isMember = has(.memberships) && random.once(in: 8)
        if has(.updateFrom), random.once(in: 12) {
            // One row at most, or which of several rows wins would be the plan's choice.
            let other = random.pick(schema.tables)
            columns = [random.pick(plainColumns(table))]
            source = " FROM (SELECT * FROM \(other.name) AS s ORDER BY \(other.totalOrder("s")) LIMIT 1) AS f"
            assignments = columns.map { "\(table.columns[$0].name) = f.\(random.pick(other.columns).name)" }
        } else if has(.clauses), random.once(in: 12), columns.count == 2 {
            let other = random.pick(schema.tables)
            assignments = [
                "(\(columns.map { table.columns[$0].name }.joined(separator: ", "))) = (SELECT "
                    + "s.\(random.pick(other.columns).name), s.\(random.pick(other.columns).name) FROM \(other.name) AS s "
                    + "ORDER BY \(other.totalOrder("s")) LIMIT 1)"
            ]
        } else {
            assignments = columns.map { column in
                let name = table.columns[column].name
                let expression =
                    readsItself && !isAlias(column, table) && random.once(in: 2)
                    ? ownSubquery(table, sets: name)
                    : isMember && !isAlias(column, table)
                        ? membership(table)
                        : random.once(in: 2)
                            ? value(for: column, of: table)
                            : random.pick(["\(name) + 1", "\(name) || 'z'", "-\(name)", "NULL", name])
                return "\(name) = \(expression)"
            }
        }
        var mode = conflict(table)
        // SQLite 3.40.1 itself finds a row in its own way where REPLACE removes a parent row.
        if table.isParent, mode == " OR REPLACE" { mode = " OR ABORT" }
        // Where rows can get in each other's way, or a row's fault can be told in several ways, the order of the visit shows.
        let isPlain =
            !table.isOrderSensitive && mode.isEmpty && columns.count == 1 && !readsItself
            && table.uniqueColumns.isDisjoint(with: columns)
            && !table.columns.contains { $0.isGenerated }
        let filter: String
        if !isPlain || !source.isEmpty || table.isStrict || random.once(in: 3) {
            filter =
                table.isStrict || random.once(in: 2) || !source.isEmpty || (!isPlain && !table.hasCertainScan)
                ? singleRow(table) : random.once(in: 6) ? "true" : scanningPredicate(table)
        } else {
            filter = outsidePredicate(table)
        }
        // The table's own key gives the order of the visit, not an index that happens to cover the condition.
        let hint = source.isEmpty && !isPlain ? " NOT INDEXED" : ""
        let qualified = source.isEmpty ? filter : qualify(filter, table)
        return
            "UPDATE\(mode) \(table.name)\(hint) SET \(assignments.joined(separator: ", "))\(source) WHERE \(qualified)"
            + (source.isEmpty ? returning(table) : "")
    }

    /// Names of a single-row condition, made unambiguous beside a second table.
    private func qualify(_ filter: String, _ table: GeneratedTable) -> String {
        filter.components(separatedBy: " AND ").map { "\(table.name).\($0)" }.joined(separator: " AND ")
    }

    mutating func delete(_ table: GeneratedTable) -> String {
        if random.once(in: 25) { return "DELETE FROM \(table.name)" + returning(table) }
        let filter =
            random.once(in: 3) || (table.isOrderSensitive && !table.hasCertainScan)
            ? singleRow(table) : table.isOrderSensitive ? scanningPredicate(table) : outsidePredicate(table)
        return "DELETE FROM \(table.name) WHERE \(filter)" + returning(table)
    }

    /// Opens, closes or marks a transaction. Whether that makes sense just now is for both engines to say alike.
    mutating func transaction() -> String {
        let name = random.pick(["s1", "s2", "s3"])
        return random.pick([
            "BEGIN", "BEGIN IMMEDIATE", "COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT \(name)", "SAVEPOINT \(name)",
            "ROLLBACK TO \(name)",
            "RELEASE \(name)",
        ])
    }

    /// Savepoints around statements of which one is likely to fail: what it has done before goes, and nothing else.
    mutating func failingInSavepoints() -> String {
        let table = random.pick(schema.tables)
        let names = table.writable.map { table.columns[$0].name }.joined(separator: ", ")
        emit("SAVEPOINT s1")
        emit(insert(random.pick(schema.tables)))
        emit("SAVEPOINT s2")
        emit(delete(random.pick(schema.tables)))
        // A copy of its own rows: they are in each other's way wherever something is unique.
        let mode = table.isStrict ? "" : notForgetful(random.pick(["", "", " OR FAIL", " OR IGNORE", " OR ROLLBACK"]))
        emit(
            "INSERT\(mode) INTO \(table.name)(\(names)) SELECT \(names) FROM \(table.name) AS t "
                + "ORDER BY \(table.totalOrder("t")) LIMIT 3")
        emit("SELECT changes()\(totalChanges)")
        emit(random.pick(["ROLLBACK TO s2", "RELEASE s2", "SAVEPOINT s1"]))
        emit(update(random.pick(schema.tables)))
        return random.pick(["ROLLBACK TO s1", "RELEASE s1", "RELEASE s1", "COMMIT"])
    }

    /// A foreign key whose parent has no such key: what has to look for it fails, and nothing else.
    mutating func mismatch() -> String {
        let parent = random.pick(schema.tables.filter { !$0.isElsewhere })
        let column = parent.columns[random.pick(parent.writable)].name
        emit("ROLLBACK")
        emit(
            "CREATE TABLE mismatched(a, b REFERENCES \(parent.name)(\(column)) "
                + random.pick([
                    "", "ON DELETE CASCADE", "ON UPDATE SET NULL ON DELETE SET NULL", "DEFERRABLE INITIALLY DEFERRED",
                ])
                + ")")
        emit(update(parent))
        emit("INSERT INTO mismatched VALUES (1, \(value()))")
        emit("INSERT INTO mismatched VALUES (2, NULL)")
        emit(delete(parent))
        emit("UPDATE mismatched SET \(random.pick(["a", "b"])) = \(value())")
        emit(insert(parent))
        return "DROP TABLE mismatched"
    }

    mutating func schemaChange() -> String {
        // A store tells of such a key when a statement meets it, SQLite also where only a trigger could.
        if has(.mismatches), has(.foreignKeys), triggers == 0, random.once(in: 8) { return mismatch() }
        if has(.strictAlter), let at = schema.tables.firstIndex(where: { $0.isStrict }), random.once(in: 5) {
            emit("ROLLBACK")
            return strictColumn(at, "c\(schema.tables[at].columns.count)")
        }
        switch random.number(0...7) {
        case 6 where has(.drops), 7 where has(.drops): return dropAndReturn()
        case 0, 1: return makeIndex()
        case 2:
            guard let name = schema.indexes.randomElement(using: &random) else { return makeIndex() }
            return "DROP INDEX \(random.once(in: 2) ? "IF EXISTS " : "")\(name)"
        case 3: return random.pick(["REINDEX", "ANALYZE"])
        case 4 where has(.alter):
            // Outside of any transaction: a column that a ROLLBACK takes away would leave the rest of the script in error.
            emit("ROLLBACK")
            let at = random.number(0...schema.tables.count - 1)
            let name = "c\(schema.tables[at].columns.count)"
            if has(.strictAlter), schema.tables[at].isStrict { return strictColumn(at, name) }
            var column = GeneratedColumn(name: name, type: "TEXT", kind: .text)
            if random.once(in: 2) { column.constraints = " DEFAULT 'added'" }
            schema.tables[at].columns.append(column)
            return "ALTER TABLE \(schema.tables[at].name) ADD COLUMN \(name) TEXT\(column.constraints)"
        default: return "REINDEX \(random.pick(schema.tables).name)"
        }
    }
}
