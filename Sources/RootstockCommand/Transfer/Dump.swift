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
        // A virtual table's rows are those of the tables that its module keeps.
        var hasVirtual = false
        for row in tables {
            guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
            if sql.hasPrefix("CREATE VIRTUAL TABLE") {
                if !hasVirtual { try output.write("PRAGMA writable_schema=ON;\n") }
                hasVirtual = true
                let quoted = [name, name, sql].map(SQLLiteral.text)
                try output.write(
                    ("INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table',\(quoted[0]),\(quoted[1]),0,"
                        + "\(quoted[2]));\n").utf8)
                continue
            }
            switch name {
            case "sqlite_sequence": try output.write("DELETE FROM sqlite_sequence;\n")
            case "sqlite_stat1": try output.write("ANALYZE sqlite_schema;\n")
            case _ where name.hasPrefix("sqlite_"): continue
            default: try output.write("\(Self.again(sql));\n".utf8)
            }
            try writeRows(of: name, to: output)
        }
        let others = try connection.query(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index', 'trigger', 'view') "
                + "AND (?1 IS NULL OR tbl_name LIKE ?1) ORDER BY rowid", [pattern])
        for case .text(let sql) in others.map({ $0[0] }) { try output.write("\(sql);\n".utf8) }
        if hasVirtual { try output.write("PRAGMA writable_schema=OFF;\n") }
        try output.write("COMMIT;\n")
    }

    /// A CREATE as the shell writes it: a table whose name is quoted may be there already.
    static func again(_ sql: String) -> String {
        let isQuoted = sql.hasPrefix("CREATE TABLE \"") || sql.hasPrefix("CREATE TABLE '")
        return isQuoted ? "CREATE TABLE IF NOT EXISTS" + sql.dropFirst("CREATE TABLE".count) : sql
    }

    private func writeRows(of name: String, to output: StandardOutput) throws {
        let columns = try connection.query("SELECT name FROM pragma_table_info(?)", [name]).compactMap { row in
            if case .text(let column) = row[0] { SQL.quoted(column) } else { nil }
        }
        let statement = try connection.prepare("SELECT \(columns.joined(separator: ",")) FROM \(SQL.quoted(name))")
        try InsertPrinter(format: RowFormat(table: name)).print(statement, to: output)
    }
}
