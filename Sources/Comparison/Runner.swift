// Runs a plan: contenders take turns, each turn in a process of its own, and what they measured becomes a report.
//
// Invariant: within a case every contender has the same number of turns (who cannot be the row's headline may have fewer,
// where the plan says so), in an order shuffled by the seed within each round, so that drift
// of the machine hits all alike; the first round is a warm-up and not counted. No time is reported for a case whose
// answers are not the same on every engine.

import Foundation
import Workloads

public struct Runner {
    public typealias Launch = (TurnRequest) throws -> TurnReport?

    public var plan: ComparisonPlan
    /// Where stores are made; emptied of them afterwards.
    public var directory: URL
    public var launch: Launch
    public var progress: (String) -> Void
    /// Where turns are noted as they end, and taken from when a comparison goes on that was interrupted.
    public var journal: TurnJournal?

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
        var runner = self
        var warnings: [String] = []
        if plan.scales, plan.budget != nil {
            if let sizes = journal?.sizes {
                for index in runner.plan.items.indices {
                    runner.plan.items[index].size = sizes[runner.plan.items[index].suite.name] ?? plan.items[index].size
                }
            } else {
                try runner.scaleSizes()
            }
            warnings += runner.plan.items.enumerated().compactMap { index, item in
                item.size == plan.items[index].size
                    ? nil
                    : "suite \(item.suite.name) was scaled down to \(item.size) of \(plan.items[index].size) "
                        + "\(item.suite.unit) to fit the time given"
            }
        }
        try journal?.begin(runner.plan)
        return try runner.measure(since: started, warnings: warnings)
    }

    private func measure(since started: Date, warnings: [String]) throws -> ComparisonReport {
        var report = ComparisonReport(
            environment: try .capture(plan: plan, directory: directory), results: [], ratios: [], layers: [], cases: [],
            failures: [], warnings: warnings)
        let noise = MachineNoise()
        var fixtures = PreparedStores(runner: self)
        defer { fixtures.removeAll() }
        let total = plan.items.reduce(0) { $0 + $1.workloads.count }
        var done = 0
        let begun = Date()
        let remaining = plan.budget.map { max(0, $0 - begun.timeIntervalSince(started)) }
        for item in plan.items {
            for workload in item.workloads {
                done += 1
                // Each case has an equal share of the time; what one leaves, the next ones have.
                let deadline = remaining.map { begun.addingTimeInterval($0 * Double(done) / Double(total)) }
                try run(
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
        if let share = noise.othersShare(), share > 0.1 {
            report.warnings.append(
                "others used \(Int((share * 100).rounded()))% of the machine's processors while this ran")
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

    struct Turns {
        var contender: Contender
        var reports: [TurnReport] = []
        /// Set when it has the turns that it gets, though others go on.
        var isDone = false
    }

    private func run(
        _ workload: Workload, of item: PlanItem, label: String, deadline: Date?, _ fixtures: inout PreparedStores,
        _ report: inout ComparisonReport
    ) throws {
        let durability = workload.durability ?? plan.durability
        report.cases.append(
            CaseDescription(
                suite: item.suite.name, case: workload.name, summary: workload.summary,
                publishedName: workload.publishedName, writes: workload.writes))
        var turns = plan.contenders(for: workload).map { Turns(contender: $0) }
        for choice in plan.configurations where !choice.supports(workload) {
            report.warnings.append(
                "\(item.suite.name) \(workload.name): \(choice.name) keeps the file to one connection and sat this out")
        }
        var random = SplitMix64(seed: UInt64(plan.seed) &+ stableHash(item.suite.name + workload.name))
        var round = 0
        while wantsRound(round, of: turns, until: deadline) {
            defer { round += 1 }
            for index in turns.indices.shuffled(using: &random) where !turns[index].isDone {
                let contender = turns[index].contender
                progress("\(label): \(contender), " + (round == 0 ? "warm-up" : "turn \(round)"))
                let place = TurnJournal.Place(
                    suite: item.suite.name, case: workload.name, contender: contender, round: round)
                do {
                    let turn =
                        try journal?.known(place) ?? self.turn(workload, item, contender, durability, &fixtures, place)
                    turns[index].reports.append(turn)
                } catch let error as JournalError {
                    throw error
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
            if plan.sparesSlow { spare(&turns, after: round) }
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
        let warmUps = warmUps(turns)
        for index in turns.indices where turns[index].reports.count > 1 { turns[index].reports.removeFirst(warmUps) }
        add(turns, workload, item, durability, to: &report)
    }

    private func turn(
        _ workload: Workload, _ item: PlanItem, _ contender: Contender, _ durability: DurabilityClass,
        _ fixtures: inout PreparedStores, _ place: TurnJournal.Place
    ) throws -> TurnReport {
        let path = directory.appendingPathComponent("turn-\(contender.slug).store").path
        defer { try? StoreFiles.remove(path) }
        let fixture = try fixtures.path(workload, item, contender, durability)
        let request = TurnRequest(
            task: .measure, suite: item.suite.name, name: workload.name, contender: contender,
            durability: durability, parameters: Parameters(size: item.size, seed: plan.seed),
            path: Self.isShared(workload.starting) ? fixture ?? path : path, fixturePath: fixture,
            definition: item.suite.definition)
        guard let turn = try launch(request) else { throw WorkloadError("the turn reported nothing") }
        try journal?.note(turn, at: place)
        return turn
    }

    /// Turns at most, however much time there is.
    static let mostRounds = 50
    /// Rounds after which a contender that cannot be a row's headline is left at the turns that it has: a native configuration
    /// so much slower than the best one, the control, and the layers beside the C interface.
    static let roundsOfOthers = 2
    static let slowFactor = 1.5
    /// A native configuration this far behind in the first round is left at that one turn.
    static let hopelessFactor = 3.0
    /// Turns this long are measured from the first on, where time is spared: each has a warm-up in its own process.
    static let longTurn = 2.0

    /// Rounds that are not counted.
    private func warmUps(_ turns: [Turns]) -> Int {
        let shortest =
            turns.filter { $0.contender.layer == .cInterface }.compactMap(\.reports.first?.seconds).min() ?? 0
        return plan.sparesSlow && shortest >= Self.longTurn ? 0 : 1
    }

    /// What cannot become the row's headline is shown, and costs no more time.
    private func spare(_ turns: inout [Turns], after round: Int) {
        let first = round == 0 ? 0 : warmUps(turns)
        func time(_ turn: Turns) -> Double {
            median(turn.reports.dropFirst(turn.reports.count > first ? first : 0).map(\.seconds))
        }
        let natives = turns.indices.filter { turns[$0].contender.isNative && turns[$0].contender.layer == .cInterface }
        let best = natives.map { time(turns[$0]) }.min() ?? 0
        for index in turns.indices {
            let isNative = natives.contains(index)
            guard isNative || turns[index].contender.isControl || turns[index].contender.layer != .cInterface else {
                continue
            }
            let isEnough = round + 1 >= Self.roundsOfOthers + warmUps(turns)
            let factor = isNative ? time(turns[index]) / best : .infinity
            if isEnough && factor > Self.slowFactor || isNative && factor > Self.hopelessFactor {
                turns[index].isDone = true
            }
        }
    }

    /// Round 0 is the warm-up. Whether to stop depends on how wide the interval is, never on whether it holds 1: stopping
    /// at the first difference would find differences where there are none.
    private func wantsRound(_ round: Int, of turns: [Turns], until deadline: Date?) -> Bool {
        let warmUps = warmUps(turns)
        if round < plan.repeats + warmUps { return true }
        let going = turns.filter { !$0.isDone && $0.contender.layer == .cInterface }
        guard let deadline, round < Self.mostRounds + warmUps, Date() < deadline, let first = going.first else {
            return false
        }
        return going.dropFirst().contains { turn in
            let estimate = ratioOfMedians(
                first.reports.dropFirst(warmUps).map(\.seconds), turn.reports.dropFirst(warmUps).map(\.seconds),
                resolution: 0)
            return estimate.high > estimate.low * (1 + plan.precision)
        }
    }

    static func isShared(_ starting: Starting) -> Bool {
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
}

/// Stores filled once per contender and kept while their suite runs.
struct PreparedStores {
    let runner: Runner
    private var paths: [String: String] = [:]

    init(runner: Runner) { self.runner = runner }

    mutating func path(
        _ workload: Workload, _ item: PlanItem, _ contender: Contender, _ durability: DurabilityClass
    ) throws -> String? {
        // What is kept in UserDefaults, its workloads fill in themselves.
        guard let name = workload.starting.fixture, contender.layer != .userDefaults else { return nil }
        let key = "\(name)-\(contender.slug)"
        if let known = paths[key] { return known }
        let path = runner.directory.appendingPathComponent("prepared-\(key).store").path
        runner.progress("\(item.suite.name): preparing store '\(name)' for \(contender)")
        _ = try runner.launch(
            TurnRequest(
                task: .prepare, suite: item.suite.name, name: name, contender: contender, durability: durability,
                parameters: Parameters(size: item.size, seed: runner.plan.seed), path: path, fixturePath: nil,
                definition: item.suite.definition))
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
