// An engine written in Swift, put into the C struct that the table layer knows.
//
// Invariant: every opaque pointer handed out is one retained box, released by exactly one call (close, commit, abort,
// cursor_close); and no error text outlives the thread that met it.

import Foundation
import RootstockEngine
import RootstockMemory
// Whoever writes an engine and opens a store on it imports one module.
@_exported import RootstockPlug
import RootstockTable

#if RocksDB || WiredTiger || Postgres
    import RootstockEngineTraits
#endif

extension Engine {
    /// Makes an engine written in Swift known under its name, for every connection of this process.
    ///
    /// - Returns: The engine to open stores with.
    /// - Throws: ``EngineError`` if another engine has the name.
    @discardableResult
    public static func register(_ engine: some KeyValueEngine) throws(EngineError) -> Engine {
        // The registry keeps the struct for ever, and so it may not be freed once it was taken.
        let plugged = UnsafeMutablePointer<rootstock_engine>.allocate(capacity: 1)
        plugged.initialize(to: pluggedEngine(engine))
        let code = rootstock_engine_register(plugged)
        guard code == 0 else {
            free(UnsafeMutablePointer(mutating: plugged.pointee.name))
            free(UnsafeMutablePointer(mutating: plugged.pointee.version))
            Unmanaged<EngineBox>.fromOpaque(plugged.pointee.context).release()
            plugged.deallocate()
            throw EngineError(
                .misuse, "engine \(engine.name) cannot be registered: \(String(cString: rootstock_code_name(code)))")
        }
        return Engine(name: engine.name)
    }

    /// Every engine that stores can be opened with, but for ``sqlite``.
    public static var registered: [Engine] {
        registerBuiltIns()
        var engines: [Engine] = []
        while let engine = rootstock_engine_at(engines.count) {
            engines.append(Engine(name: String(cString: engine.pointee.name)))
        }
        return engines
    }

    /// Whether stores can be opened with it: ``sqlite``, a registered engine, or a form of one, such as `lmdb:plain`.
    public var isKnown: Bool {
        Self.registerBuiltIns()
        return isNative || rootstock_engine_find(name) != nil
    }

    /// Makes the engines that Rootstock itself has in Swift known. Called before anything is looked up by name.
    static func registerBuiltIns() { _ = builtIns }

    private static let builtIns: [Engine] = {
        _ = rootstock_register_engines()
        #if RocksDB || WiredTiger || Postgres
            // Null is refused: the engine of a trait that is off.
            for engine in [rootstock_trait_rocksdb(), rootstock_trait_wiredtiger(), rootstock_trait_postgres()] {
                _ = rootstock_engine_register(engine)
            }
        #endif
        // Refused only if the program registered an engine of that name before, which is then the one that it wants.
        return [try? Engine.register(MemoryEngine())].compactMap { $0 }
    }()
}

private final class EngineBox {
    let engine: any KeyValueEngine
    init(_ engine: any KeyValueEngine) { self.engine = engine }
}

private final class EnvironmentBox {
    let environment: any KeyValueEnvironment
    init(_ environment: any KeyValueEnvironment) { self.environment = environment }
}

private final class TransactionBox {
    let transaction: any KeyValueTransaction
    init(_ transaction: any KeyValueTransaction) { self.transaction = transaction }
}

private final class CursorBox {
    let cursor: any KeyValueCursor
    init(_ cursor: any KeyValueCursor) { self.cursor = cursor }
}

private func unbox<Box: AnyObject>(_ pointer: OpaquePointer?, as type: Box.Type = Box.self) -> Box {
    Unmanaged<Box>.fromOpaque(UnsafeRawPointer(pointer!)).takeUnretainedValue()
}

private func box(_ object: AnyObject) -> OpaquePointer {
    OpaquePointer(Unmanaged.passRetained(object).toOpaque())
}

extension UnsafeRawBufferPointer {
    fileprivate init(_ slice: UnsafePointer<rootstock_slice>?) {
        self.init(start: slice!.pointee.data, count: slice!.pointee.size)
    }
}

