// The protocols that an engine written in Swift conforms to: start here to write one.
//
// Invariant: what they ask for is what the C header rootstock_engine.h asks for, no more and no less. Rootstock's
// PluggedEngine.swift puts one into the shape of the other and adds nothing.

/// An ordered key-value engine, written in Swift, for SQL to run on.
///
/// An engine keeps *trees*: ordered maps from bytes to bytes, with names, in an *environment* that a path names. SQL
/// above needs one tree per table and one per index. It reads through snapshots and writes through one transaction at
/// a time.
///
/// To write an engine, conform four types: the engine itself, its environment, its transaction and its cursor.
/// The engine in memory (`Sources/RootstockMemory`) is the example to read: a few hundred lines, all of them needed. Then
/// make it known, once, before the first store opens on it:
///
/// ```swift
/// let shelf = try Engine.register(ShelfEngine())
/// let store = try Store(path: "books", engine: shelf)
/// ```
///
/// What an engine promises, beyond the words at each requirement below:
///
/// - **Order.** Keys compare as unsigned bytes, a proper prefix first. A key has at least one byte; the empty key is
///   refused with ``EngineError/Code-swift.enum/keyTooLong``.
/// - **Snapshots.** A read transaction sees the last commit before it began, whole, and nothing later, while writers
///   go on.
/// - **Atomicity.** What a write transaction did becomes visible at its commit, or never. It sees its own writes
///   itself.
/// - **Lifetime of bytes.** A buffer that a read transaction or its cursor returned stays valid and where it is until
///   that transaction is reset or ends. In a write transaction it stays so until the next change. SQL results point
///   into these buffers, so this is the promise that matters most.
/// - **Threads.** An environment is used by many threads at once. A transaction and its cursors are used by one
///   thread at a time, not always the same.
/// - **One writer.** No second write transaction is begun in this process while one is live. Writers of other
///   processes, if the engine's data can have them, are for the engine to exclude. With ``EngineCapabilities/manyWriters`` they
///   go on at once instead, and the engine refuses those for which there is no place in an order.
///
/// Nested transactions, secondary indexes, types and collations are not the engine's concern.
public protocol KeyValueEngine: Sendable {
    /// The name to register under, in lower case. It is also the name of the SQL module.
    var name: String { get }
    /// Version of whatever does the work, as reports should show it.
    var version: String { get }
    /// What the engine can do beyond the least.
    var capabilities: EngineCapabilities { get }
    /// Opens or creates the environment at a path.
    ///
    /// Called once per path while it is open, whatever the number of users: they share the environment.
    func open(path: String, options: EngineOptions) throws(EngineError) -> any KeyValueEnvironment
}

/// What an engine can do beyond the least.
public struct EngineCapabilities: OptionSet, Sendable {
    /// The bits of `rootstock_engine.h`.
    public let rawValue: UInt32

    /// The capabilities with these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// An environment is a file at its path; one file is one environment, however it is named.
    public static let file = EngineCapabilities(rawValue: 0x01)
    /// Buffers returned by a write transaction stay valid to its end, not just to its next change.
    public static let stableWriteValues = EngineCapabilities(rawValue: 0x02)
    /// A write transaction must be ended by the thread that began it.
    public static let threadBoundWriter = EngineCapabilities(rawValue: 0x04)
    /// A commit can survive the process.
    public static let durable = EngineCapabilities(rawValue: 0x10)
    /// An environment is a directory at its path. With neither this nor ``file`` the engine keeps no files.
    public static let directory = EngineCapabilities(rawValue: 0x20)
    /// While one process has an environment open, no other can open it.
    public static let oneProcess = EngineCapabilities(rawValue: 0x40)
    /// What a cursor returned stays valid until its next move, and what a read transaction's `get` returned until the next one. SQL
    /// copies what it keeps, so that a scan need not hold what it has gone by.
    public static let briefSlices = EngineCapabilities(rawValue: 0x100)
    /// Write transactions go on at once, of any number of threads and processes. One for which there is no place in an order is refused
    /// with ``EngineError/Code-swift.enum/conflict``, at the latest by its commit, and nothing of it remains.
    public static let manyWriters = EngineCapabilities(rawValue: 0x200)
    /// It has options of its own, ``EngineOptions/engineOptions``.
    public static let options = EngineCapabilities(rawValue: 0x400)
}

