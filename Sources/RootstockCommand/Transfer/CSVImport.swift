import CommandSupport
import Foundation
import OwnData
import Rootstock

/// Rows from a CSV file, in one transaction: all of them or none.
struct CSVImport {
    let connection: Connection
    let form: CSVReader.Form

    init(_ connection: Connection, form: CSVReader.Form = CSVReader.Form()) {
        (self.connection, self.form) = (connection, form)
    }

    /// Reads the rows into a table; a new one is made with the names of the file's first record, all columns TEXT.
    ///
    /// - Parameter skip: records at the start of the file that are no rows.
    /// - Parameter beforeRow: is asked before each row, and ends the import by throwing.
    /// - Returns: how many rows were inserted.
    func read(
        _ file: String, into table: String, skip: Int = 0, beforeRow: () throws -> Void = {},
        progress: (String) -> Void = { _ in }
    ) throws -> Int {
        var reader = try CSVReader(path: file, form: form)
        let nothing = "nothing was imported"
        func next() throws -> CSVReader.Record? {
            do { return try reader.next() } catch { throw CommandFailure("\(file): \(error); \(nothing)") }
        }
        for _ in 0..<skip { _ = try next() }
        let name = SQL.quoted(table)
        var meter = RowMeter("importing \(table)")
        var count = 0
        try connection.execute("SAVEPOINT csv_import")
        do {
            if try columns(of: table) == 0 {
                guard let names = try next() else { throw CommandFailure("\(file) is empty: it names no columns") }
                let columns = names.fields.map { SQL.quoted($0) + " TEXT" }.joined(separator: ", ")
                do {
                    try connection.execute("CREATE TABLE \(name) (\(columns))")
                } catch {
                    throw CommandFailure("\(file):\(names.line): \(error.message); \(nothing)")
                }
            }
            let width = try columns(of: table)
            let places = Array(repeating: "?", count: width).joined(separator: ",")
            let statement = try connection.prepare("INSERT INTO \(name) VALUES (\(places))")
            while let record = try next() {
                try beforeRow()
                guard record.fields.count == width else {
                    let (fields, columns) = (counted(record.fields.count, "field"), counted(width, "column"))
                    throw CommandFailure("\(file):\(record.line): \(fields), and \(table) has \(columns); \(nothing)")
                }
                for (index, field) in record.fields.enumerated() { try statement.bind(field, at: index + 1) }
                do {
                    try statement.run()
                } catch {
                    throw CommandFailure("\(file):\(record.line): \(error.message); \(nothing)")
                }
                count += 1
                if let line = meter.line(after: count) { progress(line) }
            }
            try connection.execute("RELEASE csv_import")
        } catch {
            try? connection.execute("ROLLBACK TO csv_import")
            try? connection.execute("RELEASE csv_import")
            throw error
        }
        return count
    }

    private func columns(of table: String) throws -> Int {
        try connection.query("SELECT 1 FROM pragma_table_info(?)", [table]).count
    }
}
