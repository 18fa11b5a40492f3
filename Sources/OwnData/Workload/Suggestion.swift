// A first workload for a database, written from its schema: what an application would do to such tables.
//
// Invariant: what is written runs as it is. Every operation is tried on a native copy first. One may fail there, by a CHECK, a
// trigger or a key that cannot be made up. It is written as a remark with SQLite's reason. Every query says in which order its
// rows come, down to the key, so that answers can be compared.

import CSQLite
import Foundation
import Rootstock
import Workloads

public struct Suggestion {
    let schema: SourceSchema

    /// The text of a workload file for a database, which is only read.
    ///
    /// - Parameter directory: where the copy is made that operations are tried on; the caller removes it.
    public static func text(
        database: String, directory: URL, seed: UInt32 = 301, progress: (String) -> Void = { _ in }
    ) throws -> String {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let source = try SourceDatabase(path: database, scratch: directory)
        let schema = try SourceSchema(of: source.connection)
        let proposals = Suggestion(schema: schema).proposals()
        let name = URL(fileURLWithPath: database).lastPathComponent
        guard !proposals.isEmpty else {
            throw OwnDataError(nothingToSuggest(database, schema))
        }
        let copy = directory.appendingPathComponent("suggestion.sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
        let connection = try Connection(
            path: copy, engine: .sqlite, options: StoreOptions(durability: .off, native: .wal))
        _ = try StoreCopier(source: source.connection, schema: schema).run(into: connection, showing: progress)
        connection.close()
        try source.checkUnchanged()

        var text = """
            -- A first workload for \(name), written from its schema by 'rootstock suggest'. It runs as it is:
            --   rootstock compare --database \(name) --workload FILE
            -- Change the weights to what your program does, and the statements to its own. 'rootstock compare --help' and
            -- the article "Your own data" list the directives. If your program enforces foreign keys, add at the top:
            -- the directive "pragma: foreign_keys = on".

            """
        for line in schema.skipped { text += "-- (not imported) \(line)\n" }
        var usable = 0
        for (number, proposal) in proposals.enumerated() {
            progress("trying \(proposal.name)")
            let failure = try trial(
                proposal, source, schema, copy: copy,
                pools: directory.appendingPathComponent("suggestion-\(number).sqlite").path, seed: seed)
            if let failure {
                text += "\n-- (does not run as it is) \(oneLine(failure))\n"
                text += proposal.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .map { "--    | \($0)\n" }.joined()
            } else {
                usable += 1
                text += "\n" + proposal.text
            }
        }
        guard usable > 0 else { throw OwnDataError("no statement could be suggested for \(database) that runs") }
        return text
    }

    /// Why a database gives nothing to suggest, and what its owner can do.
    private static func nothingToSuggest(_ database: String, _ schema: SourceSchema) -> String {
        var text = "\(database) has no table with rows to suggest statements for"
        if !schema.tables.isEmpty {
            text += ": \(schema.tables.map(\.name).joined(separator: ", ")) "
            text += schema.tables.count == 1 ? "is empty" : "are empty"
            text += "; fill it as your program does, or write a workload of INSERTs by hand"
        } else if !schema.views.isEmpty {
            text += ", only views"
        }
        return ([text] + schema.skipped).joined(separator: "; not imported: ")
    }

    private static func oneLine(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: " ") }

    /// Runs an operation a few times on the copy and undoes it; gives the reason where it failed.
    private static func trial(
        _ proposal: Proposal, _ source: SourceDatabase, _ schema: SourceSchema, copy: String, pools poolsPath: String,
        seed: UInt32
    ) throws -> String? {
        defer { try? FileManager.default.removeItem(atPath: poolsPath) }
        do {
            let file = try WorkloadFile(text: proposal.text, name: "suggestion")
            try ParameterPools.write(file, from: source, schema, seed: seed, to: poolsPath)
            let session = try Session(
                parameters: Parameters(size: 1, seed: seed),
                connect: {
                    try Connection(path: copy, engine: .sqlite, options: StoreOptions(durability: .off, native: .wal))
                })
            defer { session.close() }
            let pools = try ParameterPools(path: poolsPath)
            let times = 20
            // Its own BEGIN is left out: the one around it is what is undone.
            var operation = file.operations[0]
            operation.isTransaction = false
            let values = try Drawing(file, pools, seed: seed).values(operation: 0, count: times)
            let runner = try OperationRunner(operation, session, values: values, enforcesForeignKeys: false)
            try session.execute("BEGIN")
            for _ in 0..<times { try runner.execute(session) }
            try session.execute("ROLLBACK")
            return nil
        } catch let error as WorkloadFileError {
            return error.message
        } catch let error as DatabaseError {
            return error.message
        } catch let error as WorkloadError {
            return error.message
        }
    }
}

// MARK: - What is proposed

struct Proposal {
    var name: String
    var text: String
}

extension Suggestion {
    func proposals() -> [Proposal] {
        var all: [Proposal] = []
        for table in schema.tables where table.rows > 0 {
            all += reads(table)
            all += joins(table)
            all += writes(table)
        }
        // Names are those of cases: each once.
        var taken: Set<String> = []
        return all.filter { taken.insert($0.name.lowercased()).inserted }
    }

