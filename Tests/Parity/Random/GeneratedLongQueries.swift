// GeneratedLongQueries.swift - questions with more to them: frames of windows, compounds of several parts, recursion over tables.

import TestSupport

extension ScriptGenerator {
    mutating func longQuery() -> String {
        let table = random.pick(schema.tables)
        switch random.number(0...5) {
        case 0, 1: return frame(table)
        case 2: return longCompound(table) ?? frame(table)
        case 3: return recursion(table) ?? frame(table)
        case 4: return joins(table)
        default: return subqueries(table)
        }
    }

    private func certain(_ table: GeneratedTable) -> [String] {
        table.columns.filter { $0.isUnambiguous && !$0.isGenerated }.map(\.name)
    }

    private mutating func frame(_ table: GeneratedTable) -> String {
        let column = "t.\(random.pick(table.columns).name)"
        let order = "\(term(table, "t"))\(random.pick(["", " DESC", " NULLS LAST"])), \(table.totalOrder("t"))"
        let partition = random.once(in: 2) ? "PARTITION BY typeof(t.\(random.pick(table.columns).name)) " : ""
        let bound = random.pick([
            "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING",
            " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING EXCLUDE CURRENT ROW",
            " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES",
        ])
        let function = random.pick([
            "count(\(column))", "sum(length(\(column)))", "max(length(\(column)))", "group_concat(typeof(\(column)))",
            "first_value(\(column))", "last_value(\(column))", "nth_value(\(column), 2)",
            "count(*) FILTER (WHERE \(column) IS NOT NULL)",
        ])
        let ranked = random.pick([
            "dense_rank()", "percent_rank()", "cume_dist()", "lead(\(column), 2, 'none')", "row_number()",
        ])
        return "SELECT \(table.totalOrder("t")), \(function) OVER (\(partition)ORDER BY \(order)\(bound)), "
            + "\(ranked) OVER w FROM \(table.name) AS t WHERE \(predicate(table, "t")) WINDOW w AS (\(partition)ORDER BY \(order))"
    }

    private mutating func longCompound(_ table: GeneratedTable) -> String? {
        var parts: [String] = []
        for _ in 0..<random.number(2...4) {
            let source = random.pick(schema.tables)
            guard let column = certain(source).randomElement(using: &random) else { return nil }
            parts.append(
                "SELECT CAST(s.\(column) AS TEXT) AS c FROM \(source.name) AS s WHERE \(predicate(source, "s"))")
        }
        var text = parts[0]
        for part in parts.dropFirst() {
            text += " \(random.pick(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])) \(part)"
        }
        if random.once(in: 2) {
            return text + " ORDER BY 1" + random.pick(["", " DESC", " LIMIT 3", " LIMIT 4 OFFSET 1"])
        }
        return "SELECT count(*), max(c), min(c) FROM (\(text))"
    }

    private mutating func recursion(_ table: GeneratedTable) -> String? {
        let columns = certain(table)
        guard let from = columns.randomElement(using: &random), let to = columns.randomElement(using: &random) else {
            return nil
        }
        return
            "WITH RECURSIVE r(x, d) AS (SELECT CAST(t.\(from) AS TEXT), 0 FROM \(table.name) AS t WHERE \(predicate(table, "t")) "
            + "UNION SELECT CAST(o.\(to) AS TEXT), d + 1 FROM r JOIN \(table.name) AS o ON CAST(o.\(from) AS TEXT) = r.x WHERE d < 3) "
            + "SELECT d, count(*), count(x), max(x) FROM r GROUP BY d ORDER BY d"
    }

    private mutating func joins(_ table: GeneratedTable) -> String {
        let second = random.pick(schema.tables)
        let third = random.pick(schema.tables)
        let kinds = ["JOIN", "LEFT JOIN", "CROSS JOIN"]
        func pair(_ left: GeneratedTable, _ a: String, _ right: GeneratedTable, _ b: String) -> String {
            "\(a).\(random.pick(left.columns).name) \(random.pick(["=", "=", "IS", "<"])) \(b).\(random.pick(right.columns).name)"
        }
        return
            "SELECT count(*), count(a.\(random.pick(table.columns).name)), count(c.\(random.pick(third.columns).name)), "
            + "sum(length(b.\(random.pick(second.columns).name))) FROM \(table.name) AS a "
            + "\(random.pick(kinds)) \(second.name) AS b ON \(pair(table, "a", second, "b")) "
            + "\(random.pick(kinds)) \(third.name) AS c ON \(pair(second, "b", third, "c")) AND \(pair(table, "a", third, "c")) "
            + "WHERE \(predicate(table, "a"))"
    }

    private mutating func subqueries(_ table: GeneratedTable) -> String {
        let other = random.pick(schema.tables)
        let column = random.pick(table.columns).name
        let inner = random.pick(other.columns).name
        let source =
            "(SELECT o.\(inner) AS v, count(*) AS n FROM \(other.name) AS o GROUP BY typeof(o.\(inner)), o.\(inner) COLLATE BINARY)"
        return "SELECT t.\(column), (SELECT count(*) FROM \(source) AS q WHERE q.v = t.\(column)), "
            + "(SELECT s.\(inner) FROM \(other.name) AS s WHERE s.\(inner) \(comparison()) t.\(column) "
            + "ORDER BY \(other.totalOrder("s")) LIMIT 1 OFFSET \(random.number(0...1))) FROM \(table.name) AS t"
    }
}
