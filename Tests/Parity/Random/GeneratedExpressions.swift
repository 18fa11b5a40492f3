// GeneratedExpressions.swift - random values and predicates over a table's columns.

import TestSupport

extension ScriptGenerator {
    /// A literal, often one of few so that values meet, at times an awkward one.
    mutating func value() -> String {
        switch random.number(0...19) {
        case 0...5: String(random.number(-2...6))
        case 6...11:
            random.pick([
                "'a'", "'b'", "'A'", "'ab'", "'a '", "''", "'B'", "'abc'", "'1'", "'x'", "'é'", "'3'", "'2.5'",
            ])
        case 12: random.pick(["0.5", "1.0", "2.5", "-0.0", "1e10", "-3.25"])
        case 13, 14: "NULL"
        case 15: random.pick(["x''", "x'00'", "x'61'", "x'0061'", "x'ff'", "zeroblob(3)"])
        case 16:
            random.pick([
                "9007199254740993", "9007199254740992", "9007199254740992.0", "9223372036854775807",
                "-9223372036854775808", "9e999",
                "-9e999", "1e-300", "9223372036854775807.0", "4294967296", "-9007199254740993",
            ])
        case 17: random.pick(["'a' || char(0)", "'a' || char(0) || 'b'", "char(0)", "'日本'", "CAST(x'ff' AS TEXT)"])
        case 18 where has(.longKeys):
            random.pick([
                "printf('%.*c', \(random.number(500...514)), 'x')",
                "printf('%.*c', 600, 'x') || '\(random.number(0...3))'",
                "zeroblob(\(random.number(505...515)))", "printf('%.*c', 3000, 'x')",
            ])
        default: String(random.number(0...60))
        }
    }

    /// A value to write into a column. The rowid stays far from its upper limit, behind which SQLite chooses rowids at random.
    mutating func value(for column: Int, of table: GeneratedTable) -> String {
        guard table.hasAlias, table.key == [column] else { return value() }
        return random.once(in: 12)
            ? random.pick(["NULL", "'7'", "'x'", "2.5", "4.0", "-9223372036854775807", "1000000"])
            : "\(random.number(-2...40))"
    }

    mutating func comparison() -> String { random.pick(["=", "=", "=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"]) }

    /// A term over the columns of `table`, qualified by `alias`.
    mutating func term(_ table: GeneratedTable, _ alias: String) -> String {
        let column = "\(alias).\(random.pick(table.columns).name)"
        switch random.number(0...11) {
        case 0...6: return column
        case 7:
            return random.pick([
                "length(\(column))", "typeof(\(column))", "coalesce(\(column), 0)", "substr(\(column), 1, 2)",
            ])
        case 8: return "\(column) || '\(random.pick(["e", "g", "x"]))'"
        case 9: return "\(column) COLLATE \(random.pick(["NOCASE", "RTRIM", "BINARY"]))"
        case 10 where table.hasRowID: return "\(alias).rowid"
        default: return "CASE WHEN \(column) IS NULL THEN 'null' ELSE \(column) END"
        }
    }

