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
        let begun = Date()
        var timetable = Timetable(
            begun: begun, seconds: plan.budget.map { max(0, $0 - begun.timeIntervalSince(started)) }, cases: total)
        var number = 0
        var remarks = Remarks()
        for item in plan.items {
            var runs: [CaseRun] = []
            for workload in item.workloads {
                number += 1
                guard timetable.hasTimeToBegin() else {
                    remarks.late.append("\(item.suite.name) \(workload.name)")
                    continue
                }
                let run = CaseRun(
                    self, workload, item, label: "[\(number)/\(total)] \(item.suite.name) \(workload.name)", &report)
                try runLeast(run, casesToCome: total - number, &timetable, &fixtures, &report, &remarks)
                runs.append(run)
            }
            // What is left of the suite's time goes in turn to the cases whose ratios are not known well enough.
            if let end = timetable.end(ofSuiteEndingWith: number) {
                var wanting = runs
                while !wanting.isEmpty && Date() < end {
                    wanting.removeAll { !$0.wantsMore }
                    for run in wanting where Date().addingTimeInterval(run.roundSeconds) < end {
                        try self.round(run, &fixtures, &report)
                    }
                    wanting.removeAll { Date().addingTimeInterval($0.roundSeconds) >= end }
                }
            }
            for run in runs { finish(run, &report, &remarks) }
            // The next suite has other stores; disk space is not kept for ones that nobody will read.
            fixtures.removeAll()
        }
        report.warnings += remarks.warnings(repeats: plan.repeats)
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
        return report
    }

    // MARK: One case

    struct Turns {
        var contender: Contender
        var reports: [TurnReport] = []
        /// Set when it has the turns that it gets, though others go on.
        var isDone = false
    }

    /// A case under way.
    final class CaseRun {
        let workload: Workload
        let item: PlanItem
        let label: String
        let durability: DurabilityClass
        var turns: [Turns]
        /// Rounds that ended.
        var rounds = 0
        /// What the last round took, preparing included.
        var roundSeconds = 0.0
        private let runner: Runner
        private var random: SplitMix64

        init(_ runner: Runner, _ workload: Workload, _ item: PlanItem, label: String, _ report: inout ComparisonReport)
        {
            self.runner = runner
            self.workload = workload
            self.item = item
            self.label = label
            durability = workload.durability ?? runner.plan.durability
            report.cases.append(
                CaseDescription(
                    suite: item.suite.name, case: workload.name, summary: workload.summary,
                    publishedName: workload.publishedName, writes: workload.writes))
            turns = runner.plan.contenders(for: workload).map { Turns(contender: $0) }
            for choice in runner.plan.configurations where !choice.supports(workload) {
                report.warnings.append(
                    "\(item.suite.name) \(workload.name): \(choice.name) keeps the file to one connection and sat this out"
                )
            }
            random = SplitMix64(seed: UInt64(runner.plan.seed) &+ stableHash(item.suite.name + workload.name))
        }

        var warmUps: Int { runner.warmUps(turns) }
        func shuffled() -> [Int] { turns.indices.shuffled(using: &random) }

        /// Whether a ratio is not known well enough. It depends on how wide the interval is, never on whether it holds 1:
        /// stopping at the first difference would find differences where there are none.
        var wantsMore: Bool {
            let going = turns.filter { !$0.isDone && $0.contender.layer == .cInterface }
            guard rounds < Runner.mostRounds + warmUps, let first = going.first else { return false }
            func samples(_ turns: Turns) -> [Double] { turns.reports.dropFirst(warmUps).map(\.seconds) }
            guard !samples(first).isEmpty else { return true }
            return going.dropFirst().contains { turn in
                guard !samples(turn).isEmpty else { return true }
                let estimate = ratioOfMedians(samples(first), samples(turn), resolution: 0)
                return estimate.high > estimate.low * (1 + runner.plan.precision)
            }
        }
    }

    /// The rounds that a case has in any event, fewer only where the time given would not be kept.
    private func runLeast(
        _ run: CaseRun, casesToCome: Int, _ timetable: inout Timetable, _ fixtures: inout PreparedStores,
        _ report: inout ComparisonReport, _ remarks: inout Remarks
    ) throws {
        while run.rounds < plan.repeats + run.warmUps && !run.turns.isEmpty {
            if run.rounds > 0, !timetable.hasTime(forRoundOf: run.roundSeconds, casesToCome: casesToCome) {
                remarks.short.append(
                    "\(run.item.suite.name) \(run.workload.name) \(max(1, run.rounds - run.warmUps))")
                break
            }
            try round(run, &fixtures, &report)
            if run.rounds == 1 { timetable.note(firstRound: run.roundSeconds) }
        }
    }

    /// A turn of each contender; round 0 is the warm-up.
    private func round(
        _ run: CaseRun, _ fixtures: inout PreparedStores, _ report: inout ComparisonReport
    ) throws {
        let started = Date()
        for index in run.shuffled() where !run.turns[index].isDone {
            let contender = run.turns[index].contender
            progress("\(run.label): \(contender), " + (run.rounds == 0 ? "warm-up" : "turn \(run.rounds)"))
            let place = TurnJournal.Place(
                suite: run.item.suite.name, case: run.workload.name, contender: contender, round: run.rounds)
            do {
                let turn =
                    try journal?.known(place)
                    ?? self.turn(run.workload, run.item, contender, run.durability, &fixtures, place)
                run.turns[index].reports.append(turn)
            } catch let error as JournalError {
                throw error
            } catch {
                report.failures.append(
                    Failure(
                        suite: run.item.suite.name, case: run.workload.name, contender: contender.description,
                        message: "\(error)"))
                run.turns[index].reports = []
            }
        }
        // A contender that failed once is out; the others go on, so that one refusal does not hide the rest.
        run.turns.removeAll { $0.reports.isEmpty }
        if plan.sparesSlow { spare(&run.turns, after: run.rounds) }
        run.rounds += 1
        run.roundSeconds = Date().timeIntervalSince(started)
    }

    /// Compares the answers, and reports what was measured if they are the same.
    private func finish(_ run: CaseRun, _ report: inout ComparisonReport, _ remarks: inout Remarks) {
        let differing = answersDiffer(run.turns)
        guard differing.isEmpty else {
            for text in differing {
                report.failures.append(
                    Failure(
                        suite: run.item.suite.name, case: run.workload.name, contender: text.contender,
                        message: text.message))
            }
            return
        }
        var turns = run.turns
        let warmUps = run.warmUps
        for index in turns.indices where turns[index].reports.count > 1 { turns[index].reports.removeFirst(warmUps) }
        add(turns, run.workload, run.item, run.durability, to: &report, &remarks)
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
    func warmUps(_ turns: [Turns]) -> Int {
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
