// GeneratedQueries.swift - random questions: joins, subqueries, aggregates, common table expressions, windows, compounds.
//
// A query either promises no order (and is compared as a multiset) or orders its rows totally. Sums are of integers that cannot
// overflow, because a sum of reals depends on the order of its terms.

import TestSupport

extension ScriptGenerator {
    mutating func query() -> String {
        let table = random.pick(schema.tables)
        switch random.number(0...15) {
        case 0...3: return simple(table)
        case 4, 5: return ordered(table)
        case 6, 7: return join(table)
        case 8, 9: return aggregate(table)
        case 10: return grouped(table)
        case 11: return compound(table)
        case 12: return window(table)
        case 13: return common(table)
        case 14: return nested(table)
        default: return view() ?? distinct(table)
        }
    }

    private mutating func list(_ table: GeneratedTable, _ alias: String) -> String {
        random.once(in: 3)
            ? "\(alias).*" : (0..<random.number(1...3)).map { _ in term(table, alias) }.joined(separator: ", ")
    }

    private mutating func simple(_ table: GeneratedTable) -> String {
        "SELECT \(list(table, "t")) FROM \(table.name) AS t WHERE \(predicate(table, "t"))"
    }

    private mutating func ordered(_ table: GeneratedTable) -> String {
        let direction = random.pick(["", " DESC"])
        let terms = (0..<random.number(1...2)).map { _ in term(table, "t") + random.pick(["", " DESC", direction]) }
        let indexed = random.once(in: 3) ? indexedExpression(table, "t").map { [$0 + direction] } ?? [] : []
        let filter = random.once(in: 2) ? " WHERE \(predicate(table, "t"))" : ""
        let limit =
            random.once(in: 2)
            ? " LIMIT \(random.number(0...6))" + (random.once(in: 2) ? " OFFSET \(random.number(0...4))" : "") : ""
        return "SELECT \(list(table, "t")) FROM \(table.name) AS t\(filter) ORDER BY "
            + (indexed + (indexed.isEmpty ? terms : terms.dropLast()) + [table.totalOrder("t")]).joined(separator: ", ")
            + limit
    }

    private mutating func join(_ table: GeneratedTable) -> String {
        let other = random.pick(schema.tables)
        // SQLite 3.40.1 itself answers wrongly where a RIGHT or FULL JOIN meets an indexed expression or generated column: bare
        // columns of plain tables there.
        let computes = (table.columns + other.columns).contains { $0.isGenerated }
        let kind = random.pick(
            ["JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"] + (computes ? [] : ["RIGHT JOIN", "FULL JOIN"]))
        var condition =
            "a.\(random.pick(table.columns).name) \(random.pick(["=", "=", "=", "IS", "<"])) b.\(random.pick(other.columns).name)"
        if kind == "JOIN" || kind == "CROSS JOIN", random.once(in: 4), let expression = indexedExpression(table, "a") {
            condition = "\(expression) \(random.pick(["=", "=", "<", ">="])) b.\(random.pick(other.columns).name)"
        }
        if random.once(in: 3) {
            // SQLite 3.40.1 itself loses rows where the ON of an outer join has a LIKE or GLOB of a prefix.
            let extra = random.once(in: 2) ? predicate(other, "b") : predicate(table, "a")
            if !kind.hasSuffix(" JOIN") || kind == "CROSS JOIN" || !(extra.contains("LIKE") || extra.contains("GLOB")) {
                condition += " AND \(extra)"
            }
        }
        let filter = random.once(in: 2) ? " WHERE \(predicate(table, "a"))" : ""
        if random.once(in: 3) {
            return
                "SELECT count(*), count(b.\(random.pick(other.columns).name)) FROM \(table.name) AS a \(kind) \(other.name) AS b ON \(condition)\(filter)"
        }
        let outer = kind.hasPrefix("RIGHT") || kind.hasPrefix("FULL")
        let shown =
            outer
            ? "a.\(random.pick(table.columns).name), b.\(random.pick(other.columns).name)"
            : "\(term(table, "a")), \(term(other, "b"))"
        return "SELECT \(shown) FROM \(table.name) AS a \(kind) \(other.name) AS b ON \(condition)\(filter)"
    }

    private func unambiguous(_ table: GeneratedTable) -> [String] {
        table.columns.filter { $0.isUnambiguous && !$0.isGenerated }.map(\.name)
    }

