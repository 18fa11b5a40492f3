// Entries whose headers were damaged in the file: what LMDB then points to is refused where it is no page's, in readers and in writers.

import Foundation
import RootstockEngine
import Testing

@Suite struct DamagedPageTests {
    /// Who looks: a reader; a writer through the map; one without, before and after it changed the page, which is then a copy.
    enum Looking: CaseIterable { case reading, mapped, copying, copied }

    static let sizes: [UInt32] = [3000, 5000, 1 << 30]

    /// Sixteen bytes in front of a value, where an overflow run would have its page's header: flags and page count all fit.
    private let forged = Bytes(repeating: UInt8(ascii: "t"), count: 16)

    /// A store with one small page of entries, and what its bytes say of the size of the forged key's value changed.
    private func damaged(_ path: String, _ damage: (inout Data, Int) -> Void) throws {
        do {
            let environment = try Environment(engine: "lmdb", path: path, .init(durability: ROOTSTOCK_DURABILITY_OFF))
            try environment.write { transaction in
                let tree = try transaction.tree("t", create: true)
                // First, so at the page's end.
                try transaction.put(tree, forged, Bytes(repeating: 7, count: 600))
                try transaction.put(tree, [1], [1])
            }
        }
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        let sought = Data([0x58, 0x02, 0, 0, 0, 0, 16, 0] + forged)
        var found = 0
        var from = data.startIndex
        while let place = data.range(of: sought, in: from..<data.endIndex) {
            damage(&data, place.lowerBound)
            from = place.upperBound
            found += 1
        }
        try #require(found > 0)
        try data.write(to: URL(fileURLWithPath: path))
    }

    private func damaged(_ path: String, size: UInt32) throws {
        try damaged(path) { data, place in
            for i in 0..<4 { data[place + i] = UInt8(truncatingIfNeeded: size >> (8 * i)) }
        }
    }

    private func look(_ path: String, _ looking: Looking) throws {
        let options = rootstock_options(
            durability: ROOTSTOCK_DURABILITY_OFF, writeMap: looking == .mapped || looking == .reading ? nil : false)
        let environment = try Environment(engine: "lmdb", path: path, options)
        let transaction = try environment.begin(write: looking != .reading)
        let tree = try transaction.tree("t")
        if looking == .copied { try transaction.put(tree, [0], [0]) }
        #expect(throws: ROOTSTOCK_CORRUPT.fault, "get") { try transaction.get(tree, forged) }
        let cursor = try transaction.cursor(tree)
        #expect(throws: ROOTSTOCK_CORRUPT.fault, "cursor") { try cursor.move(ROOTSTOCK_EXACT, forged) }
        cursor.close()
        try #expect(transaction.get(tree, [1]) == [1], "the other entries are there")
        transaction.abort()
    }

    @Test(arguments: Looking.allCases, Self.sizes)
    func aValueOfNoPageIsRefused(_ looking: Looking, size: UInt32) throws {
        let scratch = Scratch()
        try damaged(scratch.path(), size: size)
        try look(scratch.path(), looking)
    }

    /// Little too long: addresses tell, where they do.
    @Test(arguments: [Looking.reading, .mapped]) func aValueThatLeavesItsPageIsRefused(_ looking: Looking) throws {
        let scratch = Scratch()
        try damaged(scratch.path(), size: 601 + 8)
        try look(scratch.path(), looking)
    }

    /// A flag in the page's header says that it holds keys alone: LMDB then hands out an empty key and leaves the value as it was.
    @Test(arguments: [Looking.reading, .mapped, .copying]) func aPageOfKeysAloneIsRefused(_ looking: Looking) throws {
        let scratch = Scratch()
        try damaged(scratch.path()) { data, place in data[place / 4096 * 4096 + 10] |= 0x20 }
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(),
            .init(durability: ROOTSTOCK_DURABILITY_OFF, writeMap: looking == .copying ? false : nil))
        let transaction = try environment.begin(write: looking != .reading)
        let cursor = try transaction.cursor(try transaction.tree("t"))
        #expect(throws: ROOTSTOCK_CORRUPT.fault) { try cursor.move(ROOTSTOCK_FIRST) }
        cursor.close()
        transaction.abort()
    }

    /// Values of every size about the limits, in readers and writers of both kinds, before and after they are changed.
    @Test(arguments: [true, false]) func soundValuesPass(writeMap: Bool) throws {
        let scratch = Scratch()
        let environment = try Environment(
            engine: "lmdb", path: scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, writeMap: writeMap))
        let sizes =
            Array(0...40) + Array(1490...1530) + Array(2000...2080) + Array(4060...4120) + [8176, 8177, 100_000]
        for round in 0..<3 {
            try environment.write { transaction in
                let tree = try transaction.tree("t", create: true)
                func check(_ byte: UInt8) throws {
                    let cursor = try transaction.cursor(tree)
                    for size in sizes {
                        let key = EngineContract.key(size)
                        let value = Bytes(repeating: byte, count: size)
                        try #expect(transaction.get(tree, key) == value)
                        try #expect(cursor.move(ROOTSTOCK_EXACT, key)?.value == value)
                    }
                    cursor.close()
                }
                if round > 0 { try check(UInt8(round - 1)) }
                for size in sizes {
                    try transaction.put(tree, EngineContract.key(size), Bytes(repeating: UInt8(round), count: size))
                }
                try check(UInt8(round))
            }
        }
    }
}