extension UnsafeMutablePointer where Pointee == rootstock_slice {
    fileprivate func set(_ bytes: UnsafeRawBufferPointer) {
        pointee.data = bytes.baseAddress
        pointee.size = bytes.count
    }
}

// MARK: Failures

/// The calling thread's last failure, in memory that its thread owns.
private struct LastFailure {
    var code: Int32
    var text: UnsafeMutablePointer<CChar>

    static let key: pthread_key_t = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key) { pointer in
            #if canImport(Darwin)
                LastFailure.free(pointer)
            #else
                if let pointer { LastFailure.free(pointer) }
            #endif
        }
        precondition(code == 0, "the process has no thread-local storage left")
        return key
    }()

    private static func free(_ pointer: UnsafeMutableRawPointer) {
        let failure = pointer.assumingMemoryBound(to: LastFailure.self)
        Foundation.free(failure.pointee.text)
        failure.deallocate()
    }

    /// The thread's own, made at its first failure.
    static func remember(_ error: EngineError) {
        let text = strdup(error.message)!
        if let known = pthread_getspecific(key)?.assumingMemoryBound(to: LastFailure.self) {
            Foundation.free(known.pointee.text)
            known.initialize(to: LastFailure(code: error.code.rawValue, text: text))
        } else {
            let first = UnsafeMutablePointer<LastFailure>.allocate(capacity: 1)
            first.initialize(to: LastFailure(code: error.code.rawValue, text: text))
            pthread_setspecific(key, first)
        }
    }

    static func text(for code: Int32) -> UnsafePointer<CChar>? {
        guard let known = pthread_getspecific(key)?.assumingMemoryBound(to: LastFailure.self),
            known.pointee.code == code
        else { return nil }
        return UnsafePointer(known.pointee.text)
    }
}

private func remember(_ error: EngineError) -> Int32 {
    LastFailure.remember(error)
    return error.code.rawValue
}

/// Runs the body, and turns what it throws into a code.
private func attempt(_ body: () throws(EngineError) -> Void) -> Int32 {
    do {
        try body()
        return Int32(ROOTSTOCK_OK.rawValue)
    } catch {
        return remember(error)
    }
}

/// The same for a body that may answer no.
private func attempt(otherwise answer: rootstock_code, _ body: () throws(EngineError) -> Bool) -> Int32 {
    do {
        return try body() ? Int32(ROOTSTOCK_OK.rawValue) : Int32(answer.rawValue)
    } catch {
        return remember(error)
    }
}

// MARK: Translation

private func options(_ options: UnsafePointer<rootstock_options>?) -> EngineOptions {
    var result = EngineOptions()
    guard let options = options?.pointee else { return result }
    switch options.durability {
    case ROOTSTOCK_DURABILITY_NORMAL: result.durability = .normal
    case ROOTSTOCK_DURABILITY_OFF: result.durability = .off
    default: result.durability = .full
    }
    result.mapSize = options.map_size
    result.maximumReaders = Int(options.maximum_readers)
    result.maximumTrees = Int(options.maximum_trees)
    result.isReadOnly = options.read_only != 0
    result.writesThroughMap = options.write_map == ROOTSTOCK_WRITE_MAP_ALWAYS
    if options.read_ahead != ROOTSTOCK_READ_AHEAD_AUTOMATIC {
        result.readsAhead = options.read_ahead == ROOTSTOCK_READ_AHEAD_ALWAYS
    }
    result.engineOptions = options.engine_options.map { String(cString: $0) }
    return result
}

private func busyHandler(_ busy: rootstock_busy?, _ context: UnsafeMutableRawPointer?) -> BusyHandler {
    BusyHandler { attempts in busy.map { $0(context, Int32(attempts)) != 0 } ?? false }
}

