/// A script in the classic sqllogictest format, laid open into its records.
///
/// A file is made of records separated by blank lines; lines that begin with `#` are comments. A record is
///
/// - `statement ok` or `statement error`, then SQL;
/// - `query TYPES [nosort|rowsort|valuesort] [LABEL]`, then SQL, `----` and the values expected, one a line (or
///   `N values hashing to MD5`);
/// - `hash-threshold N`, or `halt`;
///
/// each after any number of `skipif NAME` and `onlyif NAME`, where the name is a database's.
public struct LogicTest: Sendable {
    public enum Sort: String, Sendable {
        case none = "nosort"
        case rows = "rowsort"
        case values = "valuesort"
    }

    /// What a query must answer.
    public enum Expectation: Hashable, Sendable {
        case values([[UInt8]])
        case digest(count: Int, md5: String)
    }

    public struct Query: Sendable {
        public var sql: String
        /// One of `I`, `R`, `T` a column: how its values are printed.
        public var types: [UInt8]
        public var sort: Sort
        public var label: String?
        public var expectation: Expectation
    }

    public enum Action: Sendable {
        case statement(sql: String, mustFail: Bool)
        case query(Query)
        case hashThreshold(Int)
        case halt
    }

    /// One record, with the number of its first line.
    public struct Record: Sendable {
        public var line: Int
        public var action: Action
        var conditions: [Condition]

        /// Whether the record is for another database than the one named.
        public func isSkipped(for database: String) -> Bool {
            conditions.contains { ($0.database.lowercased() == database.lowercased()) == $0.skips }
        }
    }

    struct Condition: Sendable {
        var skips: Bool
        var database: String
    }

    public struct SyntaxError: Error, CustomStringConvertible {
        public var line: Int
        public var description: String
    }

    public var records: [Record]

    /// Reads the text of a file. It need not be UTF-8: expected values are bytes.
    public init(_ text: [UInt8]) throws(SyntaxError) {
        records = []
        var lines: [(number: Int, bytes: ArraySlice<UInt8>)] = []
        for (offset, line) in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.first == UInt8(ascii: "#") { continue }
            if line.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) {
                try appendRecord(lines)
                lines.removeAll()
            } else {
                lines.append((offset + 1, line))
            }
        }
        try appendRecord(lines)
    }

    private mutating func appendRecord(_ lines: [(number: Int, bytes: ArraySlice<UInt8>)]) throws(SyntaxError) {
        var lines = lines[...]
        var conditions: [Condition] = []
        while let (number, bytes) = lines.first {
            let words = Self.words(bytes)
            guard words[0] == "skipif" || words[0] == "onlyif" else { break }
            guard words.count > 1 else { throw SyntaxError(line: number, description: "\(words[0]) without a name") }
            conditions.append(Condition(skips: words[0] == "skipif", database: words[1]))
            lines.removeFirst()
        }
        guard let (number, head) = lines.popFirst() else { return }
        let action = try Self.action(number, Self.words(head), lines.map(\.bytes))
        records.append(Record(line: number, action: action, conditions: conditions))
    }

    private static func action(
        _ line: Int, _ words: [String], _ body: [ArraySlice<UInt8>]
    ) throws(SyntaxError) -> Action {
        switch words[0] {
        case "statement":
            guard words.count > 1, words[1] == "ok" || words[1] == "error" else {
                throw SyntaxError(line: line, description: "a statement is ok or error")
            }
            return .statement(sql: text(body[...]), mustFail: words[1] == "error")
        case "query":
            guard let sort = Sort(rawValue: words.count > 2 ? words[2] : "nosort") else {
                throw SyntaxError(line: line, description: "unknown sort mode \(words[2])")
            }
            let cut = body.firstIndex { $0.elementsEqual("----".utf8) } ?? body.count
            return .query(
                Query(
                    sql: text(body[..<cut]), types: words.count > 1 ? Array(words[1].utf8) : [], sort: sort,
                    label: words.count > 3 ? words[3] : nil,
                    expectation: expectation(body.dropFirst(cut + 1).map(Array.init))))
        case "hash-threshold":
            guard words.count > 1, let threshold = Int(words[1]) else {
                throw SyntaxError(line: line, description: "hash-threshold needs a number")
            }
            return .hashThreshold(threshold)
        case "halt": return .halt
        default: throw SyntaxError(line: line, description: "unknown record \(words[0])")
        }
    }

    private static func expectation(_ lines: [[UInt8]]) -> Expectation {
        guard lines.count == 1 else { return .values(lines) }
        let words = words(lines[0][...])
        guard words.count == 5, Array(words[1...3]) == ["values", "hashing", "to"], let count = Int(words[0]),
            words[4].utf8.count == 32
        else { return .values(lines) }
        return .digest(count: count, md5: words[4])
    }

    private static func words(_ bytes: ArraySlice<UInt8>) -> [String] {
        bytes.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func text(_ lines: ArraySlice<ArraySlice<UInt8>>) -> String {
        String(decoding: Array(lines.joined(separator: [UInt8(ascii: "\n")])), as: UTF8.self)
    }
}
