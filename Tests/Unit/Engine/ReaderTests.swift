// How old readers are, who is told, and when they end. In this target for its child processes.

import Foundation
import Rootstock
import RootstockEngine
import RootstockEngineProbe
import Testing

@Suite(.serialized) struct ReaderTests {
    static let engines: [Engine] = [.lmdb, .memory, Engine(name: "sqlite-btree")]

    private func open(_ scratch: Scratch, _ engine: Engine = .lmdb, warning: Int? = 1000) throws -> Connection {
        var options = StoreOptions(durability: .off)
        options.readerWarning = warning
        return try Connection(path: scratch.path(), engine: engine, options: options)
    }

    @Test(arguments: engines) func aSnapshotEndsWithTheLastStatement(_ engine: Engine) throws {
        let scratch = Scratch()
        let reading = try open(scratch, engine)
        let other = try open(scratch, engine)
        func readers() throws -> Int? { try other.storeInfo().readers }
        try other.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
        try other.execute("INSERT INTO t (b) VALUES (1), (2), (3)")
        try #expect(readers() == 0)
        let first = try reading.prepare("SELECT a FROM t ORDER BY a")
        let second = try reading.prepare("SELECT b FROM t WHERE a > ?")
        try second.bind([1])
        try #expect(readers() == 0, "prepared is not begun")
        try #expect(first.step())
        try #expect(readers() == 1)
        try #expect(second.step())
        try #expect(readers() == 1, "they share one")
        first.reset()
        try #expect(readers() == 1, "the second is under way")
        while try second.step() {}
        try #expect(readers() == 0, "at the last row, before reset")
        second.reset()
        // A transaction holds it from its first read to its end.
        try reading.execute("BEGIN")
        try #expect(readers() == 0)
        _ = try reading.queryValue("SELECT count(*) FROM t")
        try #expect(readers() == 1)
        for _ in 0..<5 { try other.execute("UPDATE t SET b = b + 1") }
        let info = try other.storeInfo()
        #expect(info.oldestReaderLag == 5)
        try reading.execute("COMMIT")
        try #expect(readers() == 0)
        try #expect(other.storeInfo().oldestReaderLag == 0)
        // A statement that fails, and one that is let go of, hold nothing either.
        #expect(throws: DatabaseError.self) {
            try reading.query("SELECT abs(-9223372036854775807 - a) FROM t WHERE a = 1")
        }
        try #expect(readers() == 0)
        do {
            let forgotten = try reading.prepare("SELECT a FROM t WHERE b > -1")
            try #expect(forgotten.step())
        }
        try #expect(readers() == 0)
    }

    /// A reader that was killed is cleared by those who write, without anybody asking.
    @Test func deadReadersAreClearedNowAndThen() throws {
        let scratch = Scratch()
        let writer = try open(scratch, warning: 16)
        try writer.execute("CREATE TABLE t (a)")
        let child = try Child(PROBE_READ, engine: "lmdb", path: scratch.path())
        #expect(child.report() == ROOTSTOCK_OK.code)
        try #expect(writer.storeInfo().readers == 1)
        child.kill()
        try #expect(writer.storeInfo().readers == 1, "nobody noticed yet")
        for number in 0..<20 { try writer.execute("INSERT INTO t VALUES (?)", [Value(number)]) }
        try #expect(writer.storeInfo().readers == 0)
    }
}
