// CSVReader.swift - the records of a CSV file (RFC 4180), read piece by piece: a file may be larger than memory.

import CommandSupport
import Foundation

struct CSVReader {
    struct Record {
        var fields: [String]
        /// The line of the file on which the record begins, from 1.
        var line: Int
    }

    private let file: FileHandle
    private var piece: [UInt8] = []
    private var position = 0
    private var line = 0
    private static let pieceSize = 1 << 20

    init(path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
            let file = FileHandle(forReadingAtPath: path)
        else { throw CommandFailure("cannot read \(path)") }
        self.file = file
        // Spreadsheets mark UTF-8 by three bytes, which belong to no field.
        if try peek() == 0xef, piece.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    private mutating func peek() throws -> UInt8? {
        if position == piece.count {
            piece = try file.read(upToCount: Self.pieceSize).map { Array($0) } ?? []
            position = 0
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
                    isQuoted = false
                }
            } else if byte == UInt8(ascii: "\""), field.isEmpty {
                isQuoted = true
            } else if byte == UInt8(ascii: ",") {
                record.fields.append(try text(field, of: record))
                field.removeAll(keepingCapacity: true)
            } else if byte == UInt8(ascii: "\n") {
                break
            } else if byte == UInt8(ascii: "\r"), try peek().map({ $0 == UInt8(ascii: "\n") }) ?? true {
                continue
            } else {
                field.append(byte)
            }
        }
        guard !isQuoted else { throw CommandFailure("line \(record.line): a quoted field has no end") }
        record.fields.append(try text(field, of: record))
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
