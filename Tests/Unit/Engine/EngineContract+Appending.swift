// Appending, which engines may do faster than putting: among all other changes, it means the same.
//
// Invariant: a random run is a function of its seed alone, which every failure prints.

import RootstockEngine
import TestSupport
import Testing

extension EngineContract {
    /// Runs of appends to two trees, among puts, removals, clears, refused appends and cursors; compared with a dictionary
    /// after every transaction.
    static func appendsAmongOtherChanges(_ engine: EngineUnderTest, seed: UInt64, transactions: Int) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        var generator = SeededGenerator(seed: seed)
        let trees = try environment.write { [try $0.tree("a", create: true), try $0.tree("b", create: true)] }
        var committed: [[Int: Bytes]] = [[:], [:]]
        for number in 0..<transactions {
            let transaction = try environment.begin(write: true)
            var model = committed
            for step in 0..<Int.random(in: 1...60, using: &generator) {
                let which = Int.random(in: 0...1, using: &generator)
                let tree = trees[which]
                let last = model[which].keys.max() ?? 0
                let place: Comment = "seed \(seed), transaction \(number), step \(step)"
                func value() -> Bytes {
                    let large = Int.random(in: 0..<50, using: &generator) == 0
                    return Bytes(
                        repeating: UInt8(step), count: large ? 9000 : Int.random(in: 0..<200, using: &generator))
                }
                switch Int.random(in: 0..<100, using: &generator) {
                case 0..<60:
                    var next = last
                    for _ in 0..<Int.random(in: 1...40, using: &generator) {
                        next += Int.random(in: 1...3, using: &generator)
                        let bytes = value()
                        let appended = try transaction.put(tree, key(next), bytes, flags: ROOTSTOCK_PUT_APPEND)
                        try #require(appended, place)
                        model[which][next] = bytes
                    }
                case 60..<70:
                    guard last > 0 else { continue }
                    let low = Int.random(in: 1...last, using: &generator)
                    let appended = try transaction.put(tree, key(low), [1], flags: ROOTSTOCK_PUT_APPEND)
                    try #require(!appended, place)
                case 70..<80:
                    let anywhere = Int.random(in: 1...(last + 5), using: &generator)
                    let bytes = value()
                    try transaction.put(tree, key(anywhere), bytes)
                    model[which][anywhere] = bytes
                case 80..<90:
                    let victim =
                        Bool.random(using: &generator) ? last : Int.random(in: 0...(last + 1), using: &generator)
                    let removed = try transaction.remove(tree, key(victim))
                    try #require(removed == (model[which].removeValue(forKey: victim) != nil), place)
                case 90..<93:
                    try transaction.clear(tree)
                    model[which] = [:]
                default:
                    let cursor = try transaction.cursor(tree)
                    let entry = try cursor.move(ROOTSTOCK_LAST)
                    try #require(entry?.key == model[which].keys.max().map { key($0) }, place)
                    cursor.close()
                }
            }
            if Int.random(in: 0..<5, using: &generator) == 0 {
                transaction.abort()
            } else {
                try transaction.commit()
                committed = model
            }
            try expect(committed, in: trees, of: environment, "after transaction \(number), seed \(seed)")
        }
    }

    /// Each tree holds what its dictionary does, by the keys of the numbers, and no more.
    static func expect(
        _ entries: [[Int: Bytes]], in trees: [rootstock_tree], of environment: Environment, _ comment: Comment
    ) throws {
        try environment.read { reader in
            for (tree, entries) in zip(trees, entries) {
                try #require(
                    reader.all(tree) == entries.sorted { $0.key < $1.key }.map { Entry(key($0.key), $0.value) },
                    comment)
            }
        }
    }
}
