// The memory engine: an ordered map in this process, with snapshots. Also the example for authors of engines.
//
// Invariant: the environment's current commit is an immutable value behind a lock. A reader keeps the one it began with; the
// writer works on a copy and puts it in the place of the current one when it commits. Copies share what they have in common (see
// MemoryTree).

import Foundation
import RootstockPlug

/// An engine that keeps its data in memory: for tests, for scratch data, and as the model of an engine.
///
/// A path is just a name. The data lives as long as some connection of this process has the name open, and is gone
/// with the last one. Nothing is shared with other processes.
public struct MemoryEngine: KeyValueEngine {
    public init() {}

    public var name: String { "memory" }
    public var version: String { "1.0" }
    public var capabilities: EngineCapabilities { [] }

    public func open(path: String, options: EngineOptions) throws(EngineError) -> any KeyValueEnvironment {
        // The durability asked for does not matter: no commit outlives the process, and the capabilities say so.
        guard options.mapSize == 0, !options.writesThroughMap, options.readsAhead == nil else {
            throw EngineError(
                .unsupported, "cannot open \(path): engine memory has no memory map; leave out its options")
        }
        return MemoryEnvironment(options)
    }
}

/// What one commit made of the store.
struct MemoryCommit {
    var trees: [MemoryTree] = []
    var handles: [String: TreeHandle] = [:]
    var identifier: UInt64 = 0
}

/// Unchecked: its lock guards what changes.
final class MemoryEnvironment: KeyValueEnvironment, @unchecked Sendable {
    private let lock = NSLock()
    // Guarded by the lock.
    private var current = MemoryCommit()
    private var isWriting = false
    /// How many live readers see each commit.
    private var readers: [UInt64: Int] = [:]

    private let isReadOnly: Bool
    private let maximumReaders: Int
    let maximumTrees: Int

    init(_ options: EngineOptions) {
        isReadOnly = options.isReadOnly
        maximumReaders = options.maximumReaders == 0 ? Int.max : options.maximumReaders
        maximumTrees = options.maximumTrees == 0 ? Int(TreeHandle.max) : options.maximumTrees
    }

    var maximumKeySize: Int { 0 }

    func begin(writing: Bool, busy: BusyHandler) throws(EngineError) -> any KeyValueTransaction {
        MemoryTransaction(self, writing ? try beginWriting() : try takeSnapshot(), isWriter: writing)
    }

    private func beginWriting() throws(EngineError) -> MemoryCommit {
        if isReadOnly { throw EngineError(.readOnly, "the store is open read-only") }
        lock.lock()
        defer { lock.unlock() }
        if isWriting { throw EngineError(.misuse, "the store has a write transaction already") }
        isWriting = true
        return current
    }

    func takeSnapshot() throws(EngineError) -> MemoryCommit {
        lock.lock()
        defer { lock.unlock() }
        if maximumReaders != Int.max, readers.values.reduce(0, +) >= maximumReaders {
            throw EngineError(.readersFull, "all \(maximumReaders) snapshots of the store are in use")
        }
        readers[current.identifier, default: 0] += 1
        return current
    }

    func returnSnapshot(_ identifier: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        let others = readers[identifier, default: 1] - 1
        readers[identifier] = others == 0 ? nil : others
    }

    /// Ends the write transaction; nil keeps the current commit.
    func endWriting(_ commit: MemoryCommit?) {
        lock.lock()
        // What is replaced may be the last reference to a large tree: let it go outside of the lock.
        let replaced = current
        if let commit { current = commit }
        isWriting = false
        lock.unlock()
        withExtendedLifetime(replaced) {}
    }

    var lastCommit: UInt64 {
        lock.lock()
        defer { lock.unlock() }
        return current.identifier
    }

    func sync() throws(EngineError) {}

    func statistics() throws(EngineError) -> EnvironmentStatistics {
        lock.lock()
        defer { lock.unlock() }
        var statistics = EnvironmentStatistics()
        statistics.readers = readers.values.reduce(0, +)
        statistics.maximumReaders = maximumReaders == Int.max ? 0 : maximumReaders
        statistics.lastTransaction = current.identifier
        if let oldest = readers.keys.min() { statistics.oldestReaderLag = current.identifier - oldest }
        return statistics
    }

    func close() {}
}

final class MemoryTransaction: KeyValueTransaction {
    private let environment: MemoryEnvironment
    private var commitSeen: MemoryCommit
    private let isWriter: Bool
    private var isLive = true
    /// Changes so far; a cursor that remembers another number seeks its place anew.
    private(set) var changes: UInt64 = 0

    init(_ environment: MemoryEnvironment, _ commit: MemoryCommit, isWriter: Bool) {
        self.environment = environment
        self.commitSeen = commit
        self.isWriter = isWriter
    }

    var identifier: UInt64 { commitSeen.identifier + (isWriter ? 1 : 0) }

    // MARK: Ending

    func commit() throws(EngineError) {
        guard isWriter else { return abort() }
        commitSeen.identifier += changes == 0 ? 0 : 1
        environment.endWriting(commitSeen)
    }

