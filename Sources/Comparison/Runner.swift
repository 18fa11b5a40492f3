// Runs a plan: contenders take turns, each turn in a process of its own, and what they measured becomes a report.
//
// Invariants: within a case every contender has the same number of turns; one that cannot be the row's headline may have fewer,
// where the plan says so. The seed shuffles their order within each round, so that drift of the machine hits all alike. The first
// round is a warm-up and not counted. No time is reported for a case whose answers are not the same on every engine.

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
    /// The clock by which the time given is kept. Only tests have another.
    var now: () -> Date = { Date() }

    public init(
        plan: ComparisonPlan, directory: URL, launch: @escaping Launch, progress: @escaping (String) -> Void = { _ in }
    ) {
        self.plan = plan
        self.directory = directory
        self.launch = launch
        self.progress = progress
    }

    public func run() throws -> ComparisonReport {
        let started = now()
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
            let scaled = runner.plan.items.enumerated().compactMap { index, item in
                item.size == plan.items[index].size
                    ? nil : "\(item.suite.name) to \(item.size) of \(plan.items[index].size) \(item.suite.unit)"
            }
            if !scaled.isEmpty {
                warnings.append("scaled down to fit the time given: \(scaled.joined(separator: ", "))")
            }
        }
        try journal?.begin(runner.plan)
        // Sizes that were given are tried small first: filling and copying stores can take longer than all the time there is.
        let estimates = plan.budget != nil && !plan.scales ? try runner.estimateCases() : CaseEstimates()
        return try runner.measure(since: started, warnings: warnings, estimates)
    }

    private func measure(
        since started: Date, warnings: [String], _ estimates: CaseEstimates
    ) throws -> ComparisonReport {
        var report = ComparisonReport(
            environment: try .capture(plan: plan, directory: directory), results: [], ratios: [], layers: [], cases: [],
            failures: [], warnings: warnings)
        let noise = MachineNoise()
        var fixtures = PreparedStores(runner: self)
        defer { fixtures.removeAll() }
        let total = plan.items.reduce(0) { $0 + $1.workloads.count }
        let begun = now()
        var timetable = Timetable(
            begun: begun, seconds: plan.budget.map { max(0, $0 - begun.timeIntervalSince(started)) }, cases: total)
        var number = 0
        var remarks = Remarks()
        var spent = Spent()
        for item in plan.items {
            var runs: [CaseRun] = []
            for workload in item.workloads {
                number += 1
                let name = "\(item.suite.name) \(item.caseName(workload))"
                guard timetable.hasTimeToBegin(now: now()) else {
                    remarks.late.append(name)
                    continue
                }
                if let estimate = estimates.firstRound(workload, item, isPrepared: fixtures.isPrepared),
                    !timetable.hasTime(forRoundOf: estimate, casesToCome: 0, now: now())
                {
                    remarks.large.append((name, estimate))
                    progress("\(name): left out, it would take \(Int(estimate)) s")
                    continue
                }
                let run = CaseRun(
                    self, workload, item, label: "[\(number)/\(total)] \(name)", &report)
                guard try begin(run, casesToCome: total - number, &timetable, &fixtures, &report) else {
                    remarks.late.append(name)
                    continue
                }
                runs.append(run)
            }
            try raise(runs, casesToCome: total - number, timetable, &fixtures, &report)
            // What is left of the suite's time goes in turn to the cases whose ratios are not known well enough.
            if let end = timetable.end(ofSuiteEndingWith: number) {
                var wanting = runs
                while !wanting.isEmpty && now() < end {
                    wanting.removeAll { !$0.wantsMore }
                    for run in wanting where now().addingTimeInterval(run.nextRoundSeconds) < end {
                        try self.round(run, &fixtures, &report)
                    }
                    wanting.removeAll { now().addingTimeInterval($0.nextRoundSeconds) >= end }
                }
            }
            for run in runs {
                if run.counted < plan.repeats && !run.turns.isEmpty {
                    remarks.short.append("\(item.suite.name) \(run.caseName) \(max(1, run.counted))")
                }
                spent.add(run)
                finish(run, &report, &remarks)
            }
            // The next suite has other stores; disk space is not kept for ones that nobody will read.
            spent.preparing += fixtures.seconds
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
                "others used \(Int((share * 100).rounded()))% of the machine's processors while this ran: figures and intervals "
                    + "are theirs too")
        }
        let seconds = now().timeIntervalSince(started)
        report.environment.seconds = seconds
        spent.other = max(0, seconds - spent.known)
        report.spent = spent
        return report
    }

    // MARK: One case

    /// A case's first round, and its first that counts where that one only warmed up. Returns whether the case is one: it is not
    /// where the plan's least number of turns does not fit.
    private func begin(
        _ run: CaseRun, casesToCome: Int, _ timetable: inout Timetable, _ fixtures: inout PreparedStores,
        _ report: inout ComparisonReport
    ) throws -> Bool {
        let started = now()
        if plan.preparesAtOnce { fixtures.prepareAtOnce(run) }
        try round(run, &fixtures, &report)
        timetable.note(firstRound: now().timeIntervalSince(started), next: run.nextRoundSeconds)
        if plan.budget != nil, plan.leastTurns > 0, !run.turns.isEmpty {
            // All of them, or the case is none.
            let rounds = Double(plan.leastTurns - run.counted)
            guard timetable.hasTime(forRoundOf: run.nextRoundSeconds * rounds, casesToCome: 0, now: now()) else {
                return false
            }
            while run.counted < plan.leastTurns, run.rounds < Self.mostRounds, !run.turns.isEmpty {
                try round(run, &fixtures, &report)
            }
            return true
        }
        if run.counted < 1, timetable.hasTime(forRoundOf: run.nextRoundSeconds, casesToCome: casesToCome, now: now()) {
            try round(run, &fixtures, &report)
        }
        return true
    }

    /// The rounds that each case has in any event, fewer only where the time given would not be kept. The cheapest case comes first:
    /// where not all can have theirs, most have.
    private func raise(
        _ runs: [CaseRun], casesToCome: Int, _ timetable: Timetable, _ fixtures: inout PreparedStores,
        _ report: inout ComparisonReport
    ) throws {
        var wanting = plan.budget == nil ? runs : runs.sorted { $0.nextRoundSeconds < $1.nextRoundSeconds }
        while let run = wanting.first {
            guard run.counted < plan.repeats, !run.turns.isEmpty,
                timetable.hasTime(
                    forRoundOf: run.nextRoundSeconds, casesToCome: casesToCome, roundsToCome: plan.repeats,
                    now: now())
            else {
                wanting.removeFirst()
                continue
            }
            try round(run, &fixtures, &report)
        }
    }

    /// A turn of each contender; round 0 is the warm-up.
    private func round(
        _ run: CaseRun, _ fixtures: inout PreparedStores, _ report: inout ComparisonReport
    ) throws {
        for index in run.shuffled() where !run.turns[index].isDone {
            let contender = run.turns[index].contender
            progress("\(run.label): \(contender), " + (run.rounds == 0 ? "warm-up" : "turn \(run.rounds)"))
            let place = TurnJournal.Place(
                suite: run.item.suite.name, case: run.caseName, contender: contender, round: run.rounds)
            do {
                if let known = journal?.known(place) {
                    run.turns[index].add(known)
                } else {
                    try turn(run, run.turns[index], &fixtures, place)
                }
            } catch let error as JournalError {
                throw error
            } catch {
                report.failures.append(
                    Failure(
                        suite: run.item.suite.name, case: run.caseName, contender: contender.description,
                        message: "\(error)"))
                run.turns[index].reports = []
            }
        }
        // A contender that failed once is out; the others go on, so that one refusal does not hide the rest.
        run.turns.removeAll { $0.reports.isEmpty }
        if plan.sparesSlow { spare(run.turns, after: run.rounds) }
        run.rounds += 1
    }

    /// Compares the answers, and reports what was measured if they are the same.
    private func finish(_ run: CaseRun, _ report: inout ComparisonReport, _ remarks: inout Remarks) {
        let differing = answersDiffer(run.turns)
        guard differing.isEmpty else {
            for text in differing {
                report.failures.append(
                    Failure(
                        suite: run.item.suite.name, case: run.caseName, contender: text.contender,
                        message: text.message))
            }
            return
        }
        let warmUps = run.warmUps
        for turns in run.turns where turns.reports.count > 1 { turns.reports.removeFirst(warmUps) }
        add(run.turns, run.workload, run.item, run.durability, to: &report, &remarks)
    }

    private func turn(
        _ run: CaseRun, _ turns: Turns, _ fixtures: inout PreparedStores, _ place: TurnJournal.Place
    ) throws {
        let (workload, item, contender) = (run.workload, run.item, turns.contender)
        let path = directory.appendingPathComponent("turn-\(contender.slug).store").path
        defer { try? StoreFiles.remove(path) }
        let fixture = try fixtures.path(workload, item, contender, run.durability)
        let isShared = Self.isShared(workload.starting)
        var request = TurnRequest(
            task: .measure, suite: item.suite.name, name: workload.name, contender: contender,
            durability: run.durability, parameters: plan.parameters(size: item.size),
            path: isShared ? fixture ?? path : path, fixturePath: fixture,
            definition: item.suite.definition)
        if isShared, let fixture {
            request.knownChecksum = turns.knownChecksum(
                workload, workload.starting.fixture.flatMap(item.suite.fixture(named:)), fixture)
        }
        let started = now()
        guard let turn = try launch(request) else { throw WorkloadError("the turn reported nothing") }
        turns.add(
            turn, wallSeconds: now().timeIntervalSince(started),
            sharedStore: isShared && request.knownChecksum == nil ? fixture : nil)
        try journal?.note(turn, at: place)
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
            let what =
                wrong.checksum != expected.checksum
                ? "\(wrong.checksum) is not \(expected.checksum)"
                : "what was read while the clock ran, \(wrong.touched), is not \(expected.touched)"
            return (turn.contender.description, "answers differ from those of \(first.contender): \(what)")
        }
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
            syncCalls: known(\.syncCalls), roundTrips: known(\.roundTrips),
            peakResidentBytes: known(\.peakResidentBytes), storeBytes: known(\.storeBytes))
    }
}

func rounded(_ value: Double) -> String { String(format: "%.1f", value) }

/// The same for the same text in every process (unlike `Hasher`).
func stableHash(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}
