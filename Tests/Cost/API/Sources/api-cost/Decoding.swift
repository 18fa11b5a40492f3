// Decoding.swift - the rows of one SQLite file as Decodable values: by Rootstock and by GRDB.
//
// Invariant: both decode the same types by the conformance that the compiler writes, through a statement found in a cache.

import Foundation
import GRDB
import Rootstock

struct Book: Decodable, FetchableRecord, Equatable {
    var id: Int64
    var title: String
    var price: Double
}

struct Loan: Decodable, FetchableRecord, Equatable {
    var id: Int64
    var title: String
    var author: String?
    var pages: Int
    var fee: Double
    var isReturned: Bool
    var due: Date
    var note: String?
}

enum Decoding {
    static let books = "SELECT * FROM book"
    static let loans = "SELECT * FROM loan"

    // The program has one thread.
    nonisolated(unsafe) private static var connection: Connection?
    nonisolated(unsafe) private static var queue: DatabaseQueue?

    private static func ours<T: Decodable>(_ path: String, _ sql: String) throws -> [T] {
        let open = try connection ?? Connection(path: path, engine: .sqlite)
        connection = open
        return try open.query(sql, as: T.self)
    }

    private static func grdb<T: FetchableRecord>(_ path: String, _ sql: String) throws -> [T] {
        let open = try queue ?? DatabaseQueue(path: path)
        queue = open
        return try open.read { database in
            try T.fetchAll(database.cachedStatement(sql: sql))
        }
    }

    static let cases: [String: @Sendable (String) throws -> Void] = [
        "decode-book": { let _: [Book] = try some(ours($0, books)) },
        "decode-book-grdb": { let _: [Book] = try some(grdb($0, books)) },
        "decode-loan": { let _: [Loan] = try some(ours($0, loans)) },
        "decode-loan-grdb": { let _: [Loan] = try some(grdb($0, loans)) },
    ]

    private static func some<T>(_ rows: [T]) -> [T] {
        precondition(!rows.isEmpty)
        return rows
    }

    /// Whether both give the same values.
    static func agree(_ path: String) throws -> Bool {
        let ourBooks: [Book] = try ours(path, books)
        let ourLoans: [Loan] = try ours(path, loans)
        return try ourBooks == grdb(path, books) && ourLoans == grdb(path, loans)
    }
}

enum DecodingTimes {
    /// Both sides by turns, and what a row took of the processor: the median of each, and of the ratios of neighbours.
    static func print(_ path: String, turns: Int) throws {
        guard try Decoding.agree(path) else { fatalError("Rootstock and GRDB decode different values") }
        let rows = try Connection(path: path, engine: .sqlite).queryValue("SELECT count(*) FROM book")
        guard case .integer(let rows)? = rows else { fatalError("no rows") }
        for type in ["book", "loan"] {
            var times: [(ours: Double, grdb: Double)] = []
            for turn in 0..<turns {
                let names = ["decode-\(type)", "decode-\(type)-grdb"]
                var taken: [String: Double] = [:]
                for name in turn % 2 == 0 ? names : names.reversed() {
                    let start = clock()
                    try Decoding.cases[name]?(path)
                    taken[name] = Double(clock() - start) * 1e9 / Double(CLOCKS_PER_SEC) / Double(rows)
                }
                times.append((taken[names[0]] ?? 0, taken[names[1]] ?? 0))
            }
            Swift.print(
                String(
                    format: "| decode %@, ns of the processor a row, median of %d turns | %.0f | %.0f | %.2f |", type,
                    turns, median(times.map(\.grdb)), median(times.map(\.ours)), median(times.map { $0.ours / $0.grdb })
                ))
        }
    }

    private static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
}
