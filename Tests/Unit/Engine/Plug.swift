// The plug as Swift objects, for tests: one class per opaque type, codes as thrown values, bytes as arrays.
//
// Invariant: nothing is hidden. Each method is one call of the engine's struct, and every code but the answers
// NOT_FOUND and EXISTS is thrown as it came.

import Foundation
import RootstockEngine
import RootstockTable

typealias Bytes = [UInt8]

/// A code other than OK, with the engine's text for it.
struct Fault: Error, Equatable, CustomStringConvertible {
    let code: Int32
    let message: String

    init(_ code: Int32, _ message: String = "") {
        self.code = code
        self.message = message
    }

    static func == (left: Fault, right: Fault) -> Bool { left.code == right.code }
    var description: String { "\(String(cString: rootstock_code_name(code))): \(message)" }
}

extension rootstock_code {
    var code: Int32 { Int32(rawValue) }
    var fault: Fault { Fault(code) }
}

extension Array where Element == UInt8 {
    init(_ slice: rootstock_slice) {
        self = slice.size == 0 ? [] : Array(UnsafeRawBufferPointer(start: slice.data, count: slice.size))
    }

    init(text: String) { self = Array(text.utf8) }

    func withSlice<R>(_ body: (inout rootstock_slice) throws -> R) rethrows -> R {
        try withUnsafeBytes { bytes in
            var slice = rootstock_slice(size: bytes.count, data: bytes.baseAddress)
            return try body(&slice)
        }
    }
}

/// A shared environment, released when the object goes. Sendable: any thread may call the plug's environment, and `follow`, which replaces it,
/// is called while one thread has it.
final class Environment: @unchecked Sendable {
    private(set) var shared: UnsafeMutablePointer<rootstock_shared>
    let engine: UnsafePointer<rootstock_engine>

    init(engine name: String, path: String, _ options: rootstock_options = .init()) throws(Fault) {
        _ = rootstock_register_engines()
        guard let engine = rootstock_engine_find(name) else { throw Fault(-1, "no engine \(name)") }
        var shared: UnsafeMutablePointer<rootstock_shared>?
        var message: UnsafeMutablePointer<CChar>?
        var options = options
        let code = rootstock_environment_acquire(engine, path, &options, &shared, &message)
        defer { free(message) }
        guard code == ROOTSTOCK_OK.code, let shared else {
            throw Fault(code, message.map { String(cString: $0) } ?? "")
        }
        self.engine = shared.pointee.engine
        self.shared = shared
    }

    deinit { rootstock_environment_release(shared) }

    var pointer: OpaquePointer { shared.pointee.environment }

    func check(_ code: Int32) throws(Fault) {
        if code != ROOTSTOCK_OK.code { throw Fault(code, String(cString: engine.pointee.describe(pointer, code)!)) }
    }

    func begin(write: Bool = false, busy: rootstock_busy? = nil, context: UnsafeMutableRawPointer? = nil)
        throws(Fault) -> Transaction
    {
        var transaction: OpaquePointer?
        try check(engine.pointee.begin(pointer, write ? ROOTSTOCK_BEGIN_WRITE : 0, busy, context, &transaction))
        return Transaction(self, transaction!)
    }

    /// Runs the body in a write transaction and commits it; aborts it if the body throws.
    @discardableResult
    func write<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = try begin(write: true)
        do {
            let result = try body(transaction)
            try transaction.commit()
            return result
        } catch {
            transaction.abort()
            throw error
        }
    }

    @discardableResult
    func read<R>(_ body: (Transaction) throws -> R) throws -> R {
        let transaction = try begin()
        defer { transaction.abort() }
        return try body(transaction)
    }

    /// Has the engine rewrite the store. The engine has `compact`.
    func compact() throws(Fault) {
        try check(engine.pointee.compact(try begin(write: true).handOver(), nil, nil))
    }

    /// Goes on in the file that the path names by now, after MOVED.
    func follow() throws(Fault) {
        var followed: UnsafeMutablePointer<rootstock_shared>? = shared
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_environment_follow(&followed, &message)
        defer { free(message) }
        shared = followed!
        if code != ROOTSTOCK_OK.code { throw Fault(code, message.map { String(cString: $0) } ?? "") }
    }

    /// Begins a read, in whatever file is the store by now.
    func beginFollowing() throws(Fault) -> Transaction {
        do { return try begin() } catch {
            guard error.code == ROOTSTOCK_MOVED.code else { throw error }
            try follow()
            return try begin()
        }
    }

    func statistics() throws(Fault) -> rootstock_environment_statistics {
        var statistics = rootstock_environment_statistics()
        try check(engine.pointee.environment_statistics(pointer, &statistics))
        return statistics
    }

    /// Nil where the engine cannot say.
    var lastCommit: UInt64? { engine.pointee.last_commit?(pointer) }
    var maximumKeySize: Int { engine.pointee.maximum_key_size(pointer) }
    func has(_ capability: UInt32) -> Bool { engine.pointee.capabilities & capability != 0 }
}

/// A transaction; ended by commit or abort, and aborted when the object goes.
final class Transaction {
    let environment: Environment
    private(set) var pointer: OpaquePointer?

    init(_ environment: Environment, _ pointer: OpaquePointer) {
        self.environment = environment
        self.pointer = pointer
    }

    deinit { abort() }

