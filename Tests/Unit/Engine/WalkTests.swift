// Entries read from LMDB's pages in the map, held against LMDB's own cursors in the same snapshot.
//
// Invariant: a random run is a function of its seed alone, which every failure prints.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import TestSupport
import Testing

@Suite struct WalkTests {
    private static func compare(_ transaction: Transaction, _ tree: rootstock_tree, seed: UInt64, steps: Int = 400)
        throws
    {
        let fault = pages_probe_compare(transaction.pointer, tree, seed, Int32(steps)).map { String(cString: $0) }
        try #require(fault == nil, "tree \(tree), seed \(seed)")
    }

    /// What keys look like in one tree: short numbers, random lengths, long ones that make it deep, long common prefixes; numbers
    /// whose place in a page is guessed wrong, because they lie anywhere, or in a few heaps, or among keys of other lengths; the same
    /// spelt in digits, without gaps, in heaps, and among texts of others.
    private enum Keys: CaseIterable {
        case numbers, anything, long, prefixed, scattered, heaped, mixed, digits, digitsInHeaps, texts

        private static func spelt(_ number: Int, _ count: Int) -> Bytes {
            let digits = String(number)
            return Bytes(repeating: UInt8(ascii: "0"), count: count - digits.utf8.count) + digits.utf8
        }

        func key(_ generator: inout SeededGenerator) -> Bytes {
            let number = Int.random(in: 0..<6000, using: &generator)
            switch self {
            case .numbers: return EngineContract.key(number)
            case .anything:
                var own = SeededGenerator(seed: UInt64(number))
                return (0..<Int.random(in: 1...511, using: &own)).map { _ in UInt8.random(in: 0...255, using: &own) }
            case .long: return EngineContract.key(number) + Bytes(repeating: 3, count: 503 - number % 60)
            case .prefixed: return Bytes(repeating: 9, count: 200 + number % 3) + EngineContract.key(number)
            case .scattered:
                var own = SeededGenerator(seed: UInt64(number))
                return number < 2
                    ? Bytes(repeating: number == 0 ? 0 : 255, count: 8)
                    : (0..<8).map { _ in UInt8.random(in: 0...255, using: &own) }
            case .heaped:
                return Bytes([UInt8(number % 5 * 60), 0, 0, 0, 0, 0, UInt8(number / 256), UInt8(number % 256)])
            case .mixed:
                return EngineContract.key(number) + Bytes(repeating: 1, count: number % 4 == 0 ? number % 3 : 0)
            case .digits: return Self.spelt(number, 16)
            case .digitsInHeaps: return Self.spelt(number % 7 * 1_000_000_007 + number * number % 90, 12)
            case .texts:
                return Bytes("no. ".utf8) + Self.spelt(number / 3, number % 2 == 0 ? 9 : 11)
                    + (number % 3 == 0 ? [] : Bytes("/:-x".utf8.prefix(number % 5)))
            }
        }
    }

    private static func value(_ generator: inout SeededGenerator) -> Bytes {
        let size: Int
        switch Int.random(in: 0..<400, using: &generator) {
        case 0: size = Int.random(in: 0...100_000, using: &generator)
        case 1...8: size = Int.random(in: 1900...9000, using: &generator)
        case 9...40: size = 0
        default: size = Int.random(in: 1...120, using: &generator)
        }
        return Bytes(repeating: UInt8.random(in: 0...255, using: &generator), count: size)
    }

