// The directives of a workload file: what a comment line may say, and the draws that parameters are made by.
//
// Invariant: the grammar stands in `grammar`, which `--help` prints and the documentation repeats; a comment that begins
// like a directive is one or an error, never passed over.

import Foundation

public enum Draw: Sendable, Equatable {
    /// The columns of a row chosen at random, each row as likely as the others.
    case sample(table: String, columns: [String])
    /// As `sample`, of one column, a few rows far more often than the rest (Zipf's law with this exponent).
    case zipf(table: String, column: String, exponent: Double)
    /// Two values between which this fraction of the column's values lies.
    case range(table: String, column: String, fraction: Double)
    case uniform(ClosedRange<Int64>)
    case uniformReal(ClosedRange<Double>)
    /// This number, then one more each time.
    case sequence(Int64)
    /// One more than the column's greatest integer, then one more each time.
    case next(table: String, column: String)
    /// Random letters and digits.
    case text(Int)
    /// Random bytes.
    case blob(Int)
    case choose([Literal])

    public enum Literal: Sendable, Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
    }

    /// Table and columns that the draw reads, in the form in which a pool of values is made.
    var source: (table: String, columns: [String])? {
        switch self {
        case .sample(let table, let columns): (table, columns)
        case .zipf(let table, let column, _), .range(let table, let column, _), .next(let table, let column):
            (table, [column])
        default: nil
        }
    }
}

enum Directive: Equatable {
    case parameter([String], Draw)
    case name(String)
    case weight(Int)
    case repeats(Int)
    case times(Int)
    case anyOrder
    case transaction(String?)
    case end
    case pragma(String)

    var isPragma: Bool { if case .pragma = self { true } else { false } }

    private static let words = ["name", "weight", "repeat", "times", "order", "transaction", "pragma"]

    /// Reads a comment; null where it is a remark.
    init?(_ comment: String, line: Int, file: String) throws(WorkloadFileError) {
        func error(_ message: String) -> WorkloadFileError {
            WorkloadFileError(file: file, line: line, message: message)
        }
        let text = comment.trimmingCharacters(in: .whitespaces)
        if text == "end" {
            self = .end
            return
        }
        if let first = text.first, ":@$".contains(first) {
            var reader = DrawReader(text, fail: error)
            self = try reader.parameter()
            return
        }
        let word = text.prefix { $0.isLetter }
        guard !word.isEmpty, word.allSatisfy({ $0.isLowercase }), text.dropFirst(word.count).first == ":" else {
            if text == "transaction" { throw error("write '-- transaction:', with a colon, and a name if it has one") }
            return nil
        }
        let value = text.dropFirst(word.count + 1).trimmingCharacters(in: .whitespaces)
        func count() throws(WorkloadFileError) -> Int {
            guard let count = Int(value), count > 0 else {
                throw error("'\(word)' takes a whole number above 0, such as '-- \(word): 10', and not '\(value)'")
            }
            return count
        }
        switch word {
        case "name":
            guard !value.isEmpty else { throw error("'name' needs a name, such as '-- name: open article'") }
            self = .name(value)
        case "weight": self = .weight(try count())
        case "repeat": self = .repeats(try count())
        case "times": self = .times(try count())
        case "order":
            guard value == "any" else {
                throw error("write '-- order: any' where the order of rows is no part of the answer")
            }
            self = .anyOrder
        case "transaction": self = .transaction(value.isEmpty ? nil : value)
        case "pragma": self = .pragma(try Self.pragma(value, error))
        default:
            throw error(
                "there is no directive '\(word)'; there are \(Self.words.joined(separator: ", ")), ':name = ...' and 'end' "
                    + "(a remark does not begin with a word and a colon)")
        }
    }

    private static func pragma(
        _ text: String, _ error: (String) -> WorkloadFileError
    ) throws(WorkloadFileError) -> String {
        let parts = text.split(separator: "=", maxSplits: 1).map {
            $0.trimmingCharacters(in: .whitespaces).lowercased()
        }
        let switches = ["on", "off", "1", "0", "true", "false"]
        let known = ["foreign_keys", "recursive_triggers"]
        guard parts.count == 2, known.contains(parts[0]), switches.contains(parts[1]) else {
            throw error(
                "write '-- pragma: foreign_keys = on' (or recursive_triggers, or off): only what changes the meaning of "
                    + "statements is set here; --durability and --configuration set the rest")
        }
        return "\(parts[0]) = \(parts[1])"
    }