/// What the user asked of an environment. Zero asks for the engine's default.
public struct EngineOptions: Sendable {
    /// What a commit survives.
    public enum Durability: Sendable {
        /// Every commit survives a power loss.
        case full
        /// A power loss takes at most the last commits, from the last one back, never the store.
        case normal
        /// A commit survives the process; a power loss may take what was not synced.
        case off
    }

    /// What a commit survives.
    public var durability: Durability = .full
    /// Bytes of address space to begin with, on an engine that maps its file.
    public var mapSize: UInt64 = 0
    /// Slots for read snapshots, of all processes together.
    public var maximumReaders: Int = 0
    /// Trees that the environment has to hold.
    public var maximumTrees: Int = 0
    /// Whether nothing is written: the environment exists, and stays as it is.
    public var isReadOnly = false
    /// Whether commits store to a memory map of the file instead of writing by system calls.
    public var writesThroughMap = false
    /// Whether the system may read around a page of the engine's map that is not in memory; `nil`: the engine decides.
    public var readsAhead: Bool?
    /// Options that this engine alone has, as `name=value,name=value`. `nil` without ``EngineCapabilities/options``. What the engine does
    /// not know it refuses with ``EngineError/Code-swift.enum/unsupported``, and says what it knows.
    public var engineOptions: String?

    /// The engine's defaults, and every commit durable.
    public init() {}
}

/// An open environment: trees, snapshots, a writer.
public protocol KeyValueEnvironment: AnyObject, Sendable {
    /// Begins a transaction.
    ///
    /// - Parameters:
    ///   - writing: Whether it is the write transaction, and not a read snapshot.
    ///   - busy: To be asked each time that another process's writer is in the way of this one.
    func begin(writing: Bool, busy: BusyHandler) throws(EngineError) -> any KeyValueTransaction
    /// The longest key taken, in bytes; 0 for no limit.
    var maximumKeySize: Int { get }
    /// Makes every commit so far survive a power loss, where the engine can.
    func sync() throws(EngineError)
    /// The environment's figures.
    func statistics() throws(EngineError) -> EnvironmentStatistics
    /// The number of the newest commit, told without a transaction, or 0 if the engine cannot say cheaply.
    ///
    /// SQL asks before every statement whether anything was committed since it last looked at the schema; without an answer it
    /// takes a snapshot to find out. While a commit is under way the number may be that one's already, but it is never
    /// below that of a snapshot already taken.
    var lastCommit: UInt64 { get }
    /// Closes. No transaction is live, and none will be begun.
    func close()
}

extension KeyValueEnvironment {
    public var lastCommit: UInt64 { 0 }
}

/// How long to wait for another process.
public struct BusyHandler {
    private let ask: (Int) -> Bool

    /// A handler that asks `ask`, with the number of attempts so far, whether to try again.
    public init(_ ask: @escaping (Int) -> Bool) { self.ask = ask }

    /// Whether to try again. The handler has slept as it saw fit; `attempts` counts from 0.
    public func callAsFunction(attempts: Int) -> Bool { ask(attempts) }
}

/// A handle on a tree: valid for the life of the environment in every transaction in which the tree exists.
public typealias TreeHandle = UInt32

/// A read snapshot, or the write transaction.
public protocol KeyValueTransaction: AnyObject {
    /// Makes the changes visible and ends the transaction. If it throws, nothing of it is visible, and it has ended
    /// too.
    func commit() throws(EngineError)
    /// Ends the transaction without a trace.
    func abort()
    /// Gives a read transaction's snapshot back; only `renew` and `abort` may follow.
    func reset()
    /// Takes the newest snapshot with a transaction that was reset.
    func renew() throws(EngineError)
    /// Of a read transaction, the number of the commit that it sees. Of a write transaction, that number plus one.
    var identifier: UInt64 { get }

