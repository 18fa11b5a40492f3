// What a store takes: how full leaves are, and how soon free pages are used again.
//
// Invariant: the bounds stand between what LMDB does by itself and what the engine makes of it, both measured.

import Foundation
import RootstockEngine
import Testing

@Suite struct SpaceTests {
    /// LMDB's own splits leave the leaves of a tree that is filled in such an order 67% full.
    @Test(arguments: [true, false]) func leavesGiveEntriesToTheOnesBesideThem(writeMap: Bool) throws {
        let scratch = Scratch()
        let options = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, writeMap: writeMap)
        let environment = try Environment(engine: "lmdb", path: scratch.path(), options)
        let tree = try environment.write { try $0.tree("t", create: true) }
        let count = 20_000
        var sizes = 0
        for batch in stride(from: 0, to: count, by: 500) {
            try environment.write { transaction in
                for index in batch..<batch + 500 {
                    let number = index * 7919 % count
                    let key = Bytes(text: String(repeating: "k", count: 1 + number % 3) + "\(100_000 + number)")
                    try transaction.put(tree, key, Bytes(repeating: UInt8(number % 251), count: 60 + number % 80))
                    sizes += (8 + key.count + 60 + number % 80 + 1) / 2 * 2 + 2
                }
            }
        }
        try environment.read { transaction in
            let expected = (0..<count).map { number in
                Entry(
                    Bytes(text: String(repeating: "k", count: 1 + number % 3) + "\(100_000 + number)"),
                    Bytes(repeating: UInt8(number % 251), count: 60 + number % 80))
            }
            try #expect(
                transaction.all(tree) == expected.sorted { $0.key.lexicographicallyPrecedes($1.key) })
            let pages = try Int(transaction.statistics(tree).pages)
            #expect(sizes > pages * 4096 * 72 / 100, "\(sizes) bytes of entries in \(pages) pages")
        }
    }

    /// LMDB keeps a page that a commit left free for the next but one: as many as a transaction changes, twice.
    @Test func freePagesAreUsedByTheNextTransaction() throws {
        let scratch = Scratch()
        let options = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF)
        let environment = try Environment(engine: "lmdb", path: scratch.path(), options)
        let tree = try environment.write { try $0.tree("t", create: true) }
        for round in 0..<8 {
            let commit = try environment.write { transaction in
                for number in 0..<3000 {
                    try transaction.put(
                        tree, EngineContract.key(number), Bytes(repeating: UInt8(round), count: 1000))
                }
                return transaction.identifier
            }
            try #expect(environment.begin().identifier >= commit)
        }
        let pages = try environment.read { try $0.statistics(tree).pages }
        let statistics = try environment.statistics()
        #expect(pages > 750)
        #expect(
            statistics.used_pages + statistics.free_pages < pages * 9 / 4,
            "\(statistics.used_pages) and \(statistics.free_pages) free, the tree's \(pages)")
        try environment.read { transaction in
            try #expect(
                transaction.all(tree)
                    == (0..<3000).map { Entry(EngineContract.key($0), Bytes(repeating: 7, count: 1000)) })
        }
    }
}
