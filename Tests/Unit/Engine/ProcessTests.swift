// A store and several processes: writers in each other's way, readers that die, maps that another process grows, forks.
//
// Serialized: a child is forked, and its pipes must not be inherited by another test's child.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import TestSupport
import Testing

/// A child process and its reports.
final class Child {
    private var probe = RootstockEngineProbe.probe()
    private var ended = false

    init(
        _ action: probe_action, engine: String, path: String, options: rootstock_options = .init(), count: Int32 = 0,
        size: Int32 = 0, inheriting inherited: (Environment, writer: Transaction, reader: Transaction)? = nil
    ) throws {
        try engine.withCString { engine in
            try path.withCString { path in
                var order = probe_order()
                order.action = action
                order.engine = engine
                order.path = path
                order.options = options
                order.count = count
                order.size = size
                order.shared = inherited?.0.shared
                order.transaction = inherited?.writer.pointer
                order.reader = inherited?.reader.pointer
                try #require(probe_start(&order, &probe) == 0)
            }
        }
    }

    deinit { if !ended { kill() } }

    func report() -> Int32 { probe_report(&probe) }
    func proceed() { probe_continue(&probe) }

    func kill() {
        ended = true
        probe_kill(&probe)
    }

    func finish() -> Int32 {
        ended = true
        return probe_finish(&probe)
    }
}

@Suite(.serialized) struct ProcessTests {
    static let engines = EngineUnderTest.keepingFiles

    @Test(arguments: engines) func anotherProcessesWriterIsBusy(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { _ = try $0.tree("t", create: true) }
        let child = try Child(PROBE_WRITE, engine: engine.name, path: scratch.path())
        #expect(child.report() == ROOTSTOCK_OK.code, "the child writes")
        #expect(throws: ROOTSTOCK_BUSY.fault) { try environment.begin(write: true) }
        var questions: Int32 = 0
        #expect(throws: ROOTSTOCK_BUSY.fault) {
            try environment.begin(write: true, busy: probe_patience, context: &questions)
        }
        #expect(questions == 51, "asked until the callback gave up")
        // Readers are not in anybody's way.
        try environment.read { try #expect($0.get($0.tree("t"), Bytes(text: "probe")) == nil) }

        // One that waits long enough gets its turn when the child commits.
        let failures = Collected<String>()
        let waiting = Thread {
            do {
                var count: Int32 = 0
                let writer = try withUnsafeMutablePointer(to: &count) {
                    try environment.begin(write: true, busy: probe_long_patience, context: $0)
                }
                if try writer.get(writer.tree("t"), Bytes(text: "probe")) == nil { failures.add("commit not seen") }
                if count == 0 { failures.add("did not wait") }
                try writer.commit()
            } catch {
                failures.add("\(error)")
            }
            failures.add("done")
        }
        waiting.start()
        Thread.sleep(forTimeInterval: 0.1)
        let last = environment.lastCommit
        child.proceed()
        #expect(child.report() == ROOTSTOCK_OK.code)
        if let last { #expect(environment.lastCommit ?? 0 > last, "a commit of another process is told") }
        #expect(child.finish() == 0)
        while failures.all.isEmpty { Thread.sleep(forTimeInterval: 0.005) }
        while !failures.all.contains("done") { Thread.sleep(forTimeInterval: 0.005) }
        #expect(failures.all == ["done"])

        let writer = try environment.begin(write: true)
        let other = try Child(PROBE_TRY_WRITE, engine: engine.name, path: scratch.path())
        #expect(other.report() == ROOTSTOCK_BUSY.code, "and the other way round")
        #expect(other.finish() == 0)
        try writer.commit()
    }

    @Test(arguments: engines) func aWriterThatDiesLeavesNothing(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { try $0.put(try $0.tree("t", create: true), [1], [1]) }
        for _ in 0..<3 {
            let child = try Child(PROBE_WRITE, engine: engine.name, path: scratch.path())
            #expect(child.report() == ROOTSTOCK_OK.code)
            child.kill()
            try environment.write { transaction in
                let tree = try transaction.tree("t")
                try #expect(transaction.get(tree, Bytes(text: "probe")) == nil)
                try #expect(transaction.get(tree, [1]) == [1])
                try transaction.put(tree, [1], [1])
            }
        }
    }

    @Test(arguments: engines) func aReaderThatDiesIsCleared(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        guard let check = environment.engine.pointee.check_readers else { return }
        try environment.write { _ = try $0.tree("t", create: true) }
        let child = try Child(PROBE_READ, engine: engine.name, path: scratch.path())
        #expect(child.report() == ROOTSTOCK_OK.code)
        try #expect(environment.statistics().readers == 1)
        var cleared: Int32 = -1
        try environment.check(check(environment.pointer, &cleared))
        #expect(cleared == 0, "the living are left alone")
        child.kill()
        try environment.check(check(environment.pointer, &cleared))
        #expect(cleared == 1)
        try #expect(environment.statistics().readers == 0)
        try environment.check(check(environment.pointer, nil))
    }

    @Test func deadReadersAreClearedAtOpenAndWhenSlotsRunOut() throws {
        let scratch = Scratch()
        let options = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, readers: 3)
        var environment: Environment? = try Environment(engine: "lmdb", path: scratch.path(), options)
        try environment!.write { _ = try $0.tree("t", create: true) }
        // Without a close in between that would let the lock file be made anew.
        let keeper = try Child(PROBE_READ, engine: "lmdb", path: scratch.path(), options: options)
        #expect(keeper.report() == ROOTSTOCK_OK.code)
        for _ in 0..<2 {
            let child = try Child(PROBE_READ, engine: "lmdb", path: scratch.path(), options: options)
            #expect(child.report() == ROOTSTOCK_OK.code)
            child.kill()
        }
        // Three slots: one living, two dead. A third reader needs the dead ones'.
        try environment!.read { _ in }
        let child = try Child(PROBE_READ, engine: "lmdb", path: scratch.path(), options: options)
        #expect(child.report() == ROOTSTOCK_OK.code)
        child.kill()
        environment = nil
        environment = try Environment(engine: "lmdb", path: scratch.path(), options)
        try #expect(environment!.statistics().readers == 1, "only the living, right after opening")
        keeper.proceed()
        #expect(keeper.report() == ROOTSTOCK_OK.code)
        #expect(keeper.finish() == 0)
    }