    /// The directives, for people.
    public static let grammar = """
        A workload file is SQL whose comment lines say what SQL cannot. A directive
        stands above its statement:

          -- :id = sample(article.uniqueID)         of a row chosen at random
          -- :a, :b = sample(tag.note, tag.name)    of one row, several columns
          -- :id = zipf(article.uniqueID, 0.99)     a few rows far more often
          -- :low, :high = range(article.date, 0.01)  bounds that hold 1% of it
          -- :n = uniform(1, 100)        whole; a real where one has a point
          -- :n = sequence(1000)         1000, 1001, 1002 ...
          -- :id = next(article.id)      above the column's greatest, counting
          -- :t = text(20)               random letters and digits; blob(20)
          -- :s = choose('new', NULL, 3) one of these
          -- name: open article          name of the case
          -- weight: 20                  share of the mix (1)
          -- repeat: 500                 executions in a turn (calibrated)
          -- order: any                  ORDER BY leaves ties: compare as a set
          -- transaction: save note      from here to 'end' one operation
          -- times: 10                   in a transaction: run this ten times
          -- end
          -- pragma: foreign_keys = on   at the top (or recursive_triggers)

        What stands directly above '-- transaction:' is drawn once for all its
        statements. Other comments are remarks.
        """
}

public enum WorkloadGrammar {
    public static var text: String { Directive.grammar }
}

/// Reads `:a, :b = draw(arguments)`.
private struct DrawReader {
    private enum Token: Equatable {
        case name(String)
        case parameter(String)
        case integer(Int64)
        case real(Double)
        case string(String)
        case symbol(Character)
    }

    private var tokens: [Token] = []
    private var position = 0
    private let fail: (String) -> WorkloadFileError

    init(_ text: String, fail: @escaping (String) -> WorkloadFileError) {
        self.fail = fail
        var rest = Substring(text)
        while let first = rest.first {
            if first.isWhitespace {
                rest.removeFirst()
            } else if ":@$".contains(first) {
                let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(.parameter(String(first) + name))
                rest = rest.dropFirst(1 + name.count)
            } else if first.isNumber || first == "-" || first == "+" {
                let digits = rest.prefix { $0.isNumber || "+-.eE".contains($0) }
                if let integer = Int64(digits) {
                    tokens.append(.integer(integer))
                } else if let real = Double(digits) {
                    tokens.append(.real(real))
                } else {
                    tokens.append(.symbol(first))
                }
                rest = rest.dropFirst(digits.count)
            } else if let end = ["'": "'", "\"": "\"", "`": "`", "[": "]"][first] {
                var inner = ""
                rest.removeFirst()
                while let next = rest.first {
                    rest.removeFirst()
                    if String(next) == end {
                        // Doubled, it stands for itself.
                        guard first != "[", rest.first == next else { break }
                        rest.removeFirst()
                    }
                    inner.append(next)
                }
                tokens.append(first == "'" ? .string(inner) : .name(inner))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                tokens.append(.name(String(name)))
                rest = rest.dropFirst(name.count)
            } else {
                tokens.append(.symbol(first))
                rest.removeFirst()
            }
        }
    }

    private mutating func next() -> Token? {
        guard position < tokens.count else { return nil }
        position += 1
        return tokens[position - 1]
    }

    private mutating func accept(_ symbol: Character) -> Bool {
        guard position < tokens.count, tokens[position] == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ symbol: Character, _ advice: String) throws(WorkloadFileError) {
        guard accept(symbol) else { throw fail(advice) }
    }

