// One turn of one contender at one workload, run in a process of its own.
//
// Invariant: what is timed is `Workload.run` between `begin` and `end` of its meter and nothing else. Before it, in the same
// process: a warm-up that is not counted. Around it: the answers, hashed whole. The same function serves the child
// process and, in tests, the parent.

import Foundation
import OwnData
import Rootstock
import Workloads

public struct TurnRequest: Codable, Sendable {
    public enum Task: String, Codable, Sendable {
        /// Fill the store that several workloads start from.
        case prepare
        case measure
    }

    public var task: Task
    public var suite: String
    /// Name of a workload, or of a fixture.
    public var name: String
    public var contender: Contender
    public var durability: DurabilityClass
    public var parameters: Parameters
    /// The store to make, or to use.
    public var path: String
    /// The prepared store to copy from.
    public var fixturePath: String?
    /// For a suite that is not built in: the file that defines it.
    public var definition: String? = nil
    /// The hash of the answers that this contender gave on this very prepared store, if they need not be hashed again. The store
    /// is then read through once to be warm; otherwise the whole workload warms it.
    public var knownChecksum: String? = nil

    /// Size of the run that warms up code and allocator on a store of its own: 1/20 of the size, 10,000 at most.
    static func warmUpSize(_ size: Int) -> Int { max(1, min(size / 20, 10_000)) }

    /// The suite of the request: one of ours, or the one that the user's data and statements make.
    func resolvedSuite() throws -> Suite {
        if let definition { return try OwnData.suite(definedBy: definition) }
        if suite == Suite.engine.name { return .engine(parameters.shape) }
        guard let suite = Suite.named(suite) else { throw WorkloadError("there is no suite \(suite)") }
        return suite
    }
}

public struct TurnReport: Codable, Sendable {
    public var seconds: Double
    public var latency: LatencyCounts
    /// Hash of what was read while the clock ran (lengths, first and last bytes).
    public var touched: String
    /// Hash of all rows, or of the content after a write.
    public var checksum: String
    public var cost: Cost
    /// Bytes of the store's content after a write.
    public var contentBytes: Int?
}

public enum Turn {
    public static func run(_ request: TurnRequest) throws -> TurnReport? {
        let suite = try request.resolvedSuite()
        switch request.task {
        case .prepare:
            guard let fixture = suite.fixture(named: request.name) else {
                throw WorkloadError("suite \(suite.name) has no fixture \(request.name)")
            }
            try prepare(fixture, request)
            return nil
        case .measure:
            guard let workload = suite.workload(named: request.name) else {
                throw WorkloadError("suite \(suite.name) has no case \(request.name)")
            }
            switch request.contender.layer {
            case .floor: return try measureFloor(workload, request)
            case .cInterface, .swiftInterface: return try measure(workload, request)
            case .userDefaults: return try measureUserDefaults(workload, request)
            case .grdb, .grdbSQL: throw WorkloadError("layer \(request.contender.layer.rawValue) is measured no more")
            }
        }
    }

    // MARK: Through SQL

    static func open(_ request: TurnRequest, path: String, durability: DurabilityClass, size: Int) throws -> Session {
        var (options, settling) = try options(request, durability: durability)
        // The session keeps its statements itself; what it lets go of is to be prepared anew. The Swift API has its cache.
        if request.contender.layer != .swiftInterface { options.statementCacheCapacity = 0 }
        let engine = Engine(name: request.contender.engine)
        return try Session(
            parameters: request.parameters.resized(size), settling: settling,
            connect: { [options] in try Connection(path: path, engine: engine, options: options) })
    }

    static func options(
        _ request: TurnRequest, durability: DurabilityClass
    ) throws -> (options: StoreOptions, settling: [String]) {
        var options = StoreOptions(durability: durability)
        var settling: [String] = []
        if request.contender.isNative {
            let name = request.contender.configuration
            guard let choice = ConfigurationChoice.named(name) else {
                throw WorkloadError("there is no native configuration \(name)")
            }
            options = choice.options(durability)
            settling = choice.settling
        }
        // Writers beside each other wait for their turn, however long the queue.
        options.busyTimeout = .seconds(60)
        return (options, settling)
    }

