// Opening, sharing and refusing stores, on every engine that keeps files.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import Testing

@Suite struct EnvironmentTests {
    static let engines = EngineUnderTest.keepingFiles

    /// The fault of opening, which must not succeed.
    private func fault(_ engine: EngineUnderTest, _ path: String, _ options: rootstock_options = .init()) -> Fault? {
        do {
            _ = try Environment(engine: engine.name, path: path, options)
            Issue.record("\(path) was opened")
            return nil
        } catch {
            return error
        }
    }

    private func fill(_ environment: Environment, entries: Int = 2000) throws {
        try environment.write { transaction in
            let tree = try transaction.tree("t", create: true)
            for i in 0..<entries { try transaction.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: 100)) }
        }
    }

    @Test(arguments: engines) func persistsAcrossOpenings(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        for durability in [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_NORMAL, ROOTSTOCK_DURABILITY_OFF] {
            for round in 0..<2 {
                let environment = try engine.open(scratch.path(), .init(durability: durability))
                try environment.write { transaction in
                    let tree = try transaction.tree("t\(durability.rawValue)", create: true)
                    try #expect(transaction.get(tree, [1]) == (round == 0 ? nil : [9]))
                    try transaction.put(tree, [1], [9])
                }
                try environment.check(environment.engine.pointee.sync(environment.pointer))
            }
        }
        try engine.open(scratch.path()).read { transaction in
            for durability in 0...2 {
                try #expect(transaction.get(transaction.tree("t\(durability)"), [1]) == [9])
            }
        }
    }

    @Test(arguments: engines) func oneEnvironmentPerDeviceAndInode(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let first = try engine.open(scratch.path())
        try fill(first)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: scratch.path())
        try FileManager.default.linkItem(atPath: scratch.path(), toPath: scratch.path("hard"))
        for name in [
            "link", "hard", "./test.store",
            "../\(URL(fileURLWithPath: scratch.directory).lastPathComponent)/test.store",
        ] {
            let again = try engine.open(scratch.path(name))
            #expect(again.shared == first.shared, "\(name)")
        }
    }

    @Test func aSymbolicLinkHasNoLockFileOfItsOwn() throws {
        let scratch = Scratch()
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: scratch.path())
        // The link leads nowhere yet: opening creates what it names.
        let environment = try Environment(engine: "lmdb", path: scratch.path("link"))
        #expect(FileManager.default.fileExists(atPath: scratch.path() + "-lock"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("link") + "-lock"))
        let again = try Environment(engine: "lmdb", path: scratch.path())
        #expect(again.shared == environment.shared)
    }

    @Test(arguments: engines) func otherOptionsAreRefusedWhileOpen(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let path = scratch.path()
        let first = try engine.open(path, .init(durability: ROOTSTOCK_DURABILITY_NORMAL))
        let off = fault(engine, path, .init(durability: ROOTSTOCK_DURABILITY_OFF))
        #expect(off?.code == ROOTSTOCK_MISUSE.code)
        #expect(off?.message.contains("durability") == true && off?.message.contains(path) == true)
        #expect(fault(engine, path, .init(mapSize: 1 << 40))?.message.contains("map size") == true)
        #expect(fault(engine, path, .init(readers: 7))?.message.contains("readers") == true)
        #expect(fault(engine, path, .init(writeMap: true))?.message.contains("write map") == true)
        #expect(fault(engine, path, .init(readAhead: false))?.message.contains("reading ahead") == true)
        // What is allowed: the same, nothing in particular, and reading what is open for writing.
        for options in [
            rootstock_options(durability: ROOTSTOCK_DURABILITY_NORMAL), rootstock_options(),
            rootstock_options(readOnly: true),
        ] {
            try #expect(engine.open(path, options).shared == first.shared)
        }
    }

    @Test(arguments: engines) func readOnlyReads(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        do { try fill(try engine.open(scratch.path())) }
        let environment = try engine.open(scratch.path(), .init(readOnly: true))
        try environment.read { transaction in
            try #expect(transaction.all(transaction.tree("t")).count == 2000)
            #expect(throws: ROOTSTOCK_READ_ONLY.fault) { try transaction.put(try transaction.tree("t"), [1], [1]) }
        }
        #expect(throws: ROOTSTOCK_READ_ONLY.fault) { try environment.begin(write: true) }
        let writer = fault(engine, scratch.path())
        #expect(writer?.code == ROOTSTOCK_MISUSE.code, "writing on top of a read-only environment")
        #expect(writer?.message.contains("read-only") == true)
    }

    @Test(arguments: engines) func aMissingFileIsNotMadeByAReader(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        #expect(fault(engine, scratch.path(), .init(readOnly: true))?.code == ROOTSTOCK_CANNOT_OPEN.code)
        #expect(!FileManager.default.fileExists(atPath: scratch.path()))
    }

    @Test(arguments: engines) func aMissingDirectoryIsNamed(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let path = scratch.path("missing/test.store")
        let fault = fault(engine, path)
        #expect(fault?.code == ROOTSTOCK_CANNOT_OPEN.code)
        #expect(fault?.message.contains(path) == true && fault?.message.contains("directory") == true)
    }

    @Test(arguments: engines) func whatIsNoFileIsRefused(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        #expect(fault(engine, scratch.directory)?.code == ROOTSTOCK_CANNOT_OPEN.code)
        #expect(mkfifo(scratch.path("pipe"), 0o600) == 0)
        #expect(fault(engine, scratch.path("pipe"))?.code == ROOTSTOCK_CANNOT_OPEN.code)
        #expect(fault(engine, "/dev/null")?.code == ROOTSTOCK_CANNOT_OPEN.code)
        #expect(fault(engine, "")?.code == ROOTSTOCK_MISUSE.code)
    }

    @Test(arguments: engines) func filesOfAnotherKindAreLeftAlone(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        for (name, bytes) in [
            ("text", Bytes(text: "This is not a store.\n")), ("zeroes", Bytes(repeating: 0, count: 100_000)),
            ("noise", Bytes((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })), ("byte", [0]),
        ] {
            let path = scratch.path(name)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            for readOnly in [false, true] {
                let fault = fault(engine, path, .init(readOnly: readOnly))
                #expect(fault?.code == ROOTSTOCK_NOT_A_STORE.code, "\(name)")
                #expect(fault?.message.contains(path) == true)
            }
            try #expect(Data(contentsOf: URL(fileURLWithPath: path)) == Data(bytes), "\(name) is untouched")
        }
    }

    @Test(arguments: engines) func anEmptyFileIsANewStore(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        try Data().write(to: URL(fileURLWithPath: scratch.path()))
        #expect(fault(engine, scratch.path(), .init(readOnly: true))?.code == ROOTSTOCK_NOT_A_STORE.code)
        try fill(try engine.open(scratch.path()))
    }

    @Test(arguments: engines) func newFilesHaveSQLitesPermissions(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        _ = try engine.open(scratch.path())
        var status = stat()
        #expect(stat(scratch.path(), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o644)
        var options = rootstock_options()
        options.file_mode = 0o600
        _ = try engine.open(scratch.path("private"), options)
        #expect(stat(scratch.path("private"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test(arguments: engines) func aCopyIsAStore(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        guard let copy = environment.engine.pointee.copy else { return }
        try fill(environment)
        try environment.write { try $0.clear(try $0.tree("t")) }
        try fill(environment, entries: 500)
        try environment.check(copy(environment.pointer, scratch.path("copy"), nil, nil))
        try engine.open(scratch.path("copy")).write { transaction in
            let tree = try transaction.tree("t")
            try #expect(transaction.all(tree).count == 500)
            try transaction.put(tree, [1], [1])
        }
        #expect(
            copy(environment.pointer, scratch.path("copy"), nil, nil) == ROOTSTOCK_CANNOT_OPEN.code,
            "nothing is overwritten")
        #expect(copy(environment.pointer, scratch.path("missing/copy"), nil, nil) == ROOTSTOCK_CANNOT_OPEN.code)
    }

    @Test func theRegistryOfEngines() throws {
        let lmdb = try #require(rootstock_engine_find("lmdb"))
        #expect(rootstock_engine_find("LMDB") == lmdb)
        #expect(rootstock_engine_find("nobody") == nil)
        #expect(rootstock_engine_at(0) == lmdb)
        #expect(rootstock_engine_at(1000) == nil)
        #expect(rootstock_engine_register(lmdb) == ROOTSTOCK_OK.code, "again is no fault")
        let copy = UnsafeMutablePointer<rootstock_engine>.allocate(capacity: 1)
        defer { copy.deallocate() }
        copy.initialize(to: lmdb.pointee)
        #expect(rootstock_engine_register(copy) == ROOTSTOCK_EXISTS.code)
        copy.pointee.abi_version += 1
        #expect(rootstock_engine_register(copy) == ROOTSTOCK_VERSION.code)
        copy.pointee = lmdb.pointee
        copy.pointee.get = nil
        #expect(rootstock_engine_register(copy) == ROOTSTOCK_MISUSE.code)
        #expect(String(cString: rootstock_code_name(ROOTSTOCK_READ_ONLY.code)) == "read only")
        #expect(String(cString: rootstock_code_name(-5)) == "unknown code")
    }

    @Test(arguments: engines) func theQueueOfWriters(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code)
        #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_BUSY.code)
        var questions: Int32 = 0
        #expect(rootstock_writer_lock(environment.shared, probe_patience, &questions) == ROOTSTOCK_BUSY.code)
        #expect(questions == 51, "asked until it gave up")
        rootstock_writer_unlock(environment.shared)
        #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code)
        rootstock_writer_unlock(environment.shared)
    }

    @Test(arguments: engines) func theAttachmentIsFreedWithTheLastUser(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        var first: Environment? = try engine.open(scratch.path())
        var second: Environment? = try engine.open(scratch.path())
        let freed = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        freed.initialize(to: 0)
        defer { freed.deallocate() }
        rootstock_shared_lock(first!.shared)
        first!.shared.pointee.attachment = UnsafeMutableRawPointer(freed)
        first!.shared.pointee.attachment_free = { $0!.assumingMemoryBound(to: Int32.self).pointee += 1 }
        rootstock_shared_unlock(first!.shared)
        first = nil
        #expect(freed.pointee == 0)
        #expect(second != nil)
        second = nil
        #expect(freed.pointee == 1)
    }
}
