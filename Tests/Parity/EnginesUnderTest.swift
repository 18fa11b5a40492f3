// EnginesUnderTest.swift - the engines and the scripts that the parity tests run on.

import CSQLite
import Foundation
import Parity
import Rootstock
import RootstockTableInternals

private let environment = ProcessInfo.processInfo.environment

extension StoreTarget {
    /// A store whose every statement is also held against what spares most of them the full parse.
    static func watched(engine: Engine, setup: String = "") throws -> StoreTarget {
        var options = StoreOptions(durability: .off)
        // ROOTSTOCK_PARITY_CHECKSUM: the same scripts on stores that keep checksums.
        options.checksum = engine != .sqlite && environment["ROOTSTOCK_PARITY_CHECKSUM"] != nil
        return try StoreTarget(engine: engine, options: options, setup: setup) { db, sql in
            guard let missed = rootstock_test_rewrite_cache_missed(db, sql) else { return nil }
            defer { sqlite3_free(missed) }
            return "the rewrite cache let through what becomes \(String(cString: missed))"
        }
    }
}

extension Script {
    /// The scripts beside the tests, by name.
    static func all() throws -> [Script] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts")
        return try ScriptFile.find(in: [folder.path]).map { try Script(path: $0.path) }
    }
}

/// The engines that the parity tests run on: ROOTSTOCK_PARITY_ENGINES, separated by commas, or every one that there is.
let parityEngines: [Engine] = {
    let asked = ProcessInfo.processInfo.environment["ROOTSTOCK_PARITY_ENGINES"]
    let names =
        asked?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } ?? [
            "sqlite", "lmdb", "lmdb:plain", "memory", "sqlite-btree",
        ]
    return names.map { Engine(name: $0) }
}()
