// StoreTarget.swift - a store on one engine, reached as a program reaches it: through Rootstock's Connection.

import CSQLite
import Foundation
import Rootstock
import RootstockTableInternals

final class StoreTarget: Target {
    let name: String
    private let folder: URL
    private let engine: Engine
    private let setup: String
    private var connection: Connection?
    /// On an engine whose stores live as long as a connection to them: holds the store while the other one is reopened.
    private var keeper: Connection?
    private var other: Connection?

    /// setup: SQL to run whenever the store has been opened.
    init(engine: Engine, setup: String = "") throws {
        self.engine = engine
        self.setup = setup
        name = engine.name
        folder = try temporaryFolder()
        connection = try open()
        if engine == .memory { keeper = try open() }
    }

    private func open() throws -> Connection {
        // The data is thrown away: waiting for the disk would buy nothing.
        var options = StoreOptions(durability: .off)
        // ROOTSTOCK_PARITY_CHECKSUM: the same scripts on stores that keep checksums.
        options.checksum = engine != .sqlite && ProcessInfo.processInfo.environment["ROOTSTOCK_PARITY_CHECKSUM"] != nil
        let connection = try Connection(
            path: folder.appendingPathComponent("parity.store").path, engine: engine, options: options)
        registerApplicationFunctions(on: connection.handle)
        if !setup.isEmpty { try connection.executeScript(setup) }
        return connection
    }

    func reopen() throws {
        other?.close()
        other = nil
        connection?.close()
        connection = nil
        connection = try open()
    }

    func close() {
        other?.close()
        other = nil
        connection?.close()
        keeper?.close()
        connection = nil
        keeper = nil
        try? FileManager.default.removeItem(at: folder)
    }

    func runOnOther(_ sql: String) throws -> Outcome {
        if other == nil { other = try open() }
        return run(sql, on: other)
    }

    func run(_ sql: String) -> Outcome { run(sql, on: connection) }

    private func run(_ sql: String, on connection: Connection?) -> Outcome {
        guard let connection else { return Outcome(failure: Failure(code: SQLITE_MISUSE, message: "closed")) }
        // A statement that has to be rewritten must never slip by the look that spares the others the full parse.
        if let missed = rootstock_test_rewrite_cache_missed(connection.handle, sql) {
            defer { sqlite3_free(missed) }
            return Outcome(
                failure: Failure(
                    code: SQLITE_INTERNAL, message: "the glance let through what becomes \(String(cString: missed))"))
        }
        var outcome = Outcome()
        do {
            let statement = try connection.prepare(sql)
            // The columns after the first step: a cached statement takes in a changed schema there.
            var row = try statement.step()
            outcome.columns = statement.columnNames
            while row {
                outcome.rows.append((0..<statement.columnCount).map { cell(statement.handle, Int32($0)) })
                row = try statement.step()
            }
        } catch {
            outcome.failure = Failure(code: error.extendedCode.rawValue, message: error.message)
        }
        outcome.changes = Int64(connection.changes)
        outcome.lastInsertRowID = connection.lastInsertRowid
        outcome.inTransaction = connection.isInTransaction
        return outcome
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
