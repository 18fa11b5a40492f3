// GeneratedSchema.swift - random tables, indexes and triggers, and what the generators of statements must know of them.
//
// Everything generated is deterministic: no random(), no clock, nothing whose answer depends on the order in which a plan
// happens to visit rows. Where two values compare equal but differ (1 and 1.0, 'a' and 'A' under NOCASE) and a
// statement would show either of them, only columns that hold no such pairs are used (`isUnambiguous`).

import TestSupport

/// What the generated scripts may use. Narrowed by ROOTSTOCK_RANDOM_FEATURES, names separated by commas.
enum Feature: String, CaseIterable, Sendable {
    case check, defaults, strict, generated, autoincrement, foreignKeys, triggers
    case partialIndexes, expressionIndexes
    case upsert, returning, updateFrom, alter, views, longKeys
    case temporary, attached, raise, recursion, renames, clauses, long, pragmas, reopen
    case conflicts, doors, ownSubqueries, drops, commonTables, strictAlter, others
    case selfReferences, ownRows, log, mismatches, memberships, oddTypes, nested
}

struct GeneratedColumn: Sendable {
    enum Kind: Sendable { case integer, real, numeric, text, blob, none }

    var name: String
    var type: String
    var kind: Kind
    var collation = "BINARY"
    /// What stands behind the type in the declaration.
    var constraints = ""
    var isGenerated = false
    var isNotNull = false
    /// UNIQUE by itself.
    var isUnique = false

    /// No two values of the column compare equal and differ.
    var isUnambiguous: Bool { kind != .none && kind != .blob && collation == "BINARY" }
}

struct GeneratedTable: Sendable {
    var name: String
    var columns: [GeneratedColumn]
    /// Columns of the declared PRIMARY KEY, by index.
    var key: [Int] = []
    var hasRowID = true
    /// The key's only column is an alias of the rowid.
    var hasAlias = false
    /// Columns that a UNIQUE constraint over several columns names.
    var uniqueGroups: [[Int]] = []
    var declaration = ""
    /// Triggers or foreign keys whose effects follow the order in which rows are visited.
    var isOrderSensitive = false

    /// A column of the PRIMARY KEY has a collation there that is not its own.
    var hasKeyCollation = false
    /// Some constraint has an ON CONFLICT clause.
    var hasConflictClause = false
    /// Some foreign key refers to it.
    var isParent = false
    /// It lies in temp or in an attached database.
    var isElsewhere = false
    /// Some CREATE INDEX named it.
    var hasIndex = false
    /// Unique indexes on an expression, a column or some rows only, as an upsert names them.
    var indexTargets: [String] = []
    /// Expressions that some index is on, as text before and behind a column.
    var indexedExpressions: [(before: String, column: String, behind: String)] = []
    /// WHERE clauses of partial indexes: a column, and what a query says of it so that the index holds all that it asks for.
    var indexedConditions: [(column: String, saying: [String])] = []

    /// SQLite visits the rows of a table without rowids in the order of any index that covers the condition, NOT INDEXED or not.
    var hasCertainScan: Bool { hasRowID || (!hasIndex && uniqueColumns.isSubset(of: key)) }

    var isStrict: Bool { declaration.hasSuffix("STRICT") || declaration.contains("STRICT,") }

    /// Columns that statements may write.
    var writable: [Int] { columns.indices.filter { !columns[$0].isGenerated } }

    /// Columns of some uniqueness: an UPDATE that touches them is sensitive to the order of the rows.
    var uniqueColumns: Set<Int> {
        Set(key + columns.indices.filter { columns[$0].isUnique } + uniqueGroups.flatMap { $0 })
    }

    /// A term list that makes any order total, the table's columns qualified by `alias`.
    func totalOrder(_ alias: String) -> String {
        hasRowID ? "\(alias).rowid" : key.map { "\(alias).\(columns[$0].name)" }.joined(separator: ", ")
    }
}

struct GeneratedSchema: Sendable {
    var tables: [GeneratedTable] = []
    /// Names of indexes that have been created.
    var indexes: [String] = []
    var views: [String] = []
    var doors: [GeneratedDoor] = []
    var statements: [String] = []
}

