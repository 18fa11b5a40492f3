import RootstockTable

/// SQL text as tokens, and what they tell of a statement without running it.
///
/// What a token is, the table layer's tokeniser says (`rootstock_token_next`), by SQLite's rules. Blanks and comments are no tokens.
/// Invariant: nothing inside quotes or comments is ever taken for a word, a parameter or the end of a statement.
package struct SQLTokens: Sequence, IteratorProtocol {
    package typealias Bytes = UnsafeBufferPointer<CChar>

    package enum Kind {
        /// A keyword or a name without quotes.
        case word
        /// A name or a string in quotes of any kind.
        case quoted
        case parameter
        /// Punctuation, a number or a blob.
        case other
        /// What SQLite does not know, or quotes that are not closed.
        case illegal
    }

    package struct Token {
        package let kind: Kind
        /// Its bytes in the text.
        package let range: Range<Int>
    }

    private let text: Bytes
    private var position = 0

    package init(_ text: Bytes) { self.text = text }

    package mutating func next() -> Token? {
        guard let base = text.baseAddress else { return nil }
        var rest: UnsafePointer<CChar>? = base + position
        var start: UnsafePointer<CChar>?
        var size = 0
        let type = rootstock_token_next(&rest, base + text.count, &start, &size)
        guard type != ROOTSTOCK_TOKEN_END, let start else { return nil }
        let range = (start - base)..<(start - base + size)
        position = range.upperBound
        let kind: Kind =
            switch type {
            case ROOTSTOCK_TOKEN_WORD: .word
            case ROOTSTOCK_TOKEN_NAME, ROOTSTOCK_TOKEN_STRING: .quoted
            case ROOTSTOCK_TOKEN_PARAMETER: .parameter
            case ROOTSTOCK_TOKEN_ILLEGAL: .illegal
            default: .other
            }
        return Token(kind: kind, range: range)
    }

    static func string(_ text: some Sequence<CChar>) -> String {
        String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

// MARK: - A statement's beginning and kind

extension SQLTokens {
    /// Where the first token that is no semicolon stands; the text's end if there is none.
    package static func beginning(of text: Bytes) -> Int {
        SQLTokens(text).first { text[$0.range.lowerBound] != CChar(bitPattern: UInt8(ascii: ";")) }?.range.lowerBound
            ?? text.count
    }

    /// Whether `text` holds nothing that runs: blanks, comments and semicolons only.
    static func isBlank(_ text: Bytes) -> Bool { beginning(of: text) == text.count }

    /// The first word of `text` in capitals: `SELECT`, `CREATE`. Empty if it starts with anything else.
    static func keyword(_ text: Bytes) -> String {
        var tokens = SQLTokens(Bytes(rebasing: text[beginning(of: text)...]))
        guard let first = tokens.next(), first.kind == .word else { return "" }
        return capitals(tokens.text[first.range])
    }

    /// Whether `text` is a query, told by its first word.
    static func isQuery(_ text: Bytes) -> Bool { ["SELECT", "VALUES"].contains(keyword(text)) }

    /// Whether `text` is a query, or changes rows.
    static func isQueryOrChange(_ text: Bytes) -> Bool {
        ["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "VALUES", "WITH"].contains(keyword(text))
    }

    /// Whether `text` can make a name mean another table.
    static func changesSchema(_ text: Bytes) -> Bool {
        ["CREATE", "DROP", "ALTER", "ATTACH", "DETACH"].contains(keyword(text))
    }

    /// Whether the statement is one that returns rows, as SQLite would prepare it on tables of its own.
    static func returnsRows(_ text: Bytes) -> Bool {
        switch keyword(text) {
        case "ALTER", "ANALYZE", "CREATE", "DROP", "REINDEX", "VACUUM": return false
        case "INSERT", "REPLACE", "UPDATE", "DELETE": return words(text).contains("RETURNING")
        case "WITH":
            let words = Set(words(text))
            return words.contains("RETURNING") || words.isDisjoint(with: ["INSERT", "UPDATE", "DELETE", "INTO"])
        default: return true
        }
    }
}

// MARK: - Words, parameters, names

extension SQLTokens {
    /// Calls `body` with the bytes of a text.
    package static func withBytes<T>(_ sql: String, _ body: (Bytes) -> T) -> T {
        var sql = sql
        return sql.withUTF8 { $0.withMemoryRebound(to: CChar.self, body) }
    }

    private static func words(_ text: Bytes) -> [String] {
        SQLTokens(text).filter { $0.kind == .word }.map { capitals(text[$0.range]) }
    }

    /// The words of a statement in capitals.
    package static func words(_ sql: String) -> [String] { withBytes(sql) { words($0) } }

    /// The parameters of a statement, each once.
    package static func parameters(_ sql: String) -> [String] {
        withBytes(sql) { text in
            var names: [String] = []
            for token in SQLTokens(text) where token.kind == .parameter {
                let name = string(text[token.range])
                if !names.contains(name) { names.append(name) }
            }
            return names
        }
    }

    /// Whether the outermost query says in which order its rows come.
    package static func ordersItsRows(_ sql: String) -> Bool {
        withBytes(sql) { text in
            var depth = 0
            for token in SQLTokens(text) {
                switch text[token.range.lowerBound] {
                case CChar(bitPattern: UInt8(ascii: "(")): depth += 1
                case CChar(bitPattern: UInt8(ascii: ")")): depth -= 1
                default:
                    if depth == 0, token.kind == .word, capitals(text[token.range]) == "ORDER" { return true }
                }
            }
            return false
        }
    }

    /// Whether a name occurs in the text, as a word or in quotes of any kind.
    package static func mentions(_ sql: String, _ name: String) -> Bool {
        let sought = name.lowercased()
        return withBytes(sql) { text in
            SQLTokens(text).contains { token in
                switch token.kind {
                case .word: string(text[token.range]).lowercased() == sought
                case .quoted: unquoted(string(text[token.range])).lowercased() == sought
                default: false
                }
            }
        }
    }

    private static func capitals(_ bytes: some Sequence<CChar>) -> String {
        String(
            decoding: bytes.lazy.map { UInt8(bitPattern: $0) }.map { (0x61...0x7a).contains($0) ? $0 & 0xdf : $0 },
            as: UTF8.self)
    }

    /// A quotation without its quotes, doubled ones made single. A bracket stands for itself.
    private static func unquoted(_ text: String) -> String {
        guard let first = text.first, text.count >= 2 else { return text }
        let inner = text.dropFirst().dropLast()
        guard first != "[" else { return String(inner) }
        var result = ""
        var isSecond = false
        for character in inner {
            isSecond = character == first && !isSecond
            if !isSecond { result.append(character) }
        }
        return result
    }
}