    /// A name in SQL: as it is where it is a plain word that SQLite does not use itself.
    private func sql(_ name: String) -> String {
        let isPlain =
            name.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || $0 == 0x5f
            }
            && !(name.first?.isNumber ?? true)
        return isPlain && sqlite3_keyword_check(name, Int32(name.utf8.count)) == 0 ? name : SQL.quoted(name)
    }

    /// Parameters for columns: named after them where the name allows it.
    private func parameters(_ columns: [String], suffix: String = "") -> [String] {
        var taken: Set<String> = []
        return columns.enumerated().map { number, column in
            var name = String(
                column.unicodeScalars.map { scalar -> Character in
                    scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                        ? Character(scalar) : "_"
                })
            if name.isEmpty || name.allSatisfy({ $0 == "_" }) { name = "p\(number + 1)" }
            name += suffix
            if !taken.insert(name.lowercased()).inserted { name += "_\(number + 1)" }
            taken.insert(name.lowercased())
            return ":" + name
        }
    }

    private func source(_ table: SourceSchema.Table, _ columns: [String]) -> String {
        columns.map { "\(sql(table.name)).\(sql($0))" }.joined(separator: ", ")
    }

    private func condition(_ columns: [String], _ parameters: [String], of prefix: String = "") -> String {
        zip(columns, parameters).map { "\(prefix)\(sql($0)) = \($1)" }.joined(separator: " AND ")
    }

    /// The columns by which a row is told: the primary key, or the rowid.
    private func identity(_ table: SourceSchema.Table) -> [String]? {
        if !table.key.isEmpty { return table.key }
        return table.rowidName.map { [$0] }
    }

    private func reads(_ table: SourceSchema.Table) -> [Proposal] {
        var all: [Proposal] = []
        let name = sql(table.name)
        func pointRead(_ columns: [String], _ title: String, weight: Int) {
            let names = parameters(columns)
            all.append(
                Proposal(
                    name: title,
                    text: """
                        -- name: \(title)
                        -- weight: \(weight)
                        -- \(names.joined(separator: ", ")) = sample(\(source(table, columns)))
                        SELECT * FROM \(name) WHERE \(condition(columns, names));

                        """))
        }
        guard let key = identity(table) else { return [] }
        pointRead(key, "\(table.name) by key", weight: 20)
        for index in table.indexes where !index.isPartial {
            let columns = index.columns.compactMap { $0 }
            guard columns.count == index.columns.count, let first = columns.first else { continue }
            if index.isUnique && index.origin != "pk" {
                pointRead(columns, "\(table.name) by \(columns.joined(separator: ", "))", weight: 10)
            }
            guard !index.isUnique else { continue }
            let title = "\(table.name) through \(index.name)"
            let order = (columns.dropFirst() + key).map(sql).joined(separator: ", ")
            if columns.count > 1 || isReference(first, table) {
                let parameter = parameters([first])[0]
                all.append(
                    Proposal(
                        name: title,
                        text: """
                            -- name: \(title)
                            -- weight: 10
                            -- \(parameter) = sample(\(source(table, [first])))
                            SELECT * FROM \(name) WHERE \(sql(first)) = \(parameter) ORDER BY \(order) LIMIT 50;

                            """))
            } else {
                let fraction = min(1, max(0.0001, 50 / Double(table.rows)))
                let number = String(format: "%.4f", fraction)
                all.append(
                    Proposal(
                        name: title,
                        text: """
                            -- name: \(title)
                            -- weight: 10
                            -- :low, :high = range(\(source(table, [first])), \(number))
                            SELECT * FROM \(name) WHERE \(sql(first)) BETWEEN :low AND :high
                            ORDER BY \(([first] + key).map(sql).joined(separator: ", ")) LIMIT 50;

                            """))
            }
        }
        all.append(
            Proposal(
                name: "count \(table.name)",
                text: """
                    -- name: count \(table.name)
                    SELECT count(*) FROM \(name);

                    """))
        return all
    }

    private func isReference(_ column: String, _ table: SourceSchema.Table) -> Bool {
        table.foreignKeys.contains { $0.columns.first?.lowercased() == column.lowercased() }
    }

    private func joins(_ table: SourceSchema.Table) -> [Proposal] {
        table.foreignKeys.compactMap { reference in
            guard let parent = schema.table(reference.parent), parent.rows > 0, let key = identity(table) else {
                return nil
            }
            let parentColumns = reference.parentColumns.isEmpty ? parent.key : reference.parentColumns
            guard parentColumns.count == reference.columns.count, parent.name != table.name else { return nil }
            let (child, above) = (sql(table.name), sql(parent.name))
            let on = zip(reference.columns, parentColumns).map { "\(above).\(sql($1)) = \(child).\(sql($0))" }
                .joined(separator: " AND ")
            let isIndexed = table.indexes.contains { index in
                !index.isPartial && index.columns.first??.lowercased() == reference.columns[0].lowercased()
            }
            // Without an index each parent would be looked for through all of the children: the other way round, then.
            let (title, from, columns): (String, SourceSchema.Table, [String]) =
                isIndexed
                ? ("\(table.name) of a \(parent.name)", parent, parentColumns)
                : ("\(table.name) with its \(parent.name)", table, key)
            let names = parameters(columns)
            return Proposal(
                name: title,
                text: """
                    -- name: \(title)
                    -- weight: 5
                    -- \(names.joined(separator: ", ")) = sample(\(source(from, columns)))
                    SELECT \(child).*, \(above).* FROM \(child) JOIN \(above) ON \(on)
                    WHERE \(condition(columns, names, of: sql(from.name) + "."))
                    ORDER BY \(key.map { "\(child).\(sql($0))" }.joined(separator: ", ")) LIMIT 50;

                    """)
        }
    }

    // MARK: Writes

    /// Inserting copies of rows under new keys, changing one column of a row, deleting: each in a transaction.
    private func writes(_ table: SourceSchema.Table) -> [Proposal] {
        guard let key = identity(table) else { return [] }
        var all: [Proposal] = []
        let name = sql(table.name)
        if let insertion = insertion(table) { all.append(insertion) }

        let unique = Set((table.indexes.filter(\.isUnique).flatMap(\.columns)).compactMap { $0?.lowercased() })
        let referring = Set(table.foreignKeys.flatMap(\.columns).map { $0.lowercased() })
        let changed = table.storedColumns.first { column in
            column.keyPlace == 0 && !unique.contains(column.name.lowercased())
                && !referring.contains(column.name.lowercased())
        }
        if let changed {
            let names = parameters(key)
            let value = parameters([changed.name], suffix: "_new")[0]
            all.append(
                Proposal(
                    name: "change \(table.name)",
                    text: """
                        -- name: change \(table.name)
                        -- weight: 5
                        -- transaction:
                        -- \(names.joined(separator: ", ")) = sample(\(source(table, key)))
                        -- \(value) = sample(\(source(table, [changed.name])))
                        -- times: 10
                        UPDATE \(name) SET \(sql(changed.name)) = \(value) WHERE \(condition(key, names));
                        -- end

                        """))
        }
        let isReferred = schema.tables.contains { other in
            other.foreignKeys.contains { $0.parent.lowercased() == table.name.lowercased() }
        }
        if !isReferred {
            let names = parameters(key)
            all.append(
                Proposal(
                    name: "delete \(table.name)",
                    text: """
                        -- name: delete \(table.name)
                        -- transaction:
                        -- \(names.joined(separator: ", ")) = sample(\(source(table, key)))
                        DELETE FROM \(name) WHERE \(condition(key, names));
                        -- end

                        """))
        }
        return all
    }

    /// New rows are copies of rows that are there, with fresh values where they must differ.
    private func insertion(_ table: SourceSchema.Table) -> Proposal? {
        var fresh: [String: String] = [:]
        let sets = [table.key] + table.indexes.filter(\.isUnique).map { $0.columns.compactMap { $0 } }
        for columns in sets where !columns.isEmpty {
            if columns.contains(where: { fresh[$0] != nil }) { continue }
            // One new value makes the whole key new; a column that refers to another table must not be made up.
            let free = columns.filter { !isReferring($0, table) }
            guard let column = free.first.flatMap(table.column) else { continue }
            if let alias = table.rowidAlias, alias == column.name {
                fresh[column.name] = "next(\(source(table, [column.name])))"
            } else {
                fresh[column.name] =
                    isNumeric(column.declaredType)
                    ? "next(\(source(table, [column.name])))"
                    : column.declaredType.uppercased().contains("BLOB")
                        ? "blob(16)" : "text(16)"
            }
        }
        let copied = table.storedColumns.map(\.name).filter { fresh[$0] == nil }
        let columns = copied + table.storedColumns.map(\.name).filter { fresh[$0] != nil }
        guard !columns.isEmpty else { return nil }
        let names = parameters(columns)
        var lines = ["-- name: insert \(table.name)", "-- weight: 5", "-- transaction:"]
        if !copied.isEmpty {
            lines.append("-- \(names.prefix(copied.count).joined(separator: ", ")) = sample(\(source(table, copied)))")
        }
        for (column, parameter) in zip(columns, names).dropFirst(copied.count) {
            lines.append("-- \(parameter) = \(fresh[column] ?? "")")
        }
        lines.append("-- times: 10")
        lines.append(
            "INSERT INTO \(sql(table.name)) (\(columns.map(sql).joined(separator: ", "))) "
                + "VALUES (\(names.joined(separator: ", ")));")
        lines.append("-- end")
        return Proposal(name: "insert \(table.name)", text: lines.joined(separator: "\n") + "\n")
    }

    private func isReferring(_ column: String, _ table: SourceSchema.Table) -> Bool {
        table.foreignKeys.contains { $0.columns.contains { $0.lowercased() == column.lowercased() } }
    }

    private func isNumeric(_ type: String) -> Bool {
        let type = type.uppercased()
        if type.contains("INT") { return true }
        if ["CHAR", "CLOB", "TEXT", "BLOB"].contains(where: { type.contains($0) }) || type.isEmpty { return false }
        return true
    }
}
