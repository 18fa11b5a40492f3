import Rootstock

// A workload file as statements and comments.
//
// Invariant: what a statement is and where it ends, the tokens say; comments are what stands between them.

extension WorkloadFile {
    enum Piece: Equatable {
        /// A `--` comment without its dashes. `followsStatement`: it stands on the line on which a statement ended.
        case comment(String, line: Int, followsStatement: Bool)
        case statement(String, line: Int)
        case unfinished(String, line: Int)
    }

    /// The comments and statements of a file, in order. A comment inside a statement comes before it.
    static func pieces(_ text: String) -> [Piece] {
        SQLTokens.withBytes(text) { bytes in
            var splitter = Splitter(bytes: bytes)
            return splitter.split()
        }
    }

    private struct Splitter {
        let bytes: SQLTokens.Bytes
        var pieces: [Piece] = []
        /// Where the statement under way begins.
        var start: (offset: Int, line: Int)?
        var lineOfLastEnd = 0
        /// What was counted last.
        var counted = (offset: 0, line: 1)

        init(bytes: SQLTokens.Bytes) { self.bytes = bytes }

        mutating func split() -> [Piece] {
            var end = 0
            var piecesBeforeEnd = 0
            for token in SQLTokens(bytes) {
                take(between: end..<token.range.lowerBound)
                let line = line(at: token.range.lowerBound)
                if token.kind == .illegal, token.range.count > 1 {
                    pieces.append(.unfinished("the quotation", line: line))
                    return pieces
                }
                if bytes[token.range.lowerBound] == CChar(bitPattern: UInt8(ascii: ";")) {
                    if let begun = start {
                        pieces.append(.statement(text(begun.offset..<token.range.lowerBound), line: begun.line))
                        lineOfLastEnd = line
                    }
                    start = nil
                } else if start == nil {
                    start = (token.range.lowerBound, line)
                }
                end = token.range.upperBound
                piecesBeforeEnd = pieces.count
            }
            let begun = start
            if let open = take(between: end..<bytes.count) {
                pieces.append(.unfinished("the comment", line: open))
            } else if let begun {
                // The last statement may do without its semicolon; what is said behind it comes behind it.
                pieces.insert(.statement(text(begun.offset..<end), line: begun.line), at: piecesBeforeEnd)
            }
            return pieces
        }

        /// The comments between two tokens; the line of one that is not closed.
        @discardableResult
        private mutating func take(between gap: Range<Int>) -> Int? {
            var index = gap.lowerBound
            while index + 1 < gap.upperBound {
                let first = index
                switch (bytes[index], bytes[index + 1]) {
                case (CChar(bitPattern: UInt8(ascii: "-")), CChar(bitPattern: UInt8(ascii: "-"))):
                    while index < gap.upperBound, bytes[index] != 0x0a { index += 1 }
                    let line = line(at: first)
                    let follows = start == nil && line == lineOfLastEnd
                    pieces.append(.comment(text(first + 2..<index), line: line, followsStatement: follows))
                case (CChar(bitPattern: UInt8(ascii: "/")), CChar(bitPattern: UInt8(ascii: "*"))):
                    index += 2
                    while index + 1 < gap.upperBound, text(index..<index + 2) != "*/" { index += 1 }
                    guard index + 1 < gap.upperBound else { return line(at: first) }
                    index += 2
                default: index += 1
                }
            }
            return nil
        }

        /// Offsets are asked for in rising order.
        private mutating func line(at offset: Int) -> Int {
            counted.line += bytes[counted.offset..<offset].count { $0 == 0x0a }
            counted.offset = offset
            return counted.line
        }

        private func text(_ range: Range<Int>) -> String {
            String(decoding: bytes[range].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