private func putMode(_ flags: UInt32) throws(EngineError) -> PutMode {
    guard flags & ROOTSTOCK_PUT_RESERVE == 0 else {
        throw EngineError(.unsupported, "an engine written in Swift cannot reserve the room of a value")
    }
    // A key above all others is new: append says more than insert.
    if flags & ROOTSTOCK_PUT_APPEND != 0 { return .append }
    return flags & (ROOTSTOCK_PUT_NO_OVERWRITE | ROOTSTOCK_PUT_NEW) != 0 ? .insert : .overwrite
}

private func cursorMove(_ move: rootstock_move, _ key: UnsafePointer<rootstock_slice>?) throws(EngineError)
    -> CursorMove
{
    switch move {
    case ROOTSTOCK_FIRST: return .first
    case ROOTSTOCK_LAST: return .last
    case ROOTSTOCK_NEXT: return .next
    case ROOTSTOCK_PREVIOUS: return .previous
    case ROOTSTOCK_SEEK: return .seek(UnsafeRawBufferPointer(key))
    case ROOTSTOCK_EXACT: return .exact(UnsafeRawBufferPointer(key))
    default: throw EngineError(.misuse, "no such move of a cursor: \(move.rawValue)")
    }
}

// MARK: The struct

private func pluggedEngine(_ engine: any KeyValueEngine) -> rootstock_engine {
    var plugged = rootstock_engine()
    plugged.abi_version = UInt32(ROOTSTOCK_ENGINE_ABI)
    plugged.capabilities = engine.capabilities.rawValue
    plugged.name = UnsafePointer(strdup(engine.name))
    plugged.version = UnsafePointer(strdup(engine.version))
    plugged.context = UnsafeMutableRawPointer(box(EngineBox(engine)))
    plugEnvironment(&plugged)
    plugTransaction(&plugged)
    plugValues(&plugged)
    return plugged
}

private func plugEnvironment(_ plugged: inout rootstock_engine) {
    plugged.open = { engine, path, wanted, environment, message in
        do throws(EngineError) {
            let context = Unmanaged<EngineBox>.fromOpaque(engine!.pointee.context).takeUnretainedValue()
            let opened = try context.engine.open(path: String(cString: path!), options: options(wanted))
            environment!.pointee = box(EnvironmentBox(opened))
            return Int32(ROOTSTOCK_OK.rawValue)
        } catch {
            message?.pointee = strdup(error.message)
            return error.code.rawValue
        }
    }
    plugged.close = { environment in
        let box = Unmanaged<EnvironmentBox>.fromOpaque(UnsafeRawPointer(environment!)).takeRetainedValue()
        box.environment.close()
    }
    plugged.maximum_key_size = { unbox($0, as: EnvironmentBox.self).environment.maximumKeySize }
    plugged.sync = { environment in
        attempt { () throws(EngineError) in try unbox(environment, as: EnvironmentBox.self).environment.sync() }
    }
    plugged.environment_statistics = { environment, result in
        attempt { () throws(EngineError) in
            let statistics = try unbox(environment, as: EnvironmentBox.self).environment.statistics()
            result!.pointee = rootstock_environment_statistics(
                file_bytes: statistics.fileBytes, map_bytes: statistics.mapBytes, page_bytes: statistics.pageBytes,
                used_pages: statistics.usedPages, free_pages: statistics.freePages, readers: UInt32(statistics.readers),
                maximum_readers: UInt32(statistics.maximumReaders), last_transaction: statistics.lastTransaction,
                oldest_reader_lag: statistics.oldestReaderLag, undone_commit: 0, undone_seconds: 0, round_trips: 0)
        }
    }
    plugged.last_commit = { unbox($0, as: EnvironmentBox.self).environment.lastCommit }
    plugged.describe = { _, code in LastFailure.text(for: code) ?? rootstock_code_name(code) }
}

