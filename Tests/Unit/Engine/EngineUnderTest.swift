// The engines that the tests run on: every registered one, and forms of LMDB's.
//
// To hold a new one to the contract, register it before `EngineUnderTest.all` is made.

import Foundation
import Rootstock
import RootstockEngine
import RootstockEngineProbe
import RootstockReference
import Testing

/// An engine by name, with a place for its stores.
struct EngineUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// LMDB as it writes where the file is not written through the map: by system calls.
    var withoutMap = false

    static let all =
        registered.map { EngineUnderTest(name: $0.name) } + [EngineUnderTest(name: "lmdb", withoutMap: true)]
        + ["lmdb:plain", "lmdb:read", "lmdb:write", "lmdb:sealed"].map { EngineUnderTest(name: $0) }
        + (bare_engine_register() == ROOTSTOCK_OK.code ? [EngineUnderTest(name: "lmdb:bare")] : [])
    static let keepingFiles = all.filter { $0.has(ROOTSTOCK_CAPABILITY_FILE) }

    /// With the reference engine, which no product has in it.
    private static let registered: [Engine] = {
        let engines = Engine.registered
        let code = rootstock_engine_register(rootstock_reference())
        precondition(code == 0, "the reference engine is registered: \(code)")
        return engines + ["reference"]
    }()

    /// In whichever form.
    var isLMDB: Bool { name == "lmdb" || name.hasPrefix("lmdb:") }

    var testDescription: String { withoutMap ? "\(name) without its map" : name }

    func has(_ capability: UInt32) -> Bool { rootstock_engine_find(name).pointee.capabilities & capability != 0 }

    /// Opens a store without syncing, which is all that most checks need.
    func open(_ path: String, _ options: rootstock_options = .init(durability: ROOTSTOCK_DURABILITY_OFF)) throws
        -> Environment
    {
        var options = options
        if withoutMap { options.write_map = ROOTSTOCK_WRITE_MAP_NEVER }
        return try Environment(engine: name, path: path, options)
    }
}

extension rootstock_options {
    init(
        durability: rootstock_durability = ROOTSTOCK_DURABILITY_FULL, mapSize: UInt64 = 0, readers: UInt32 = 0,
        trees: UInt32 = 0, readOnly: Bool = false, writeMap: Bool? = nil,
        readAhead: Bool? = nil
    ) {
        self.init()
        self.durability = durability
        map_size = mapSize
        maximum_readers = readers
        maximum_trees = trees
        read_only = readOnly ? 1 : 0
        write_map =
            switch writeMap {
            case nil: ROOTSTOCK_WRITE_MAP_AUTOMATIC
            case true?: ROOTSTOCK_WRITE_MAP_ALWAYS
            case false?: ROOTSTOCK_WRITE_MAP_NEVER
            }
        read_ahead =
            switch readAhead {
            case nil: ROOTSTOCK_READ_AHEAD_AUTOMATIC
            case true?: ROOTSTOCK_READ_AHEAD_ALWAYS
            case false?: ROOTSTOCK_READ_AHEAD_NEVER
            }
    }
}

enum EngineContract {
    /// A key of 8 bytes in the order of the numbers.
    static func key(_ number: Int) -> Bytes { withUnsafeBytes(of: UInt64(number).bigEndian) { Bytes($0) } }
}
