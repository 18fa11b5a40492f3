// Changes near each other, which engines may do faster than by a search each: in more trees than an engine keeps its place in, beside
// cursors that go on.
//
// Invariant: a random run is a function of its seed alone, which every failure prints.

import RootstockEngine
import TestSupport
import Testing

extension EngineContract {
    /// Walks that get, put and remove entry after entry, appends, and cursors that step on in between; compared with a dictionary
    /// at every get and step, and after every transaction.
    static func changesNearEachOther(_ engine: EngineUnderTest, seed: UInt64, transactions: Int) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        var generator = SeededGenerator(seed: seed)
        let count = 11
        let trees = try environment.write { transaction in
            try (0..<count).map { try transaction.tree("t\($0)", create: true) }
        }
        var committed = [[Int: Bytes]](repeating: [:], count: count)
        for number in 0..<transactions {
            let transaction = try environment.begin(write: true)
            var model = committed
            var cursors: [(tree: Int, cursor: Cursor, last: Int)] = []
            for step in 0..<Int.random(in: 1...40, using: &generator) {
                let place: Comment = "seed \(seed), transaction \(number), step \(step)"
                // Most of the time two trees in turn, as a table and its index.
                let which =
                    Int.random(in: 0..<4, using: &generator) == 0
                    ? Int.random(in: 0..<count, using: &generator) : step % 2
                var at = Int.random(in: 0...2000, using: &generator)
                let stride = Int.random(in: 0...3, using: &generator)
                let kind = Int.random(in: 0..<10, using: &generator)
                for turn in 0..<Int.random(in: 1...120, using: &generator) {
                    let tree = kind == 9 && turn % 2 == 1 ? (which + 1) % count : which
                    let old = model[tree][at]
                    if kind != 0 { try #require(transaction.get(trees[tree], key(at)) == old, place) }
                    let sameSize = Int.random(in: 0..<3, using: &generator) != 0
                    let size = sameSize ? old?.count ?? 40 : Int.random(in: 0..<250, using: &generator)
                    let bytes = Bytes(repeating: UInt8(truncatingIfNeeded: step &+ turn), count: size)
                    switch kind {
                    case 0..<6, 9:
                        try transaction.put(trees[tree], key(at), bytes)
                        model[tree][at] = bytes
                    case 6:
                        let removed = try transaction.remove(trees[tree], key(at))
                        try #require(removed == (model[tree].removeValue(forKey: at) != nil), place)
                    case 7:
                        at = (model[tree].keys.max() ?? 0) + 1
                        let appended = try transaction.put(trees[tree], key(at), bytes, flags: ROOTSTOCK_PUT_APPEND)
                        try #require(appended, place)
                        model[tree][at] = bytes
                    default:
                        let put = try transaction.put(trees[tree], key(at), bytes, flags: ROOTSTOCK_PUT_NO_OVERWRITE)
                        try #require(put == (old == nil), place)
                        if put { model[tree][at] = bytes }
                    }
                    at += stride
                }
                if cursors.count < 4 { cursors.append((step % count, try transaction.cursor(trees[step % count]), -1)) }
                for index in cursors.indices {
                    let entries = model[cursors[index].tree]
                    let next = entries.keys.filter { $0 > cursors[index].last }.min()
                    let entry = try cursors[index].cursor.move(ROOTSTOCK_NEXT)
                    try #require(entry == next.map { Entry(key($0), entries[$0]!) }, place)
                    cursors[index].last = next ?? -1
                }
            }
            for (_, cursor, _) in cursors { cursor.close() }
            if Int.random(in: 0..<5, using: &generator) == 0 {
                transaction.abort()
            } else {
                try transaction.commit()
                committed = model
            }
            try expect(committed, in: trees, of: environment, "after transaction \(number), seed \(seed)")
        }
    }
}
