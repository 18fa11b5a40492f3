// Runs a plan: contenders take turns, each turn in a process of its own, and what they measured becomes a report.
//
// Invariant: within a case every contender has the same number of turns, in an order shuffled by the seed within each round,
// so that drift of the machine hits all alike; the first round is a warm-up and not counted. No time is reported for a
// case whose answers are not the same on every engine.

import Foundation
import Workloads

public struct Runner {
    public typealias Launch = (TurnRequest) throws -> TurnReport?

    public var plan: ComparisonPlan
    /// Where stores are made; emptied of them afterwards.
    public var directory: URL
    public var launch: Launch
    public var progress: (String) -> Void

    public init(
        plan: ComparisonPlan, directory: URL, launch: @escaping Launch, progress: @escaping (String) -> Void = { _ in }
    ) {
        self.plan = plan
        self.directory = directory
        self.launch = launch
        self.progress = progress
    }

    public func run() throws -> ComparisonReport {
        let started = Date()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var report = ComparisonReport(
            environment: try .capture(plan: plan, directory: directory), results: [], ratios: [], layers: [], cases: [],
            failures: [], warnings: [])
        var fixtures = PreparedStores(runner: self)
        defer { fixtures.removeAll() }
        let total = plan.items.reduce(0) { $0 + $1.workloads.count }
        var done = 0
        for item in plan.items {
            for workload in item.workloads {
                done += 1
                // Each case has an equal share of the time; what one leaves, the next ones have.
                let deadline = plan.budget.map { started.addingTimeInterval($0 * Double(done) / Double(total)) }
                run(
                    workload, of: item, label: "[\(done)/\(total)] \(item.suite.name) \(workload.name)",
                    deadline: deadline, &fixtures, &report)
            }
            // The next suite has other stores; disk space is not kept for ones that nobody will read.
            fixtures.removeAll()
        }
        if report.environment.build == "debug" {
            report.warnings.append("this is a debug build: its times say nothing about a release build")
        }
        if let load = report.environment.loadAverage, load > 0.5 {
            report.warnings.append("the machine was not idle when this began: load average \(rounded(load))")
        }
        let seconds = Date().timeIntervalSince(started)
        report.environment.seconds = seconds
        if let budget = plan.budget, seconds > budget * 1.1 {
            report.warnings.append(
                "the least number of turns took \(Int(seconds)) s, more than the \(Int(budget)) s given: a smaller size fits"
            )
        }
        return report
    }

    // MARK: One case

    private struct Turns {
        var contender: Contender
        var reports: [TurnReport] = []
    }

    private func run(
        _ workload: Workload, of item: PlanItem, label: String, deadline: Date?, _ fixtures: inout PreparedStores,
        _ report: inout ComparisonReport
    ) {
        let durability = workload.durability ?? plan.durability
        report.cases.append(
            CaseDescription(
                suite: item.suite.name, case: workload.name, summary: workload.summary,
                publishedName: workload.publishedName, writes: workload.writes))
        var turns = plan.contenders(for: workload).map { Turns(contender: $0) }
        var random = SplitMix64(seed: UInt64(plan.seed) &+ stableHash(item.suite.name + workload.name))
        var round = 0
        while wantsRound(round, of: turns, until: deadline) {
            defer { round += 1 }
            for index in turns.indices.shuffled(using: &random) {
                let contender = turns[index].contender
                progress("\(label): \(contender), " + (round == 0 ? "warm-up" : "turn \(round)"))
                do {
                    let path = directory.appendingPathComponent("turn-\(contender.slug).store").path
                    defer { try? StoreFiles.remove(path) }
                    let fixture = try fixtures.path(workload, item, contender, durability)
                    let request = TurnRequest(
                        task: .measure, suite: item.suite.name, name: workload.name, contender: contender,
                        durability: durability, parameters: Parameters(size: item.size, seed: plan.seed),
                        path: Self.isShared(workload.starting) ? fixture ?? path : path, fixturePath: fixture)
                    guard let turn = try launch(request) else { throw WorkloadError("the turn reported nothing") }
                    turns[index].reports.append(turn)
                } catch {
                    report.failures.append(
                        Failure(
                            suite: item.suite.name, case: workload.name, contender: contender.description,
                            message: "\(error)"))
                    turns[index].reports = []
                }
            }
            // A contender that failed once is out; the others go on, so that one refusal does not hide the rest.
            turns.removeAll { $0.reports.isEmpty }
        }
        let differing = answersDiffer(turns)
        guard differing.isEmpty else {
            for text in differing {
                report.failures.append(
                    Failure(
                        suite: item.suite.name, case: workload.name, contender: text.contender, message: text.message))
            }
            return
        }
        for index in turns.indices where turns[index].reports.count > 1 { turns[index].reports.removeFirst() }
        add(turns, workload, item, durability, to: &report)
    }

    /// Turns at most, however much time there is.
    static let mostRounds = 50

    /// Round 0 is the warm-up. Whether to stop depends on how wide the interval is, never on whether it holds 1: stopping
    /// at the first difference would find differences where there are none.
    private func wantsRound(_ round: Int, of turns: [Turns], until deadline: Date?) -> Bool {
        if round <= plan.repeats { return true }
        guard let deadline, round <= Self.mostRounds, Date() < deadline, let first = turns.first else { return false }
        return turns.dropFirst().contains { turn in
            let estimate = ratioOfMedians(
                first.reports.dropFirst().map(\.seconds), turn.reports.dropFirst().map(\.seconds),
                seed: UInt64(plan.seed), resamples: 500)
            return estimate.high > estimate.low * 1.05
        }
    }