    /// A condition on one row of `table`, free to use indexes.
    mutating func predicate(_ table: GeneratedTable, _ alias: String, depth: Int = 0) -> String {
        let column = "\(alias).\(random.pick(table.columns).name)"
        if random.once(in: 4), let condition = indexedPredicate(table, alias) { return condition }
        switch random.number(0...(depth < 2 ? 17 : 12)) {
        case 0...4: return "\(term(table, alias)) \(comparison()) \(value())"
        case 5: return "\(column) IN (\((0..<random.number(1...4)).map { _ in value() }.joined(separator: ", ")))"
        case 6: return "\(column) BETWEEN \(value()) AND \(value())"
        case 7: return "\(column) IS \(random.pick(["", "NOT "]))NULL"
        case 8:
            return
                "\(column) \(random.pick(["", "NOT "]))LIKE '\(random.pick(["a%", "A%", "%b%", "a_", "%B", "1%", ""]))'"
        case 9: return "\(column) GLOB '\(random.pick(["a*", "A*", "*b", "[ab]*", "x*", "1*"]))'"
        case 10: return "\(column) \(comparison()) \(alias).\(random.pick(table.columns).name)"
        case 11:
            return
                "(\(column), \(alias).\(random.pick(table.columns).name)) \(random.pick(["=", "<", ">="])) (\(value()), \(value()))"
        case 12:
            return
                "\(column) \(random.pick(["<", ">", ">=", "<="])) \(value()) AND \(column) \(random.pick(["<", ">", "<>"])) \(value())"
        case 13: return "(\(predicate(table, alias, depth: depth + 1)) OR \(predicate(table, alias, depth: depth + 1)))"
        case 14:
            return "(\(predicate(table, alias, depth: depth + 1)) AND \(predicate(table, alias, depth: depth + 1)))"
        case 15: return "NOT (\(predicate(table, alias, depth: depth + 1)))"
        case 16:
            let other = random.pick(schema.tables)
            let negation = random.pick(["", "NOT "])
            // SQLite 3.40.1 itself looks for the NULL of a NOT IN at the wrong end of a DESC index: no index where NULL counts.
            let plus = depth > 0 || !negation.isEmpty ? "+" : ""
            // Nor does it compare (a, b) IN (SELECT x, y FROM t) well if an index of t has both: a WHERE keeps it from looking there.
            return
                random.once(in: 4) && negation.isEmpty
                ? "(\(column), \(alias).\(random.pick(table.columns).name)) IN (SELECT s.\(random.pick(other.columns).name), "
                    + "s.\(random.pick(other.columns).name) FROM \(other.name) AS s WHERE true)"
                : "\(column) \(negation)IN (SELECT \(plus)s.\(random.pick(other.columns).name) FROM \(other.name) AS s)"
        default:
            let other = random.pick(schema.tables)
            return
                "\(random.pick(["", "NOT "]))EXISTS (SELECT 1 FROM \(other.name) AS s WHERE s.\(random.pick(other.columns).name) = \(column))"
        }
    }

    /// An expression on which there was made an index.
    mutating func indexedExpression(_ table: GeneratedTable, _ alias: String) -> String? {
        table.indexedExpressions.randomElement(using: &random).map { "\($0.before)\(alias).\($0.column)\($0.behind)" }
    }

    /// A condition for which there was made an index on an expression, or a partial one.
    private mutating func indexedPredicate(_ table: GeneratedTable, _ alias: String) -> String? {
        if random.once(in: 2), let expression = indexedExpression(table, alias) {
            switch random.number(0...6) {
            case 6:
                return "\(expression) IN (\((0..<random.number(1...4)).map { _ in value() }.joined(separator: ", ")))"
            case 0: return "\(value()) \(random.pick(["=", "<", ">="])) \(expression)"
            case 1: return "\(expression) BETWEEN \(value()) AND \(value())"
            default: return "\(expression) \(comparison()) \(value())"
            }
        }
        guard let (column, saying) = table.indexedConditions.randomElement(using: &random) else { return nil }
        let said = "\(alias).\(column) \(random.pick(saying))"
        return random.once(in: 3)
            ? said : "\(said) AND \(alias).\(random.pick(table.columns).name) \(comparison()) \(value())"
    }

    /// A condition that no index answers, so that rows are visited in the order of the table's own key on every engine.
    mutating func scanningPredicate(_ table: GeneratedTable) -> String {
        "+\(table.name).\(random.pick(table.columns).name) \(comparison()) \(value())"
    }

    /// A condition on one row at most.
    mutating func singleRow(_ table: GeneratedTable) -> String {
        guard !table.hasRowID || (table.hasAlias && random.once(in: 2)) else {
            return "rowid = \(random.number(-1...25))"
        }
        return table.key.map { "\(table.columns[$0].name) = \(value())" }.joined(separator: " AND ")
    }
}
