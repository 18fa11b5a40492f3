// Every registered engine against the contract of rootstock_engine.h.

import Foundation
import RootstockEngine
import TestSupport
import Testing

@Suite struct ContractTests {
    static let engines = EngineUnderTest.all

    @Test(arguments: engines) func treesAreNamedAndKept(_ engine: EngineUnderTest) throws {
        try EngineContract.treesAreNamedAndKept(engine)
    }

    @Test(arguments: engines) func abortForgetsTrees(_ engine: EngineUnderTest) throws {
        try EngineContract.abortForgetsTrees(engine)
    }

    @Test(arguments: engines) func anOlderSnapshotHasNoYoungerTree(_ engine: EngineUnderTest) throws {
        try EngineContract.anOlderSnapshotHasNoYoungerTree(engine)
    }

    @Test(arguments: engines) func clearEmptiesAndKeepsTheHandle(_ engine: EngineUnderTest) throws {
        try EngineContract.clearEmptiesAndKeepsTheHandle(engine)
    }

    @Test(arguments: engines) func putFlags(_ engine: EngineUnderTest) throws {
        try EngineContract.putFlags(engine)
    }

    @Test(arguments: engines) func appendsAmongOtherChanges(_ engine: EngineUnderTest) throws {
        for seed in UInt64(1)...4 { try EngineContract.appendsAmongOtherChanges(engine, seed: seed, transactions: 40) }
    }

    @Test(arguments: engines) func changesNearEachOther(_ engine: EngineUnderTest) throws {
        for seed in UInt64(1)...4 { try EngineContract.changesNearEachOther(engine, seed: seed, transactions: 25) }
    }

    @Test(arguments: engines) func reserve(_ engine: EngineUnderTest) throws {
        try EngineContract.reserve(engine)
    }

    @Test(arguments: engines) func sizesOfKeysAndValues(_ engine: EngineUnderTest) throws {
        try EngineContract.sizesOfKeysAndValues(engine)
    }

    @Test(arguments: engines) func keysCompareAsBytes(_ engine: EngineUnderTest) throws {
        try EngineContract.keysCompareAsBytes(engine)
    }

    @Test(arguments: engines) func snapshotsStandStill(_ engine: EngineUnderTest) throws {
        try EngineContract.snapshotsStandStill(engine)
    }

    @Test(arguments: engines) func theLastCommitIsTold(_ engine: EngineUnderTest) throws {
        try EngineContract.theLastCommitIsTold(engine)
    }

    @Test(arguments: engines) func writesAreSeenByTheirOwnOnly(_ engine: EngineUnderTest) throws {
        try EngineContract.writesAreSeenByTheirOwnOnly(engine)
    }

    @Test(arguments: engines) func cursorsSurviveRenewal(_ engine: EngineUnderTest) throws {
        try EngineContract.cursorsSurviveRenewal(engine)
    }

    @Test(arguments: engines) func cursorMoves(_ engine: EngineUnderTest) throws {
        try EngineContract.cursorMoves(engine)
    }

    @Test(arguments: engines) func whatIsAhead(_ engine: EngineUnderTest) throws {
        for seed in UInt64(1)...3 { try EngineContract.whatIsAhead(engine, seed: seed) }
    }

    @Test(arguments: engines) func whatIsSkipped(_ engine: EngineUnderTest) throws {
        for seed in UInt64(1)...3 { try EngineContract.whatIsSkipped(engine, seed: seed) }
    }

    @Test(arguments: engines) func removalUnderACursor(_ engine: EngineUnderTest) throws {
        try EngineContract.removalUnderACursor(engine)
    }

    @Test(arguments: engines) func statistics(_ engine: EngineUnderTest) throws {
        try EngineContract.statistics(engine)
    }

    @Test(arguments: engines) func describesFailures(_ engine: EngineUnderTest) throws {
        try EngineContract.describesFailures(engine)
    }

    @Test(arguments: engines) func sharedByItsUsers(_ engine: EngineUnderTest) throws {
        try EngineContract.sharedByItsUsers(engine)
    }

    @Test(arguments: engines, [1, 2, 3]) func anyOrderOfOperations(_ engine: EngineUnderTest, seed: UInt64) throws {
        try EngineContract.anyOrderOfOperations(engine, seed: seed, operations: 20_000)
    }

    /// New seeds each time, a few seconds' worth or as long as ROOTSTOCK_TEST_SECONDS says.
    @Test(arguments: engines) func anyOrderForAWhile(_ engine: EngineUnderTest) throws {
        let end = Date(timeIntervalSinceNow: environmentSeconds(default: 2) / Double(Self.engines.count))
        let first = SeededGenerator.environmentSeed()
        var seed = first
        repeat {
            try EngineContract.anyOrderOfOperations(engine, seed: seed, operations: 5000)
            seed += 1
        } while Date() < end && seed - first < environmentPrograms()
    }

    @Test(arguments: engines) func manyThreads(_ engine: EngineUnderTest) throws {
        try EngineContract.manyThreads(engine)
    }
}
