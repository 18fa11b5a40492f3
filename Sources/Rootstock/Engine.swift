/// The B-tree layer under SQL, named.
///
/// An engine is chosen when a store is opened. Nothing else in a program depends on it: every engine has the same SQL, the same
/// transactions and the same errors.
///
/// ```swift
/// let native = try Store(path: "notes.sqlite", engine: .sqlite)
/// let mapped = try Store(path: "notes.store", engine: .lmdb)
/// ```
///
/// ``sqlite`` is SQLite itself, on a database file that any other SQLite program can open. The others are
/// ordered key-value engines reached through Rootstock's table layer; their files are of their own format.
public struct Engine: Hashable, Sendable {
    /// The name under which the engine is registered, such as `lmdb`; of a form of it with a colon and the form's, such as
    /// `lmdb:plain`. Names compare without case.
    public let name: String

    /// The engine registered under `name`.
    ///
    /// Any name makes an `Engine`; opening a store on a name that nobody registered fails.
    public init(name: String) {
        self.name = name.lowercased()
    }

    /// SQLite's own B-tree and pager: a native database file.
    public static let sqlite = Engine(name: "sqlite")

    /// LMDB: a memory-mapped, copy-on-write B+tree. A store is one file plus its lock file.
    ///
    /// It has forms, which read and write the same files. `lmdb:plain` calls LMDB's public functions alone. `lmdb:read` also reads
    /// pages by itself, and `lmdb:write` edits them, too. `lmdb` itself also commits with fewer flushes
    /// (``StoreOptions/pageAccess``, ``StoreOptions/commit``).
    public static let lmdb = Engine(name: "lmdb")

    /// An ordered map in this process's memory. A store lives as long as a connection to its path is open.
    public static let memory = Engine(name: "memory")

    #if RocksDB
        /// RocksDB: a log-structured store, in a directory. With the package trait `RocksDB`.
        public static let rocksdb = Engine(name: "rocksdb")
    #endif

    #if WiredTiger
        /// WiredTiger, MongoDB's storage: a B-tree with a log, in a directory. With the package trait `WiredTiger`.
        public static let wiredtiger = Engine(name: "wiredtiger")
    #endif

    #if Postgres
        /// A schema of a PostgreSQL server: the path is a URI, or a file that holds one. With the package trait `Postgres`.
        public static let postgres = Engine(name: "postgres")
    #endif

    /// Whether SQL runs on SQLite's own tables, with no table layer of Rootstock's in between.
    public var isNative: Bool { self == .sqlite }
}

extension Engine: CustomStringConvertible {
    public var description: String { name }
}

extension Engine: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(name: value)
    }
}