    func abort() {
        if isWriter { environment.endWriting(nil) } else { reset() }
    }

    func reset() {
        guard isLive, !isWriter else { return }
        isLive = false
        environment.returnSnapshot(commitSeen.identifier)
        commitSeen.trees = []
    }

    func renew() throws(EngineError) {
        guard !isLive else { throw EngineError(.misuse, "only a transaction that was reset can be renewed") }
        commitSeen = try environment.takeSnapshot()
        isLive = true
    }

    // MARK: Trees

    func openTree(_ name: String, create: Bool) throws(EngineError) -> TreeHandle? {
        if let handle = commitSeen.handles[name] { return handle }
        guard create else { return nil }
        try checkWriter()
        guard commitSeen.trees.count < environment.maximumTrees else {
            throw EngineError(.treesFull, "the store has all of its \(environment.maximumTrees) trees")
        }
        let handle = TreeHandle(commitSeen.trees.count)
        commitSeen.trees.append(MemoryTree())
        commitSeen.handles[name] = handle
        changes += 1
        return handle
    }

    func clear(_ tree: TreeHandle) throws(EngineError) {
        try checkWriter()
        let index = try index(of: tree)
        changes += 1
        commitSeen.trees[index] = MemoryTree()
    }

    func statistics(_ tree: TreeHandle) throws(EngineError) -> TreeStatistics {
        let tree = commitSeen.trees[try index(of: tree)]
        var statistics = TreeStatistics()
        statistics.entries = UInt64(tree.count)
        statistics.depth = UInt32(tree.depth)
        return statistics
    }

    // MARK: Values

    func get(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer? {
        commitSeen.trees[try index(of: tree)].find(key)?.value
    }

    func put(
        _ tree: TreeHandle, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, mode: PutMode
    ) throws(EngineError) -> Bool {
        try checkWriter()
        let index = try index(of: tree)
        guard !key.isEmpty else { throw EngineError(.keyTooLong, "a key must have at least one byte") }
        switch mode {
        case .overwrite: break
        case .insert: if commitSeen.trees[index].find(key) != nil { return false }
        case .append: if let last = commitSeen.trees[index].last, last.compare(to: key) >= 0 { return false }
        }
        changes += 1
        commitSeen.trees[index].put(.make(key: key, value: value))
        return true
    }

    func remove(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> Bool {
        try checkWriter()
        let index = try index(of: tree)
        changes += 1
        return commitSeen.trees[index].remove(key)
    }

    func cursor(_ tree: TreeHandle) throws(EngineError) -> any KeyValueCursor {
        _ = try index(of: tree)
        return MemoryCursor(self, tree)
    }

    // MARK: Checks

    private func checkWriter() throws(EngineError) {
        if !isWriter { throw EngineError(.readOnly, "a change in a read transaction") }
    }

    /// Where the tree stands. A handle that is younger than the snapshot is out of its range.
    private func index(of tree: TreeHandle) throws(EngineError) -> Int {
        guard tree < commitSeen.trees.count else {
            throw EngineError(.misuse, "no tree has the handle \(tree) in this transaction")
        }
        return Int(tree)
    }

    fileprivate func tree(_ handle: TreeHandle) -> MemoryTree { commitSeen.trees[Int(handle)] }
}

final class MemoryCursor: KeyValueCursor {
    /// Not counted: a cursor kept for renewal may be closed after its transaction.
    private unowned(unsafe) var transaction: MemoryTransaction
    private let handle: TreeHandle
    private var path = MemoryPath()
    /// The record last returned; nil for no position. Kept alive, for it may be removed from the tree.
    private var record: MemoryRecord?
    private var changes: UInt64

    init(_ transaction: MemoryTransaction, _ handle: TreeHandle) {
        self.transaction = transaction
        self.handle = handle
        changes = transaction.changes
    }

    func renew(in transaction: any KeyValueTransaction) throws(EngineError) {
        guard let transaction = transaction as? MemoryTransaction else {
            throw EngineError(.misuse, "a transaction of another engine")
        }
        self.transaction = transaction
        changes = transaction.changes
        record = nil
    }

    func move(_ move: CursorMove) throws(EngineError) -> KeyValueEntry? {
        let tree = transaction.tree(handle)
        switch move {
        case .first: path.first(of: tree)
        case .last: path.last(of: tree)
        case .seek(let key): _ = path.seek(key, in: tree)
        case .exact(let key):
            guard path.seek(key, in: tree) else {
                record = nil
                return nil
            }
        case .next: step(forward: true, in: tree)
        case .previous: step(forward: false, in: tree)
        }
        changes = transaction.changes
        record = path.record
        return record?.entry
    }

    private func step(forward: Bool, in tree: MemoryTree) {
        guard let record else {
            return forward ? path.first(of: tree) : path.last(of: tree)
        }
        if changes == transaction.changes {
            return forward ? path.next() : path.previous()
        }
        // The path may be of nodes that are gone: seek the place again.
        let isThere = path.seek(record.key, in: tree)
        if forward {
            if isThere { path.next() }
        } else if path.record == nil {
            path.last(of: tree)
        } else {
            path.previous()
        }
    }
}
