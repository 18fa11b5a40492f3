import CSQLite
import CommandSupport
import Rootstock

/// A store as SQL text, which `sqlite3` and `rootstock sql` run: what the sqlite3 shell's .dump prints for the same database.
struct Dump {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// - Parameter table: a pattern for LIKE, or `nil` for everything.
    func write(to output: StandardOutput, table: String? = nil) throws {
        try output.write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")
        // One snapshot for all.
        let isInTransaction = connection.isInTransaction
        if !isInTransaction { try connection.execute("BEGIN") }
        defer { if !isInTransaction { try? connection.execute("ROLLBACK") } }
        let pattern = table
        let tables = try connection.query(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL AND (?1 IS NULL OR tbl_name LIKE ?1) "
                + "ORDER BY tbl_name = 'sqlite_sequence', rowid", [pattern])
        for row in tables {
            guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
            switch name {
            case "sqlite_sequence": try output.write("DELETE FROM sqlite_sequence;\n")
            case "sqlite_stat1": try output.write("ANALYZE sqlite_schema;\n")
            case _ where name.hasPrefix("sqlite_"): continue
            default: try output.write("\(sql);\n".utf8)
            }
            try writeRows(of: name, to: output)
        }
        let others = try connection.query(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index', 'trigger', 'view') "
                + "AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY type COLLATE NOCASE DESC", [pattern])
        for case .text(let sql) in others.map({ $0[0] }) { try output.write("\(sql);\n".utf8) }
        try output.write("COMMIT;\n")
    }

    private func writeRows(of name: String, to output: StandardOutput) throws {
        let quoted = SQL.quoted(name)
        let columns = try connection.query("SELECT name FROM pragma_table_info(?)", [name]).compactMap { row in
            if case .text(let column) = row[0] { column } else { nil }
        }
        // A name is quoted only where it has to be, as the shell does it.
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        let isKeyword = sqlite3_keyword_check(name, Int32(name.utf8.count)) != 0
        let target = isPlain && !isKeyword && !(name.first?.isNumber ?? true) ? name : quoted
        let values = columns.map { column in
            let name = SQL.quoted(column)
            // quote() has no text for an infinite number that SQL reads.
            return "CASE \(name) WHEN 9e999 THEN '1e999' WHEN -9e999 THEN '-1e999' ELSE quote(\(name)) END"
        }
        let statement = try connection.prepare("SELECT \(values.joined(separator: "||','||")) FROM \(quoted)")
        while try statement.step() {
            try output.write("INSERT INTO \(target) VALUES(".utf8)
            try output.write(statement.shellText(at: 0))
            try output.write(");\n")
        }
    }
}
