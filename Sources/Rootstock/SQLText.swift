/// What has to be known of SQL text without running it. Pure functions over bytes.
package enum SQLText {
    package typealias Bytes = UnsafeBufferPointer<CChar>

    /// Whether `text` holds nothing that runs: blanks, comments and semicolons only.
    static func isBlank(_ text: Bytes) -> Bool {
        firstWord(text) == text.count
    }

    /// The first word of `text` in capitals: `SELECT`, `CREATE`. Empty if it starts with anything but a letter.
    static func keyword(_ text: Bytes) -> String {
        let letters = text[firstWord(text)...].lazy.map { UInt8(bitPattern: $0) }
            .prefix { (0x41...0x5a).contains($0 & 0xdf) }
        return String(decoding: letters.map { $0 & 0xdf }, as: UTF8.self)
    }

    /// Whether `text` is a query, told by its first word.
    static func isQuery(_ text: Bytes) -> Bool {
        ["SELECT", "VALUES"].contains(keyword(text))
    }

    /// Whether `text` is a query, or changes rows.
    static func isQueryOrChange(_ text: Bytes) -> Bool {
        ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "VALUES", "WITH"].contains(keyword(text))
    }

    /// Whether `text` can make a name mean another table.
    static func changesSchema(_ text: Bytes) -> Bool {
        ["CREATE", "DROP", "ALTER", "ATTACH", "DETACH"].contains(keyword(text))
    }

    /// Where the first thing that is no blank, comment or semicolon stands.
    package static func firstWord(_ text: Bytes) -> Int {
        var index = 0
        func byte(_ offset: Int) -> UInt8 {
            index + offset < text.count ? UInt8(bitPattern: text[index + offset]) : 0
        }
        while index < text.count {
            switch (byte(0), byte(1)) {
            case (0x20, _), (0x09...0x0d, _), (UInt8(ascii: ";"), _):
                index += 1
            case (0xef, 0xbb) where byte(2) == 0xbf:
                index += 3  // to SQLite a byte order mark is blank
            case (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while index < text.count, byte(0) != 0x0a { index += 1 }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                index += 2
                // As in SQLite, a comment that is not closed ends with the text.
                while index < text.count, (byte(0), byte(1)) != (UInt8(ascii: "*"), UInt8(ascii: "/")) { index += 1 }
                index = min(index + 2, text.count)
            default:
                return index
            }
        }
        return index
    }

    /// Whether the statement is one that returns rows, as SQLite would prepare it on tables of its own.
    static func returnsRows(_ text: Bytes) -> Bool {
        switch keyword(text) {
        case "ALTER", "ANALYZE", "CREATE", "DROP", "REINDEX", "VACUUM": return false
        case "INSERT", "REPLACE", "UPDATE", "DELETE": return words(of: text).contains("RETURNING")
        case "WITH":
            let words = words(of: text)
            return words.contains("RETURNING") || words.isDisjoint(with: ["INSERT", "UPDATE", "DELETE", "INTO"])
        default: return true
        }
    }

    /// The words of `text` in capitals, without what stands in quotes and comments.
    private static func words(of text: Bytes) -> Set<String> {
        var words: Set<String> = []
        var rest = text
        while true {
            rest = UnsafeBufferPointer(rebasing: rest[firstWord(rest)...])
            guard let first = rest.first.map({ UInt8(bitPattern: $0) }) else { return words }
            var length = 1
            if let quote = quotes[first] {
                length = 2 + rest.dropFirst().prefix { UInt8(bitPattern: $0) != quote }.count
            } else {
                // Whole: `update_time` is no UPDATE, and the parameter `:returning` no RETURNING.
                length += rest.dropFirst().prefix { isNamePart(UInt8(bitPattern: $0)) }.count
                if isNamePart(first) {
                    let word = rest.prefix(length).lazy.map { UInt8(bitPattern: $0) }
                    words.insert(
                        String(decoding: word.map { (0x61...0x7a).contains($0) ? $0 & 0xdf : $0 }, as: UTF8.self))
                } else if !parameterMarks.contains(first) {
                    length = 1
                }
            }
            rest = UnsafeBufferPointer(rebasing: rest.dropFirst(length))
        }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }

    private static let parameterMarks = Set(":@#?".utf8)

    /// What ends a quotation, by what begins it. A doubled quote ends one and begins the next, which comes to the same.
    private static let quotes = Dictionary(
        uniqueKeysWithValues: zip("'\"`[".utf8, "'\"`]".utf8))

    static func string(_ text: some Sequence<CChar>) -> String {
        String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