extension ScriptGenerator {
    mutating func makeSchema() {
        if has(.foreignKeys) { emit("PRAGMA foreign_keys = ON") }
        let count = random.number(1...3)
        for index in 0..<count {
            let table = makeTable("t\(index)")
            schema.tables.append(table)
            emit(table.declaration)
        }
        makeTablesElsewhere()
        for _ in 0..<random.number(0...4) { emit(makeIndex()) }
        if has(.triggers) { for _ in 0..<random.number(0...2) { makeTrigger() } }
        if has(.views), random.once(in: 3) {
            let table = random.pick(schema.tables.filter { !$0.isElsewhere })
            let name = "v\(schema.views.count)"
            schema.views.append(name)
            emit("CREATE VIEW \(name) AS SELECT * FROM \(table.name) WHERE \(predicate(table, table.name))")
        }
        if has(.doors), random.once(in: 3) { makeDoor() }
    }

    mutating func makeTable(_ name: String, elsewhere: Bool = false) -> GeneratedTable {
        let strict = has(.strict) && random.once(in: 5)
        var table = GeneratedTable(name: name, columns: [])
        var bodies: [String] = []
        for index in 0..<random.number(2...6) {
            table.columns.append(makeColumn("c\(index)", strict: strict))
        }
        // The key.
        var tableConstraints: [String] = []
        var options: [String] = strict ? ["STRICT"] : []
        switch random.number(0...5) {
        case 0: break
        case 1, 2:
            table.columns[0] = GeneratedColumn(name: "c0", type: "INTEGER", kind: .integer)
            table.columns[0].constraints =
                " PRIMARY KEY" + (has(.autoincrement) && random.once(in: 4) && !canFail ? " AUTOINCREMENT" : "")
            if !table.columns[0].constraints.contains("AUTOINCREMENT") {
                table.columns[0].constraints += conflictClause(&table, strict: strict)
            }
            table.key = [0]
            table.hasAlias = true
        case 3:
            table.columns[0].constraints += " PRIMARY KEY" + conflictClause(&table, strict: strict)
            table.key = [0]
            table.hasAlias = table.columns[0].type == "INTEGER"
        default:
            table.key = Array(table.columns.indices.shuffled(using: &random).prefix(random.number(1...3)))
            let terms = table.key.map { index in
                // A collation of the key's own; never on the only column, where UPSERT would have to name it.
                let own = table.key.count > 1 && table.columns[index].kind == .text && random.once(in: 6)
                table.hasKeyCollation = table.hasKeyCollation || own
                return table.columns[index].name + (own ? " COLLATE NOCASE" : "") + (random.once(in: 4) ? " DESC" : "")
            }
            tableConstraints.append(
                "PRIMARY KEY(\(terms.joined(separator: ", ")))" + conflictClause(&table, strict: strict))
            if random.once(in: 3) {
                // A key of one INTEGER column would be an alias.
                if table.key.count == 1 { table.hasAlias = table.columns[table.key[0]].type == "INTEGER" }
            } else {
                options.append("WITHOUT ROWID")
                table.hasRowID = false
            }
        }
        for index in table.columns.indices where !table.key.contains(index) {
            addConstraints(&table, index, strict: strict)
        }
        addKeyDefaults(&table, strict: strict)
        if random.once(in: 4), table.columns.count > 2 {
            let group = Array(table.columns.indices.shuffled(using: &random).prefix(2))
            if Set(group) != Set(table.key) {
                table.uniqueGroups.append(group)
                tableConstraints.append(
                    "UNIQUE(\(group.map { table.columns[$0].name }.joined(separator: ", ")))"
                        + conflictClause(&table, strict: strict))
            }
        }
        // A table may refer to itself, whose actions then change the table that the statement changes.
        let parents = schema.tables + (has(.selfReferences) && random.once(in: 2) ? [table, table] : [])
        if has(.foreignKeys), !elsewhere,
            let parent = parents.filter({ parent in
                // REAL keys: RESTRICT and the count of violations of SQLite 3.40.1 do not agree on what refers to them.
                // A key under a collation of its own is no parent key; SQLite says so where only a trigger or an action would meet it, too.
                !parent.key.isEmpty && parent.key.count <= 2 && !parent.declaration.contains("ON CONFLICT REPLACE")
                    && !(parent.name == name && table.hasConflictClause)
                    && !parent.hasKeyCollation
                    && !parent.key.contains { parent.columns[$0].kind == .real }
            }).randomElement(using: &random),
            random.once(in: 2)
        {
            // SQLite 3.40.1 itself does not find the rowid 3 for the 3.0 of a REAL column; and where text refers to numbers, its
            // count of violations and its actions compare by different affinities.
            func isNumeric(_ column: GeneratedColumn) -> Bool { [.integer, .numeric].contains(column.kind) }
            let numeric = parent.key.map { isNumeric(parent.columns[$0]) }
            let candidates = table.columns.indices.filter { index in
                let column = table.columns[index]
                return !column.isGenerated && column.kind != .real && numeric.allSatisfy { $0 == isNumeric(column) }
            }
            if candidates.count >= parent.key.count {
                let child = candidates.shuffled(using: &random).prefix(parent.key.count)
                // Where SET NULL of the table itself is part of a REPLACE or an upsert, SQLite 3.40.1 leaves out the check of the new row.
                let actions =
                    ["", "CASCADE", "SET DEFAULT", "RESTRICT", "NO ACTION"] + (parent.name == name ? [] : ["SET NULL"])
                let delete = random.pick(actions)
                let update = random.pick(actions)
                tableConstraints.append(
                    "FOREIGN KEY(\(child.map { table.columns[$0].name }.joined(separator: ", "))) REFERENCES \(parent.name)"
                        + "(\(parent.key.map { parent.columns[$0].name }.joined(separator: ", ")))"
                        + (delete.isEmpty ? "" : " ON DELETE \(delete)")
                        + (update.isEmpty ? "" : " ON UPDATE \(update)")
                        + (random.once(in: 3) ? " DEFERRABLE INITIALLY DEFERRED" : ""))
                table.isOrderSensitive = true
                if let at = schema.tables.firstIndex(where: { $0.name == parent.name }) {
                    schema.tables[at].isParent = true
                } else {
                    table.isParent = true
                }
            }
        }
        if has(.check), random.once(in: 4) {
            let column = table.columns[random.pick(table.writable)]
            tableConstraints.append(
                "CHECK (\(column.name) IS NULL OR length(\(column.name)) < \(random.number(3...700)))")
        }
        for column in table.columns {
            let collation = column.collation == "BINARY" ? "" : " COLLATE \(column.collation)"
            bodies.append(column.name + (column.type.isEmpty ? "" : " \(column.type)") + collation + column.constraints)
        }
        table.declaration =
            "CREATE TABLE \(name)(\((bodies + tableConstraints).joined(separator: ", "))) \(options.joined(separator: ", "))"
            .trimmingSpaces()
        return table
    }