    mutating func parameter() throws(WorkloadFileError) -> Directive {
        let advice = "write ':name = draw(...)', such as ':id = sample(table.column)'"
        var names: [String] = []
        repeat {
            guard case .parameter(let name) = next(), name.count > 1 else { throw fail(advice) }
            guard !names.contains(name) else { throw fail("\(name) stands here twice") }
            names.append(name)
        } while accept(",")
        try expect("=", advice)
        guard case .name(let kind) = next() else { throw fail(advice) }
        try expect("(", "'\(kind)' takes its arguments in parentheses")
        let draw = try draw(kind.lowercased(), count: names.count)
        try expect(")", "a ')' is missing behind the arguments of '\(kind)'")
        guard position == tokens.count else { throw fail("nothing follows the ')' of '\(kind)'") }
        let wanted: Int
        switch draw {
        case .sample(_, let columns): wanted = columns.count
        case .range: wanted = 2
        default: wanted = 1
        }
        guard names.count == wanted else {
            throw fail(
                "'\(kind)' gives \(wanted) value\(wanted == 1 ? "" : "s") here, and \(names.count) "
                    + "parameter\(names.count == 1 ? " is" : "s are") named")
        }
        return .parameter(names, draw)
    }

    private mutating func draw(_ kind: String, count: Int) throws(WorkloadFileError) -> Draw {
        switch kind {
        case "sample":
            var table: String?
            var columns: [String] = []
            repeat {
                let (name, column) = try self.column(kind)
                if let table, table.lowercased() != name.lowercased() {
                    throw fail("the columns of one 'sample' are those of one table, here \(table)")
                }
                table = table ?? name
                columns.append(column)
            } while accept(",")
            return .sample(table: table ?? "", columns: columns)
        case "zipf":
            let (table, column) = try self.column(kind)
            var exponent = 0.99
            if accept(",") { exponent = try real("the exponent of 'zipf' is a number above 0, such as 0.99") }
            guard exponent > 0 else { throw fail("the exponent of 'zipf' is a number above 0, such as 0.99") }
            return .zipf(table: table, column: column, exponent: exponent)
        case "range":
            let advice = "write 'range(table.column, 0.01)', where 0.01 is the fraction of the values to hold"
            let (table, column) = try self.column(kind)
            try expect(",", advice)
            let fraction = try real(advice)
            guard fraction > 0, fraction <= 1 else { throw fail(advice + ", above 0 and at most 1") }
            return .range(table: table, column: column, fraction: fraction)
        case "uniform": return try uniform()
        case "sequence":
            guard case .integer(let start) = next() else { throw fail("write 'sequence(1)', with the first number") }
            return .sequence(start)
        case "next":
            let (table, column) = try self.column(kind)
            return .next(table: table, column: column)
        case "text", "blob":
            guard case .integer(let length) = next(), (0...10_000_000).contains(length) else {
                throw fail("write '\(kind)(20)', with a length of at most 10000000")
            }
            return kind == "text" ? .text(Int(length)) : .blob(Int(length))
        case "choose":
            var literals: [Draw.Literal] = []
            repeat { literals.append(try literal()) } while accept(",")
            return .choose(literals)
        default:
            throw fail(
                "there is no draw '\(kind)'; there are sample, zipf, range, uniform, sequence, next, text, blob and choose"
            )
        }
    }

    private mutating func column(_ kind: String) throws(WorkloadFileError) -> (String, String) {
        let advice = "'\(kind)' takes table.column, each in double quotes if it is not a plain word"
        guard case .name(let table) = next() else { throw fail(advice) }
        try expect(".", advice)
        guard case .name(let column) = next() else { throw fail(advice) }
        return (table, column)
    }

    private mutating func real(_ advice: String) throws(WorkloadFileError) -> Double {
        switch next() {
        case .integer(let number): return Double(number)
        case .real(let number): return number
        default: throw fail(advice)
        }
    }

    private mutating func uniform() throws(WorkloadFileError) -> Draw {
        let advice = "write 'uniform(1, 100)', the smaller number first"
        let first = next()
        try expect(",", advice)
        switch (first, next()) {
        case (.integer(let low), .integer(let high)) where low <= high: return .uniform(low...high)
        case (.real(let low), .real(let high)) where low <= high: return .uniformReal(low...high)
        case (.integer(let low), .real(let high)) where Double(low) <= high: return .uniformReal(Double(low)...high)
        case (.real(let low), .integer(let high)) where low <= Double(high): return .uniformReal(low...Double(high))
        default: throw fail(advice)
        }
    }

    private mutating func literal() throws(WorkloadFileError) -> Draw.Literal {
        switch next() {
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .string(let text): return .text(text)
        case .name(let name) where name.uppercased() == "NULL": return .null
        default: throw fail("'choose' takes numbers, NULL, and text in single quotes, separated by commas")
        }
    }
}
