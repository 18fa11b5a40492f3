// The values that parameters are drawn from: taken from the original once, kept in a small SQLite file, read by every
// measuring process.
//
// Invariant: pools depend on the original's content and the seed alone, and draws on the pools and the seed. So every engine gets
// the same parameters in the same order. Values live in one arena as long as the pools do; statements borrow them.

import CSQLite
import Foundation
import Rootstock
import Workloads

/// A value ready to be bound without a copy.
enum BoundValue {
    case null
    case integer(Int)
    case real(Double)
    case text(UnsafeBufferPointer<UInt8>)
    case blob(UnsafeRawBufferPointer)

    @inline(__always)
    func bind(to statement: RawStatement, at index: Int32) throws {
        switch self {
        case .null: try statement.bindNull(index)
        case .integer(let number): try statement.bind(index, number)
        case .real(let number): try statement.bind(index, number)
        case .text(let bytes): try statement.bind(index, borrowedText: bytes)
        case .blob(let bytes): try statement.bind(index, blob: bytes)
        }
    }
}

/// Memory that stays where it is until the arena goes.
final class Arena {
    private var pieces: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private static let pieceBytes = 1 << 20

    deinit { for piece in pieces { piece.deallocate() } }

    func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        // One byte more, so that an empty text has an address: SQLite takes a null pointer for NULL.
        if free.count < count + 1 {
            let size = max(count + 1, Self.pieceBytes)
            let piece = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            pieces.append(piece)
            free = UnsafeMutableRawBufferPointer(start: piece, count: size)
        }
        let result = UnsafeMutableRawBufferPointer(rebasing: free[..<count])
        free = UnsafeMutableRawBufferPointer(rebasing: free[(count + 1)...])
        return UnsafeMutableRawBufferPointer(start: result.baseAddress ?? pieces[pieces.count - 1], count: count)
    }

    func keep(_ value: Value) -> BoundValue {
        switch value {
        case .null: return .null
        case .integer(let number): return .integer(Int(number))
        case .real(let number): return .real(number)
        case .text(let text): return self.text(Array(text.utf8))
        case .blob(let bytes):
            let place = allocate(bytes.count)
            place.copyBytes(from: bytes)
            return .blob(UnsafeRawBufferPointer(place))
        }
    }

    func text(_ bytes: [UInt8]) -> BoundValue {
        let place = allocate(bytes.count)
        place.copyBytes(from: bytes)
        return .text(UnsafeBufferPointer(place.bindMemory(to: UInt8.self)))
    }
}

/// Rows of values, one list of them for each draw that reads a table.
final class ParameterPools {
    /// Rows in a pool at most.
    static let capacity = 100_000
    let arena = Arena()
    private let connection: Connection
    private var known: [Int: [[BoundValue]]] = [:]

    init(path: String) throws { connection = try Connection(path: path, engine: .sqlite) }

    deinit { connection.close() }

    /// The rows of a pool, read when they are first asked for: a process that runs one operation needs a few pools of many.
    func rows(_ pool: Int) throws -> [[BoundValue]] {
        if let rows = known[pool] { return rows }
        let statement = try connection.prepare(
            "SELECT position, value FROM pool WHERE pool = ? ORDER BY position, place")
        try statement.bind([pool])
        var rows: [[BoundValue]] = []
        var last = -1
        while try statement.step() {
            let position = Int(statement.int64(at: 0))
            let value = arena.keep(statement.value(at: 1))
            if position == last { rows[rows.count - 1].append(value) } else { rows.append([value]) }
            last = position
        }
        known[pool] = rows
        return rows
    }

    // MARK: Making the file

    /// Takes the pools of a workload out of the original and writes them to a new file.
    ///
    /// - Parameter left: names of operations that will not run; their draws keep their numbers and get no pool.
    static func write(
        _ file: WorkloadFile, leaving left: [String] = [], from source: SourceDatabase, _ schema: SourceSchema,
        seed: UInt32, to path: String
    ) throws {
        let connection = try Connection(path: path, engine: .sqlite, options: StoreOptions(durability: .off))
        defer { connection.close() }
        try connection.execute(
            "CREATE TABLE pool (pool INTEGER, position INTEGER, place INTEGER, value, PRIMARY KEY (pool, position, place)) "
                + "WITHOUT ROWID")
        try connection.execute("BEGIN")
        for (number, (operation, parameter)) in file.pooled.enumerated() where !left.contains(operation) {
            func fault(_ message: String) -> WorkloadFileError {
                WorkloadFileError(file: file.name, line: parameter.line, message: message)
            }
            guard let (tableName, columnNames) = parameter.draw.source else { continue }
            guard let table = schema.table(tableName) else {
                if let skipped = schema.skippedTables.first(where: { $0.lowercased() == tableName.lowercased() }) {
                    throw fault("table \(skipped) is not imported, so nothing can be drawn from it")
                }
                throw fault(
                    "the database has no table '\(tableName)'; it has \(schema.tables.map(\.name).joined(separator: ", "))"
                )
            }
            let columns = try columnNames.map { name in
                if name.lowercased() == table.rowidName { return name }
                guard let column = table.column(name) else {
                    throw fault(
                        "table \(table.name) has no column '\(name)'; it has "
                            + table.columns.map(\.name).joined(separator: ", "))
                }
                return SQL.quoted(column.name)
            }
            let rows = try Self.rows(parameter.draw, table, columns, source, seed: UInt64(seed) &+ UInt64(number) << 32)
            if rows.isEmpty {
                throw fault("\(table.name) holds no value to draw from: write 'uniform', 'text' or 'choose' instead")
            }
            let insert = try connection.prepare("INSERT INTO pool VALUES (?, ?, ?, ?)")
            for (position, row) in rows.enumerated() {
                for (place, value) in row.enumerated() {
                    try insert.bind([number, position, place, value])
                    try insert.run()
                }
            }
        }
        try connection.execute("COMMIT")
    }