    private mutating func makeColumn(_ name: String, strict: Bool) -> GeneratedColumn {
        let types: [(String, GeneratedColumn.Kind)] =
            strict
            ? [
                ("INTEGER", .integer), ("INT", .integer), ("REAL", .real), ("TEXT", .text), ("BLOB", .blob),
                ("ANY", .none),
            ]
            : [
                ("INTEGER", .integer), ("INT", .integer), ("REAL", .real), ("NUMERIC", .numeric), ("TEXT", .text),
                ("TEXT", .text),
                ("BLOB", .blob), ("", .none), ("VARCHAR(10)", .text),
            ]
        // Words that mean something to a virtual table's declaration, or behind a type, and nothing in it.
        let odd: [(String, GeneratedColumn.Kind)] = [
            ("HIDDEN", .numeric), ("TEXT HIDDEN", .text), ("hidden INT", .integer), ("INT GENERATED", .integer),
            ("TEXT GENERATED ALWAYS", .text), ("BLOB HIDDEN (3, 4)", .blob),
        ]
        let (type, kind) = random.pick(!strict && has(.oddTypes) && random.once(in: 12) ? odd : types)
        var column = GeneratedColumn(name: name, type: type, kind: kind)
        if kind == .text, random.once(in: 3) { column.collation = random.pick(["NOCASE", "RTRIM"]) }
        return column
    }

    private mutating func addConstraints(_ table: inout GeneratedTable, _ index: Int, strict: Bool) {
        if has(.generated), index > 0, random.once(in: 8) {
            // Depends on columns in front of it only, so that no cycle can be.
            let source = table.columns[random.number(0...index - 1)].name
            let expression = random.pick([
                "\(source) || 'g'", "length(\(source))", "typeof(\(source))", "coalesce(\(source), 'none')",
                "\(source) IS NULL",
            ])
            table.columns[index].isGenerated = true
            table.columns[index].constraints = " AS (\(expression)) " + random.pick(["VIRTUAL", "STORED"])
            // SQLite 3.40.1 itself shows a generated REAL as an integer where it sorts.
            if table.columns[index].kind == .real { table.columns[index].type = "NUMERIC" }
            if strict { table.columns[index].type = "ANY" }
            if strict { table.columns[index].kind = .none }
            return
        }
        if random.once(in: 5) {
            table.columns[index].isNotNull = true
            table.columns[index].constraints += " NOT NULL" + conflictClause(&table, strict: strict)
        }
        if random.once(in: 5) {
            table.columns[index].isUnique = true
            table.columns[index].constraints += " UNIQUE" + conflictClause(&table, strict: strict)
        }
        if has(.defaults), random.once(in: 3) {
            // A default that a STRICT column cannot take fails each time it is used, which says little.
            let value =
                strict
                ? "NULL" : random.pick(["5", "'dflt'", "-1.5", "NULL", "x'6162'", "(1 + 2)", "(lower('ABC'))", "''"])
            table.columns[index].constraints += " DEFAULT \(value)"
        }
        if has(.check), random.once(in: 6) {
            let name = table.columns[index].name
            table.columns[index].constraints += random.pick([
                " CHECK (\(name) <> 'x')", " CHECK (\(name) IS NULL OR \(name) >= -100)",
                " CHECK (typeof(\(name)) <> 'blob')",
            ])
        }
    }

