// Keys that a walk will come to, and several entries at once: what engines may offer so that waiting for memory is shared.

import RootstockEngine
import TestSupport
import Testing

extension EngineContract {
    /// cursor_peek tells what moves give, at the same addresses, and leaves the cursor; get_several is get for each key.
    static func whatIsAhead(_ engine: EngineUnderTest, seed: UInt64) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        guard let peek = environment.engine.pointee.cursor_peek, let several = environment.engine.pointee.get_several
        else { return }
        var generator = SeededGenerator(seed: seed)
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for _ in 0..<3000 {
                try transaction.put(tree, key(Int.random(in: 0..<9000, using: &generator)), [UInt8.random(in: 0...9)])
            }
            return tree
        }
        try environment.read { transaction in
            let cursor = try transaction.cursor(tree)
            defer { cursor.close() }
            var none = [rootstock_slice](repeating: .init(), count: 1)
            #expect(peek(cursor.pointer, ROOTSTOCK_NEXT, &none, 1) == 0, "from nowhere there is nothing at hand")
            for _ in 0..<200 {
                _ = try cursor.move(ROOTSTOCK_SEEK, key(Int.random(in: 0..<8000, using: &generator)))
                let way = Bool.random(using: &generator) ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS
                var ahead = [rootstock_slice](repeating: .init(), count: 24)
                let count = Int(peek(cursor.pointer, way, &ahead, 24))
                #expect(count <= 24)
                for slice in ahead.prefix(count) {
                    var next = rootstock_slice()
                    var value = rootstock_slice()
                    #expect(cursor.moveToSlices(way, &next, &value) == ROOTSTOCK_OK.code)
                    #expect(next.data == slice.data && next.size == slice.size, "seed \(seed)")
                }
            }
            for count in [0, 1, 2, 15, 16, 17, 100] {
                let wanted = (0..<count).map { _ in key(Int.random(in: 0..<9000, using: &generator)) }
                let bytes = wanted.flatMap(\.self)
                try bytes.withUnsafeBytes { raw in
                    let keys = wanted.indices.map { rootstock_slice(size: 8, data: raw.baseAddress! + 8 * $0) }
                    var values = [rootstock_slice](repeating: .init(), count: count)
                    #expect(
                        several(transaction.pointer, tree, keys, &values, UInt32(count)) == ROOTSTOCK_OK.code)
                    for (wanted, value) in zip(wanted, values) {
                        try #expect(
                            transaction.get(tree, wanted) == (value.data == nil ? nil : Bytes(value)), "seed \(seed)")
                    }
                }
            }
        }
    }

    /// cursor_skip goes on as moves would, in both directions, and never past the last entry.
    static func whatIsSkipped(_ engine: EngineUnderTest, seed: UInt64) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        guard let skip = environment.engine.pointee.cursor_skip else { return }
        var generator = SeededGenerator(seed: seed)
        let count = 3000
        let tree = try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for number in 0..<count { try transaction.put(tree, key(number), [UInt8(number % 10)]) }
            return tree
        }
        try environment.read { transaction in
            let cursor = try transaction.cursor(tree)
            defer { cursor.close() }
            #expect(skip(cursor.pointer, ROOTSTOCK_NEXT, 5) == 0, "from nowhere there is nothing to go by")
            var skipped = 0
            for _ in 0..<300 {
                var place = Int.random(in: 0..<count, using: &generator)
                _ = try cursor.move(ROOTSTOCK_SEEK, key(place))
                let forward = Bool.random(using: &generator)
                let way = forward ? ROOTSTOCK_NEXT : ROOTSTOCK_PREVIOUS
                for _ in 0..<4 {
                    let asked = UInt64.random(in: 0...200, using: &generator)
                    let by = skip(cursor.pointer, way, asked)
                    #expect(by <= asked)
                    skipped += Int(by)
                    place += (forward ? 1 : -1) * (Int(by) + 1)
                    var next = rootstock_slice()
                    var value = rootstock_slice()
                    let code = cursor.moveToSlices(way, &next, &value)
                    guard (0..<count).contains(place) else {
                        #expect(code == ROOTSTOCK_NOT_FOUND.code, "seed \(seed)")
                        break
                    }
                    #expect(code == ROOTSTOCK_OK.code)
                    #expect(Bytes(next) == key(place), "seed \(seed)")
                }
            }
            #expect(skipped > 0)
        }
    }
}
