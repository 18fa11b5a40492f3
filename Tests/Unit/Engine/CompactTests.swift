// VACUUM as engines do it: the same entries in less room, nobody disturbed, nobody left behind, and a crash at any moment.
//
// Serialized: children are forked, and the interrupted exchanges are laid out by hand in files.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import TestSupport
import Testing

@Suite(.serialized) struct CompactTests {
    static let engines = EngineUnderTest.all.filter { rootstock_engine_find($0.name).pointee.compact != nil }
    static let inFiles = engines.filter { $0.has(ROOTSTOCK_CAPABILITY_FILE) }

    private func fill(_ environment: Environment, _ tree: String = "t", entries: Int = 2000) throws {
        try environment.write { transaction in
            let tree = try transaction.tree(tree, create: true)
            for i in 0..<entries { try transaction.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: 500)) }
        }
    }

    private func content(_ transaction: Transaction) throws -> [[Entry]] {
        try ["t", "u", "empty"].map { try transaction.all(transaction.tree($0)) }
    }

    /// A store with free pages: a third of what was written is left.
    private func makeStore(_ environment: Environment) throws -> [[Entry]] {
        try fill(environment)
        try fill(environment, "u")
        try fill(environment, "empty", entries: 10)
        try environment.write { transaction in
            try transaction.clear(transaction.tree("empty"))
            let tree = try transaction.tree("t")
            for i in 0..<2000 where i % 3 != 0 { try transaction.remove(tree, EngineContract.key(i)) }
        }
        return try environment.read { try content($0) }
    }

    @Test(arguments: engines) func keepsEveryEntryAndDisturbsNobody(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let other = try engine.open(scratch.path())
        let expected = try makeStore(environment)
        let snapshot = try other.begin()
        let pooled = try other.begin()
        pooled.reset()
        let before = try environment.statistics()
        try environment.compact()

        // The live snapshot stands still, to its last entry; the next one is of the same entries.
        try #expect(content(snapshot) == expected)
        let after = try environment.beginFollowing()
        try #expect(content(after) == expected)
        after.abort()
        snapshot.abort()
        do { try pooled.renew() } catch {
            #expect(error.code == ROOTSTOCK_MOVED.code)
        }
        pooled.abort()
        try other.beginFollowing().abort()
        #expect(other.shared == environment.shared, "who follows shares again")

        // What is written now is seen by both, and there was something to give back.
        try other.write { try $0.put($0.tree("empty"), [1], [1]) }
        try environment.read { try #expect($0.get($0.tree("empty"), [1]) == [1]) }
        let statistics = try environment.statistics()
        if engine.has(ROOTSTOCK_CAPABILITY_FILE) {
            #expect(statistics.used_pages + statistics.free_pages < before.used_pages + before.free_pages)
        }
        if engine.isLMDB {
            #expect(statistics.used_pages < before.used_pages * 3 / 4, "pages are full")
            #expect(
                statistics.file_bytes < before.file_bytes, "the file is smaller; of sqlite-btree the WAL is to come")
        }
        try environment.compact()
        let again = try environment.beginFollowing()
        try #expect(again.get(again.tree("empty"), [1]) == [1])
    }

    @Test(arguments: engines) func takesATransactionWithoutChanges(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try fill(environment)
        let writer = try environment.begin(write: true)
        try writer.put(writer.tree("t"), [1], [1])
        #expect(throws: ROOTSTOCK_MISUSE.fault) {
            try environment.check(environment.engine.pointee.compact(writer.handOver(), nil, nil))
        }
        try environment.read { try #expect($0.get($0.tree("t"), [1]) == nil, "and it has ended") }
        try environment.write { try $0.put($0.tree("t"), [1], [2]) }
    }

    @Test(arguments: inFiles) func persists(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        var expected: [[Entry]] = []
        do {
            let environment = try engine.open(scratch.path())
            expected = try makeStore(environment)
            try environment.compact()
        }
        try #expect(
            FileManager.default.contentsOfDirectory(atPath: scratch.directory).filter { $0.contains("vacuum") } == [])
        try engine.open(scratch.path()).read { try #expect(content($0) == expected) }
    }

    @Test(arguments: inFiles) func anotherProcessWritesOnlyWhereTheStoreIs(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        _ = try makeStore(environment)
        let child = try Child(PROBE_FOLLOW, engine: engine.name, path: scratch.path())
        #expect(child.report() == ROOTSTOCK_OK.code, "the child has the store open")
        try environment.compact()
        child.proceed()
        let said = child.report()
        #expect(said == (engine.isLMDB ? ROOTSTOCK_MOVED : ROOTSTOCK_OK).code)
        #expect(child.report() == ROOTSTOCK_OK.code, "its commit")
        #expect(child.finish() == 0)
        let after = try environment.beginFollowing()
        try #expect(after.get(after.tree("t"), Bytes(text: "probe")) == Bytes(text: "was here"))
    }

    @Test(arguments: inFiles) func waitsForNobodyAndIsInNobodysWay(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let expected = try makeStore(environment)
        let child = try Child(PROBE_READ, engine: engine.name, path: scratch.path())
        #expect(child.report() == ROOTSTOCK_OK.code, "the child reads")
        try environment.compact()
        let after = try environment.beginFollowing()
        try #expect(content(after) == expected)
        child.proceed()
        #expect(child.report() == ROOTSTOCK_OK.code)
        #expect(child.finish() == 0)
    }

    /// Killed wherever it is, again and again: what was reported is there, and nothing else is left lying about.
    @Test(arguments: inFiles) func killedAtAnyMoment(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        do {
            let environment = try engine.open(scratch.path())
            _ = try makeStore(environment)
        }
        var random = SeededGenerator(seed: SeededGenerator.environmentSeed())
        let end = Date(timeIntervalSinceNow: environmentSeconds(default: 4) / Double(Self.inFiles.count))
        var kills = 0
        repeat {
            // A reader that outlives the others keeps old files and their lock files in use.
            let keeper = kills % 3 == 0 ? try engine.open(scratch.path()) : nil
            let child = try Child(
                PROBE_COMPACT, engine: engine.name, path: scratch.path(),
                options: .init(durability: ROOTSTOCK_DURABILITY_OFF))
            var reported: Int32 = 0
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let number = child.report()
                try #require(number > 0, "failed with \(-number)")
                reported = number
            }
            usleep(UInt32.random(in: 0..<8000, using: &random))
            child.kill()
            kills += 1
            let environment = try engine.open(scratch.path())
            let reader = try environment.beginFollowing()
            let count = try reader.get(reader.tree("t"), Bytes(text: "count")).flatMap {
                Int32(String(decoding: $0, as: UTF8.self))
            }
            try #expect(#require(count) >= reported)
            try #expect(reader.all(reader.tree("u")).count == 2000)
            reader.abort()
            try environment.write { try $0.put($0.tree("t"), [9], [9]) }
            withExtendedLifetime(keeper) {}
        } while Date() < end || kills < 2
        // With the keeper's environment still open, the last one opened nothing and so had nothing to finish.
        try withExtendedLifetime(engine.open(scratch.path())) {}
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.directory)
        #expect(left.filter { $0.contains("vacuum") } == [])
        print("killed \(kills) times while compacting, engine \(engine.name)")
    }
}

