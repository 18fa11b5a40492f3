// The contract under random operations and under threads: what fixed examples do not think of.
//
// Invariant: a random run is a function of its seed alone, which every failure prints.

import Foundation
import RootstockEngine
import TestSupport
import Testing

/// A sorted array: slow, and plainly right.
private struct Model {
    var keys: [Bytes] = []
    var values: [Bytes] = []

    /// Index of the first key >= key.
    func lowerBound(_ key: Bytes) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func index(of key: Bytes) -> Int? {
        let at = lowerBound(key)
        return at < keys.count && keys[at] == key ? at : nil
    }

    mutating func put(_ key: Bytes, _ value: Bytes) {
        let at = lowerBound(key)
        if at < keys.count && keys[at] == key {
            values[at] = value
        } else {
            keys.insert(key, at: at)
            values.insert(value, at: at)
        }
    }

    mutating func remove(_ key: Bytes) -> Bool {
        guard let at = index(of: key) else { return false }
        keys.remove(at: at)
        values.remove(at: at)
        return true
    }

    func entry(_ at: Int) -> Entry? { at >= 0 && at < keys.count ? Entry(keys[at], values[at]) : nil }

    /// Where a cursor that last returned `position` goes.
    func move(_ move: rootstock_move, from position: Bytes?, sought: Bytes) -> Entry? {
        switch move {
        case ROOTSTOCK_FIRST: return entry(0)
        case ROOTSTOCK_LAST: return entry(keys.count - 1)
        case ROOTSTOCK_NEXT:
            guard let position else { return entry(0) }
            return entry(index(of: position).map { $0 + 1 } ?? lowerBound(position))
        case ROOTSTOCK_PREVIOUS:
            guard let position else { return entry(keys.count - 1) }
            return entry(lowerBound(position) - 1)
        case ROOTSTOCK_SEEK: return entry(lowerBound(sought))
        default: return index(of: sought).flatMap { entry($0) }
        }
    }
}

extension EngineContract {
    /// Puts, removes, clears and cursor moves in random order, several cursors open at once, commits and aborts
    /// between; compared with a sorted array after every step. Long keys make the trees deep.
    static func anyOrderOfOperations(_ engine: EngineUnderTest, seed: UInt64, operations: Int) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        var generator = SeededGenerator(seed: seed)
        let keyLimit = environment.maximumKeySize == 0 ? 600 : environment.maximumKeySize
        let keySpace = seed % 2 == 0 ? 400 : 3000
        let moves = [
            ROOTSTOCK_FIRST, ROOTSTOCK_LAST, ROOTSTOCK_NEXT, ROOTSTOCK_NEXT, ROOTSTOCK_NEXT, ROOTSTOCK_PREVIOUS,
            ROOTSTOCK_PREVIOUS, ROOTSTOCK_SEEK, ROOTSTOCK_EXACT,
        ]
        func randomKey() -> Bytes {
            let number = Int.random(in: 0..<keySpace, using: &generator)
            // The same number is always the same key; one in three is long.
            return Bytes(repeating: UInt8(number % 7), count: number % 3 == 0 ? keyLimit - 8 : number % 13)
                + key(number)
        }
        func randomValue() -> Bytes {
            let size = Int.random(in: 0..<20, using: &generator) == 0 ? 9000 : Int.random(in: 0..<60, using: &generator)
            return Bytes(repeating: UInt8.random(in: 0...255, using: &generator), count: size)
        }
        var committed = Model()
        var done = 0
        let tree = try environment.write { try $0.tree("t", create: true) }
        while done < operations {
            let transaction = try environment.begin(write: true)
            var model = committed
            var cursors = try (0..<4).map { _ in (cursor: try transaction.cursor(tree), position: nil as Bytes?) }
            // Phases that mostly grow or mostly shrink the tree, so that pages split and merge.
            let growing = Bool.random(using: &generator)
            for _ in 0..<Int.random(in: 1...1500, using: &generator) {
                done += 1
                let sought = randomKey()
                let kind = Int.random(in: 0..<1000, using: &generator)
                if kind < 2 {
                    try transaction.clear(tree)
                    model = Model()
                } else if kind < (growing ? 350 : 100) {
                    let value = randomValue()
                    try transaction.put(tree, sought, value)
                    model.put(sought, value)
                } else if kind < 450 {
                    // Often what a cursor stands on.
                    let victim = kind % 2 == 0 ? cursors[kind % 4].position ?? sought : sought
                    let removed = try transaction.remove(tree, victim)
                    try #require(removed == model.remove(victim), "remove, seed \(seed), operation \(done)")
                } else if kind < 500 {
                    let value = try transaction.get(tree, sought)
                    try #require(
                        value == model.index(of: sought).map { model.values[$0] },
                        "get, seed \(seed), operation \(done)")
                } else {
                    let which = Int.random(in: 0..<4, using: &generator)
                    let move = moves.randomElement(using: &generator)!
                    let expected = model.move(move, from: cursors[which].position, sought: sought)
                    let entry = try cursors[which].cursor.move(move, sought)
                    try #require(entry == expected, "move \(move), seed \(seed), operation \(done)")
                    cursors[which].position = entry?.key
                }
            }
            for (cursor, _) in cursors { cursor.close() }
            cursors = []
            if Int.random(in: 0..<4, using: &generator) == 0 {
                transaction.abort()
            } else {
                try transaction.commit()
                committed = model
            }
            try environment.read { reader in
                try #require(
                    reader.all(tree) == zip(committed.keys, committed.values).map { Entry($0, $1) },
                    "after the transaction, seed \(seed), operation \(done)")
                try #require(reader.statistics(tree).entries == UInt64(committed.keys.count))
            }
        }
    }

    /// Readers on many threads beside a writer: every snapshot is whole. Each commit sets all entries to one number.
    static func manyThreads(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<50 { try transaction.put(tree, key(i), key(0)) }
            return tree
        }
        let failures = Failures()
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            do {
                if thread < 2 {
                    for _ in 0..<150 {
                        var questions: Int32 = 0
                        let code = withUnsafeMutablePointer(to: &questions) {
                            rootstock_writer_lock(environment.shared, patience, $0)
                        }
                        guard code == ROOTSTOCK_OK.code else { throw Fault(code, "the queue of writers") }
                        defer { rootstock_writer_unlock(environment.shared) }
                        try environment.write { transaction in
                            let number = Bytes(try transaction.get(tree, key(0)) ?? [])
                            let next = key(Int(number.reduce(0) { $0 << 8 | UInt64($1) }) + 1)
                            for i in 0..<50 { try transaction.put(tree, key(i), next) }
                        }
                    }
                } else {
                    let reader = try environment.begin()
                    for _ in 0..<600 {
                        let values = Set(try reader.all(tree).map(\.value))
                        if values.count != 1 { failures.add("a snapshot of \(values.count) commits") }
                        reader.reset()
                        try reader.renew()
                    }
                    reader.abort()
                }
            } catch {
                failures.add("\(error)")
            }
        }
        #expect(failures.all == [])
        try environment.read { try #expect($0.get(tree, key(7)) == key(300), "no commit is lost") }
    }
}

/// Sleeps a little and asks on, for a minute.
private let patience: rootstock_busy = { context, _ in
    usleep(200)
    let count = context!.assumingMemoryBound(to: Int32.self)
    count.pointee += 1
    return count.pointee < 300_000 ? 1 : 0
}

/// What went wrong on any thread.
final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var messages: [String] = []

    func add(_ message: String) { lock.withLock { messages.append(message) } }
    var all: [String] { lock.withLock { messages } }
}
