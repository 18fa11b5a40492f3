// What a copy and a workload file have to know of SQL text: where statements and comments begin and end, and which words and parameters
// stand outside of quotes.
//
// Invariant: nothing inside quotes or comments is ever taken for a word, a parameter or the end of a statement. Everything
// else about the text is for SQLite to judge.

import Foundation

package enum SQLScanner {
    package enum Piece: Equatable {
        /// A `--` comment without its dashes. `followsStatement`: it stands on the line on which a statement ended.
        case comment(String, line: Int, followsStatement: Bool)
        case statement(String, line: Int)
        case unfinished(String, line: Int)
    }

    private enum Token: Equatable {
        case word(String)
        case parameter(String)
        case quoted
        case lineComment(String)
        case blockComment
        case semicolon
        case symbol(UInt8)
        case unclosed(String)
    }

    /// Calls `body` for each token with its bytes' range and its line.
    private static func scan(_ bytes: [UInt8], _ body: (Token, Range<Int>, _ line: Int) -> Bool) {
        var index = 0
        var line = 1
        while index < bytes.count {
            let start = index
            let startLine = line
            let byte = bytes[index]
            let following = index + 1 < bytes.count ? bytes[index + 1] : 0
            var token: Token?
            switch byte {
            case 0x0a, 0x20, 0x09, 0x0c, 0x0d:
                index += 1
                if byte == 0x0a { line += 1 }
            case UInt8(ascii: "-") where following == UInt8(ascii: "-"):
                while index < bytes.count, bytes[index] != 0x0a { index += 1 }
                token = .lineComment(text(bytes[start + 2..<index]))
            case UInt8(ascii: "/") where following == UInt8(ascii: "*"):
                index += 2
                while index + 1 < bytes.count, !(bytes[index] == 0x2a && bytes[index + 1] == 0x2f) { index += 1 }
                token = index + 1 < bytes.count ? .blockComment : .unclosed("the comment")
                index = min(index + 2, bytes.count)
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"), UInt8(ascii: "["):
                let end = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
                index += 1
                while index < bytes.count {
                    // Doubled, a quote stands for itself; a bracket does not.
                    if bytes[index] == end {
                        guard byte == end, index + 1 < bytes.count, bytes[index + 1] == end else { break }
                        index += 1
                    }
                    index += 1
                }
                token = index < bytes.count ? .quoted : .unclosed("the quotation")
                index = min(index + 1, bytes.count)
            case UInt8(ascii: ";"):
                index += 1
                token = .semicolon
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"), UInt8(ascii: "?"):
                index += 1
                while index < bytes.count, isWord(bytes[index]) { index += 1 }
                let name = text(bytes[start..<index])
                token = byte == UInt8(ascii: "?") || name.count > 1 ? .parameter(name) : .symbol(byte)
            case _ where isWord(byte):
                while index < bytes.count, isWord(bytes[index]) { index += 1 }
                token = .word(text(bytes[start..<index]).uppercased())
            default:
                index += 1
                token = .symbol(byte)
            }
            if let token {
                for byte in bytes[start..<index] where byte == 0x0a { line += 1 }
                if !body(token, start..<index, startLine) { return }
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x80...: true
        default: false
        }
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    /// The comments and statements of a file, in order. A comment inside a statement comes before it.
    package static func pieces(_ text: String) -> [Piece] {
        let bytes = Array(text.utf8)
        var pieces: [Piece] = []
        var start: (offset: Int, line: Int)?
        var end = 0
        var lineOfLastEnd = 0
        var piecesBeforeEnd = 0
        scan(bytes) { token, range, line in
            switch token {
            case .lineComment(let comment):
                pieces.append(.comment(comment, line: line, followsStatement: start == nil && line == lineOfLastEnd))
            case .blockComment: break
            case .unclosed(let what):
                pieces.append(.unfinished(what, line: line))
                start = nil
                return false
            case .semicolon:
                if let begun = start {
                    pieces.append(.statement(Self.text(bytes[begun.offset..<range.lowerBound]), line: begun.line))
                    lineOfLastEnd = line
                }
                start = nil
            default:
                if start == nil { start = (range.lowerBound, line) }
                end = range.upperBound
                piecesBeforeEnd = pieces.count
            }
            return true
        }
        // The last statement may do without its semicolon; what is said behind it comes behind it.
        if let begun = start {
            pieces.insert(.statement(Self.text(bytes[begun.offset..<end]), line: begun.line), at: piecesBeforeEnd)
        }
        return pieces
    }

    /// The words of a statement in capitals.
    package static func words(_ sql: String) -> [String] {
        var words: [String] = []
        scan(Array(sql.utf8)) { token, _, _ in
            if case .word(let word) = token { words.append(word) }
            return true
        }
        return words
    }

    /// The parameters of a statement, each once.
    package static func parameters(_ sql: String) -> [String] {
        var names: [String] = []
        scan(Array(sql.utf8)) { token, _, _ in
            if case .parameter(let name) = token, !names.contains(name) { names.append(name) }
            return true
        }
        return names
    }

    /// Whether the outermost query says in which order its rows come.
    package static func ordersItsRows(_ sql: String) -> Bool {
        var depth = 0
        var isOrdered = false
        scan(Array(sql.utf8)) { token, _, _ in
            switch token {
            case .symbol(UInt8(ascii: "(")): depth += 1
            case .symbol(UInt8(ascii: ")")): depth -= 1
            case .word("ORDER") where depth == 0: isOrdered = true
            default: break
            }
            return true
        }
        return isOrdered
    }

    /// Whether a name occurs in the text, as a word or in quotes of any kind.
    package static func mentions(_ sql: String, _ name: String) -> Bool {
        let bytes = Array(sql.utf8)
        let sought = name.lowercased()
        var found = false
        scan(bytes) { token, range, _ in
            switch token {
            case .word(let word): found = word.lowercased() == sought
            case .quoted: found = unquoted(text(bytes[range])).lowercased() == sought
            default: break
            }
            return !found
        }
        return found
    }

    /// A quotation without its quotes, doubled ones made single.
    package static func unquoted(_ text: String) -> String {
        guard let first = text.first, "'\"`[".contains(first), text.count >= 2 else { return text }
        let inner = String(text.dropFirst().dropLast())
        return first == "[" ? inner : inner.replacingOccurrences(of: "\(first)\(first)", with: "\(first)")
    }
}
