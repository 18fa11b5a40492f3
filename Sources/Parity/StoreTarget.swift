// StoreTarget.swift - a store on one engine, reached as a program reaches it: through Rootstock's Connection.

import CSQLite
import Foundation
import Rootstock
import RootstockEngine

package final class StoreTarget: Target {
    package let name: String
    package let givesSpaceBack: Bool
    private let folder: URL
    private let engine: Engine
    private let options: StoreOptions
    private let setup: String
    private let objection: Objection
    private let livesInMemory: Bool
    private var connection: Connection?
    /// On an engine whose stores live as long as a connection to them: holds the store while the other one is reopened.
    private var keeper: Connection?
    private var other: Connection?

    /// What is wrong with a statement that is about to run; nil where nothing is.
    package typealias Objection = (_ db: OpaquePointer, _ sql: String) -> String?

    /// - Parameters:
    ///   - folder: A new one that goes with `close`, unless one is named.
    ///   - options: Of the store. The data is thrown away: waiting for the disk would buy nothing.
    ///   - setup: SQL to run whenever the store has been opened.
    ///   - objection: Asked before each statement.
    package init(
        engine: Engine, folder: URL? = nil, options: StoreOptions = StoreOptions(durability: .off), setup: String = "",
        objection: @escaping Objection = { _, _ in nil }
    ) throws {
        self.engine = engine
        self.options = options
        self.setup = setup
        self.objection = objection
        name = engine.name
        let table = rootstock_engine_find(engine.name)?.pointee
        givesSpaceBack = engine.isNative || table?.compact != nil
        let can = EngineCapabilities(rawValue: table?.capabilities ?? 0)
        livesInMemory = !engine.isNative && can.isDisjoint(with: [.file, .directory, .durable])
        self.folder = try folder ?? temporaryFolder()
        connection = try open()
        if livesInMemory { keeper = try open() }
    }

    private func open() throws -> Connection {
        let connection = try Connection(
            path: folder.appendingPathComponent("parity.store").path, engine: engine, options: options)
        registerApplicationFunctions(on: connection.handle)
        if !setup.isEmpty { try connection.executeScript(setup) }
        return connection
    }

    package func reopen() throws {
        other?.close()
        other = nil
        connection?.close()
        connection = nil
        connection = try open()
    }

    package func close() {
        other?.close()
        other = nil
        connection?.close()
        keeper?.close()
        connection = nil
        keeper = nil
        try? FileManager.default.removeItem(at: folder)
    }

    package func runOnOther(_ sql: String) throws -> Outcome {
        if other == nil { other = try open() }
        return run(sql, on: other)
    }

    package func run(_ sql: String) -> Outcome { run(sql, on: connection) }

    private func run(_ sql: String, on connection: Connection?) -> Outcome {
        guard let connection else { return Outcome(failure: Failure(code: SQLITE_MISUSE, message: "closed")) }
        if let words = objection(connection.handle, sql) {
            return Outcome(failure: Failure(code: SQLITE_INTERNAL, message: words))
        }
        var outcome = Outcome()
        do {
            let statement = try connection.prepare(sql)
            for index in 0..<statement.parameterCount {
                let value = boundValues[index % boundValues.count]
                switch value {
                case .integer(let integer): try statement.bind(integer, at: index + 1)
                case .real(let bits): try statement.bind(Double(bitPattern: bits), at: index + 1)
                case .text(let text): try statement.bind(String(decoding: text, as: UTF8.self), at: index + 1)
                case .blob(let bytes): try statement.bind(bytes, at: index + 1)
                case .null: try statement.bindNull(at: index + 1)
                }
            }
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
