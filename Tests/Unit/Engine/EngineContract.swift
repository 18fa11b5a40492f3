// The contract of rootstock_engine.h as checks that run on any engine.
//
// They run on every registered engine. To hold a new one to them, register it before `EngineUnderTest.all` is made:
// every check opens fresh environments of that engine, and each failure names the sentence of the header that it
// breaks.

import Rootstock
import RootstockEngine
import RootstockEngineProbe
import RootstockReference
import Testing

/// An engine by name, with a place for its stores.
struct EngineUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// LMDB as it writes where the file is not written through the map: by system calls.
    var withoutMap = false

    static let all =
        registered.map { EngineUnderTest(name: $0.name) } + [EngineUnderTest(name: "lmdb", withoutMap: true)]
        + ["lmdb:plain", "lmdb:read", "lmdb:write", "lmdb:sealed"].map { EngineUnderTest(name: $0) }
        + (bare_engine_register() == ROOTSTOCK_OK.code ? [EngineUnderTest(name: "lmdb:bare")] : [])
    static let keepingFiles = all.filter { $0.has(ROOTSTOCK_CAPABILITY_FILE) }

    /// With the reference engine, which no product has in it.
    private static let registered: [Engine] = {
        let engines = Engine.registered
        let code = rootstock_engine_register(rootstock_reference())
        precondition(code == 0, "the reference engine is registered: \(code)")
        return engines + ["reference"]
    }()

    /// In whichever form.
    var isLMDB: Bool { name == "lmdb" || name.hasPrefix("lmdb:") }

    var testDescription: String { withoutMap ? "\(name) without its map" : name }

    func has(_ capability: UInt32) -> Bool { rootstock_engine_find(name).pointee.capabilities & capability != 0 }

    /// Opens a store without syncing, which is all that most checks need.
    func open(_ path: String, _ options: rootstock_options = .init(durability: ROOTSTOCK_DURABILITY_OFF)) throws
        -> Environment
    {
        var options = options
        if withoutMap { options.write_map = ROOTSTOCK_WRITE_MAP_NEVER }
        return try Environment(engine: name, path: path, options)
    }
}

extension rootstock_options {
    init(
        durability: rootstock_durability = ROOTSTOCK_DURABILITY_FULL, mapSize: UInt64 = 0, readers: UInt32 = 0,
        trees: UInt32 = 0, readOnly: Bool = false, writeMap: Bool? = nil,
        readAhead: Bool? = nil
    ) {
        self.init()
        self.durability = durability
        map_size = mapSize
        maximum_readers = readers
        maximum_trees = trees
        read_only = readOnly ? 1 : 0
        write_map =
            switch writeMap {
            case nil: ROOTSTOCK_WRITE_MAP_AUTOMATIC
            case true?: ROOTSTOCK_WRITE_MAP_ALWAYS
            case false?: ROOTSTOCK_WRITE_MAP_NEVER
            }
        read_ahead =
            switch readAhead {
            case nil: ROOTSTOCK_READ_AHEAD_AUTOMATIC
            case true?: ROOTSTOCK_READ_AHEAD_ALWAYS
            case false?: ROOTSTOCK_READ_AHEAD_NEVER
            }
    }
}

enum EngineContract {
    // MARK: Trees

    static func treesAreNamedAndKept(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.read { transaction in
            #expect(throws: ROOTSTOCK_NOT_FOUND.fault) { try transaction.tree("a") }
        }
        let (a, b) = try environment.write { transaction in
            let trees = (try transaction.tree("a", create: true), try transaction.tree("b", create: true))
            #expect(trees.0 != trees.1)
            try #expect(transaction.tree("a", create: true) == trees.0, "CREATE opens what is there")
            try transaction.put(trees.0, [1], [10])
            try transaction.put(trees.1, [1], [20])
            return trees
        }
        try environment.read { transaction in
            try #expect(transaction.tree("a") == a, "a handle is valid for the life of the environment")
            try #expect(transaction.get(a, [1]) == [10])
            try #expect(transaction.get(b, [1]) == [20])
            #expect(throws: ROOTSTOCK_READ_ONLY.fault) { try transaction.tree("c", create: true) }
        }
    }

