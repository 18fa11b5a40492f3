// RandomKeyValueTests.swift - the same statements on a tree of each kind and on a native table of the same meaning: the same rows,
// changes and errors. A failure prints the seed; ROOTSTOCK_TEST_SEED runs it again.

import CSQLite
import Foundation
import TestSupport
import Testing

/// A tree of another program, as module kv and as a native STRICT table.
private struct Twins {
    let flags: TreeFlags
    let keyType: String
    let valueType: String
    let keys: Int
    let values: Int

    init(using generator: inout SeededGenerator, flags: TreeFlags) {
        self.flags = flags
        keyType =
            flags.contains(.integerKey)
            ? generator.pick(["int", "int", "blob"]) : generator.pick(["blob", "text", "int"])
        valueType = flags.contains(.dupFixed) ? "blob" : generator.pick(["blob", "text"])
        let isLarge = generator.once(in: 3)
        (keys, values) = isLarge ? (200, 60) : (12, 6)
    }

    func declare(_ session: SQLSession, path: String, tree: String?) throws {
        let names = ["int": "INTEGER", "text": "TEXT", "blob": "BLOB"]
        let columns = flags.contains(.dupSort) ? "key, value" : "key"
        try session.run(
            "CREATE VIRTUAL TABLE k USING kv('\(path)', '\(tree ?? "")', key=\(keyType), value=\(valueType))")
        try session.run(
            """
            CREATE TABLE n(key \(names[keyType]!), value \(names[valueType]!), PRIMARY KEY(\(columns))) \
            STRICT, WITHOUT ROWID
            """)
    }

    private func literal(_ text: String, _ type: String) -> String {
        type == "text" ? "'\(text)'" : "x'" + hex(Array(text.utf8)) + "'"
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    func key(_ generator: inout SeededGenerator) -> String {
        let number = generator.number(0...(keys - 1))
        if keyType == "int" { return String(number) }
        if flags.contains(.integerKey) { return "x'" + hex(bytes(UInt64(number))) + "'" }
        return literal(String(repeating: "k\(number)", count: generator.once(in: 10) ? 20 : 1), keyType)
    }

    func value(_ generator: inout SeededGenerator) -> String {
        let number = generator.number(0...(values - 1))
        if flags.contains(.dupFixed) { return "x'" + hex(bytes(UInt64(number))) + "'" }
        let count = !generator.once(in: 5) ? 1 : flags.contains(.dupSort) ? 30 : 3000
        return literal(String(repeating: "v\(number)", count: count), valueType)
    }

    func condition(_ generator: inout SeededGenerator) -> String {
        let pattern = generator.pick([
            "key = K", "key > K", "key >= K", "key < K", "key <= K", "key > K AND key < K", "key >= K AND key <= K",
            "key = K AND value = V", "key IN (K, K)", "value = V", "value > V", "1", "key = K OR key = K",
            "key = K AND value > V",
        ])
        var text = ""
        // Capitals stand for literals; AND, OR and IN hold neither K nor V.
        for character in pattern {
            text += character == "K" ? key(&generator) : character == "V" ? value(&generator) : String(character)
        }
        return text
    }

    /// A statement on table `@`.
    func statement(_ generator: inout SeededGenerator) -> String {
        switch generator.number(0...9) {
        case 0...3:
            let rows = (0..<generator.pick([1, 1, 3, 30])).map { _ in "(\(key(&generator)), \(value(&generator)))" }
            let mode = generator.pick(["", "", "OR IGNORE ", "OR REPLACE "])
            return "INSERT \(mode)INTO @ VALUES \(rows.joined(separator: ", "))"
        case 4:
            return "DELETE FROM @ WHERE \(condition(&generator))"
        case 5:
            // Of several rows of one key each would get the same value: then the order of the rows decides.
            let which =
                flags.contains(.dupSort)
                ? "key = \(key(&generator)) AND value = \(value(&generator))" : condition(&generator)
            return "UPDATE @ SET value = \(value(&generator)) WHERE \(which)"
        case 6:
            let mode = generator.pick(["", "OR REPLACE ", "OR IGNORE "])
            return """
                UPDATE \(mode)@ SET key = \(key(&generator)) WHERE key = \(key(&generator)) AND value = \(value(&generator))
                """
        case 7:
            let source = keyType == "int" ? "key + 1" : "key"
            return "INSERT OR IGNORE INTO @ SELECT \(source), value FROM @ WHERE \(condition(&generator))"
        case 8:
            return "SELECT a.key, b.value FROM @ a JOIN @ b ON b.key = a.key ORDER BY 1, 2"
        default:
            let columns = generator.pick(["key, value", "key", "count(*)", "max(key), min(value)", "value"])
            let order = generator.pick([
                "key, value", "key DESC, value DESC", "key DESC, value", "key, value DESC", "value, key",
            ])
            return "SELECT \(columns) FROM @ WHERE \(condition(&generator)) ORDER BY \(order)"
        }
    }
}

@Suite struct RandomKeyValueTests {
    static let kinds: [TreeFlags] = [
        [], .reverseKey, .integerKey, .dupSort, [.dupSort, .reverseKey], [.dupSort, .reverseDup],
        [.dupSort, .integerKey], [.dupSort, .dupFixed], [.dupSort, .dupFixed, .integerDup],
        [.dupSort, .integerKey, .dupFixed, .integerDup],
    ]