    private static func prepare(_ fixture: Fixture, _ request: TurnRequest) throws {
        try StoreFiles.remove(request.path)
        switch request.contender.layer {
        case .floor:
            guard let build = fixture.buildFloor else { throw WorkloadError("fixture \(fixture.name) has no floor") }
            try build(
                try FloorStore(
                    engine: request.contender.engine, path: request.path, durability: .off), request.parameters)
        case .userDefaults, .grdb, .grdbSQL:
            throw WorkloadError("\(request.contender.layer.rawValue) has no prepared stores")
        case .cInterface, .swiftInterface:
            let session = try open(request, path: request.path, durability: .off, size: request.parameters.size)
            defer { session.close() }
            try fixture.build(session)
        }
        // An engine in memory keeps nothing beyond the process: its turns fill their store themselves.
        guard FileManager.default.fileExists(atPath: request.path) else { return }
        // On disk now, so that the kernel does not write it back while something is measured.
        try StoreFiles.synchronize(request.path)
    }

    private static func measure(_ workload: Workload, _ request: TurnRequest) throws -> TurnReport {
        let size = request.parameters.size
        let run = try body(of: workload, request.contender.layer)
        switch workload.starting {
        case .fresh:
            let warmPath = request.path + ".warm-up"
            try StoreFiles.remove(warmPath)
            let warmUp = try open(
                request, path: warmPath, durability: request.durability, size: TurnRequest.warmUpSize(size))
            try workload.setUp(warmUp)
            try run(warmUp, Meter(operations: 1))
            warmUp.close()
            try StoreFiles.remove(warmPath)
            try StoreFiles.remove(request.path)
        case .copy where isPrepared(request, workload):
            guard let from = request.fixturePath else { throw WorkloadError("no prepared store was named") }
            try StoreFiles.copy(from, to: request.path)
        case .copy, .shared:
            break
        }
        let session = try open(request, path: request.path, durability: request.durability, size: size)
        defer { session.close() }
        try workload.setUp(session)
        if let fixture = workload.starting.fixture, !isPrepared(request, workload) {
            try request.resolvedSuite().fixture(named: fixture)?.build(session)
        }

        var checksum = ""
        if workload.writes {
            // What is there already is read once: a store in use is a warm one.
            if workload.starting != .fresh { try hashContent(workload, session) }
        } else if let known = request.knownChecksum, isPrepared(request, workload) {
            checksum = known
            let fixture = workload.starting.fixture.flatMap(try request.resolvedSuite().fixture(named:))
            if !workload.startsCold { for query in fixture?.reading ?? [] { try session.readThrough(query) } }
        } else {
            session.isChecking = true
            try run(session, Meter(operations: 1, lapOperations: workload.lapOperations))
            checksum = session.answers.hexadecimal
            session.isChecking = false
        }
        session.answers = AnswerHash()
        if workload.startsCold {
            session.close()
            StoreFiles.evict(request.path)
            try session.reopen()
        }

        let stretch = MeasuredStretch(workload, operations: workload.operations(size))
        try run(session, stretch.meter)
        let touched = session.answers
        if workload.writes {
            session.answers = AnswerHash()
            session.forgetContentBytes()
            try hashContent(workload, session)
            checksum = session.answers.hexadecimal
        }
        let contentBytes = session.contentBytes
        session.close()
        var report = stretch.report(touched: touched, checksum: checksum, storeBytes: StoreFiles.bytes(request.path))
        if workload.writes { report.contentBytes = contentBytes }
        return report
    }

    /// Whether the turn starts from a store that was filled before. A file that only names a store, on a server, is no store to copy.
    static func isPrepared(_ request: TurnRequest, _ workload: Workload) -> Bool {
        guard let path = request.fixturePath, FileManager.default.fileExists(atPath: path) else { return false }
        if case .shared = workload.starting { return true }
        let engine = Engine.descriptions.first { $0.engine.name == request.contender.engine }
        return engine?.keepsFiles ?? true
    }

    private static func body(of workload: Workload, _ layer: Layer) throws -> @Sendable (Session, Meter) throws -> Void
    {
        guard layer == .swiftInterface else { return workload.run }
        guard let run = workload.runInSwift else {
            throw WorkloadError("case \(workload.name) is not written in the Swift API")
        }
        return run
    }