    static func abortForgetsTrees(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        for _ in 0..<3 {
            let transaction = try environment.begin(write: true)
            let tree = try transaction.tree("gone", create: true)
            try transaction.put(tree, [1], [1])
            transaction.abort()
            try environment.read { transaction in
                #expect(throws: ROOTSTOCK_NOT_FOUND.fault) { try transaction.tree("gone") }
            }
        }
        let other = try environment.write { try $0.tree("other", create: true) }
        let tree = try environment.write { try $0.tree("gone", create: true) }
        #expect(tree != other)
        try environment.read { try #expect($0.all(tree) == []) }
    }

    static func anOlderSnapshotHasNoYoungerTree(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let old = try environment.begin()
        try environment.write { try $0.put(try $0.tree("t", create: true), [1], [1]) }
        #expect(throws: ROOTSTOCK_NOT_FOUND.fault) { try old.tree("t") }
        old.reset()
        try old.renew()
        try #expect(old.get(try old.tree("t"), [1]) == [1])
    }

    static func clearEmptiesAndKeepsTheHandle(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<1000 { try transaction.put(tree, key(i), Bytes(repeating: 7, count: i)) }
            return tree
        }
        let old = try environment.begin()
        try environment.write { transaction in
            try transaction.clear(tree)
            try #expect(transaction.get(tree, key(1)) == nil)
            try #expect(transaction.statistics(tree).entries == 0)
            try transaction.put(tree, key(5), [5])
        }
        try #expect(old.statistics(tree).entries == 1000, "a snapshot keeps what was cleared after it")
        try environment.read { try #expect($0.all(tree) == [Entry(key(5), [5])]) }
    }

    // MARK: Values

    static func putFlags(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            try #expect(transaction.put(tree, [5], [1]))
            try #expect(transaction.put(tree, [5], [2]), "a plain put overwrites")
            try #expect(!transaction.put(tree, [5], [3], flags: ROOTSTOCK_PUT_NO_OVERWRITE))
            try #expect(transaction.get(tree, [5]) == [2], "NO_OVERWRITE changes nothing")
            try #expect(transaction.put(tree, [4], [4], flags: ROOTSTOCK_PUT_NO_OVERWRITE))
            try #expect(transaction.put(tree, [6], [6], flags: ROOTSTOCK_PUT_APPEND))
            for low: UInt8 in [1, 4, 6] {
                try #expect(!transaction.put(tree, [low], [0], flags: ROOTSTOCK_PUT_APPEND), "not above the last key")
            }
            try #expect(transaction.put(tree, [6, 0], [7], flags: ROOTSTOCK_PUT_APPEND | ROOTSTOCK_PUT_NO_OVERWRITE))
            try #expect(
                transaction.all(tree)
                    == [Entry([4], [4]), Entry([5], [2]), Entry([6], [6]), Entry([6, 0], [7])])
            try #expect(transaction.remove(tree, [5]))
            try #expect(!transaction.remove(tree, [5]), "NOT_FOUND is an answer")
            try #expect(transaction.statistics(tree).entries == 3)
        }
    }

    static func reserve(_ engine: EngineUnderTest) throws {
        guard engine.has(ROOTSTOCK_CAPABILITY_RESERVE) else { return }
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for size in [1, 100, 5000, 1_000_000] {
                let key = key(size)
                key.withSlice { slice in
                    var value = rootstock_slice(size: size, data: nil)
                    let code = environment.engine.pointee.put(
                        transaction.pointer, tree, &slice, &value, ROOTSTOCK_PUT_RESERVE)
                    #expect(code == ROOTSTOCK_OK.code)
                    UnsafeMutableRawPointer(mutating: value.data)!.initializeMemory(
                        as: UInt8.self, repeating: UInt8(truncatingIfNeeded: size), count: size)
                }
            }
        }
        try environment.read { transaction in
            let tree = try transaction.tree("t")
            for size in [1, 100, 5000, 1_000_000] {
                try #expect(
                    transaction.get(tree, key(size))
                        == Bytes(repeating: UInt8(truncatingIfNeeded: size), count: size))
            }
        }
    }

    static func sizesOfKeysAndValues(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let limit = environment.maximumKeySize == 0 ? 100_000 : environment.maximumKeySize
        let longest = Bytes(repeating: 0xEE, count: limit)
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            #expect(throws: ROOTSTOCK_KEY_TOO_LONG.fault, "an empty key") { try transaction.put(tree, [], [1]) }
        }
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            if environment.maximumKeySize != 0 {
                #expect(throws: ROOTSTOCK_KEY_TOO_LONG.fault) { try transaction.put(tree, longest + [0], [1]) }
            }
            try transaction.put(tree, longest, [])
            try transaction.put(tree, [0], Bytes(repeating: 9, count: 20_000_000))
            try #expect(transaction.get(tree, longest) == [], "an empty value is a value")
        }
        try environment.read { transaction in
            let tree = try transaction.tree("t")
            try #expect(transaction.get(tree, longest) == [])
            try #expect(transaction.get(tree, [0])?.count == 20_000_000)
            let cursor = try transaction.cursor(tree)
            try #expect(cursor.move(ROOTSTOCK_LAST)?.key == longest)
            try #expect(cursor.move(ROOTSTOCK_PREVIOUS)?.key == [0])
        }
    }

    static func keysCompareAsBytes(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let ordered: [Bytes] = [
            [0], [0, 0], [0, 1], [1], [1, 0], [1, 0xFF], [0x7F], [0x7F, 0xFF], [0x80], [0x80, 0], [0xFF], [0xFF, 0],
            [0xFF, 0xFF],
        ]
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for key in ordered.shuffled() { try transaction.put(tree, key, key) }
            try #expect(transaction.all(tree).map(\.key) == ordered, "memcmp order, a proper prefix first")
        }
        try environment.read { transaction in
            try #expect(transaction.all(try transaction.tree("t")).map(\.key) == ordered)
        }
    }

    // MARK: Snapshots

    static func snapshotsStandStill(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<500 { try transaction.put(tree, key(i), key(0)) }
            return tree
        }
        let old = try environment.begin()
        let before = old.identifier
        // Slices of a snapshot stay valid and unmoved while others write.
        var slices: [(rootstock_slice, rootstock_slice)] = []
        let cursor = try old.cursor(tree)
        var k = rootstock_slice()
        var v = rootstock_slice()
        while cursor.moveToSlices(ROOTSTOCK_NEXT, &k, &v) == ROOTSTOCK_OK.code { slices.append((k, v)) }
        for round in 1...20 {
            try environment.write { transaction in
                #expect(transaction.identifier == before + UInt64(round), "a write transaction is the next commit")
                for i in 0..<500 { try transaction.put(tree, key(i), key(round)) }
                if round % 5 == 0 { try transaction.clear(tree) }
            }
        }
        #expect(slices.count == 500)
        for (i, (k, v)) in slices.enumerated() {
            #expect(Bytes(k) == key(i))
            #expect(Bytes(v) == key(0))
        }
        try #expect(old.all(tree).count == 500)
        #expect(old.identifier == before)
        cursor.close()
        old.reset()
        try old.renew()
        #expect(old.identifier == before + 20)
        try #expect(old.all(tree) == [])
    }

    static func theLastCommitIsTold(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        guard environment.lastCommit != nil else { return }  // optional
        let tree = try environment.write { try $0.tree("t", create: true) }
        for i in 0..<3 {
            try environment.write { try $0.put(tree, key(i), key(0)) }
            let told = environment.lastCommit
            try environment.read { #expect($0.identifier == told) }
        }
        let before = try #require(environment.lastCommit)
        let old = try environment.begin()
        let writer = try environment.begin(write: true)
        try writer.put(tree, key(4), key(0))
        #expect(environment.lastCommit == before, "nothing is committed yet")
        writer.abort()
        #expect(environment.lastCommit == before, "nor was it")
        try environment.write { try $0.put(tree, key(5), key(0)) }
        #expect(environment.lastCommit == before + 1, "whatever snapshot is live")
        #expect(old.identifier == before)
        old.abort()
    }

    static func writesAreSeenByTheirOwnOnly(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { try $0.tree("t", create: true) }
        let writer = try environment.begin(write: true)
        try writer.put(tree, [1], [1])
        try #expect(writer.get(tree, [1]) == [1])
        try environment.read { try #expect($0.get(tree, [1]) == nil) }
        writer.abort()
        try environment.read { try #expect($0.get(tree, [1]) == nil, "abort leaves no trace") }
        try environment.write { try $0.put(tree, [1], [2]) }
        try environment.read { try #expect($0.get(tree, [1]) == [2]) }
    }

    static func cursorsSurviveRenewal(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            try transaction.put(tree, [1], [1])
            return tree
        }
        let reader = try environment.begin()
        let cursor = try reader.cursor(tree)
        try #expect(cursor.move(ROOTSTOCK_NEXT)?.key == [1])
        try environment.write { try $0.put(tree, [0], [0]) }
        reader.reset()
        try reader.renew()
        if try cursor.renew(reader) {
            try #expect(cursor.move(ROOTSTOCK_NEXT)?.key == [0], "unpositioned after renewal")
            // Into another transaction, its own having ended.
            reader.abort()
            let other = try environment.begin()
            try #expect(cursor.renew(other))
            try #expect(cursor.move(ROOTSTOCK_LAST)?.key == [1])
            cursor.close()
        }
        cursor.close()
    }

    // MARK: Cursors

    static func cursorMoves(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            let empty = try transaction.cursor(tree)
            for move in [ROOTSTOCK_FIRST, ROOTSTOCK_LAST, ROOTSTOCK_NEXT, ROOTSTOCK_PREVIOUS] {
                try #expect(empty.move(move) == nil)
            }
            try #expect(empty.move(ROOTSTOCK_SEEK, [1]) == nil)
            try #expect(empty.move(ROOTSTOCK_EXACT, [1]) == nil)
            empty.close()
            for i in stride(from: 10, through: 90, by: 10) { try transaction.put(tree, [UInt8(i)], [UInt8(i) + 1]) }
            try checkMoves(try transaction.cursor(tree))
        }
        try environment.read { transaction in
            let tree = try transaction.tree("t")
            let cursor = try transaction.cursor(tree)
            try checkMoves(cursor)
            cursor.close()
        }
    }

    private static func checkMoves(_ cursor: Cursor) throws {
        defer { cursor.close() }
        func step(_ move: rootstock_move, _ key: UInt8? = nil) throws -> UInt8? {
            let entry = try cursor.move(move, key.map { [$0] } ?? [])
            if let entry { #expect(entry.value == [entry.key[0] + 1]) }
            return entry?.key[0]
        }
        try #expect(step(ROOTSTOCK_NEXT) == 10, "NEXT from nowhere is FIRST")
        try #expect(step(ROOTSTOCK_NEXT) == 20)
        try #expect(step(ROOTSTOCK_PREVIOUS) == 10)
        try #expect(step(ROOTSTOCK_PREVIOUS) == nil)
        try #expect(step(ROOTSTOCK_PREVIOUS) == 90, "after NOT_FOUND it is unpositioned: PREVIOUS is LAST")
        try #expect(step(ROOTSTOCK_NEXT) == nil)
        try #expect(step(ROOTSTOCK_NEXT) == 10)
        try #expect(step(ROOTSTOCK_SEEK, 20) == 20)
        try #expect(step(ROOTSTOCK_SEEK, 21) == 30)
        try #expect(step(ROOTSTOCK_PREVIOUS) == 20)
        try #expect(step(ROOTSTOCK_SEEK, 5) == 10)
        try #expect(step(ROOTSTOCK_SEEK, 91) == nil)
        try #expect(step(ROOTSTOCK_PREVIOUS) == 90)
        try #expect(step(ROOTSTOCK_EXACT, 50) == 50)
        try #expect(step(ROOTSTOCK_NEXT) == 60)
        try #expect(step(ROOTSTOCK_EXACT, 55) == nil)
        try #expect(step(ROOTSTOCK_NEXT) == 10)
        try #expect(step(ROOTSTOCK_LAST) == 90)
        try #expect(step(ROOTSTOCK_FIRST) == 10)
    }

    static func removalUnderACursor(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            func fill(_ keys: [UInt8]) throws {
                try transaction.clear(tree)
                for key in keys { try transaction.put(tree, [key], [key]) }
            }
            let cursor = try transaction.cursor(tree)
            defer { cursor.close() }

            try fill([1, 2, 3, 4])
            try #expect(cursor.move(ROOTSTOCK_EXACT, [2])?.key == [2])
            try transaction.remove(tree, [2])
            try #expect(cursor.move(ROOTSTOCK_NEXT)?.key == [3], "removing the current entry skips nothing")
            try transaction.remove(tree, [3])
            try #expect(cursor.move(ROOTSTOCK_PREVIOUS)?.key == [1])

            try fill([1, 5])
            try #expect(cursor.move(ROOTSTOCK_EXACT, [1])?.key == [1])
            try transaction.remove(tree, [1])
            try transaction.put(tree, [3], [3])
            try #expect(cursor.move(ROOTSTOCK_NEXT)?.key == [3], "what is put behind a removed entry is next")

            try fill([1, 5])
            try #expect(cursor.move(ROOTSTOCK_EXACT, [5])?.key == [5])
            try transaction.remove(tree, [5])
            try transaction.put(tree, [3], [3])
            try #expect(cursor.move(ROOTSTOCK_PREVIOUS)?.key == [3])

            try fill([7])
            try #expect(cursor.move(ROOTSTOCK_FIRST)?.key == [7])
            try transaction.remove(tree, [7])
            try #expect(cursor.move(ROOTSTOCK_NEXT) == nil, "the last entry is gone, and nothing is above it")

            try fill([7])
            try #expect(cursor.move(ROOTSTOCK_FIRST)?.key == [7])
            try transaction.clear(tree)
            for key: UInt8 in [1, 9] { try transaction.put(tree, [key], [key]) }
            try #expect(cursor.move(ROOTSTOCK_NEXT)?.key == [9], "clear does not lose the place")

            // A loop that removes what it walks over, as DELETE does.
            try fill(Array(0...255))
            var seen: [UInt8] = []
            var entry = try cursor.move(ROOTSTOCK_FIRST)
            while let current = entry {
                seen.append(current.key[0])
                if current.key[0] % 3 != 0 { try transaction.remove(tree, current.key) }
                entry = try cursor.move(ROOTSTOCK_NEXT)
            }
            #expect(seen == Array(0...255))
            try #expect(transaction.all(tree).map { $0.key[0] } == (0...255).filter { $0 % 3 == 0 })
        }
    }

    // MARK: The environment

    static func statistics(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<10_000 { try transaction.put(tree, key(i), key(i)) }
            return tree
        }
        try environment.read { transaction in
            let statistics = try transaction.statistics(tree)
            #expect(statistics.entries == 10_000)
            #expect(statistics.depth > 0)
        }
        let first = try environment.statistics()
        #expect(first.readers == 0)
        let reader = try environment.begin()
        try environment.write { try $0.put(tree, [1], [1]) }
        try environment.write { try $0.put(tree, [2], [1]) }
        let second = try environment.statistics()
        #expect(second.readers == 1)
        #expect(second.last_transaction == first.last_transaction + 2)
        #expect(second.oldest_reader_lag == 2)
        #expect(second.maximum_readers == 0 || second.maximum_readers >= 1)
        reader.abort()
    }

    static func describesFailures(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        do {
            try environment.write { try $0.put(try $0.tree("t", create: true), [], []) }
            Issue.record("an empty key was taken")
        } catch let fault as Fault {
            #expect(fault.code == ROOTSTOCK_KEY_TOO_LONG.code)
            #expect(!fault.message.isEmpty)
        }
        for code in Int32(0)...25 {
            #expect(String(cString: environment.engine.pointee.describe(environment.pointer, code)!) != "")
        }
    }

    static func sharedByItsUsers(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let first = try engine.open(scratch.path())
        try first.write { try $0.put(try $0.tree("t", create: true), [1], [1]) }
        var second: Environment? = try engine.open(scratch.path())
        #expect(second!.shared == first.shared)
        second = nil
        try first.read { try #expect($0.get(try $0.tree("t"), [1]) == [1], "the first user's is still open") }
        let other = try engine.open(scratch.path("other.store"))
        #expect(other.shared != first.shared)
    }

    /// A key of 8 bytes in the order of the numbers.
    static func key(_ number: Int) -> Bytes { withUnsafeBytes(of: UInt64(number).bigEndian) { Bytes($0) } }
}