    private var engine: rootstock_engine { environment.engine.pointee }

    func commit() throws(Fault) {
        guard let ended = pointer else { return }
        pointer = nil
        try environment.check(engine.commit(ended))
    }

    func abort() {
        guard let ended = pointer else { return }
        pointer = nil
        engine.abort(ended)
    }

    /// For a call that ends the transaction by itself.
    func handOver() -> OpaquePointer? {
        defer { pointer = nil }
        return pointer
    }

    func reset() { engine.reset(pointer) }
    func renew() throws(Fault) { try environment.check(engine.renew(pointer)) }
    var identifier: UInt64 { engine.transaction_identifier(pointer) }

    func tree(_ name: String, create: Bool = false) throws(Fault) -> rootstock_tree {
        var tree: rootstock_tree = 0
        try environment.check(engine.tree_open(pointer, name, create ? ROOTSTOCK_TREE_CREATE : 0, &tree))
        return tree
    }

    func get(_ tree: rootstock_tree, _ key: Bytes) throws(Fault) -> Bytes? {
        var value = rootstock_slice()
        let code = key.withSlice { engine.get(pointer, tree, &$0, &value) }
        if code == ROOTSTOCK_NOT_FOUND.code { return nil }
        try environment.check(code)
        return Bytes(value)
    }

    /// False for EXISTS.
    @discardableResult
    func put(_ tree: rootstock_tree, _ key: Bytes, _ value: Bytes, flags: UInt32 = 0) throws(Fault) -> Bool {
        let code = key.withSlice { key in value.withSlice { engine.put(pointer, tree, &key, &$0, flags) } }
        if code == ROOTSTOCK_EXISTS.code { return false }
        try environment.check(code)
        return true
    }

    /// False for NOT_FOUND.
    @discardableResult
    func remove(_ tree: rootstock_tree, _ key: Bytes) throws(Fault) -> Bool {
        let code = key.withSlice { engine.remove(pointer, tree, &$0) }
        if code == ROOTSTOCK_NOT_FOUND.code { return false }
        try environment.check(code)
        return true
    }

    func clear(_ tree: rootstock_tree) throws(Fault) { try environment.check(engine.tree_clear(pointer, tree)) }

    func statistics(_ tree: rootstock_tree) throws(Fault) -> rootstock_tree_statistics {
        var statistics = rootstock_tree_statistics()
        try environment.check(engine.tree_statistics(pointer, tree, &statistics))
        return statistics
    }

    func cursor(_ tree: rootstock_tree) throws(Fault) -> Cursor {
        var cursor: OpaquePointer?
        try environment.check(engine.cursor_open(pointer, tree, &cursor))
        return Cursor(environment, cursor!)
    }

    /// All entries of a tree, by a cursor from the first on.
    func all(_ tree: rootstock_tree) throws(Fault) -> [Entry] {
        let cursor = try cursor(tree)
        defer { cursor.close() }
        var entries: [Entry] = []
        while let entry = try cursor.move(ROOTSTOCK_NEXT) { entries.append(entry) }
        return entries
    }
}

struct Entry: Equatable, CustomStringConvertible {
    var key: Bytes
    var value: Bytes

    init(_ key: Bytes, _ value: Bytes) {
        self.key = key
        self.value = value
    }

    init(_ key: String, _ value: String) { self.init(Bytes(text: key), Bytes(text: value)) }

    /// Short enough for a test's message: the key's last bytes, and both lengths.
    var description: String {
        let end = key.suffix(8).map { String($0, radix: 16) }.joined(separator: " ")
        return "[\(key.count) bytes, ..\(end): \(value.count) bytes]"
    }
}

/// A cursor; closed by close or when the object goes, which must be before its transaction ends.
final class Cursor {
    let environment: Environment
    private(set) var pointer: OpaquePointer?

    init(_ environment: Environment, _ pointer: OpaquePointer) {
        self.environment = environment
        self.pointer = pointer
    }

    deinit { close() }

    func close() {
        guard let closed = pointer else { return }
        pointer = nil
        environment.engine.pointee.cursor_close(closed)
    }

    /// Nil where the engine cannot renew cursors.
    func renew(_ transaction: Transaction) throws(Fault) -> Bool {
        guard let renew = environment.engine.pointee.cursor_renew else { return false }
        try environment.check(renew(transaction.pointer, pointer))
        return true
    }

    func moveToSlices(_ move: rootstock_move, _ key: inout rootstock_slice, _ value: inout rootstock_slice) -> Int32 {
        environment.engine.pointee.cursor_move(pointer, move, &key, &value)
    }

    func move(_ move: rootstock_move, _ key: Bytes = []) throws(Fault) -> Entry? {
        let (code, entry) = key.withSlice { slice -> (Int32, Entry?) in
            var value = rootstock_slice()
            let code = moveToSlices(move, &slice, &value)
            return (code, code == ROOTSTOCK_OK.code ? Entry(Bytes(slice), Bytes(value)) : nil)
        }
        if code == ROOTSTOCK_NOT_FOUND.code { return nil }
        try environment.check(code)
        return entry
    }
}

/// A directory of its own for one test, removed when the object goes.
final class Scratch {
    let directory: String

    init() {
        directory = NSTemporaryDirectory() + "rootstock-engine-" + UUID().uuidString
        try! FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String = "test.store") -> String { directory + "/" + name }
}