    private static func run(seed: UInt64, writeMap: Bool, readAhead: Bool?) throws {
        let scratch = Scratch()
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(),
            .init(durability: ROOTSTOCK_DURABILITY_OFF, writeMap: writeMap, readAhead: readAhead))
        var generator = SeededGenerator(seed: seed)
        var trees: [(tree: rootstock_tree, keys: Keys)] = []
        let pooled = try environment.begin()
        for round in 0..<8 {
            pooled.reset()
            try environment.write { transaction in
                // Trees come while others read.
                for kind in Keys.allCases where round == 0 || Int.random(in: 0..<6, using: &generator) == 0 {
                    trees.append((try transaction.tree("t\(trees.count)", create: true), kind))
                }
                for (tree, keys) in trees {
                    let growing = Int.random(in: 0..<10, using: &generator) < 6
                    if Int.random(in: 0..<12, using: &generator) == 0 { try transaction.clear(tree) }
                    for _ in 0..<Int.random(in: 0..<1200, using: &generator) {
                        let key = keys.key(&generator)
                        if Int.random(in: 0..<10, using: &generator) < (growing ? 8 : 2) {
                            try transaction.put(tree, key, value(&generator))
                        } else {
                            try transaction.remove(tree, key)
                        }
                    }
                }
            }
            try pooled.renew()
            let fresh = try environment.begin()
            for (tree, _) in trees {
                try compare(pooled, tree, seed: seed &+ UInt64(round))
                try compare(fresh, tree, seed: seed &+ UInt64(round) &+ 1000)
            }
            // The snapshot stands while the next transaction goes on.
            try environment.write { transaction in
                for _ in 0..<50 { try transaction.put(trees[0].tree, Keys.numbers.key(&generator), value(&generator)) }
            }
            try compare(fresh, trees[0].tree, seed: seed &+ 7)
            fresh.abort()
        }
        pooled.abort()
    }

    @Test(arguments: [true, false]) func randomTrees(writeMap: Bool) throws {
        let end = Date().addingTimeInterval(environmentSeconds(default: 3))
        let first = SeededGenerator.environmentSeed()
        var seed = first
        repeat {
            // As in a store that is larger than memory, in every other run.
            try Self.run(seed: seed, writeMap: writeMap, readAhead: seed % 2 == 0 ? nil : false)
            seed &+= 1
        } while Date() < end && seed &- first < environmentPrograms()
    }

    /// Filled in order and at random, every tree is deep in the end.
    @Test func deepTrees() throws {
        let scratch = Scratch()
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF))
        var generator = SeededGenerator(seed: 5)
        let trees = try environment.write { transaction in
            let trees = [try transaction.tree("ordered", create: true), try transaction.tree("random", create: true)]
            for i in 0..<6000 {
                try transaction.put(
                    trees[0], EngineContract.key(i) + Bytes(repeating: 1, count: 503), [UInt8(i % 256)],
                    flags: ROOTSTOCK_PUT_APPEND)
                try transaction.put(trees[1], Keys.long.key(&generator), [1])
            }
            return trees
        }
        try environment.read { transaction in
            for tree in trees {
                try #expect(transaction.statistics(tree).depth >= 4)
                try Self.compare(transaction, tree, seed: 11, steps: 3000)
            }
        }
    }

    /// More trees than a transaction remembers roots of, and a main tree of many pages.
    @Test func thousandsOfTrees() throws {
        let scratch = Scratch()
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF))
        var trees: [rootstock_tree] = []
        for part in 0..<4 {
            try environment.write { transaction in
                for i in 0..<500 {
                    let tree = try transaction.tree("a tree of some name, number \(part * 500 + i)", create: true)
                    if i % 3 != 0 { try transaction.put(tree, EngineContract.key(i), EngineContract.key(part)) }
                    trees.append(tree)
                }
            }
        }
        try environment.read { transaction in
            for (i, tree) in trees.enumerated() {
                let expected = i % 500 % 3 == 0 ? nil : EngineContract.key(i / 500)
                try #require(transaction.get(tree, EngineContract.key(i % 500)) == expected)
                if i % 50 == 0 { try Self.compare(transaction, tree, seed: UInt64(i), steps: 20) }
            }
        }
    }

    /// A snapshot taken before a tree was there does not show it, one taken after does; an empty store has none.
    @Test func treesOfLaterTransactions() throws {
        let scratch = Scratch()
        let environment = try Environment(engine: "lmdb", path: scratch.path())
        let empty = try environment.begin()
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            try transaction.put(tree, [1], [2])
            return tree
        }
        #expect(throws: ROOTSTOCK_NOT_FOUND.fault) { try empty.tree("t") }
        empty.abort()
        let before = try environment.begin()
        try environment.write { try $0.clear(tree) }
        try #expect(before.get(tree, [1]) == [2])
        before.reset()
        try before.renew()
        try #expect(before.get(tree, [1]) == nil)
        #expect(pages_probe_walks(before.pointer) == 1)
        before.abort()
    }

    /// The map moves (it is doubled) between snapshots of one transaction object, with a cursor kept.
    @Test func aMovedMap() throws {
        let scratch = Scratch()
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: 1 << 20))
        let tree = try environment.write { try $0.tree("t", create: true) }
        let reader = try environment.begin()
        let cursor = try reader.cursor(tree)
        for round in 0..<60 {
            reader.reset()
            try environment.write { transaction in
                for i in 0..<20 {
                    try transaction.put(tree, EngineContract.key(round * 20 + i), Bytes(repeating: 1, count: 3000))
                }
            }
            try reader.renew()
            let renewed = try cursor.renew(reader)
            try #require(renewed)
            try #require(cursor.move(ROOTSTOCK_LAST)?.key == EngineContract.key(round * 20 + 19))
            try Self.compare(reader, tree, seed: UInt64(round), steps: 100)
        }
        try #expect(environment.statistics().map_bytes > 2 << 20)
        cursor.close()
        reader.abort()
    }
}