    private static func rows(
        _ draw: Draw, _ table: SourceSchema.Table, _ columns: [String], _ source: SourceDatabase, seed: UInt64
    ) throws -> [[Value]] {
        let name = SQL.quoted(table.name)
        switch draw {
        case .next:
            let greatest = try source.integer("SELECT coalesce(max(CAST(\(columns[0]) AS INTEGER)), 0) FROM \(name)")
            return [[.integer(Int64(greatest))]]
        case .range:
            let count = try source.integer("SELECT count(\(columns[0])) FROM \(name)")
            let step = max(1, (count + capacity - 1) / capacity)
            var rows: [[Value]] = []
            let sql = "SELECT \(columns[0]) FROM \(name) WHERE \(columns[0]) IS NOT NULL ORDER BY 1"
            try source.withStatement(sql) { statement in
                var position = 0
                while try statement.step() {
                    if position % step == 0 { rows.append([value(statement, 0)]) }
                    position += 1
                }
            }
            return rows
        default:
            // A reservoir: each row is as likely to be kept as the others, in one pass.
            var random = DrawGenerator(seed: seed)
            var rows: [[Value]] = []
            let sql = "SELECT \(columns.joined(separator: ", ")) FROM \(name) ORDER BY \(table.order)"
            try source.withStatement(sql) { statement in
                var seen = 0
                while try statement.step() {
                    seen += 1
                    let row = { columns.indices.map { value(statement, Int32($0)) } }
                    if rows.count < capacity {
                        rows.append(row())
                    } else {
                        let place = Int(random.next(upperBound: UInt64(seen)))
                        if place < capacity { rows[place] = row() }
                    }
                }
            }
            // 'zipf' favours the first rows: which ones they are is chance too.
            rows.shuffle(using: &random)
            return rows
        }
    }

    private static func value(_ statement: RawStatement, _ column: Int32) -> Value {
        switch statement.type(column) {
        case SQLITE_INTEGER: return .integer(Int64(statement.integer(column)))
        case SQLITE_FLOAT: return .real(statement.double(column))
        case SQLITE_TEXT: return .text(statement.string(column))
        case SQLITE_BLOB: return .blob(Array(statement.blob(column)))
        default: return .null
        }
    }
}

extension WorkloadFile {
    /// Every parameter that needs a pool, with its operation; the place in this list is the pool's number.
    var pooled: [(operation: String, parameter: Parameter)] {
        operations.flatMap { operation in
            (operation.parameters + operation.statements.flatMap(\.parameters)).filter { $0.draw.source != nil }
                .map { (operation.name, $0) }
        }
    }
}

/// A small seeded generator (SplitMix64).
struct DrawGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
    /// A real in 0..<1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

/// Draws one parameter, or those of one directive, again and again.
final class Drawer {
    private let draw: Draw
    private let arena: Arena
    private let rows: [[BoundValue]]
    private var random: DrawGenerator
    private var counter: Int64 = 0
    private var cumulative: [Double] = []

    init(_ draw: Draw, pool: [[BoundValue]], arena: Arena, seed: UInt64) {
        self.draw = draw
        self.arena = arena
        rows = pool
        random = DrawGenerator(seed: seed)
        switch draw {
        case .sequence(let start): counter = start
        case .next:
            if case .integer(let greatest)? = pool.first?.first { counter = Int64(greatest) + 1 }
        case .zipf(_, _, let exponent):
            var sum = 0.0
            cumulative = pool.indices.map {
                sum += 1 / pow(Double($0 + 1), exponent)
                return sum
            }
        default: break
        }
    }

    func next(into values: inout [BoundValue]) {
        switch draw {
        case .sample: values += rows[Int.random(in: 0..<rows.count, using: &random)]
        case .zipf:
            let sought = random.fraction() * (cumulative.last ?? 0)
            var (low, high) = (0, cumulative.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if cumulative[middle] > sought { high = middle } else { low = middle + 1 }
            }
            values += rows[low]
        case .range(_, _, let fraction):
            let length = min(rows.count - 1, Int((fraction * Double(rows.count)).rounded(.up)) - 1)
            let first = Int.random(in: 0...(rows.count - 1 - max(0, length)), using: &random)
            values += rows[first] + rows[first + max(0, length)]
        case .uniform(let range): values.append(.integer(Int(Int64.random(in: range, using: &random))))
        case .uniformReal(let range):
            values.append(.real(range.lowerBound + random.fraction() * (range.upperBound - range.lowerBound)))
        case .sequence, .next:
            values.append(.integer(Int(counter)))
            counter &+= 1
        case .text(let length):
            let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
            values.append(arena.text((0..<length).map { _ in letters[Int(random.next() % 36)] }))
        case .blob(let length):
            values.append(arena.keep(.blob((0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) })))
        case .choose(let literals):
            switch literals[Int.random(in: 0..<literals.count, using: &random)] {
            case .null: values.append(.null)
            case .integer(let number): values.append(.integer(Int(number)))
            case .real(let number): values.append(.real(number))
            case .text(let text): values.append(arena.text(Array(text.utf8)))
            }
        }
    }
}
