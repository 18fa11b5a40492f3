// Who is measured against whom: an engine in a configuration at a layer.
//
// Invariant: a native configuration is a list of PRAGMAs that stands here once and is printed in every report. Every
// contender of a row runs in the same durability class; a configuration that has no form in a class is refused.

import Rootstock
import Workloads

/// Where in the stack the operations are issued.
public enum Layer: String, Codable, Sendable, CaseIterable {
    /// The engine's own calls, with no SQL above it.
    case floor
    /// SQLite's C calls on prepared statements: the thinnest SQL.
    case cInterface = "c-api"
    /// Rootstock's Swift API, as its documentation shows it.
    case swiftInterface = "swift-api"
    /// GRDB, and GRDB with SQL written out. Older reports have them; nothing measures them any more.
    case grdb
    case grdbSQL = "grdb-sql"
    /// Foundation's UserDefaults, with no database at all: what suite `library` is held against besides.
    case userDefaults = "user-defaults"

    /// Those that a comparison can have.
    public static let measured: [Layer] = allCases.filter { $0 != .grdb && $0 != .grdbSQL }
}

public struct Contender: Codable, Sendable, Hashable, CustomStringConvertible {
    public var engine: String
    public var configuration: String
    public var layer: Layer
    /// Tells two alike apart when an engine is set against itself.
    public var copy: Int

    public init(engine: String, configuration: String, layer: Layer = .cInterface, copy: Int = 0) {
        self.engine = engine
        self.configuration = configuration
        self.layer = layer
        self.copy = copy
    }

    public var isNative: Bool { engine == "sqlite" }
    /// SQLite's own B-tree behind the table layer: it tells what the layer costs apart from the engine.
    public var isControl: Bool { engine == Self.control }
    public static let control = "sqlite-btree"

    public var description: String {
        var text = isNative ? "\(engine)/\(configuration)" : engine
        if layer != .cInterface { text += " \(layer.rawValue)" }
        if copy > 0 { text += " #\(copy + 1)" }
        return text
    }

    /// Fit for a file name.
    var slug: String { "\(engine)-\(configuration)-\(layer.rawValue)-\(copy)" }
}

/// A way to set up native SQLite, by name.
public struct ConfigurationChoice: Sendable {
    public var name: String
    public var summary: String
    var journalMode: NativeConfiguration.JournalMode?
    var pragmas: [String]
    /// Statements that belong to a timed write, at its end.
    var settling: [String]
    /// Whether one connection keeps the file to itself.
    var isExclusive = false
    /// Whether `sqlite` stands for it too; otherwise it is measured where it is named.
    var isListed = true

    public static let all: [ConfigurationChoice] = [
        // db_bench sets the lock mode last, so WAL keeps its shared-memory file; we follow.
        ConfigurationChoice(
            name: "leveldb",
            summary: "db_bench_sqlite3's: WAL, 4096 pages of cache, exclusive lock, checkpoint in the time",
            journalMode: .wal, pragmas: ["cache_size=4096", "wal_autocheckpoint=4096", "locking_mode=EXCLUSIVE"],
            settling: ["PRAGMA wal_checkpoint(FULL)"], isExclusive: true),
        ConfigurationChoice(name: "default", summary: "as SQLite ships", journalMode: nil, pragmas: [], settling: []),
        ConfigurationChoice(
            name: "wal", summary: "WAL, all else as it ships", journalMode: .wal, pragmas: [], settling: []),
        ConfigurationChoice(
            name: "tuned", summary: "WAL, 256 MiB of cache, 16 GiB of memory map, checkpoint every 4096 pages",
            journalMode: .wal, pragmas: ["cache_size=-262144", "mmap_size=17179869184", "wal_autocheckpoint=4096"],
            settling: []),
        ConfigurationChoice(
            name: "mapped", summary: "WAL, 16 GiB of memory map, all else as it ships: for stores larger than memory",
            journalMode: .wal, pragmas: ["mmap_size=17179869184"], settling: [], isListed: false),
    ]

    public static func named(_ name: String) -> ConfigurationChoice? { all.first { $0.name == name } }

    /// Whether the configuration has a form in the class: a rollback journal has none in `normal`, which is WAL's.
    public func supports(_ durability: DurabilityClass) -> Bool { journalMode == .wal || durability != .normal }

    /// Whether it can run a case that opens several connections.
    public func supports(_ workload: Workload) -> Bool { !isExclusive || !workload.opensSeveralConnections }

    /// A configuration at a durability, as its column is called: what a reader would look for at `full` is the journal.
    public func title(_ durability: DurabilityClass) -> String {
        "\(name) (\(journal.uppercased())+\(durability.rawValue.uppercased()))"
    }

    func options(_ durability: DurabilityClass) -> StoreOptions {
        StoreOptions(
            durability: durability, native: NativeConfiguration(journalMode: journalMode, pragmas: pragmas))
    }

    /// The journal that the file is in: what one configuration leaves in it another of the same journal finds unchanged.
    var journal: String { journalMode?.rawValue ?? "delete" }

    /// What is set, for the report.
    public var settings: [String] {
        (journalMode.map { ["journal_mode=\($0.rawValue)"] } ?? []) + pragmas
            + settling.map { "\($0) inside timed writes" }
    }
}
