import CSQLite
import CommandSupport
import Rootstock

/// Values and names as SQL text that gives them back exactly, in the sqlite3 shell's way of writing them.
enum SQLLiteral {
    /// A name, quoted only where it has to be.
    static func name(_ name: String) -> String {
        func isWord(_ byte: UInt8) -> Bool {
            switch byte | 0x20 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): true
            default: byte == UInt8(ascii: "_")
            }
        }
        let bytes = name.utf8
        let isPlain =
            bytes.first.map(isWord) ?? false
            && bytes.allSatisfy { isWord($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && sqlite3_keyword_check(name, Int32(bytes.count)) == 0
        return isPlain ? name : SQL.quoted(name)
    }

    /// A text without a NUL.
    static func text(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    /// A column of the statement's row.
    ///
    /// - Parameter escapesLines: write a line break as a call of `replace`, so that each row stays on one line.
    static func value(of statement: Statement, at index: Int, escapesLines: Bool = true) -> [UInt8] {
        switch statement.value(at: index) {
        case .null: return Array("NULL".utf8)
        case .integer(let integer): return Array(String(integer).utf8)
        case .real(let real): return Array(real.sqlText(digits: 20).utf8)
        case .text: return statement.withUnsafeText(at: index) { text(Array($0), escapesLines) }
        case .blob(let bytes): return blob(bytes)
        }
    }

    private static func blob(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return Array("X'".utf8) + bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] } + Array("'".utf8)
    }

    /// The bytes may be no UTF-8, and stay as they are.
    private static func text(_ bytes: [UInt8], _ escapesLines: Bool) -> [UInt8] {
        // SQL text ends at a NUL.
        guard !bytes.contains(0) else { return Array("CAST(".utf8) + blob(bytes) + Array(" AS TEXT)".utf8) }
        let breaks: [(UInt8, [String], Int)] =
            escapesLines
            ? [(UInt8(ascii: "\n"), ["\\n", "\\012"], 10), (UInt8(ascii: "\r"), ["\\r", "\\015"], 13)]
                .filter { bytes.contains($0.0) } : []
        var marks: [UInt8: [UInt8]] = [:]
        var (start, end) = ("", "")
        for (byte, spellings, code) in breaks {
            let mark = unused(in: bytes, spellings)
            marks[byte] = Array(mark.utf8)
            start += "replace("
            end = ",'\(mark)',char(\(code)))" + end
        }
        var result = Array((start + "'").utf8)
        for byte in bytes {
            if let mark = marks[byte] {
                result += mark
            } else {
                result.append(byte)
                if byte == UInt8(ascii: "'") { result.append(byte) }
            }
        }
        return result + Array(("'" + end).utf8)
    }

    /// The first spelling that the text does not hold.
    private static func unused(in bytes: [UInt8], _ spellings: [String]) -> String {
        let numbered = (0...).lazy.map { "(\(spellings[0])\($0))" }
        if let plain = spellings.first(where: { !holds(bytes, $0) }) { return plain }
        return numbered.first { !holds(bytes, $0) }!
    }

    private static func holds(_ bytes: [UInt8], _ word: String) -> Bool {
        let word = Array(word.utf8)
        return bytes.indices.contains { bytes[$0] == word[0] && bytes[$0...].starts(with: word) }
    }
}