    /// The tree of that name, or nil if there is none and `create` is false.
    ///
    /// A handle that was got in a transaction that then aborted is not used again.
    func openTree(_ name: String, create: Bool) throws(EngineError) -> TreeHandle?
    /// Empties the tree; its handle stays good. Trees are never dropped.
    func clear(_ tree: TreeHandle) throws(EngineError)
    /// The figures of a tree, as the transaction sees it.
    func statistics(_ tree: TreeHandle) throws(EngineError) -> TreeStatistics

    /// The value at the key, or nil.
    func get(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> UnsafeRawBufferPointer?
    /// Stores the value at the key.
    ///
    /// - Returns: False, with nothing changed, if the mode forbids it: ``PutMode/insert`` met the key, or
    ///   ``PutMode/append`` met a key that is not above the tree's last.
    func put(
        _ tree: TreeHandle, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, mode: PutMode
    ) throws(EngineError) -> Bool
    /// Removes the key. False if it was not there.
    func remove(_ tree: TreeHandle, key: UnsafeRawBufferPointer) throws(EngineError) -> Bool

    /// A new cursor, unpositioned. Every cursor is let go before its transaction ends, save those kept for `renew`.
    func cursor(_ tree: TreeHandle) throws(EngineError) -> any KeyValueCursor
}

/// What a put does where the key is there.
public enum PutMode: Sendable {
    /// Stores, over what is there.
    case overwrite
    /// Stores only if the key is new.
    case insert
    /// Stores only if the key is above all others: the chance to skip the search.
    case append
}

/// A place in a tree.
public protocol KeyValueCursor: AnyObject {
    /// Moves, and returns the entry arrived at; nil leaves the cursor unpositioned.
    ///
    /// In a write transaction changes made elsewhere do not disturb a cursor. `next` gives the first key above the one
    /// last returned, and `previous` the last one below it, even if that one was removed.
    func move(_ move: CursorMove) throws(EngineError) -> KeyValueEntry?
    /// Attaches the cursor to a read transaction that was renewed, or to another one, unpositioned.
    func renew(in transaction: any KeyValueTransaction) throws(EngineError)
}

/// Where a cursor moves.
public enum CursorMove {
    /// To the lowest key.
    case first
    /// To the highest key.
    case last
    /// To the next higher key; from nowhere, to the lowest.
    case next
    /// To the next lower key; from nowhere, to the highest.
    case previous
    /// To the first key at or above this one.
    case seek(UnsafeRawBufferPointer)
    /// To this key.
    case exact(UnsafeRawBufferPointer)
}

/// A key and its value, in the engine's memory.
public struct KeyValueEntry {
    /// The key's bytes.
    public var key: UnsafeRawBufferPointer
    /// The value's bytes.
    public var value: UnsafeRawBufferPointer

    /// An entry whose bytes stay where they are for as long as the engine promises.
    public init(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        self.key = key
        self.value = value
    }
}

/// Figures of a tree; zero where the engine has no such thing.
public struct TreeStatistics: Sendable {
    /// How many entries there are.
    public var entries: UInt64 = 0
    /// Pages of the tree.
    public var pages: UInt64 = 0
    /// Bytes of those pages.
    public var bytes: UInt64 = 0
    /// Levels of the tree.
    public var depth: UInt32 = 0

    /// No figures.
    public init() {}
}

/// Figures of an environment; zero where the engine has no such thing.
public struct EnvironmentStatistics: Sendable {
    /// Size of the file in bytes.
    public var fileBytes: UInt64 = 0
    /// Bytes of address space that are mapped.
    public var mapBytes: UInt64 = 0
    /// Size of a page in bytes.
    public var pageBytes: UInt64 = 0
    /// Pages in use.
    public var usedPages: UInt64 = 0
    /// Pages that later writes may take.
    public var freePages: UInt64 = 0
    /// Live read transactions.
    public var readers: Int = 0
    /// Slots for read transactions.
    public var maximumReaders: Int = 0
    /// Number of the last commit.
    public var lastTransaction: UInt64 = 0
    /// Commits since the oldest live snapshot.
    public var oldestReaderLag: UInt64 = 0

    /// No figures.
    public init() {}
}