    private static func hashContent(_ workload: Workload, _ session: Session) throws {
        guard !workload.contentQueries.isEmpty else {
            throw WorkloadError("case \(workload.name) writes and has no query that shows its content")
        }
        for query in workload.contentQueries { try session.hashRows(query) }
    }

    // MARK: The floor

    private static func measureFloor(_ workload: Workload, _ request: TurnRequest) throws -> TurnReport {
        guard let floor = workload.floor else { throw WorkloadError("case \(workload.name) has no floor") }
        let parameters = request.parameters
        switch workload.starting {
        case .fresh:
            let warmPath = request.path + ".warm-up"
            try StoreFiles.remove(warmPath)
            let small = parameters.resized(TurnRequest.warmUpSize(parameters.size))
            let warmUp = try FloorStore(
                engine: request.contender.engine, path: warmPath, durability: request.durability)
            try floor.run(warmUp, small, Meter(operations: 1))
            try StoreFiles.remove(warmPath)
            try StoreFiles.remove(request.path)
        case .copy where isPrepared(request, workload):
            guard let from = request.fixturePath else { throw WorkloadError("no prepared store was named") }
            try StoreFiles.copy(from, to: request.path)
        case .copy, .shared:
            break
        }
        let store = try FloorStore(
            engine: request.contender.engine, path: request.path, durability: request.durability)
        if let name = workload.starting.fixture, !isPrepared(request, workload) {
            try request.resolvedSuite().fixture(named: name)?.buildFloor?(store, parameters)
        }
        var checksum = ""
        if workload.writes {
            if workload.starting != .fresh { try store.hashContent() }
        } else if let known = request.knownChecksum, isPrepared(request, workload) {
            checksum = known
            try store.hashContent()
        } else {
            store.isChecking = true
            try floor.run(store, parameters, Meter(operations: 1, lapOperations: workload.lapOperations))
            checksum = store.answers.hexadecimal
            store.isChecking = false
        }
        store.answers = AnswerHash()
        let stretch = MeasuredStretch(workload, operations: workload.operations(parameters.size))
        try floor.run(store, parameters, stretch.meter)
        let touched = store.answers
        if workload.writes {
            store.answers = AnswerHash()
            try store.hashContent()
            checksum = store.answers.hexadecimal
        }
        return stretch.report(touched: touched, checksum: checksum, storeBytes: StoreFiles.bytes(request.path))
    }
}

/// The meter of one measured stretch with the process's counters read at both ends.
final class MeasuredStretch {
    private final class Readings {
        var before = UsageReading.now()
        var roundTrips = 0
        var cost: Cost?
    }

    private let readings = Readings()
    let meter: Meter
    private let operations: Int

    init(_ workload: Workload, operations: Int) {
        self.operations = operations
        let readings = readings
        meter = Meter(
            operations: operations, lapOperations: workload.lapOperations,
            onBegin: {
                readings.roundTrips = RoundTrips.waited
                PeakMemory.reset()
                readings.before = UsageReading.now()
            },
            onEnd: {
                var cost = readings.before.cost(until: UsageReading.now())
                cost.peakResidentBytes = PeakMemory.bytes()
                let roundTrips = RoundTrips.waited
                if roundTrips > 0 { cost.roundTrips = roundTrips - readings.roundTrips }
                readings.cost = cost
            })
    }

    func report(touched: AnswerHash, checksum: String, storeBytes: Int) -> TurnReport {
        guard var cost = readings.cost else { preconditionFailure("a workload never ended its measured time") }
        // Of a store on a server the file here holds the name alone.
        cost.storeBytes = cost.roundTrips == nil ? storeBytes : nil
        var histogram = LatencyHistogram()
        histogram.record(meter.lapNanoseconds, operationsPerLap: meter.lapOperations)
        // Fewer operations than a lap has: their mean is all that is known.
        if meter.lapNanoseconds.isEmpty { histogram.record(total: meter.elapsedNanoseconds, operations: operations) }
        return TurnReport(
            seconds: Double(meter.elapsedNanoseconds) / 1e9, latency: histogram.counts, touched: touched.hexadecimal,
            checksum: checksum, cost: cost)
    }
}
