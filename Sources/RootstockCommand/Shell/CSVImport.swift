import CommandSupport
import Foundation
import Rootstock

/// Rows from a CSV file (RFC 4180), in one transaction: all of them or none.
struct CSVImport {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// - Returns: how many rows were inserted.
    func read(_ file: String, into table: String) throws -> Int {
        guard let data = FileManager.default.contents(atPath: file) else { throw CommandFailure("cannot read \(file)") }
        var records = Self.records(of: data)
        let quoted = Self.quote(table)
        let isKnown = try !connection.query("SELECT 1 FROM pragma_table_info(?)", [table]).isEmpty
        var count = 0
        try connection.execute("SAVEPOINT csv_import")
        do {
            if !isKnown {
                guard let names = records.next() else { throw CommandFailure("\(file) is empty") }
                let columns = names.fields.map { Self.quote($0) + " TEXT" }.joined(separator: ", ")
                try connection.execute("CREATE TABLE \(quoted) (\(columns))")
            }
            let width = try connection.query("SELECT 1 FROM pragma_table_info(?)", [table]).count
            let places = Array(repeating: "?", count: width).joined(separator: ",")
            let statement = try connection.prepare("INSERT INTO \(quoted) VALUES (\(places))")
            while let record = records.next() {
                guard record.fields.count == width else {
                    throw CommandFailure(
                        "\(file):\(record.line): \(record.fields.count) fields, and \(table) has \(width) columns; nothing was imported"
                    )
                }
                for (index, field) in record.fields.enumerated() { try statement.bind(field, at: index + 1) }
                _ = try statement.step()
                statement.reset()
                count += 1
            }
            try connection.execute("RELEASE csv_import")
        } catch {
            try? connection.execute("ROLLBACK TO csv_import")
            try? connection.execute("RELEASE csv_import")
            throw error
        }
        return count
    }

    private static func quote(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    struct Records: IteratorProtocol {
        fileprivate var bytes: Data
        fileprivate var position: Data.Index
        fileprivate var line = 0

        mutating func next() -> (fields: [String], line: Int)? {
            guard position < bytes.endIndex else { return nil }
            var fields: [String] = []
            var field: [UInt8] = []
            var isQuoted = false
            line += 1
            let first = line
            while position < bytes.endIndex {
                let byte = bytes[position]
                position = bytes.index(after: position)
                if isQuoted {
                    if byte != UInt8(ascii: "\"") {
                        if byte == UInt8(ascii: "\n") { line += 1 }
                        field.append(byte)
                    } else if position < bytes.endIndex, bytes[position] == byte {
                        field.append(byte)
                        position = bytes.index(after: position)
                    } else {
                        isQuoted = false
                    }
                } else if byte == UInt8(ascii: "\""), field.isEmpty {
                    isQuoted = true
                } else if byte == UInt8(ascii: ",") {
                    fields.append(String(decoding: field, as: UTF8.self))
                    field = []
                } else if byte == UInt8(ascii: "\n") {
                    break
                } else if byte != UInt8(ascii: "\r") {
                    field.append(byte)
                }
            }
            fields.append(String(decoding: field, as: UTF8.self))
            return (fields, first)
        }
    }

    static func records(of data: Data) -> Records { Records(bytes: data, position: data.startIndex) }
}
