/// What has to be known of SQL text without running it. Pure functions over bytes.
enum SQLText {
    typealias Bytes = UnsafeBufferPointer<CChar>

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

    /// Where the first thing that is no blank, comment or semicolon stands.
    private static func firstWord(_ text: Bytes) -> Int {
        var index = 0
        func byte(_ offset: Int) -> UInt8 {
            index + offset < text.count ? UInt8(bitPattern: text[index + offset]) : 0
        }
        while index < text.count {
            switch (byte(0), byte(1)) {
            case (0x20, _), (0x09...0x0d, _), (UInt8(ascii: ";"), _):
                index += 1
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

    static func string(_ text: some Sequence<CChar>) -> String {
        String(decoding: text.lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