private func plugTransaction(_ plugged: inout rootstock_engine) {
    plugged.begin = { environment, flags, busy, busyContext, transaction in
        attempt { () throws(EngineError) in
            let begun = try unbox(environment, as: EnvironmentBox.self).environment.begin(
                writing: flags & ROOTSTOCK_BEGIN_WRITE != 0, busy: busyHandler(busy, busyContext))
            transaction!.pointee = box(TransactionBox(begun))
        }
    }
    plugged.commit = { transaction in
        let box = Unmanaged<TransactionBox>.fromOpaque(UnsafeRawPointer(transaction!)).takeRetainedValue()
        return attempt { () throws(EngineError) in try box.transaction.commit() }
    }
    plugged.abort = { transaction in
        Unmanaged<TransactionBox>.fromOpaque(UnsafeRawPointer(transaction!)).takeRetainedValue().transaction.abort()
    }
    plugged.reset = { unbox($0, as: TransactionBox.self).transaction.reset() }
    plugged.renew = { transaction in
        attempt { () throws(EngineError) in try unbox(transaction, as: TransactionBox.self).transaction.renew() }
    }
    plugged.transaction_identifier = { unbox($0, as: TransactionBox.self).transaction.identifier }
    plugged.tree_open = { transaction, name, flags, tree in
        attempt(otherwise: ROOTSTOCK_NOT_FOUND) { () throws(EngineError) in
            let handle = try unbox(transaction, as: TransactionBox.self).transaction.openTree(
                String(cString: name!), create: flags & ROOTSTOCK_TREE_CREATE != 0)
            guard let handle else { return false }
            tree!.pointee = handle
            return true
        }
    }
    plugged.tree_clear = { transaction, tree in
        attempt { () throws(EngineError) in try unbox(transaction, as: TransactionBox.self).transaction.clear(tree) }
    }
    plugged.tree_statistics = { transaction, tree, result in
        attempt { () throws(EngineError) in
            let statistics = try unbox(transaction, as: TransactionBox.self).transaction.statistics(tree)
            result!.pointee = rootstock_tree_statistics(
                entries: statistics.entries, pages: statistics.pages, bytes: statistics.bytes, depth: statistics.depth)
        }
    }
}

private func plugValues(_ plugged: inout rootstock_engine) {
    plugged.get = { transaction, tree, key, value in
        attempt(otherwise: ROOTSTOCK_NOT_FOUND) { () throws(EngineError) in
            let found = try unbox(transaction, as: TransactionBox.self).transaction.get(
                tree, key: UnsafeRawBufferPointer(key))
            guard let found else { return false }
            value!.set(found)
            return true
        }
    }
    plugged.put = { transaction, tree, key, value, flags in
        attempt(otherwise: ROOTSTOCK_EXISTS) { () throws(EngineError) in
            try unbox(transaction, as: TransactionBox.self).transaction.put(
                tree, key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(UnsafePointer(value)),
                mode: putMode(flags))
        }
    }
    plugged.remove = { transaction, tree, key in
        attempt(otherwise: ROOTSTOCK_NOT_FOUND) { () throws(EngineError) in
            try unbox(transaction, as: TransactionBox.self).transaction.remove(tree, key: UnsafeRawBufferPointer(key))
        }
    }
    plugged.cursor_open = { transaction, tree, cursor in
        attempt { () throws(EngineError) in
            cursor!.pointee = box(
                CursorBox(try unbox(transaction, as: TransactionBox.self).transaction.cursor(tree)))
        }
    }
    plugged.cursor_renew = { transaction, cursor in
        attempt { () throws(EngineError) in
            try unbox(cursor, as: CursorBox.self).cursor.renew(
                in: unbox(transaction, as: TransactionBox.self).transaction)
        }
    }
    plugged.cursor_close = { Unmanaged<CursorBox>.fromOpaque(UnsafeRawPointer($0!)).release() }
    plugged.cursor_move = { cursor, move, key, value in
        attempt(otherwise: ROOTSTOCK_NOT_FOUND) { () throws(EngineError) in
            guard let entry = try unbox(cursor, as: CursorBox.self).cursor.move(cursorMove(move, key)) else {
                return false
            }
            key!.set(entry.key)
            value!.set(entry.value)
            return true
        }
    }
}
