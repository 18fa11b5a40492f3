// What is LMDB's own: full maps, reader slots, damaged files, the write map, errors of the operating system.

import Foundation
import RootstockEngine
import Testing

@Suite struct LMDBTests {
    private func open(_ path: String, _ options: rootstock_options) throws(Fault) -> Environment {
        try Environment(engine: "lmdb", path: path, options)
    }

    private let off = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF)

    private func fill(_ environment: Environment, entries: Int, size: Int = 100) throws {
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<entries { try transaction.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: size)) }
        }
    }

    @Test func aFullMapLosesNothing() throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: 1 << 20))
        try fill(environment, entries: 1000)
        let writer = try environment.begin(write: true)
        let tree = try writer.tree("t")
        var fault: Fault?
        for i in 1000..<100_000 where fault == nil {
            do { try writer.put(tree, EngineContract.key(i), Bytes(repeating: 2, count: 100)) } catch { fault = error }
        }
        #expect(fault?.code == ROOTSTOCK_FULL.code)
        #expect(throws: ROOTSTOCK_TRANSACTION_BROKEN.fault) { try writer.put(tree, [1], [1]) }
        #expect(throws: ROOTSTOCK_TRANSACTION_BROKEN.fault) { try writer.commit() }
        try environment.read { transaction in
            try #expect(
                transaction.all(tree)
                    == (0..<1000).map { Entry(EngineContract.key($0), Bytes(repeating: 1, count: 100)) })
        }
        try environment.write { try $0.put(tree, [1], [1]) }
    }

    /// Transactions that each fit: the map is doubled between them, under snapshots that were reset, and keeps up with the store.
    @Test(arguments: [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_OFF])
    func aMapGrowsWithItsStore(durability: rootstock_durability) throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), .init(durability: durability, mapSize: 1 << 20))
        let tree = try environment.write { try $0.tree("t", create: true) }
        let pooled = try environment.begin()
        pooled.reset()
        for i in 0..<100 {
            try environment.write { try $0.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: 100_000)) }
            if i % 10 == 0 {
                try pooled.renew()
                try #expect(pooled.get(tree, EngineContract.key(i))?.count == 100_000)
                pooled.reset()
            }
        }
        pooled.abort()
        try #expect(environment.statistics().map_bytes >= 10 << 20)
        try environment.read { try #expect($0.statistics(tree).entries == 100) }
    }

    @Test func readersFull() throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, readers: 4))
        var readers = try (0..<4).map { _ in try environment.begin() }
        #expect(throws: ROOTSTOCK_READERS_FULL.fault) { try environment.begin() }
        try #expect(readers[0].identifier == environment.begin(write: true).identifier - 1, "a writer needs no slot")
        readers.removeLast()
        readers.append(try environment.begin())
    }

    @Test func theDefaultsAreLarge() throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), off)
        let statistics = try environment.statistics()
        #expect(statistics.map_bytes == 64 << 30)
        #expect(statistics.maximum_readers == 510)
        #expect(environment.maximumKeySize == 511)
        var status = stat()
        #expect(stat(scratch.path(), &status) == 0)
        #expect(status.st_size < 1 << 20, "address space, not disk")
        try environment.write { transaction in
            for i in 0..<1500 { _ = try transaction.tree("tree \(i)", create: true) }
        }
        try environment.read { _ = try $0.tree("tree 1499") }
    }

    @Test func treesFull() throws {
        let scratch = Scratch()
        let few = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, trees: 3)
        do {
            let environment = try open(scratch.path(), few)
            let writer = try environment.begin(write: true)
            for i in 0..<3 { _ = try writer.tree("\(i)", create: true) }
            #expect(throws: ROOTSTOCK_TREES_FULL.fault) { try writer.tree("3", create: true) }
            try writer.commit()
        }
        try open(scratch.path(), off).write { _ = try $0.tree("3", create: true) }
        // More trees than handles: refused with a code, not half opened.
        #expect(throws: ROOTSTOCK_TREES_FULL.fault) { _ = try open(scratch.path(), few) }
    }

    @Test func aFileCutShortIsRefused() throws {
        let scratch = Scratch()
        do { try fill(try open(scratch.path(), off), entries: 20_000) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: scratch.path()))
        for size in [whole.count / 2, whole.count / 2 + 1, 12288, 8192, 5000, 4096, 160] {
            let path = scratch.path("cut\(size)")
            try whole.prefix(size).write(to: URL(fileURLWithPath: path))
            do {
                _ = try open(path, off)
                Issue.record("opened with \(size) bytes of \(whole.count)")
            } catch {
                #expect(error.code == ROOTSTOCK_CORRUPT.code, "\(size) bytes")
                #expect(error.message.contains(path))
            }
        }
        #expect(throws: ROOTSTOCK_NOT_A_STORE.fault) {
            try whole.prefix(100).write(to: URL(fileURLWithPath: scratch.path("tiny")))
            _ = try open(scratch.path("tiny"), off)
        }
    }

    /// LMDB leaves free pages at the end of the file unwritten; such a file is short and whole.
    @Test func aShortFileThatLMDBWroteIsTaken() throws {
        let scratch = Scratch()
        do {
            let environment = try open(
                scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, writeMap: false))
            // Several commits, so that there are free pages and LMDB keeps a list of them at hand.
            for _ in 0..<5 { try fill(environment, entries: 100) }
            try environment.write { transaction in
                let tree = try transaction.tree("t")
                for i in 1000..<1010 {
                    try transaction.put(tree, EngineContract.key(i), Bytes(repeating: 3, count: 400_000))
                }
                for i in 1000..<1010 { try transaction.remove(tree, EngineContract.key(i)) }
            }
            let statistics = try environment.statistics()
            #expect(
                statistics.file_bytes < (statistics.used_pages + statistics.free_pages) * statistics.page_bytes,
                "the case this test is about")
        }
        let environment = try open(scratch.path(), off)
        try environment.read { try #expect($0.all($0.tree("t")).count == 100) }
        try fill(environment, entries: 10_000)
    }

    @Test func damagedMetaPagesAreRefused() throws {
        let scratch = Scratch()
        do { try fill(try open(scratch.path(), off), entries: 100) }
        let whole = try Data(contentsOf: URL(fileURLWithPath: scratch.path()))
        func refused(_ change: (inout Data) -> Void) -> Int32? {
            var data = whole
            change(&data)
            let path = scratch.path("damaged")
            try? data.write(to: URL(fileURLWithPath: path))
            do {
                _ = try open(path, off)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(refused { $0[16] ^= 1 } == ROOTSTOCK_NOT_A_STORE.code, "the first magic number")
        #expect(refused { $0[4096 + 16] ^= 1 } == ROOTSTOCK_CORRUPT.code, "the second")
        #expect(refused { $0[20] = 2 } == ROOTSTOCK_VERSION.code, "another file format")
        #expect(refused { $0[41] = 0x11 } == ROOTSTOCK_CORRUPT.code, "an impossible page size")
        #expect(refused { $0[136 + 5] = 1 } == ROOTSTOCK_CORRUPT.code, "more pages than any map has")
        #expect(refused { $0[4096 + 136 + 5] = 1 } == ROOTSTOCK_CORRUPT.code, "the second page, too")
    }

    /// The file's bytes, by name and on disk.
    private func size(_ path: String) -> (apparent: Int, allocated: Int) {
        var status = stat()
        guard stat(path, &status) == 0 else { return (-1, -1) }
        return (Int(status.st_size), Int(status.st_blocks) * 512)
    }

    /// LMDB stretches a file that it writes through the map to the map's size. Ours grows as it is used, and what was
    /// reserved ahead is given back.
    @Test(arguments: [0, 64 << 20]) func theWriteMapKeepsTheFileSmall(mapSize: UInt64) throws {
        let scratch = Scratch()
        let options = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: mapSize)
        for round in 1...3 {
            let environment = try open(scratch.path(), options)
            #expect(size(scratch.path()).apparent < 4 << 20, "as it opens")
            try fill(environment, entries: 10_000 * round)
            let (apparent, allocated) = size(scratch.path())
            let statistics = try environment.statistics()
            let used = Int((statistics.used_pages + statistics.free_pages) * statistics.page_bytes)
            #expect(apparent > used && allocated >= apparent, "allocated ahead: \(apparent) \(allocated) \(used)")
            #expect(apparent < used + used / 8 + 4 << 20)
            #expect(statistics.file_bytes == UInt64(apparent))
            try environment.check(environment.engine.pointee.sync(environment.pointer))
        }
        let environment = try open(scratch.path(), .init(readOnly: true))
        let statistics = try environment.statistics()
        #expect(
            size(scratch.path()).apparent == Int((statistics.used_pages + statistics.free_pages) * 4096),
            "given back when it was closed")
        try environment.read { try #expect($0.all($0.tree("t")).count == 30_000) }
    }

    /// A file that another program has stretched keeps its length; a smaller map does not cut what is in use.
    @Test func theWriteMapLeavesOthersTheirLength() throws {
        let scratch = Scratch()
        do { try fill(try open(scratch.path(), off), entries: 10_000) }
        #expect(truncate(scratch.path(), 32 << 20) == 0)
        do {
            let environment = try open(
                scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: 8 << 20, writeMap: true))
            try fill(environment, entries: 20_000)
            #expect(size(scratch.path()).apparent == 32 << 20)
        }
        #expect(size(scratch.path()).apparent == 32 << 20)
        try open(scratch.path(), off).read { try #expect($0.all($0.tree("t")).count == 20_000) }
    }

    /// Whatever a transaction takes, the map is allocated before it is stored to: values of all sizes, trees cleared (which
    /// writes long lists of free pages), many trees.
    @Test func theWriteMapIsAllocatedAhead() throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), off)
        var generator = SystemRandomNumberGenerator()
        for round in 0..<40 {
            try environment.write { transaction in
                for number in 0..<(round % 8 + 1) {
                    let tree = try transaction.tree("t\(number)", create: true)
                    if Int.random(in: 0..<4, using: &generator) == 0 { try transaction.clear(tree) }
                    for _ in 0..<50 {
                        let size = Int.random(in: 0..<20, using: &generator) == 0 ? 300_000 : 500
                        let key = EngineContract.key(Int.random(in: 0..<5000, using: &generator))
                        try transaction.put(tree, key, Bytes(repeating: 1, count: size))
                    }
                }
            }
            // No hole among the pages in use: each could only be filled at the disk's mercy.
            let (apparent, allocated) = size(scratch.path())
            #expect(allocated >= apparent)
            let statistics = try environment.statistics()
            #expect(UInt64(apparent) > (statistics.used_pages + statistics.free_pages) * statistics.page_bytes)
        }
    }

    @Test func aSecondWriterOfThisProcessIsMisuse() throws {
        let scratch = Scratch()
        let environment = try open(scratch.path(), off)
        let writer = try environment.begin(write: true)
        #expect(throws: ROOTSTOCK_MISUSE.fault) { try environment.begin(write: true) }
        writer.abort()
        try environment.begin(write: true).commit()
    }
}