    private mutating func aggregate(_ table: GeneratedTable) -> String {
        var terms = ["count(*)", "count(t.\(random.pick(table.columns).name))"]
        if let column = unambiguous(table).randomElement(using: &random) {
            terms.append(random.pick(["max(t.\(column))", "min(t.\(column))", "count(DISTINCT t.\(column))"]))
            if random.once(in: 4) {
                return "SELECT \(random.pick(["max", "min"]))(t.\(column)) FROM \(table.name) AS t"
            }
        }
        terms.append("sum(length(t.\(random.pick(table.columns).name)))")
        let filter = random.once(in: 2) ? " WHERE \(predicate(table, "t"))" : ""
        if random.once(in: 5) { return "SELECT count(*) FROM \(table.name) AS t\(filter)" }
        return "SELECT \(terms.joined(separator: ", ")) FROM \(table.name) AS t\(filter)"
    }

    private mutating func grouped(_ table: GeneratedTable) -> String {
        let column = random.pick(table.columns)
        // The group's own value is shown only where all of the group are the same.
        let shown = column.isUnambiguous && !column.isGenerated ? "t.\(column.name), " : ""
        let having = random.once(in: 3) ? " HAVING count(*) > 1" : ""
        if random.once(in: 4), let expression = indexedExpression(table, "t") {
            return "SELECT count(*), sum(length(t.\(random.pick(table.columns).name))) FROM \(table.name) AS t "
                + "WHERE \(predicate(table, "t")) GROUP BY \(expression)\(having)"
        }
        return "SELECT \(shown)count(*), sum(length(t.\(random.pick(table.columns).name))) FROM \(table.name) AS t "
            + "WHERE \(predicate(table, "t")) GROUP BY t.\(column.name)\(having)"
    }

    private mutating func distinct(_ table: GeneratedTable) -> String {
        guard let column = unambiguous(table).randomElement(using: &random) else { return simple(table) }
        return "SELECT DISTINCT t.\(column) FROM \(table.name) AS t"
            + (random.once(in: 2) ? " ORDER BY 1" + random.pick(["", " DESC"]) : "")
    }

    private mutating func compound(_ table: GeneratedTable) -> String {
        let other = random.pick(schema.tables)
        guard let left = unambiguous(table).randomElement(using: &random),
            let right = unambiguous(other).randomElement(using: &random)
        else { return simple(table) }
        // Columns of two affinities can bring 1 and 1.0 together: the union of both shows their text.
        let kind = random.pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
        return
            "SELECT CAST(a.\(left) AS TEXT) FROM \(table.name) AS a \(kind) SELECT CAST(b.\(right) AS TEXT) FROM \(other.name) AS b "
            + "WHERE \(predicate(other, "b"))"
    }

    private mutating func window(_ table: GeneratedTable) -> String {
        let order = "\(term(table, "t")), \(table.totalOrder("t"))"
        let partition = random.once(in: 2) ? "PARTITION BY t.\(random.pick(table.columns).name) " : ""
        let function = random.pick([
            "row_number()", "count(*)", "sum(length(t.\(random.pick(table.columns).name)))",
            "lag(t.\(random.pick(table.columns).name))",
            "first_value(t.\(random.pick(table.columns).name))", "ntile(3)", "rank()",
        ])
        return
            "SELECT \(table.totalOrder("t")), \(function) OVER (\(partition)ORDER BY \(order)) FROM \(table.name) AS t"
    }

    private mutating func common(_ table: GeneratedTable) -> String {
        let other = random.pick(schema.tables)
        if random.once(in: 3) {
            return "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 6) SELECT i, "
                + "(SELECT count(*) FROM \(table.name) AS t WHERE t.\(random.pick(table.columns).name) = i) FROM n"
        }
        return "WITH x AS (SELECT * FROM \(table.name) AS t WHERE \(predicate(table, "t"))) "
            + "SELECT count(*), (SELECT count(*) FROM x) FROM \(other.name) AS o WHERE o.\(random.pick(other.columns).name) "
            + "IN (SELECT \(random.pick(table.columns).name) FROM x)"
    }

    private mutating func nested(_ table: GeneratedTable) -> String {
        let other = random.pick(schema.tables)
        let column = random.pick(table.columns).name
        return
            "SELECT t.\(column), (SELECT count(*) FROM \(other.name) AS o WHERE o.\(random.pick(other.columns).name) "
            + "\(comparison()) t.\(column)) FROM \(table.name) AS t WHERE \(predicate(table, "t"))"
    }

    private mutating func view() -> String? {
        schema.views.randomElement(using: &random).map { "SELECT * FROM \($0)" }
    }
}
