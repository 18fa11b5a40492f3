// Script.swift - a SQL script cut into statements the way sqlite3_complete does, with the harness's few directives.
//
// A line `-- @reopen` between statements closes the database and opens it again, so that what follows is read from the file.

import CSQLite
import Foundation

package struct Script: Sendable, CustomStringConvertible {
    package enum Step: Equatable, Sendable {
        case statement(String)
        case reopen
    }

    package var name: String
    package var steps: [Step]

    package var description: String { name }

    package init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        try self.init(
            name: url.deletingPathExtension().lastPathComponent, text: String(contentsOf: url, encoding: .utf8))
    }

    package init(name: String, text: String) throws {
        self.name = name
        steps = []
        var pending = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("-- @") {
                guard line == "-- @reopen" else {
                    throw HarnessError(description: "\(name): unknown directive \(line)")
                }
                guard Self.isBlank(pending) else {
                    throw HarnessError(description: "\(name): \(line) inside a statement")
                }
                steps.append(.reopen)
                continue
            }
            // Statements can share a line: try at each semicolon.
            for (index, part) in line.split(separator: ";", omittingEmptySubsequences: false).enumerated() {
                if index > 0 {
                    pending += ";"
                    if sqlite3_complete(pending) != 0 {
                        if !Self.isBlank(pending) {
                            steps.append(.statement(pending.trimmingCharacters(in: .whitespacesAndNewlines)))
                        }
                        pending = ""
                    }
                }
                pending += part
            }
            pending += "\n"
        }
        guard Self.isBlank(pending) else {
            throw HarnessError(description: "\(name): ends inside a statement: \(pending)")
        }
    }

    /// Only comments, blanks and a semicolon.
    private static func isBlank(_ text: String) -> Bool {
        text.split(separator: "\n").allSatisfy { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            return line.isEmpty || line == ";" || line.hasPrefix("--")
        }
    }
}

extension String {
    /// The text with comments, strings, quoted names and parenthesised parts blanked: what is left is the statement's own
    /// skeleton.
    ///
    /// Made byte by byte: it is asked for twice a statement, and by characters it took most of a script's time.
    package var skeleton: String {
        let bytes = Array(utf8)
        var kept: [UInt8] = []
        var depth = 0
        var at = 0
        func follows(_ first: UInt8, _ second: UInt8) -> Bool {
            at + 1 < bytes.count && bytes[at] == first && bytes[at + 1] == second
        }
        while at < bytes.count {
            let byte = bytes[at]
            if follows(UInt8(ascii: "-"), UInt8(ascii: "-")) {
                while at < bytes.count && bytes[at] != UInt8(ascii: "\n") { at += 1 }
            } else if follows(UInt8(ascii: "/"), UInt8(ascii: "*")) {
                at += 2
                while at < bytes.count && !follows(UInt8(ascii: "*"), UInt8(ascii: "/")) { at += 1 }
                at += 2
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "`")
                || byte == UInt8(ascii: "[")
            {
                let close = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
                at += 1
                while at < bytes.count && bytes[at] != close { at += 1 }
                at += 1
                kept.append(UInt8(ascii: "?"))
            } else {
                if byte == UInt8(ascii: "(") { depth += 1 }
                if depth == 0 { kept.append(byte) }
                if byte == UInt8(ascii: ")") { depth -= 1 }
                at += 1
            }
        }
        return String(decoding: kept, as: UTF8.self).uppercased().split { $0.isWhitespace }.joined(separator: " ")
    }

    /// The statement without the comments before it, cut where it is long.
    package var shownStatement: String {
        let lines = split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.drop { $0.hasPrefix("--") || $0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
        return text.count <= 400 ? text : text.prefix(400) + "..."
    }

    /// Whether the order of the statement's rows is promised.
    package var asksForOrder: Bool { skeleton.contains("ORDER BY") || skeleton.hasPrefix("PRAGMA") }

    /// Whether the statement is one after which changes() and last_insert_rowid() mean something.
    package var changesData: Bool {
        let words = skeleton.split(separator: " ")
        guard let first = words.first else { return false }
        if ["INSERT", "REPLACE", "UPDATE", "DELETE"].contains(first) { return true }
        return first == "WITH" && words.contains { ["INSERT", "REPLACE", "UPDATE", "DELETE"].contains($0) }
    }
}
