/// How a store is opened.
///
/// Options that an engine does not have are listed with each property; asking for one of those is an error, not a wish.
public struct StoreOptions: Hashable, Sendable {
    /// What a commit survives.
    public enum Durability: String, CaseIterable, Hashable, Sendable {
        /// The end of the process. A power loss may take everything since the last sync, and on `sqlite` the file itself.
        case off
        /// A power loss takes at most the last commits, whole and from the last one back, never the file: as SQLite's `synchronous=NORMAL` in
        /// WAL mode. On engine `lmdb` at most 32 of a process, and none that was made more than a second or two before.
        case normal
        /// Every commit survives a power loss.
        case full
    }

    /// What a commit survives. ``Durability/full`` unless asked otherwise.
    public var durability: Durability = .full

    /// Bytes of address space that the store begins with, or `nil` for the engine's default. Engine `lmdb` makes it larger between
    /// transactions. Not on engine `sqlite`.
    public var mapSize: Int?

    /// Slots for read transactions, of all processes together, or `nil` for the engine's default. Not on engine `sqlite`.
    public var maxReaders: Int?

    /// How many commits a read may fall behind before SQLite's error log is told of it, once, with `SQLITE_WARNING`; `nil`
    /// for any number. A read that goes on keeps the space of all that was replaced since, so that the file grows.
    /// Looked at by whoever commits. Engine `sqlite` gives no such warning.
    public var readerWarning: Int? = 1000

    /// Whether the file is only read. It must exist then. A file that the system does not let be written is only read in any case, as
    /// with SQLite: a write is ``ResultCode/readOnly``.
    public var readOnly = false

    /// Whether all pages of the store are checked when the first connection of the process opens it. A store whose pages contradict each
    /// other is refused. For a file from an untrusted source: LMDB trusts the pages that it changes, and a made-up page can end the process
    /// or change its memory. Reads check the pages that they follow in any case. Takes as long as reading the file. An error on engines
    /// without such a check.
    public var verifyPages = false

    /// Whether each page is checked before a write transaction changes it. A damaged page is an error of that statement, and nothing is
    /// changed. For a file from an untrusted source, as ``verifyPages``, without reading the whole file first. A put at a random key in a batch
    /// takes a quarter more instructions. A store that keeps checksums is opened so. It does not find a page that belongs to two tables. On
    /// engine `lmdb` with ``pageAccess-swift.property`` write, which is the default; an error elsewhere.
    public var checkPages = false

    /// Whether commits store to a memory map of the file instead of writing by system calls; `nil` leaves it to the
    /// engine, which does so under ``Durability/off``. About twice as fast for small commits, and a stray pointer of the
    /// program can then damage the file. One process at a time: others that write the same store use system
    /// calls meanwhile. `true` is an error on engines that have no map.
    public var writeMap: Bool?

    /// Whether the system may read what is around a page that is not in memory, on an engine that maps its file. `nil` leaves it to the
    /// engine: it may unless the store takes more than half of the memory that the process may use (the machine's, or its
    /// control group's). Then pages are read one by one, as LMDB's `MDB_NORDAHEAD` has it, and those that a scan will come to are asked
    /// for ahead. Either value is an error on engines that map no file.
    public var readAhead: Bool?

    /// How far an engine goes into its library's pages by itself.
    public enum PageAccess: String, CaseIterable, Hashable, Sendable {
        /// The library's public functions alone. Works with every version of the library that can read the file.
        case none
        /// Reads find rows in the pages themselves.
        case read
        /// Writes edit pages, too.
        case write
    }

    /// How far engine `lmdb` goes into LMDB's pages by itself; `nil` for as far as it can with the library that it found.
    /// Every choice reads what every other has written. An error on other engines.
    public var pageAccess: PageAccess?

    /// How commits become durable.
    public enum CommitForm: String, CaseIterable, Hashable, Sendable {
        /// As the library does it.
        case plain
        /// By the engine's own way of fewer flushes.
        case sealed
    }

    /// How commits of engine `lmdb` become durable; `nil` for ``CommitForm/sealed``. The durability is the same. An error on other
    /// engines.
    public var commit: CommitForm?

    /// Options that the engine alone has, as `name=value,name=value`: `"compression=zstd,blockCache=268435456"` on engine `rocksdb`. An
    /// error where the engine does not know one, and on engines that have none. The article <doc:EnginesAndStores> lists them.
    public var engineOptions: String?

    /// Whether the store keeps a checksum with every row, index entry and record of its schema. Chosen when a store is made, and
    /// kept in it. A store that has checksums verifies and writes them whatever this says. `true` is an error on a store without them. A
    /// mismatch is ``ResultCode/corrupt`` when the entry is read, with the table and the row. Versions of
    /// Rootstock that do not know checksums refuse such a store. Not on engine `sqlite`.
    public var checksum = false

    /// How long to wait for a lock that another connection or process holds, before ``ResultCode/busy``. Writers of one ``Store`` wait
    /// for each other no longer.
    public var busyTimeout: Duration = .seconds(5)

