// What a suite and a workload are: data, and small functions over a session.
//
// Invariant: a new suite is one file that makes one `Suite` value, and one line in `Suite.all`. Nothing in the runner or in
// the reports knows a suite or a case by name.

import Rootstock

/// Figures of different classes are never set against each other.
public typealias DurabilityClass = StoreOptions.Durability

extension StoreOptions.Durability: Codable {}

/// What a workload finds when it starts.
public enum Starting: Sendable, Equatable {
    /// An empty store of its own.
    case fresh
    /// A copy, its own to change, of a prepared store.
    case copy(of: String)
    /// A prepared store that it only reads.
    case shared(String)

    public var fixture: String? {
        switch self {
        case .fresh: nil
        case .copy(let name), .shared(let name): name
        }
    }
}

/// A store filled once per engine and then used by several workloads.
public struct Fixture: Sendable {
    public var name: String
    public var build: @Sendable (Session) throws -> Void
    /// The same content without SQL, for floor rows; null where there is none.
    public var buildFloor: (@Sendable (FloorStore, Parameters) throws -> Void)?
    /// Queries that go through every page of it once: what warms a long read up whose answers are known. Empty where a whole run
    /// of the workload costs no more.
    public var reading: [String]

    public init(
        name: String, reading: [String] = [], build: @escaping @Sendable (Session) throws -> Void,
        buildFloor: (@Sendable (FloorStore, Parameters) throws -> Void)? = nil
    ) {
        self.name = name
        self.reading = reading
        self.build = build
        self.buildFloor = buildFloor
    }
}

/// The same operation on the engine with no SQL above it.
public struct FloorWorkload: Sendable {
    public var run: @Sendable (FloorStore, Parameters, Meter) throws -> Void
    public init(run: @escaping @Sendable (FloorStore, Parameters, Meter) throws -> Void) { self.run = run }
}

public struct Workload: Sendable {
    public var name: String
    public var summary: String
    /// The name that published figures use, where there are any.
    public var publishedName: String?
    public var starting: Starting
    /// The class this workload always runs in; null: the one that was asked for.
    public var durability: DurabilityClass?
    /// Whether it changes the store: then its answer is the content of the store afterwards.
    public var writes: Bool
    /// One of the few that stand for the suite in a short run.
    public var isHeadline: Bool
    /// A variant of another workload: run when named, or when variants are asked for.
    public var isVariant: Bool
    /// Operations between two readings of the clock.
    public var lapOperations: Int
    /// Operations measured, for a size of the suite.
    public var operations: @Sendable (_ size: Int) -> Int
    /// Makes a fresh store ready (schema); not measured.
    public var setUp: @Sendable (Session) throws -> Void
    /// The workload; it calls `begin` and `end` of the meter itself, after its own preparations.
    public var run: @Sendable (Session, Meter) throws -> Void
    /// A query whose rows are the content of the store, for workloads that write.
    public var contentQueries: [String]
    public var floor: FloorWorkload?
    /// The workload in Rootstock's Swift API; null where it is not written.
    public var runInSwift: (@Sendable (Session, Meter) throws -> Void)?
    /// The workload on Foundation's UserDefaults; null where it is not written.
    public var runInUserDefaults: (@Sendable (LayerSession, Meter) throws -> Void)?
    /// Whether it opens connections beside the session's: a configuration that locks others out cannot run it.
    public var opensSeveralConnections = false
    /// Whether the store's files leave the page cache before the clock starts: what is read then comes from storage.
    public var startsCold = false
    /// Bytes of keys and values that it writes, for a size of the suite. Null: those of the content, if it starts on an empty
    /// store and only inserts; otherwise not known.
    public var userBytes: (@Sendable (_ size: Int) -> Int)?

    public init(
        name: String, summary: String, publishedName: String? = nil, starting: Starting,
        durability: DurabilityClass? = nil, writes: Bool, isHeadline: Bool = false, isVariant: Bool = false,
        lapOperations: Int = 1,
        operations: @escaping @Sendable (_ size: Int) -> Int,
        setUp: @escaping @Sendable (Session) throws -> Void = { _ in },
        contentQueries: [String] = [], floor: FloorWorkload? = nil,
        runInSwift: (@Sendable (Session, Meter) throws -> Void)? = nil,
        run: @escaping @Sendable (Session, Meter) throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.publishedName = publishedName
        self.starting = starting
        self.durability = durability
        self.writes = writes
        self.isHeadline = isHeadline
        self.isVariant = isVariant
        self.lapOperations = lapOperations
        self.operations = operations
        self.setUp = setUp
        self.contentQueries = contentQueries
        self.floor = floor
        self.runInSwift = runInSwift
        self.run = run
    }
}

public struct Suite: Sendable {
    public var name: String
    public var title: String
    /// Where the workload comes from.
    public var source: String
    /// What the size counts, in the plural ("entries").
    public var unit: String
    public var defaultSize: Int
    /// The least at which every case still has something to do: for tests.
    public var smallestSize: Int
    public var fixtures: [Fixture]
    public var workloads: [Workload]
    /// What a reader must know to judge the figures.
    public var remarks: [String]
    /// For a suite that is not built in: the file from which a measuring process makes it again.
    public var definition: String?

    public init(
        name: String, title: String, source: String, unit: String, defaultSize: Int, smallestSize: Int,
        fixtures: [Fixture], workloads: [Workload], remarks: [String] = [], definition: String? = nil
    ) {
        self.name = name
        self.title = title
        self.source = source
        self.unit = unit
        self.defaultSize = defaultSize
        self.smallestSize = smallestSize
        self.fixtures = fixtures
        self.workloads = workloads
        self.remarks = remarks
        self.definition = definition
    }

    public func workload(named name: String) -> Workload? {
        workloads.first { $0.name.lowercased() == name.lowercased() }
    }

    public func fixture(named name: String) -> Fixture? { fixtures.first { $0.name == name } }

    /// Every suite, in the order in which `--list` shows them.
    public static let all: [Suite] = [
        .engine, .queries, .objects, .library, .records, .reader, .fetching, .cars, .ycsb, .speedtest,
        .schema,
    ]

    /// One short run over all: a case or two of each suite.
    public static let headlineName = "headline"

    public static func named(_ name: String) -> Suite? { all.first { $0.name == name } }
}
