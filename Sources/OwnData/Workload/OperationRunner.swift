// Runs the operations of a workload file on a session, with parameters drawn beforehand.
//
// Invariant: while the clock runs nothing is drawn, allocated or prepared: values are bound from memory that stays, statements
// are stepped, rows are touched. Rows count as a set unless the statement orders them, since without ORDER BY engines may
// rightly differ in it.

import CSQLite
import Rootstock
import Workloads

/// The drawers of a file's operations, each with its own sequence: what one operation draws does not depend on the others.
final class Drawing {
    struct OperationDrawers {
        var outer: [Drawer]
        var inner: [[Drawer]]
    }

    private let file: WorkloadFile
    private let pools: ParameterPools
    private let seed: UInt32

    init(_ file: WorkloadFile, _ pools: ParameterPools, seed: UInt32) {
        self.file = file
        self.pools = pools
        self.seed = seed
    }

    /// The values of `count` executions of an operation, one after the other.
    func values(operation number: Int, count: Int) throws -> [BoundValue] {
        let operation = file.operations[number]
        // Pools are numbered in the order of the file.
        var pool = file.operations[..<number].reduce(0) { sum, other in
            sum + (other.parameters + other.statements.flatMap(\.parameters)).filter { $0.draw.source != nil }.count
        }
        var place: UInt64 = 0
        func drawer(_ parameter: WorkloadFile.Parameter) throws -> Drawer {
            var rows: [[BoundValue]] = []
            if parameter.draw.source != nil {
                rows = try pools.rows(pool)
                pool += 1
            }
            place += 1
            let mixed = DrawGenerator.mixed(UInt64(seed), UInt64(number) << 16 | place)
            return Drawer(parameter.draw, pool: rows, arena: pools.arena, seed: mixed)
        }
        let outer = try operation.parameters.map(drawer)
        let inner = try operation.statements.map { try $0.parameters.map(drawer) }
        var values: [BoundValue] = []
        for _ in 0..<count {
            for drawer in outer { drawer.next(into: &values) }
            for (statement, drawers) in zip(operation.statements, inner) where !drawers.isEmpty {
                for _ in 0..<statement.times { for drawer in drawers { drawer.next(into: &values) } }
            }
        }
        return values
    }
}

extension DrawGenerator {
    static func mixed(_ seed: UInt64, _ place: UInt64) -> UInt64 {
        var generator = DrawGenerator(seed: seed &* 0x9e37_79b9 ^ place)
        return generator.next()
    }
}

/// One operation, prepared on a session.
final class OperationRunner {
    private struct Step {
        var statement: RawStatement
        var times: Int
        var isOrdered: Bool
        /// What a store runs in place of a write may have columns of its own, which are no answer.
        var returnsRows: Bool
        /// Parameter number, and the place of its value among the operation's (`isOuter`) or the statement's own.
        var bindings: [(index: Int32, isOuter: Bool, offset: Int)]
        var ownCount: Int
    }

    private var steps: [Step] = []
    private let begin: RawStatement?
    private let commit: RawStatement?
    /// With deferred foreign keys a store asks anew at each COMMIT whether it may be.
    private let preparesCommit: Bool
    private let outerCount: Int
    private let values: [BoundValue]
    private var position = 0

    init(_ operation: WorkloadFile.Operation, _ session: Session, values: [BoundValue], enforcesForeignKeys: Bool)
        throws
    {
        self.values = values
        outerCount = operation.parameters.reduce(0) { $0 + $1.names.count }
        preparesCommit = enforcesForeignKeys
        if operation.isTransaction {
            begin = try session.statement(operation.writes ? "BEGIN IMMEDIATE" : "BEGIN")
            commit = try session.statement("COMMIT")
        } else {
            begin = nil
            commit = nil
        }
        let outer = operation.parameters.flatMap(\.names)
        for one in operation.statements {
            let statement = try session.statement(one.sql)
            let own = one.parameters.flatMap(\.names)
            var bindings: [(index: Int32, isOuter: Bool, offset: Int)] = []
            for name in SQLTokens.parameters(one.sql) {
                let index = sqlite3_bind_parameter_index(statement.handle, name)
                guard index > 0 else { throw WorkloadError("the statement has no parameter \(name): \(one.sql)") }
                if let offset = own.firstIndex(of: name) {
                    bindings.append((index, false, offset))
                } else if let offset = outer.firstIndex(of: name) {
                    bindings.append((index, true, offset))
                }
            }
            steps.append(
                Step(
                    statement: statement, times: one.times, isOrdered: one.isOrdered,
                    returnsRows: one.returnsRows, bindings: bindings,
                    ownCount: own.count))
        }
    }

    func execute(_ session: Session) throws {
        let outer = position
        position += outerCount
        try begin?.run()
        for step in steps {
            for _ in 0..<step.times {
                for binding in step.bindings {
                    let value = values[(binding.isOuter ? outer : position) + binding.offset]
                    try value.bind(to: step.statement, at: binding.index)
                }
                position += step.ownCount
                try run(step, session)
            }
        }
        if let commit {
            if preparesCommit { try session.withFreshStatement("COMMIT") { try $0.run() } } else { try commit.run() }
        }
    }

    @inline(__always)
    private func run(_ step: Step, _ session: Session) throws {
        let statement = step.statement
        guard step.returnsRows else { return try statement.run() }
        var sum: UInt64 = 0
        var rows: UInt64 = 0
        while try statement.step() {
            var row = AnswerHash()
            for column in 0..<statement.columnCount { Self.take(statement, column, session.isChecking, &row) }
            rows += 1
            sum = step.isOrdered ? (sum &* 31 ^ row.value) : sum &+ row.value
        }
        try statement.reset()
        session.answers.touch(rows)
        session.answers.touch(sum)
    }

    @inline(__always)
    private static func take(_ statement: RawStatement, _ column: Int32, _ isChecking: Bool, _ row: inout AnswerHash) {
        let type = statement.type(column)
        switch type {
        case SQLITE_INTEGER:
            let word = UInt64(bitPattern: Int64(statement.integer(column)))
            if isChecking { row.add(word) } else { row.touch(word) }
        case SQLITE_FLOAT:
            let word = statement.double(column).bitPattern
            if isChecking { row.add(word) } else { row.touch(word) }
        case SQLITE_TEXT:
            if isChecking { row.add(statement.text(column)) } else { row.touch(statement.text(column)) }
        case SQLITE_BLOB:
            if isChecking { row.add(statement.blob(column)) } else { row.touch(statement.blob(column)) }
        default: row.touch(0)
        }
        if isChecking { row.add(UInt64(type)) }
    }
}