    @Test(arguments: engines) func anotherProcessesTreesAreSeen(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        let pooled = try environment.begin()
        pooled.reset()
        for round in 1...3 {
            let child = try Child(PROBE_GROW, engine: engine.name, path: scratch.path(), count: Int32(round), size: 10)
            #expect(child.report() == ROOTSTOCK_OK.code)
            #expect(child.finish() == 0)
            try pooled.renew()
            try #expect(pooled.all(pooled.tree("grown")).count == round, "renewed")
            pooled.reset()
            try environment.write { transaction in
                try #expect(transaction.all(transaction.tree("grown")).count == round, "writing")
                _ = try transaction.tree("own\(round)", create: true)
            }
        }
    }

    /// One process writes through the map, the other by system calls: each sees what the other wrote, and neither cuts the
    /// file under the other.
    @Test(arguments: engines) func processesTakeTurnsWriting(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let off = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF)
        var environment: Environment? = try engine.open(scratch.path())
        try environment!.write { _ = try $0.tree("t", create: true) }
        for round in 1...4 {
            let child = try Child(
                PROBE_GROW, engine: engine.name, path: scratch.path(), options: off, count: Int32(300 * round),
                size: 3000)
            #expect(child.report() == ROOTSTOCK_OK.code)
            #expect(child.finish() == 0)
            if round == 3 {
                // Closed and opened again while another process has it open.
                let keeper = try Child(PROBE_READ, engine: engine.name, path: scratch.path(), options: off)
                #expect(keeper.report() == ROOTSTOCK_OK.code)
                environment = nil
                environment = try engine.open(scratch.path())
                keeper.kill()
            }
            try environment!.write { transaction in
                let tree = try transaction.tree("t")
                let grown = try transaction.tree("grown")
                try #expect(transaction.all(grown).count == 300 * round)
                for i in 0..<500 * round {
                    try transaction.put(tree, EngineContract.key(i), Bytes(repeating: UInt8(round), count: 2000))
                }
            }
        }
        environment = nil
        try engine.open(scratch.path(), .init(readOnly: true)).read { transaction in
            try #expect(transaction.all(transaction.tree("grown")).count == 1200)
            let entries = try transaction.all(transaction.tree("t"))
            #expect(entries.count == 2000 && entries.allSatisfy { $0.value == Bytes(repeating: 4, count: 2000) })
        }
    }

    /// The map is moved unseen when another process has outgrown it, and never under a live snapshot.
    @Test func aMapGrownByAnotherProcess() throws {
        let scratch = Scratch()
        let small = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: 1 << 20)
        let large = rootstock_options(durability: ROOTSTOCK_DURABILITY_OFF, mapSize: 256 << 20)
        let environment = try Environment(engine: "lmdb", path: scratch.path(), small)
        try environment.write { try $0.put(try $0.tree("t", create: true), [1], [1]) }
        let snapshot = try environment.begin()
        let child = try Child(
            PROBE_GROW, engine: "lmdb", path: scratch.path(), options: large, count: 500, size: 10_000)
        #expect(child.report() == ROOTSTOCK_OK.code)
        #expect(child.finish() == 0)
        // The snapshot is live: a new one would pull the map from under it, so it is refused for now.
        #expect(throws: ROOTSTOCK_BUSY.fault) { try environment.begin() }
        try #expect(snapshot.get(snapshot.tree("t"), [1]) == [1])
        snapshot.reset()
        try snapshot.renew()
        try #expect(snapshot.all(snapshot.tree("grown")).count == 500)
        snapshot.abort()
        try #expect(environment.statistics().map_bytes == 256 << 20)
        try environment.write { transaction in
            let tree = try transaction.tree("grown")
            for i in 0..<1000 { try transaction.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: 5000)) }
        }
    }

    @Test(arguments: engines) func nothingIsUsedAfterFork(_ engine: EngineUnderTest) throws {
        let scratch = Scratch()
        let environment = try engine.open(scratch.path())
        try environment.write { try $0.put(try $0.tree("t", create: true), [1], [1]) }
        let reader = try environment.begin()
        let writer = try environment.begin(write: true)
        try writer.put(writer.tree("t"), [2], [2])
        let child = try Child(
            PROBE_INHERIT, engine: engine.name, path: scratch.path(),
            options: .init(durability: ROOTSTOCK_DURABILITY_OFF),
            inheriting: (environment, writer: writer, reader: reader))
        for call in ["check_process", "begin", "begin to write", "put", "commit", "renew", "writer_lock"] {
            #expect(child.report() == ROOTSTOCK_MISUSE.code, "\(call)")
        }
        #expect(child.report() == ROOTSTOCK_OK.code, "an environment of its own")
        #expect(child.report() == ROOTSTOCK_OK.code, "and again with the inherited one let go")
        #expect(child.finish() == 0)
        // The parent's are as they were: the write lock is held, the snapshot pinned, the writes its own.
        let other = try Child(PROBE_TRY_WRITE, engine: engine.name, path: scratch.path())
        #expect(other.report() == ROOTSTOCK_BUSY.code)
        #expect(other.finish() == 0)
        try #expect(environment.statistics().readers == 1)
        try writer.commit()
        try #expect(reader.get(reader.tree("t"), [2]) == nil)
        reader.reset()
        try reader.renew()
        try #expect(reader.get(reader.tree("t"), [2]) == [2])
        try #expect(reader.get(reader.tree("t"), Bytes(text: "child")) == nil)
    }
}
