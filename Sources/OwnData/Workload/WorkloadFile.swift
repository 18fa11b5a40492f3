// A workload file: SQL statements whose comments say where parameters come from, what belongs together in a transaction, and
// how often each is run.
//
// Invariant: a file that was read means exactly one thing. Whatever looks like a directive and is none, and whatever a
// statement needs and is not given, is an error that names the line and what to write.

import Foundation
import Rootstock

/// A fault in a workload file or in how it fits the database: `file:line: what is wrong; what to write`.
public struct WorkloadFileError: Error, CustomStringConvertible, Sendable, Equatable {
    public var file: String
    public var line: Int
    public var message: String
    public var description: String { "\(file):\(line): \(message)" }

    public init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }
}

public struct WorkloadFile: Sendable, Equatable {
    /// Parameters, with their prefix (`:id`), that are drawn together, and what they are drawn from.
    public struct Parameter: Sendable, Equatable {
        public var names: [String]
        public var draw: Draw
        public var line: Int
    }

    public struct Statement: Sendable, Equatable {
        public var sql: String
        /// Where the statement begins.
        public var line: Int
        public var parameters: [Parameter]
        /// How often it runs within its transaction, each time with parameters drawn anew.
        public var times: Int
        /// Whether the order of its rows is part of the answer.
        public var isOrdered: Bool
    }

    /// What is measured as one: a statement, or a transaction of several.
    public struct Operation: Sendable, Equatable {
        public var name: String
        public var line: Int
        public var isTransaction: Bool
        /// Drawn once for the whole transaction.
        public var parameters: [Parameter]
        public var statements: [Statement]
        /// Share of the mix, relative to the other operations.
        public var weight: Int
        /// Executions in a turn of its own; null: as many as the size, or a calibration, says.
        public var repeats: Int?
        /// Whether any of its statements changes the database.
        public var writes: Bool { statements.contains { $0.writes } }
    }

    /// Name of the file, for messages.
    public var name: String
    /// Pragmas that every connection runs first: name and value.
    public var pragmas: [String]
    public var operations: [Operation]
}

extension WorkloadFile.Statement {
    /// Whether it is anything but a query. `WITH` may begin either.
    var writes: Bool {
        let words = SQLTokens.words(sql)
        switch words.first {
        case "SELECT", "VALUES", "EXPLAIN": return false
        case "WITH": return !Set(words).isDisjoint(with: ["INSERT", "UPDATE", "DELETE", "REPLACE"])
        default: return true
        }
    }
}

extension WorkloadFile.Statement {
    /// Whether rows come back from it.
    var returnsRows: Bool { !writes || SQLTokens.words(sql).contains("RETURNING") }
}

// MARK: - Reading

extension WorkloadFile {
    /// Reads the text of a workload file.
    public init(text: String, name: String) throws(WorkloadFileError) {
        var reader = Reader(file: name)
        for piece in Self.pieces(text) { try reader.take(piece) }
        self = try reader.finish()
    }

    private struct Reader {
        let file: String
        var pragmas: [String] = []
        var operations: [Operation] = []
        var transaction: Operation?
        var pending = Pending()

        /// Directives that wait for the statement, or the transaction, below them.
        struct Pending {
            var parameters: [Parameter] = []
            var name: String?
            var weight: Int?
            var repeats: Int?
            var times: Int?
            var isAnyOrder = false
            var line: Int?
        }

        func error(_ line: Int, _ message: String) -> WorkloadFileError {
            WorkloadFileError(file: file, line: line, message: message)
        }

        mutating func take(_ piece: Piece) throws(WorkloadFileError) {
            switch piece {
            case .comment(let text, let line, let followsStatement):
                guard let directive = try Directive(text, line: line, file: file) else { return }
                if followsStatement {
                    throw error(line, "a directive stands above its statement, on a line of its own: move it up")
                }
                try take(directive, line)
            case .statement(let sql, let line): try take(sql, line)
            case .unfinished(let what, let line): throw error(line, "\(what) is not closed")
            }
        }

