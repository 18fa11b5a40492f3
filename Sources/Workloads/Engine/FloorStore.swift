// The floor: an engine by the plug's own calls, with no SQL above it. The limit that the SQL path is held against.
//
// Invariant: one environment, one tree, opened with the durability class that the SQL row beside it has. An operation is one
// transaction unless the workload batches, as it is in SQL. One thread writes, so that nobody queues for the writer.

import Foundation
import Rootstock
import RootstockEngine

public final class FloorStore {
    public typealias Transaction = OpaquePointer

    private let shared: UnsafeMutablePointer<rootstock_shared>
    let engine: rootstock_engine
    let tree: rootstock_tree
    public var answers = AnswerHash()
    public var isChecking = false

    public init(engine name: String, path: String, durability: DurabilityClass) throws {
        _ = Engine.registered
        guard let found = rootstock_engine_find(name) else { throw WorkloadError("there is no engine \(name)") }
        var options = rootstock_options()
        switch durability {
        case .off: options.durability = ROOTSTOCK_DURABILITY_OFF
        case .normal: options.durability = ROOTSTOCK_DURABILITY_NORMAL
        case .full: options.durability = ROOTSTOCK_DURABILITY_FULL
        }
        var opened: UnsafeMutablePointer<rootstock_shared>?
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_environment_acquire(found, path, &options, &opened, &message)
        defer { free(message) }
        guard code == ROOTSTOCK_OK.plain, let opened else {
            throw WorkloadError(
                message.map { String(cString: $0) } ?? "\(path): \(String(cString: rootstock_code_name(code)))")
        }
        shared = opened
        engine = opened.pointee.engine.pointee
        do {
            var handle: rootstock_tree = 0
            let transaction = try Self.begin(opened, engine, ROOTSTOCK_BEGIN_WRITE)
            let made = engine.tree_open(transaction, "floor", ROOTSTOCK_TREE_CREATE, &handle)
            guard made == ROOTSTOCK_OK.plain else {
                engine.abort(transaction)
                throw WorkloadError("tree_open: \(String(cString: rootstock_code_name(made)))")
            }
            tree = handle
            let ended = engine.commit(transaction)
            guard ended == ROOTSTOCK_OK.plain else {
                throw WorkloadError("commit: \(String(cString: rootstock_code_name(ended)))")
            }
        } catch {
            rootstock_environment_release(opened)
            throw error
        }
    }

    deinit { rootstock_environment_release(shared) }

    private static func begin(
        _ shared: UnsafeMutablePointer<rootstock_shared>, _ engine: rootstock_engine, _ flags: UInt32
    ) throws -> Transaction {
        var transaction: OpaquePointer?
        let code = engine.begin(shared.pointee.environment, flags, nil, nil, &transaction)
        guard code == ROOTSTOCK_OK.plain, let transaction else {
            throw WorkloadError("begin: \(String(cString: rootstock_code_name(code)))")
        }
        return transaction
    }

    public func begin(readOnly: Bool) throws -> Transaction {
        try Self.begin(shared, engine, readOnly ? 0 : ROOTSTOCK_BEGIN_WRITE)
    }

    /// Whether the call succeeded; false for "not found". Throws the engine's words for any other result.
    @inline(__always)
    func check(_ code: Int32, _ call: StaticString) throws -> Bool {
        if code == 0 { return true }
        if code == ROOTSTOCK_NOT_FOUND.plain { return false }
        let words = engine.describe(shared.pointee.environment, code) ?? rootstock_code_name(code)
        throw WorkloadError("\(call): \(words.map { String(cString: $0) } ?? "")")
    }

    /// Takes an entry as an answer, so that it hashes as a row of two blobs does in `Session.take`.
    @inline(__always)
    public func take(_ key: rootstock_slice, _ value: rootstock_slice) {
        let keyBytes = UnsafeRawBufferPointer(start: key.data, count: key.size)
        let valueBytes = UnsafeRawBufferPointer(start: value.data, count: value.size)
        if isChecking {
            answers.addRow(keyBytes, valueBytes)
        } else {
            answers.touch(keyBytes)
            answers.touch(valueBytes)
        }
    }

    /// As `take`, with every byte of the value read while the clock runs.
    @inline(__always)
    func takeWhole(_ key: rootstock_slice, _ value: rootstock_slice) {
        if isChecking { return take(key, value) }
        answers.touchWhole(UnsafeRawBufferPointer(start: key.data, count: key.size))
        answers.touchWhole(UnsafeRawBufferPointer(start: value.data, count: value.size))
    }

    /// Goes through every entry in key order, or backward; `body` gets each.
    @inline(__always)
    func walk(backward: Bool = false, began: () -> Void = {}, _ body: (rootstock_slice, rootstock_slice) -> Void) throws
    {
        let transaction = try begin(readOnly: true)
        defer { engine.abort(transaction) }
        var cursor: OpaquePointer?
        _ = try check(engine.cursor_open(transaction, tree, &cursor), "cursor_open")
        defer { engine.cursor_close(cursor) }
        let move = backward ? ROOTSTOCK_PREVIOUS : ROOTSTOCK_NEXT
        var key = rootstock_slice()
        var value = rootstock_slice()
        began()
        while try check(engine.cursor_move(cursor, move, &key, &value), "cursor_move") { body(key, value) }
    }

    /// Hashes every entry in key order, as `Session.hashRows` does a table of two blobs.
    public func hashContent() throws {
        let wasChecking = isChecking
        isChecking = true
        defer { isChecking = wasChecking }
        try walk { take($0, $1) }
    }
}

extension rootstock_code {
    /// As the plug's functions return it.
    fileprivate var plain: Int32 { Int32(rawValue) }
}