    mutating func makeIndex() -> String {
        let table = random.pick(schema.tables.filter { !$0.isElsewhere })
        let name = "i\(schema.indexes.count)"
        schema.indexes.append(name)
        var terms: [String] = []
        var expressions: [(before: String, column: String, behind: String)] = []
        for _ in 0..<random.number(1...3) {
            let column = random.pick(table.columns)
            var term = column.name
            if has(.expressionIndexes), random.once(in: 4) {
                let (before, behind) = random.pick([
                    ("length(", ")"), ("", " || 'e'"), ("typeof(", ")"), ("coalesce(", ", 0)"), ("substr(", ", 1, 2)"),
                    ("upper(", ") COLLATE NOCASE"), ("CAST(", " AS TEXT)"), ("", " + 1"), ("(", " IS NULL)"),
                ])
                term = before + column.name + behind
                expressions.append((before, column.name, behind))
            } else if random.once(in: 5) {
                term += " COLLATE " + random.pick(["NOCASE", "RTRIM", "BINARY"])
            }
            terms.append(term + (random.once(in: 3) ? " DESC" : ""))
        }
        // A unique index makes updates of its columns sensitive to the order of rows: the model must know it.
        let unique = random.once(in: 3) && terms.count == 1
        var filter = ""
        var indexed: (column: String, saying: [String])?
        if has(.partialIndexes), random.once(in: 4) {
            let column = random.pick(table.columns).name
            let (condition, saying) = random.pick([
                ("IS NOT NULL", ["= 1", "> ''", "<= 'b'", "IS NOT NULL", "IS 'a'", "BETWEEN -1 AND 3"]),
                ("> 1", ["> 1", "> 2", "= 3", ">= 1", "BETWEEN 2 AND 5", "> 'a'", "<> 1", "= '3'", "IN (2, 3)"]),
                ("= 'a'", ["= 'a'", "IS 'a'", "= 'A'", "IN ('a')", "= 'a' COLLATE NOCASE"]),
                ("COLLATE NOCASE = 'a'", ["= 'a'", "= 'A' COLLATE NOCASE", "COLLATE NOCASE = 'a'"]),
                ("BETWEEN 1 AND 'b'", ["= 2", "= 'a'", "BETWEEN 2 AND 3", "> 2", "LIKE 'a%'"]),
                ("IN (1, 'a', 2.5)", ["= 1", "= 'a'", "= 2.5", "= '1'", "= x'61'", "IS 1.0"]),
                ("IS NOT 3", ["= 1", "IS NULL", "< 3", "> 3", "IS NOT 3"]),
                ("< x'61'", ["< 'b'", "<= x'60'", "< 5", "= 'a'"]),
            ])
            // Not unique beside recursive triggers: SQLite then refuses some UPDATE OR REPLACE (Vendor-notes/sqlite.md).
            if !unique || !has(.recursion) {
                filter = " WHERE \(column) \(condition)"
                indexed = (column, saying)
            }
        }
        if let at = schema.tables.firstIndex(where: { $0.name == table.name }) {
            schema.tables[at].hasIndex = true
            schema.tables[at].indexedExpressions += expressions
            if let indexed { schema.tables[at].indexedConditions.append(indexed) }
            if unique { schema.tables[at].isOrderSensitive = true }
            // What an upsert says to mean the index; a collation and an order of its own are none of it.
            if unique, !terms[0].contains(" COLLATE "), !terms[0].hasSuffix(" DESC") {
                schema.tables[at].indexTargets.append("(\(terms[0]))\(filter)")
            }
        }
        return
            "CREATE \(unique ? "UNIQUE " : "")INDEX \(name) ON \(table.name)(\(terms.joined(separator: ", ")))\(filter)"
    }
}

extension String {
    func trimmingSpaces() -> String {
        var text = Substring(self)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