    @Test(arguments: kinds)
    func aTreeAnswersAsANativeTableDoes(flags: TreeFlags) throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        let deadline = Date() + environmentSeconds(default: 0.5)
        var programs = 0
        repeat {
            try runOne(flags, &generator, seed: seed)
            programs += 1
        } while Date() < deadline && programs < environmentPrograms()
    }

    private func runOne(_ flags: TreeFlags, _ generator: inout SeededGenerator, seed: UInt64) throws {
        let folder = try Folder()
        let tree = generator.pick([nil, "tree"])
        try writeTree(folder.path("f"), tree, flags, entries: [])
        let session = try SQLSession()
        let twins = Twins(using: &generator, flags: flags)
        try twins.declare(session, path: folder.path("f"), tree: tree)
        var log: [String] = []
        var depth = 0
        for _ in 0..<generator.pick([60, 200]) {
            guard let sql = control(session, &depth, &generator) else {
                let sql = twins.statement(&generator)
                log.append(sql)
                try expectSame(session, sql, flags, log, seed: seed)
                continue
            }
            log.append(sql)
            try session.run(sql)
        }
        while session.isInTransaction { try session.run("COMMIT") }
        try expectSame(session, "SELECT * FROM @ ORDER BY key, value", flags, log, seed: seed)
    }

    /// Now and then a statement that begins or ends something.
    private func control(_ session: SQLSession, _ depth: inout Int, _ generator: inout SeededGenerator) -> String? {
        switch generator.number(0...19) {
        case 0:
            depth += 1
            return "SAVEPOINT s"
        case 1 where depth > 0:
            return "ROLLBACK TO s"
        case 2 where depth > 0:
            depth -= 1
            return "RELEASE s"
        case 3 where depth == 0:
            return session.isInTransaction ? generator.pick(["COMMIT", "ROLLBACK"]) : "BEGIN"
        default:
            return nil
        }
    }

    private func expectSame(
        _ session: SQLSession, _ sql: String, _ flags: TreeFlags, _ log: [String], seed: UInt64
    ) throws {
        let answers = ["k", "n"].map { name -> [String] in
            switch session.answer(sql.replacingOccurrences(of: "@", with: name)) {
            case .rows(let rows): return rows + [((try? session.run("SELECT changes()")) ?? []).joined()]
            case .error(_, let message): return ["error", message.replacingOccurrences(of: "\(name).", with: "@.")]
            }
        }
        let last = log.suffix(8).joined(separator: ";\n")
        try #require(answers[0] == answers[1], "seed \(seed), flags \(flags.rawValue):\n\(last)")
    }
}