    private static func isShared(_ starting: Starting) -> Bool {
        if case .shared = starting { return true }
        return false
    }

    /// Every turn of every contender must have given the same answers, the floor too.
    private func answersDiffer(_ turns: [Turns]) -> [(contender: String, message: String)] {
        guard let first = turns.first, let expected = first.reports.first else { return [] }
        return turns.compactMap { turn in
            let wrong = turn.reports.first { $0.checksum != expected.checksum || $0.touched != expected.touched }
            guard let wrong else { return nil }
            return (
                turn.contender.description,
                "answers differ from those of \(first.contender): \(wrong.checksum) is not \(expected.checksum)"
            )
        }
    }

    private func add(
        _ turns: [Turns], _ workload: Workload, _ item: PlanItem, _ durability: DurabilityClass,
        to report: inout ComparisonReport
    ) {
        let operations = workload.operations(item.size)
        for turn in turns {
            var histogram = LatencyHistogram()
            for one in turn.reports { histogram.add(one.latency) }
            let samples = turn.reports.map(\.seconds)
            report.results.append(
                MeasuredResult(
                    suite: item.suite.name, case: workload.name, engine: turn.contender.engine,
                    configuration: turn.contender.configuration, durability: durability, layer: turn.contender.layer,
                    operations: operations, seconds: median(samples), latency: histogram.summary,
                    checksum: turn.reports[0].checksum, copy: turn.contender.copy, samples: samples,
                    curve: histogram.curve(), cost: .medians(turn.reports.map(\.cost))))
            if samples.count > 3 && scatter(samples) > 0.15 {
                report.warnings.append(
                    "\(item.suite.name) \(workload.name) \(turn.contender): turns scatter by "
                        + "\(rounded(scatter(samples) * 100))% of their median")
            }
        }
        let engines = turns.map(\.contender.engine)
        guard let first = engines.contains("sqlite") ? "sqlite" : engines.first else { return }
        let sqlTurns = turns.filter { $0.contender.layer == .cInterface }
        // Each native configuration is a baseline; an engine against itself has its first as baseline of the others.
        let baselines = sqlTurns.filter { $0.contender.engine == first && $0.contender.copy == 0 }
        for baseline in baselines {
            for turn in turns where !baselines.contains(where: { $0.contender == turn.contender }) {
                let estimate = ratioOfMedians(
                    baseline.reports.map(\.seconds), turn.reports.map(\.seconds), seed: UInt64(plan.seed))
                let published =
                    turn.contender.isNative
                    ? nil : PublishedFigure.find(suite: item.suite.name, workload: workload.name)
                let ratio = Ratio(
                    suite: item.suite.name, case: workload.name, durability: durability,
                    baseline: Baseline(engine: first, configuration: baseline.contender.configuration),
                    engine: turn.contender.engine, ratio: estimate.ratio, low: estimate.low, high: estimate.high,
                    configuration: turn.contender.configuration, layer: turn.contender.layer,
                    isDifferent: estimate.isDifferent, published: published?.ratio, publishedSource: published?.source)
                if turn.contender.layer == .cInterface {
                    report.ratios.append(ratio)
                } else {
                    report.layers.append(ratio)
                }
            }
        }
    }
}

/// Stores filled once per contender and kept while their suite runs.
private struct PreparedStores {
    let runner: Runner
    private var paths: [String: String] = [:]

    init(runner: Runner) { self.runner = runner }

    mutating func path(
        _ workload: Workload, _ item: PlanItem, _ contender: Contender, _ durability: DurabilityClass
    ) throws -> String? {
        guard let name = workload.starting.fixture else { return nil }
        let key = "\(name)-\(contender.slug)"
        if let known = paths[key] { return known }
        let path = runner.directory.appendingPathComponent("prepared-\(key).store").path
        runner.progress("\(item.suite.name): preparing store '\(name)' for \(contender)")
        _ = try runner.launch(
            TurnRequest(
                task: .prepare, suite: item.suite.name, name: name, contender: contender, durability: durability,
                parameters: Parameters(size: item.size, seed: runner.plan.seed), path: path, fixturePath: nil))
        paths[key] = path
        return path
    }

    mutating func removeAll() {
        for path in paths.values { try? StoreFiles.remove(path) }
        paths = [:]
    }
}

extension Cost {
    static func medians(_ costs: [Cost]) -> Cost {
        func middle(_ path: KeyPath<Cost, Double>) -> Double { median(costs.map { $0[keyPath: path] }) }
        func count(_ path: KeyPath<Cost, Int>) -> Int { Int(median(costs.map { Double($0[keyPath: path]) })) }
        func known(_ path: KeyPath<Cost, Int?>) -> Int? {
            let values = costs.compactMap { $0[keyPath: path] }.map(Double.init)
            return values.isEmpty ? nil : Int(median(values))
        }
        return Cost(
            userSeconds: middle(\.userSeconds), systemSeconds: middle(\.systemSeconds),
            minorFaults: count(\.minorFaults), majorFaults: count(\.majorFaults),
            contextSwitches: count(\.contextSwitches), bytesRead: known(\.bytesRead),
            bytesWritten: known(\.bytesWritten), readCalls: known(\.readCalls), writeCalls: known(\.writeCalls),
            storageBytesRead: known(\.storageBytesRead), storageBytesWritten: known(\.storageBytesWritten),
            syncCalls: known(\.syncCalls),
            peakResidentBytes: known(\.peakResidentBytes), storeBytes: known(\.storeBytes))
    }
}

func rounded(_ value: Double) -> String { String(format: "%.1f", value) }

/// The same for the same text in every process (unlike `Hasher`).
func stableHash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}
