// The result model: what a comparison found, as it is written to JSON.
//
// Invariant: the names of the fields are a promise to whoever reads the file. Fields are added, none is renamed or
// removed. Times are seconds, latencies microseconds, sizes bytes.

import Workloads

public struct MeasuredResult: Codable, Sendable {
    public var suite: String
    public var `case`: String
    public var engine: String
    public var configuration: String
    public var durability: DurabilityClass
    public var layer: Layer
    /// Operations of one turn.
    public var operations: Int
    /// Median of the turns.
    public var seconds: Double
    public var latency: LatencySummary
    /// Hash of the answers: of all rows read, or of the store's content after a write.
    public var checksum: String
    /// 0, or 1 for the second of two alike.
    public var copy: Int
    /// Seconds of each turn, in the order in which they ran.
    public var samples: [Double]
    public var curve: [CurvePoint]
    /// Medians over the turns.
    public var cost: Cost
    /// Bytes of keys and values that the case wrote, as the program sees them; null where it wrote none or they were not counted.
    public var userBytes: Int?
    /// Bytes that went to the storage device (where the system counts none, to write calls) for each of `userBytes`.
    public var writeAmplification: Double?

    public var microsecondsPerOperation: Double { seconds * 1e6 / Double(operations) }
    /// Null where the store is on no server.
    public var roundTripsPerOperation: Double? { cost.roundTrips.map { Double($0) / Double(operations) } }
    public var operationsPerSecond: Double { Double(operations) / seconds }
    public var megabytesPerSecond: Double? { userBytes.map { Double($0) / 1e6 / seconds } }
    public var contender: Contender {
        Contender(engine: engine, configuration: configuration, layer: layer, copy: copy)
    }
}

public struct Baseline: Codable, Sendable, Equatable {
    public var engine: String
    public var configuration: String
}

public struct Ratio: Codable, Sendable {
    public var suite: String
    public var `case`: String
    public var durability: DurabilityClass
    public var baseline: Baseline
    public var engine: String
    /// Time of the baseline over time of the engine: above 1 means that the engine is faster.
    public var ratio: Double
    /// The 95% interval; null where there were too few turns for one.
    public var low: Double?
    public var high: Double?
    public var configuration: String
    public var layer: Layer
    /// Whether there is an interval and it leaves 1 out.
    public var isDifferent: Bool
    /// Whether there were too few turns for an interval. Null in reports older than the field.
    public var isUndecided: Bool? = nil
    /// Whether the baseline is the best native configuration of the row, which makes this ratio the row's headline: a claim
    /// against a badly configured opponent is no claim. Null in reports older than the field.
    public var isHeadline: Bool?
    /// The ratio that was published for this row, of the systems named in `publishedSource`.
    public var published: Double?
    public var publishedSource: String?

    /// The 95% interval. Reports older than this wrote bounds beside "too few turns" that were none.
    public var interval: ClosedRange<Double>? {
        guard isUndecided != true, let low, let high, low <= high else { return nil }
        return low...high
    }
}

public struct Failure: Codable, Sendable {
    public var suite: String
    public var `case`: String
    public var contender: String
    public var message: String
}

/// A case that was run, as its suite describes it.
public struct CaseDescription: Codable, Sendable {
    public var suite: String
    public var `case`: String
    public var summary: String
    public var publishedName: String?
    public var writes: Bool
    /// Of a comparison at several sizes: the case without its size, and the size. Null otherwise.
    public var ofCase: String? = nil
    public var size: Int? = nil
}

/// The user's database and statements, as far as a reader of the figures needs them.
public struct OwnDataDescription: Codable, Sendable, Equatable {
    public struct Operation: Codable, Sendable, Equatable {
        public var name: String
        public var weight: Int
        public var executions: Int

        public init(name: String, weight: Int, executions: Int) {
            self.name = name
            self.weight = weight
            self.executions = executions
        }
    }

    /// Name of the file, without its folder; it is the suite's name too.
    public var database: String
    public var databaseBytes: Int
    public var tables: Int
    /// Rows that each engine holds, compared one by one with the original's.
    public var rows: Int
    /// What was not brought along, with the reason.
    public var skipped: [String]
    public var operations: [Operation]

    public init(
        database: String, databaseBytes: Int, tables: Int, rows: Int, skipped: [String], operations: [Operation]
    ) {
        self.database = database
        self.databaseBytes = databaseBytes
        self.tables = tables
        self.rows = rows
        self.skipped = skipped
        self.operations = operations
    }
}

public struct ComparisonReport: Codable, Sendable {
    public var environment: Environment
    public var results: [MeasuredResult]
    /// SQL against SQL: what the choice of engine costs or buys.
    public var ratios: [Ratio]
    /// The baseline against other layers, the floor among them.
    public var layers: [Ratio]
    public var cases: [CaseDescription]
    public var failures: [Failure]
    public var warnings: [String]
    /// What the time went to. Null in reports older than the field.
    public var spent: Spent? = nil
    /// Of a comparison on the user's own database: what was brought along and what was not.
    public var ownData: OwnDataDescription? = nil

    /// The ratios to quote: each row's against its best native configuration.
    public var headlines: [Ratio] { ratios.filter { $0.isHeadline == true } }

    /// Rows that set an engine, in one configuration, against itself, and how many of them say "no difference"; null where
    /// there are none. Rows with too few turns for an interval are not among them. Fewer than 95% mean that differences are found where there are none.
    public var selfComparison: (rows: Int, same: Int)? {
        let own = ratios.filter {
            $0.baseline.engine == $0.engine && $0.baseline.configuration == $0.configuration && $0.isUndecided != true
        }
        return own.isEmpty ? nil : (own.count, own.filter { !$0.isDifferent }.count)
    }

    public func results(suite: String, case name: String) -> [MeasuredResult] {
        results.filter { $0.suite == suite && $0.case == name }
    }
}