/// What only LMDB's exchange of files knows.
@Suite(.serialized) struct LMDBExchangeTests {
    private let scratch = Scratch()
    private var copy: String { scratch.path() + "-rootstock-vacuum" }
    private static let mark = withUnsafeBytes(of: UInt64(0x4445_564f_4d54_5352)) { Data($0) }

    private func open(readOnly: Bool = false) throws -> Environment {
        try Environment(
            engine: "lmdb", path: scratch.path(), .init(durability: ROOTSTOCK_DURABILITY_OFF, readOnly: readOnly))
    }

    /// A store with one entry, and the compact copy that a VACUUM would have made of it.
    private func makeStoreAndCopy() throws {
        let environment = try open()
        try environment.write { try $0.put($0.tree("t", create: true), [1], [1]) }
        try environment.check(environment.engine.pointee.copy(environment.pointer, copy, nil, nil))
    }

    private func setMark() throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path()))
        try file.seek(toOffset: 4096 - 8)
        try file.write(contentsOf: Self.mark)
        try file.close()
    }

    private func isMarked() throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: scratch.path())).subdata(in: 4088..<4096) == Self.mark
    }

    private func expectWholeStore() throws {
        let environment = try open()
        try environment.read { try #expect($0.get($0.tree("t"), [1]) == [1]) }
        try environment.write { try $0.put($0.tree("t"), [2], [2]) }
        #expect(!FileManager.default.fileExists(atPath: copy))
        try #expect(!isMarked())
    }

    @Test func killedWhileCopying() throws {
        try makeStoreAndCopy()
        // Cut short, as a copy under way is.
        #expect(truncate(copy, 5000) == 0)
        _ = try open(readOnly: true)
        #expect(FileManager.default.fileExists(atPath: copy), "a reader leaves it alone")
        try expectWholeStore()
    }

    @Test func killedBeforeTheLockFileWasRemoved() throws {
        try makeStoreAndCopy()
        try setMark()
        try expectWholeStore()
    }

    @Test func killedBeforeTheRename() throws {
        try makeStoreAndCopy()
        try setMark()
        #expect(unlink(scratch.path() + "-lock") == 0)
        try expectWholeStore()
    }

    @Test func theCopyIsGone() throws {
        try makeStoreAndCopy()
        try setMark()
        #expect(unlink(copy) == 0)
        try expectWholeStore()
    }

    @Test func aReaderCannotFinishAnExchange() throws {
        try makeStoreAndCopy()
        try setMark()
        do {
            _ = try open(readOnly: true)
            Issue.record("opened")
        } catch let fault as Fault {
            #expect(fault.code == ROOTSTOCK_CANNOT_OPEN.code)
            #expect(fault.message.contains("VACUUM of it was interrupted"))
        }
        try expectWholeStore()
    }

    /// The exchange was interrupted, and this process has the old file open still.
    @Test func anOpenEnvironmentFinishesAnExchange() throws {
        try makeStoreAndCopy()
        let environment = try open()
        let snapshot = try environment.begin()
        let other = try open()
        try setMark()
        #expect(unlink(scratch.path() + "-lock") == 0)
        #expect(throws: ROOTSTOCK_MOVED.fault) { try environment.begin() }
        #expect(throws: ROOTSTOCK_MOVED.fault) { try environment.begin(write: true) }
        try other.follow()
        try #expect(snapshot.all(snapshot.tree("t")) == [Entry([1], [1])])
        snapshot.abort()
        try environment.follow()
        #expect(environment.shared == other.shared)
        try expectWholeStore()
    }

    @Test func aFileWithTwoNamesIsRefused() throws {
        let environment = try open()
        try environment.write { try $0.put($0.tree("t", create: true), [1], [1]) }
        try FileManager.default.linkItem(atPath: scratch.path(), toPath: scratch.path("second"))
        #expect(throws: ROOTSTOCK_UNSUPPORTED.fault) { try environment.compact() }
        try expectWholeStore()
    }

    @Test func aFileThatWasReplacedIsRefused() throws {
        let environment = try open()
        try environment.write { try $0.put($0.tree("t", create: true), [1], [1]) }
        #expect(rename(scratch.path(), scratch.path("moved")) == 0)
        #expect(throws: ROOTSTOCK_CANNOT_OPEN.fault) { try environment.compact() }
        #expect(!FileManager.default.fileExists(atPath: copy))
        try environment.write { try $0.put($0.tree("t"), [2], [2]) }
        #expect(rename(scratch.path("moved"), scratch.path()) == 0)
    }

    @Test func permissionsAreKept() throws {
        let environment = try open()
        try environment.write { try $0.put($0.tree("t", create: true), [1], [1]) }
        #expect(chmod(scratch.path(), 0o640) == 0)
        try environment.compact()
        var status = stat()
        #expect(stat(scratch.path(), &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o640)
    }

    /// A relative path is followed wherever the working directory is, and a link stays a link.
    @Test func namesAreResolvedOnce() throws {
        try makeStoreAndCopy()
        #expect(unlink(copy) == 0)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "test.store")
        let environment = try Environment(
            engine: "lmdb", path: scratch.path("link"), .init(durability: ROOTSTOCK_DURABILITY_OFF))
        try environment.compact()
        try environment.beginFollowing().abort()
        try #expect(FileManager.default.destinationOfSymbolicLink(atPath: scratch.path("link")) == "test.store")
        try expectWholeStore()
    }
}
