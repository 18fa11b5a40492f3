// Layers.swift - the same work by SQLite's C calls and by the Swift API, on one connection.
//
// Invariant: a case and its partner of the other layer run the same statements and read the same columns.

import CCalls
import Foundation
import Rootstock

enum Layers {
    static let cases: [String: @Sendable (Connection, Int) throws -> Void] = [
        "select-c": { connection, count in
            let select = try connection.prepare(one)
            let rows = try rows(connection)
            var seen: Int64 = 0
            try check(c_select(select.handle, Int64(count), rows, &seen), seen)
        },
        // What an application writes: the text each time, which the connection's cache knows.
        "select": { connection, count in
            let rows = try rows(connection)
            var seen: Int64 = 0
            for index in 0..<Int64(count) {
                let select = try connection.prepare(one)
                try select.bind(index % rows + 1, at: 1)
                guard try select.step() else { fatalError("no row") }
                take(select, &seen)
            }
            try check(0, seen)
        },
        "select-kept": { connection, count in
            let select = try connection.prepare(one)
            let rows = try rows(connection)
            var seen: Int64 = 0
            for index in 0..<Int64(count) {
                try select.bind(index % rows + 1, at: 1)
                guard try select.step() else { fatalError("no row") }
                take(select, &seen)
                select.reset()
            }
            try check(0, seen)
        },
        "select-row": { connection, count in
            let rows = try rows(connection)
            var seen: Int64 = 0
            for index in 0..<count {
                guard let row = try connection.queryOne(one, [index % Int(rows) + 1]) else { fatalError("no row") }
                seen += try row[0, as: Int64.self] + Int64(row[1, as: String.self].utf8.count)
                seen += try row[2, as: Double.self] > 10 ? 1 : 0
            }
            try check(0, seen)
        },
        "scan-c": { connection, count in
            let select = try connection.prepare(all)
            var seen: Int64 = 0
            try check(c_scan(select.handle, Int64(count), &seen), seen)
        },
        "scan": { connection, count in
            var seen: Int64 = 0
            for _ in 0..<count {
                let select = try connection.prepare(all)
                while try select.step() { take(select, &seen) }
            }
            try check(0, seen)
        },
        "scan-strings": { connection, count in
            var seen: Int64 = 0
            for _ in 0..<count {
                let select = try connection.prepare(all)
                while try select.step() {
                    seen += select.int64(at: 0) + Int64(select.text(at: 1).utf8.count)
                    seen += select.double(at: 2) > 10 ? 1 : 0
                }
            }
            try check(0, seen)
        },
        "scan-rows": { connection, count in
            var seen: Int64 = 0
            for _ in 0..<count {
                for row in try connection.query(all) {
                    seen += try row[0, as: Int64.self] + Int64(row[1, as: String.self].utf8.count)
                    seen += try row[2, as: Double.self] > 10 ? 1 : 0
                }
            }
            try check(0, seen)
        },
        "scan-names": { connection, count in
            var seen: Int64 = 0
            for _ in 0..<count {
                for row in try connection.query(all) {
                    seen += try row["id", as: Int64.self] + Int64(row["title", as: String.self].utf8.count)
                    seen += try row["price", as: Double.self] > 10 ? 1 : 0
                }
            }
            try check(0, seen)
        },
        "insert-c": { connection, count in
            let titles = Fixture.titles.map { strdup($0) }
            let insert = try connection.prepare(insert)
            let begin = try connection.prepare("BEGIN")
            let commit = try connection.prepare("COMMIT")
            try titles.map { UnsafePointer($0) }.withUnsafeBufferPointer { titles in
                try check(c_insert(insert.handle, begin.handle, commit.handle, titles.baseAddress, Int64(count)), 1)
            }
        },
        "insert": { connection, count in
            try inserts(connection, count) { index, title in
                let insert = try connection.prepare(insert)
                try insert.bind(index + 1, at: 1)
                try insert.bind(title, at: 2)
                try insert.bind(Double(index) / 4, at: 3)
                try insert.run()
            }
        },
        "insert-array": { connection, count in
            try inserts(connection, count) { index, title in
                try connection.execute(insert, [index + 1, title, Double(index) / 4])
            }
        },
        "insert-kept": { connection, count in
            let insert = try connection.prepare(insert)
            try inserts(connection, count) { index, title in
                try insert.bind(index + 1, at: 1)
                try insert.bind(title, at: 2)
                try insert.bind(Double(index) / 4, at: 3)
                try insert.run()
            }
        },
    ]

    /// What a store's closure does: nothing, or a query of one row.
    static let reads: [String: @Sendable (Connection, Int) throws -> Void] = [
        "read-empty": { _, _ in },
        "read-row": { connection, index in
            guard try connection.queryOne(one, [index % 2000 + 1]) != nil else { fatalError("no row") }
        },
    ]

    private static let one = "SELECT id, title, price FROM book WHERE id = ?"
    private static let all = "SELECT id, title, price FROM book"
    private static let insert = "INSERT INTO copy VALUES (?, ?, ?)"

    private static func rows(_ connection: Connection) throws -> Int64 {
        guard case .integer(let rows)? = try connection.queryValue("SELECT count(*) FROM book") else { return 1 }
        return rows
    }

    private static func take(_ select: Statement, _ seen: inout Int64) {
        seen += select.int64(at: 0)
        seen += select.withUnsafeText(at: 1) { Int64($0.count) + Int64($0[0]) }
        seen += select.double(at: 2) > 10 ? 1 : 0
    }

    private static func inserts(
        _ connection: Connection, _ count: Int, _ body: (Int, String) throws -> Void
    ) throws {
        for index in 0..<count {
            if index % 1000 == 0 { try connection.execute("BEGIN") }
            try body(index, Fixture.titles[index % 16])
            if index % 1000 == 999 { try connection.execute("COMMIT") }
        }
    }

    private static func check(_ code: Int32, _ seen: Int64) throws {
        guard code == 0 else { throw DatabaseError(ResultCode(rawValue: code), "the C calls failed") }
        guard seen > 0 else { fatalError("nothing was read") }
    }
}
