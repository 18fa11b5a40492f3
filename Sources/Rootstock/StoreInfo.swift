import Foundation

/// A store's figures, as of one snapshot: what it is made of and what it weighs.
///
/// ```swift
/// let info = try connection.storeInfo()
/// for table in info.tables { print(table.name, table.rows) }
/// ```
public struct StoreInfo: Codable, Hashable, Sendable {
    /// The path that was opened.
    public var path: String

    /// The engine's name.
    public var engine: String

    /// Which of the engine's forms serves the store, such as `plain` of ``Engine/lmdb``; `nil` for the engine itself.
    public var form: String?

    /// Why the engine serves the store otherwise than it was asked to; `nil` where it does not.
    public var notice: String?

    /// The version of the engine's library.
    public var engineVersion: String

    /// The version of the store's format; 3 for a SQLite file ("SQLite format 3").
    public var format: Int

    /// Whether every entry has a checksum (``StoreOptions/checksum``).
    public var checksum: Bool

    /// Entries that this connection has held against their checksums since it was opened; 0 where there are none.
    public var verified: Int

    /// Grows with every change of the schema. On engine `sqlite` it is `PRAGMA schema_version`.
    public var generation: Int

    /// Size of the file.
    public var fileBytes: Int

    /// Size of a page, or 0 where the engine has none.
    public var pageBytes: Int

    /// Pages in use.
    public var usedPages: Int

    /// Pages that later writes may take.
    public var freePages: Int

    /// Identifier of the last commit; `nil` where commits have none.
    public var lastTransaction: Int?

    /// Live snapshots of all processes, the one of this call excepted; `nil` where they are not counted.
    public var readers: Int?

    /// Slots for snapshots; `nil` where there is no limit.
    public var maximumReaders: Int?

    /// Commits since the oldest live snapshot, none of whose pages can be taken for new ones; `nil` where not counted.
    public var oldestReaderLag: Int?

    /// The commit that was undone last, because a power loss had broken it; `nil` where none was.
    public var undoneCommit: Int?

    /// When it was undone: seconds since 1970.
    public var undoneSeconds: Int?

    /// How often this process has waited for an answer of the server that keeps the store; `nil` where none does.
    public var roundTrips: Int?

    /// The tables, SQLite's own (`sqlite_sequence`, `sqlite_stat1`) among them.
    public var tables: [Table]

    /// A table's tree and those of its indexes.
    public struct Table: Codable, Hashable, Sendable {
        /// The table's name.
        public var name: String
        /// Whether the table is a WITHOUT ROWID table.
        public var withoutRowid: Bool
        /// How many rows it has.
        public var rows: Int
        /// What the tree takes; `nil` or 0 where unknown.
        public var pages: Int?
        /// What they take in bytes; `nil` or 0 where unknown.
        public var bytes: Int?
        /// Levels of the tree.
        public var depth: Int?
        /// Its indexes, those of UNIQUE and PRIMARY KEY among them.
        public var indexes: [Index]
    }

    /// An index's tree.
    public struct Index: Codable, Hashable, Sendable {
        /// The index's name.
        public var name: String
        /// Whether no two rows have the same values in it.
        public var unique: Bool
        /// Its entries; `nil` where they are not counted without a walk.
        public var rows: Int?
        /// Its pages; `nil` or 0 where unknown.
        public var pages: Int?
        /// What they take in bytes; `nil` or 0 where unknown.
        public var bytes: Int?
        /// Levels of its tree.
        public var depth: Int?
    }
}
