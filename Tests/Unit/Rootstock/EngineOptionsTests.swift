// Options that an engine alone has: they reach the engine as they were given, and engines without any refuse them.

import Foundation
import Rootstock
import Testing

@testable import RootstockMemory

/// Engine memory with one option of its own.
private final class PickyEngine: KeyValueEngine, @unchecked Sendable {
    let name = "picky"
    let version = "1"
    let capabilities: EngineCapabilities = [.options]

    func open(path: String, options: EngineOptions) throws(EngineError) -> any KeyValueEnvironment {
        guard options.engineOptions == nil || options.engineOptions == "colour=\"blåbær\"" else {
            throw EngineError(.unsupported, "engine picky has no option \(options.engineOptions!): it has colour")
        }
        return MemoryEnvironment(options)
    }
}

@Suite struct EngineOptionsTests {
    private static let picky = Result { try Engine.register(PickyEngine()) }

    private func open(_ engine: Engine, _ text: String?) throws {
        var options = StoreOptions()
        options.engineOptions = text
        let store = try Store(
            path: engine.isNative ? ":memory:" : "engine-options-\(UUID())", engine: engine, options: options)
        try store.write { try $0.execute("CREATE TABLE t (a)") }
    }

    private func refusal(_ engine: Engine, _ text: String) -> String {
        do {
            try open(engine, text)
            return "opened"
        } catch {
            return (error as? DatabaseError)?.message ?? "\(error)"
        }
    }

    @Test func theyReachTheEngine() throws {
        let engine = try Self.picky.get()
        try open(engine, nil)
        try open(engine, "colour=\"blåbær\"")
        #expect(refusal(engine, "taste=sour").contains("engine picky has no option taste=sour: it has colour"))
    }

    @Test func enginesWithoutAnyRefuseThem() {
        #expect(refusal(.sqlite, "colour=red").contains("engine sqlite has no option engineOptions"))
        for engine: Engine in [.lmdb, .memory, "lmdb:plain", "sqlite-btree"] {
            #expect(refusal(engine, "colour=red").contains("has no options of its own; leave out engineOptions"))
        }
    }
}