    /// Connections kept for reading beside the one for writing. With 0, reads and writes take turns on one connection,
    /// which is what a database in memory (`:memory:` on engine `sqlite`) does whatever the number.
    public var readerConnections = 4

    /// Prepared statements that each connection keeps for reuse. 0 keeps none.
    public var statementCacheCapacity = 64

    /// Whether foreign keys are enforced, as with `PRAGMA foreign_keys = ON`. SQLite does not unless it is told to.
    public var foreignKeys = false

    /// Functions that every connection has, as ``Connection/add(_:)-(SQLFunction)`` gives them to one.
    public var functions: [SQLFunction] = []

    /// Collations that every connection has, as ``Connection/add(_:)-(SQLCollation)`` gives them to one.
    public var collations: [SQLCollation] = []

    /// Who is told of statements that take long; `nil` for nobody.
    public var slowStatement: SlowStatementHook?

    /// Who is told what the store does, for a log; `nil` for nobody.
    public var log: LogHook?

    /// What engine `sqlite` is told besides. Ignored by the others, so that one value of options serves every engine.
    public var native = NativeConfiguration()

    /// The options of a durable store that is made where there is none.
    public init() {}

    /// Options that say what a commit survives, and how engine `sqlite` is set up.
    public init(durability: Durability, native: NativeConfiguration = .default) {
        self.durability = durability
        self.native = native
    }
}

/// How engine `sqlite` is set up: what the other engines have no counterpart for.
public struct NativeConfiguration: Hashable, Sendable {
    /// SQLite's journal modes.
    public enum JournalMode: String, CaseIterable, Hashable, Sendable {
        case delete, truncate, persist, memory, wal, off
    }

    /// The journal mode to put the file in. `nil` leaves a file as it is, but a ``Store`` puts one that it makes in
    /// ``JournalMode/wal``, in which reads and the writer do not block each other. Opening fails if SQLite keeps another one.
    public var journalMode: JournalMode?

    /// Pragmas run on every connection as it opens, without the word PRAGMA: `"mmap_size = 268435456"`.
    public var pragmas: [String]

    /// A journal mode, and pragmas to run on every connection.
    public init(journalMode: JournalMode? = nil, pragmas: [String] = []) {
        self.journalMode = journalMode
        self.pragmas = pragmas
    }

    /// As SQLite ships, but for the journal mode of a file that a ``Store`` makes.
    public static let `default` = NativeConfiguration()

    /// A write-ahead log: readers and the writer do not block each other.
    public static let wal = NativeConfiguration(journalMode: .wal)
}

extension StoreOptions {
    /// `busyTimeout` in the milliseconds that SQLite counts in, rounded up so that a short wait stays a wait.
    package var busyMilliseconds: Int32 {
        let (seconds, attoseconds) = busyTimeout.components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        if milliseconds.overflow { return seconds > 0 ? .max : 0 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, milliseconds.partialValue + fraction))
    }

    /// The options of `rootstock_open`, as its JSON object. Only what was asked for is named.
    var frontDoorJSON: String {
        var members = ["\"durability\":\"\(durability.rawValue)\""]
        if let mapSize { members.append("\"mapSize\":\(mapSize)") }
        if let maxReaders { members.append("\"maxReaders\":\(maxReaders)") }
        if readerWarning != 1000 { members.append("\"readerWarning\":\(max(0, readerWarning ?? 0))") }
        if checksum { members.append("\"checksum\":true") }
        if checkPages { members.append("\"checkPages\":true") }
        if verifyPages { members.append("\"verifyPages\":true") }
        if readOnly { members.append("\"readOnly\":true") }
        if let writeMap { members.append("\"writeMap\":\(writeMap)") }
        if let pageAccess { members.append("\"pageAccess\":\"\(pageAccess.rawValue)\"") }
        if let commit { members.append("\"commit\":\"\(commit.rawValue)\"") }
        if let readAhead { members.append("\"readAhead\":\(readAhead)") }
        if let text = try? engineOptions.map(JSONText.encode) { members.append("\"engineOptions\":\(text)") }
        return "{" + members.joined(separator: ",") + "}"
    }

    /// Refuses what the engine does not have.
    package func validate(for engine: Engine) throws(DatabaseError) {
        guard engine.isNative else { return }
        let foreign = [
            ("checksum", checksum), ("mapSize", mapSize != nil), ("maxReaders", maxReaders != nil),
            ("writeMap", writeMap == true), ("readAhead", readAhead != nil), ("pageAccess", pageAccess != nil),
            ("commit", commit != nil), ("verifyPages", verifyPages), ("checkPages", checkPages),
            ("engineOptions", engineOptions != nil),
        ]
        if let (name, _) = foreign.first(where: { $0.1 }) {
            throw DatabaseError(.misuse, "engine \(engine) has no option \(name)")
        }
    }
}