        mutating func take(_ directive: Directive, _ line: Int) throws(WorkloadFileError) {
            if directive != .end && !directive.isPragma { pending.line = pending.line ?? line }
            switch directive {
            case .parameter(let names, let draw):
                for name in names where pending.parameters.contains(where: { $0.names.contains(name) }) {
                    throw error(line, "\(name) has been given a value already, above")
                }
                pending.parameters.append(Parameter(names: names, draw: draw, line: line))
            case .name(let name): pending.name = name
            case .weight(let weight): pending.weight = weight
            case .repeats(let count): pending.repeats = count
            case .times(let count):
                guard transaction != nil else {
                    throw error(
                        line, "'times' is for a statement inside a transaction; outside write '-- repeat: \(count)'")
                }
                pending.times = count
            case .anyOrder: pending.isAnyOrder = true
            case .pragma(let pragma):
                guard operations.isEmpty && transaction == nil else {
                    throw error(line, "'pragma' belongs to the top of the file, before the first statement")
                }
                pragmas.append(pragma)
            case .transaction(let name):
                guard transaction == nil else {
                    throw error(line, "a transaction is open already: write '-- end' before this line")
                }
                // What stands above the word belongs to the transaction as a whole.
                transaction = Operation(
                    name: name ?? pending.name ?? "", line: line, isTransaction: true, parameters: pending.parameters,
                    statements: [], weight: pending.weight ?? 1, repeats: pending.repeats)
                pending = Pending()
            case .end:
                guard var done = transaction else { throw error(line, "'end' without a '-- transaction:' above it") }
                if let left = pending.line { throw error(left, "this directive has no statement below it") }
                guard !done.statements.isEmpty else { throw error(done.line, "the transaction holds no statement") }
                if done.name.isEmpty { done.name = "transaction \(operations.count + 1)" }
                try add(done)
                transaction = nil
            }
        }

        mutating func take(_ sql: String, _ line: Int) throws(WorkloadFileError) {
            let words = SQLTokens.words(sql)
            try refuse(words.first ?? "", line)
            let statement = Statement(
                sql: sql, line: line, parameters: pending.parameters, times: pending.times ?? 1,
                isOrdered: !pending.isAnyOrder && SQLTokens.ordersItsRows(sql))
            let names = SQLTokens.parameters(sql)
            if let bare = names.first(where: { $0.hasPrefix("?") }) {
                throw error(line, "give the parameter '\(bare)' a name, such as :id, so that a directive can name it")
            }
            let own = pending.parameters
            let outer = transaction?.parameters ?? []
            for name in names where !(own + outer).contains(where: { $0.names.contains(name) }) {
                throw error(
                    line,
                    "parameter \(name) has no value: write '-- \(name) = sample(table.column)' above the statement")
            }
            for parameter in own {
                for name in parameter.names where !names.contains(name) {
                    throw error(parameter.line, "the statement below has no parameter \(name)")
                }
            }
            if transaction != nil {
                if pending.weight != nil || pending.repeats != nil || pending.name != nil {
                    throw error(
                        line,
                        "name, weight and repeat are those of a whole transaction: write them above '-- transaction:'")
                }
                transaction?.statements.append(statement)
            } else {
                try add(
                    Operation(
                        name: pending.name ?? "statement \(operations.count + 1)", line: line, isTransaction: false,
                        parameters: [], statements: [statement], weight: pending.weight ?? 1,
                        repeats: pending.repeats))
            }
            pending = Pending()
        }

        private static let allowed = ["SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE"]

        private func refuse(_ word: String, _ line: Int) throws(WorkloadFileError) {
            if Self.allowed.contains(word) { return }
            switch word {
            case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE":
                throw error(
                    line, "write '-- transaction: name' and '-- end' around the statements instead of \(word)")
            case "PRAGMA": throw error(line, "write '-- pragma: name = value' at the top of the file instead")
            default:
                throw error(
                    line,
                    "\(word.isEmpty ? "this" : word) cannot be measured over and over: a workload is made of "
                        + "SELECT, VALUES, WITH, INSERT, REPLACE, UPDATE and DELETE")
            }
        }

        private mutating func add(_ operation: Operation) throws(WorkloadFileError) {
            if let other = operations.first(where: { $0.name.lowercased() == operation.name.lowercased() }) {
                throw error(
                    operation.line, "'\(operation.name)' is the name of line \(other.line) already: choose another")
            }
            if operation.name.lowercased() == WorkloadFile.mixName {
                throw error(operation.line, "'mix' is the name of all operations together: choose another")
            }
            operations.append(operation)
        }

        mutating func finish() throws(WorkloadFileError) -> WorkloadFile {
            if let open = transaction {
                throw error(open.line, "the transaction is not ended: write '-- end' behind it")
            }
            if let left = pending.line { throw error(left, "this directive has no statement below it") }
            guard !operations.isEmpty else {
                throw error(1, "the file holds no statement; 'rootstock suggest' writes one")
            }
            for operation in operations {
                for parameter in operation.parameters {
                    let used = operation.statements.flatMap { SQLTokens.parameters($0.sql) }
                    for name in parameter.names where !used.contains(name) {
                        throw error(parameter.line, "no statement of the transaction has a parameter \(name)")
                    }
                }
            }
            return WorkloadFile(name: file, pragmas: pragmas, operations: operations)
        }
    }

    /// The case that runs all operations by their weights.
    public static let mixName = "mix"
}
