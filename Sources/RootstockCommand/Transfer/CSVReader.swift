// CSVReader.swift - the records of a CSV file (RFC 4180), read piece by piece: a file may be larger than memory.

import CommandSupport
import Foundation

struct CSVReader {
    struct Record {
        var fields: [String]
        /// The line of the file on which the record begins, from 1.
        var line: Int
    }

    /// What ends fields and records.
    struct Form {
        var separator = UInt8(ascii: ",")
        var end = UInt8(ascii: "\n")
        /// Whether a field in double quotes may hold separators and ends.
        var hasQuotes = true

        /// Fields and records ended by the characters that ASCII has for them.
        static let ascii = Form(separator: 0x1f, end: 0x1e, hasQuotes: false)
    }

    private let form: Form
    private let file: CommandInput
    private var isAtEnd = false
    private var piece: [UInt8] = []
    private var position = 0
    private var line = 0

    /// - Parameter path: a file, or `|COMMAND`.
    init(path: String, form: Form = Form()) throws {
        self.form = form
        file = try CommandInput(path: path)
        // Spreadsheets mark UTF-8 by three bytes, which belong to no field.
        if try peek() == 0xef, piece.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    private mutating func peek() throws -> UInt8? {
        if position == piece.count, !isAtEnd {
            piece = try file.read()
            position = 0
            isAtEnd = piece.isEmpty
        }
        return position < piece.count ? piece[position] : nil
    }

    /// The next record, or `nil` after the last one. An empty line is a record of one empty field.
    mutating func next() throws -> Record? {
        guard try peek() != nil else { return nil }
        line += 1
        var record = Record(fields: [], line: line)
        var field: [UInt8] = []
        var isQuoted = false
        var wasQuoted = false
        func endField() throws {
            record.fields.append(try text(field, of: record))
            field.removeAll(keepingCapacity: true)
            wasQuoted = false
        }
        while let byte = try peek() {
            position += 1
            if isQuoted {
                if byte != UInt8(ascii: "\"") {
                    if byte == UInt8(ascii: "\n") { line += 1 }
                    field.append(byte)
                } else if try peek() == byte {
                    field.append(byte)
                    position += 1
                } else {
                    (isQuoted, wasQuoted) = (false, true)
                }
            } else if byte == form.separator {
                try endField()
            } else if byte == form.end {
                break
            } else if byte == UInt8(ascii: "\r"), form.hasQuotes, try peek().map({ $0 == form.end }) ?? wasQuoted {
                // Before the end of a record, and there alone: as in the sqlite3 shell.
                continue
            } else if wasQuoted {
                throw CommandFailure("line \(line): field \(record.fields.count + 1) goes on behind its closing quote")
            } else if byte == UInt8(ascii: "\""), form.hasQuotes, field.isEmpty {
                isQuoted = true
            } else {
                field.append(byte)
            }
        }
        guard !isQuoted else { throw CommandFailure("line \(record.line): a quoted field has no end") }
        try endField()
        return record
    }

    private func text(_ field: [UInt8], of record: Record) throws -> String {
        guard let text = String(validating: field, as: UTF8.self) else {
            throw CommandFailure(
                "line \(record.line): field \(record.fields.count + 1) is no UTF-8; 'iconv -t utf-8' converts a file")
        }
        return text
    }
}
