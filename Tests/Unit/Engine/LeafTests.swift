// Changes made in leaves that are the transaction's own already, without a call of LMDB's (write/leaf_search.c, write/leaf_edit.c,
// write/append.c, write/balance.c), held against a list in memory, LMDB's own functions and what LMDB's pages must be.
//
// Invariant: a random run is a function of its seed alone, which every failure prints.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import TestSupport
import Testing

@Suite struct LeafTests {
    /// Every durability class, with and without a write map: puts, overwrites of any size, appends, removes, gets and cursors in four trees, with
    /// aborts and openings in between; after commits all pages of the file are gone through.
    @Test(arguments: [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_NORMAL, ROOTSTOCK_DURABILITY_OFF])
    func anyChangesNearEachOther(durability: rootstock_durability) throws {
        for writeMap in [ROOTSTOCK_WRITE_MAP_ALWAYS, ROOTSTOCK_WRITE_MAP_NEVER] {
            let end = Date().addingTimeInterval(environmentSeconds(default: 3) / 6)
            let first = SeededGenerator.environmentSeed()
            var seed = first
            repeat {
                let scratch = Scratch()
                var options = rootstock_options()
                options.durability = durability
                options.write_map = writeMap
                options.map_size = 1 << 30
                var message = [CChar](repeating: 0, count: Int(LEAVES_PROBE_MESSAGE))
                let wrong = leaves_probe_run(scratch.path(), &options, seed, 20, &message)
                let said = message.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
                try #require(wrong == 0, "\(said), durability \(durability), \(writeMap)")
                seed &+= 1
            } while Date() < end && seed &- first < environmentPrograms()
        }
    }
}
