import CSQLite
import CommandSupport
import Foundation
import Rootstock

/// The lines of a script, read as they are asked for: a pipe's statements run while its writer still writes.
final class ScriptLines {
    private var bytes: [UInt8]
    private var position = 0
    /// What the lines come from; `nil` when all of it is in `bytes`.
    private var source: CommandInput?
    /// Whether what was read stays, for `rewind`.
    private var keepsAll = false
    /// The number of the line that was given last.
    private(set) var number = 0

    init(text: String) { bytes = Array(text.utf8) }

    /// Standard input.
    init() { (bytes, source) = ([], CommandInput()) }

    /// A file, or what `|COMMAND` prints.
    init(path: String) throws { (bytes, source) = ([], try CommandInput(path: path)) }

    /// Whether more than one line is known.
    var isLong: Bool { number > 1 || position < bytes.count }

    /// Whether the next line has yet to be read, which may take as long as its writer does.
    var isWaiting: Bool { source != nil && !bytes[position...].contains(UInt8(ascii: "\n")) }

    func next() throws -> String? {
        let newline = UInt8(ascii: "\n")
        var searched = position
        while true {
            if let end = bytes[searched...].firstIndex(of: newline) { return try take(to: end, skipping: 1) }
            searched = bytes.count
            guard let piece = try source?.read() else { break }
            guard !piece.isEmpty else {
                source = nil
                break
            }
            if !keepsAll {
                bytes.removeFirst(position)
                searched -= position
                position = 0
            }
            bytes += piece
        }
        return position < bytes.count ? try take(to: bytes.count, skipping: 0) : nil
    }

    private func take(to end: Int, skipping count: Int) throws -> String {
        number += 1
        // SQLite's text would end there, and the rest of the line be lost.
        guard !bytes[position..<end].contains(0) else {
            throw CommandFailure("line \(number) holds a NUL byte: remove it, or write char(0)")
        }
        // Only bytes that are UTF-8 have a text: a changed one would be stored.
        guard let line = String(validating: bytes[position..<end], as: UTF8.self) else {
            throw CommandFailure("line \(number) is no UTF-8; 'iconv -t utf-8' converts a file")
        }
        position = end + count
        return line
    }

    /// Reads ahead: `body` may take lines, and the next one is the first again.
    func lookingAhead(_ body: (ScriptLines) throws -> Void) rethrows {
        keepsAll = true
        defer { (keepsAll, position, number) = (false, 0, 0) }
        try body(self)
    }

    /// An error of the statement at `position` in `sql`, whose first line has that number; in a script of several lines it is named.
    func failure(_ error: any Error, in sql: String, at position: Int, firstLine: Int) -> CommandFailure {
        let text = Array(sql.utf8)
        let start =
            position
            + text[position...].withUnsafeBytes { SQLTokens.beginning(of: $0.bindMemory(to: CChar.self)) }
        let line = firstLine + text[..<start].count { $0 == UInt8(ascii: "\n") }
        return named(CommandFailure(error), line: line)
    }

    /// A failure with its line, where there are several.
    func named(_ failure: CommandFailure, line: Int) -> CommandFailure {
        isLong ? CommandFailure("line \(line): \(failure)") : failure
    }
}

/// Lines put together to statements: a line that begins with a dot between them is a command.
struct Pieces {
    enum Piece {
        case nothing
        case command([String])
        case statements(String, firstLine: Int)
    }

    private var text = ""
    private var firstLine = 1

    var isEmpty: Bool { text.isEmpty }

    mutating func add(_ line: String, line number: Int) -> Piece {
        if isEmpty {
            if line.hasPrefix(".") { return .command(Self.words(of: line)) }
            if line.hasPrefix("#") { return .nothing }
            firstLine = number
        }
        text += line + "\n"
        if Self.isBlank(text) { text = "" }
        guard line.contains(";"), sqlite3_complete(text) != 0 else { return .nothing }
        return rest()
    }

    /// What there is, whole or not.
    mutating func rest() -> Piece {
        defer { text = "" }
        return isEmpty ? .nothing : .statements(text, firstLine: firstLine)
    }

    /// Whether there are blanks and whole comments only.
    private static func isBlank(_ text: String) -> Bool {
        var rest = text.utf8[...]
        while let byte = rest.first {
            if byte == 0x20 || (0x09...0x0d).contains(byte) {
                rest.removeFirst()
            } else if rest.starts(with: "--".utf8) {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if rest.starts(with: "/*".utf8), let end = rest.dropFirst(2).firstRange(of: Array("*/".utf8)) {
                rest = rest[end.upperBound...]
            } else {
                return false
            }
        }
        return true
    }

    /// Words between blanks. Quotes keep blanks together; between double quotes \t, \n, \r, \", \\ and \ooo stand for a byte.
    static func words(of line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            if let open = quote {
                if character == open {
                    quote = nil
                } else if character == "\\", open == "\"" {
                    word?.append(escaped(&rest))
                } else {
                    word?.append(character)
                }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    /// The character behind a backslash, or the one that it stands for.
    private static func escaped(_ rest: inout Substring) -> Character {
        let digits = rest.prefix(3).prefix { ("0"..."7").contains($0) }
        if !digits.isEmpty, let code = UInt8(digits, radix: 8) {
            rest.removeFirst(digits.count)
            return Character(Unicode.Scalar(code))
        }
        guard let character = rest.popFirst() else { return "\\" }
        return ["a": "\u{07}", "b": "\u{08}", "f": "\u{0c}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{0b}"][character]
            ?? character
    }
}
