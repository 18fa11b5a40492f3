// A case under way: its contenders, the turns that they have had, and who has enough of them.
//
// Invariant: whether a case has more turns depends on what they cost and on how wide its intervals are. It never depends on
// whether an interval holds 1: stopping at the first difference would find differences where there are none. Who is left at fewer
// turns than the others could not have been the row's headline.

import Foundation
import Workloads

extension Runner {
    /// The turns of one contender.
    final class Turns {
        let contender: Contender
        var reports: [TurnReport] = []
        /// Set when it has the turns that it gets, though others go on.
        var isDone = false
        /// What each turn took, its process and the checks around the measured time included; 0 for one that a journal knew.
        private(set) var wallSeconds: [Double] = []
        private var checked: (store: StoreFiles.Stamp, hash: String)?

        init(contender: Contender) { self.contender = contender }

        /// - Parameter sharedStore: the prepared store whose rows this turn has hashed, to its end.
        func add(_ turn: TurnReport, wallSeconds: Double = 0, sharedStore: String? = nil) {
            reports.append(turn)
            self.wallSeconds.append(wallSeconds)
            if let sharedStore { checked = (StoreFiles.stamp(sharedStore), turn.checksum) }
        }

        /// What the next turn may be expected to take.
        var nextSeconds: Double { max(wallSeconds.last ?? 0, reports.last?.seconds ?? 0) }

        /// The answers that an earlier turn gave on the prepared store, if the store is as it was then. There must be a quicker
        /// way to warm it than the whole workload once more; a cold case needs none.
        func knownChecksum(_ workload: Workload, _ fixture: Fixture?, _ store: String) -> String? {
            guard !workload.writes, let checked, let fixture, let seconds = reports.last?.seconds,
                seconds >= Runner.longRead && !fixture.reading.isEmpty || workload.startsCold,
                StoreFiles.stamp(store) == checked.store
            else { return nil }
            return checked.hash
        }
    }

    final class CaseRun {
        let workload: Workload
        let item: PlanItem
        let label: String
        let durability: DurabilityClass
        let caseName: String
        var turns: [Turns]
        /// Rounds that ended, the warm-up among them.
        var rounds = 0
        private let runner: Runner
        private var random: SplitMix64

        init(_ runner: Runner, _ workload: Workload, _ item: PlanItem, label: String, _ report: inout ComparisonReport)
        {
            self.runner = runner
            self.workload = workload
            self.item = item
            self.label = label
            durability = workload.durability ?? runner.plan.durability
            caseName = item.caseName(workload)
            report.cases.append(
                CaseDescription(
                    suite: item.suite.name, case: caseName, summary: workload.summary,
                    publishedName: workload.publishedName, writes: workload.writes,
                    ofCase: item.isOneOfSizes ? workload.name : nil, size: item.isOneOfSizes ? item.size : nil))
            turns = runner.plan.contenders(for: workload).map(Turns.init)
            for choice in runner.plan.configurations where !choice.supports(workload) {
                report.warnings.append(
                    "\(item.suite.name) \(caseName): \(choice.name) keeps the file to one connection and sat this out"
                )
            }
            random = SplitMix64(seed: UInt64(runner.plan.seed) &+ stableHash(item.suite.name + workload.name))
        }

        var warmUps: Int { runner.warmUps(turns) }
        /// Turns that are samples, of the contender that has the fewest of those that go on.
        var counted: Int {
            let going = turns.filter { !$0.isDone && $0.contender.layer == .cInterface }
            return max(0, (going.map(\.reports.count).min() ?? rounds) - warmUps)
        }
        /// What the next round may be expected to take.
        var nextRoundSeconds: Double { turns.filter { !$0.isDone }.reduce(0) { $0 + $1.nextSeconds } }
        func shuffled() -> [Int] { turns.indices.shuffled(using: &random) }

        /// Whether a ratio is not known well enough.
        var wantsMore: Bool {
            let going = turns.filter { !$0.isDone && $0.contender.layer == .cInterface }
            guard rounds < Runner.mostRounds + warmUps, let first = going.first else { return false }
            func samples(_ turns: Turns) -> [Double] { turns.reports.dropFirst(warmUps).map(\.seconds) }
            guard !samples(first).isEmpty else { return true }
            return going.dropFirst().contains { turn in
                guard !samples(turn).isEmpty else { return true }
                let estimate = ratioOfMedians(samples(first), samples(turn), resolution: 0)
                guard let interval = estimate.interval else { return true }
                return interval.upperBound > interval.lowerBound * (1 + runner.plan.precision)
            }
        }
    }

    /// Turns at most, however much time there is.
    static let mostRounds = 50
    /// Where time is spared, by how much a native configuration's fastest turn may be behind the best configuration's median. One
    /// that is further behind is left at the turns that it has: one, two, or three and more. A warm-up alone shows the hopeless.
    static let farBehind = [2.0, 1.1, 1.03]
    static let hopeless = 3.0
    /// Turns this long are measured from the first on, where time is spared: each has a warm-up in its own process.
    static let longTurn = 2.0
    /// Reads this long have their answers hashed once; later turns read the store through, which brings its pages into the
    /// process's map and caches. The page faults of a store of 200 MiB take some 20 ms, which is 2% of such a turn.
    static let longRead = 1.0

    /// Rounds that are not counted: one, and none where the longest turn of the first was a long one.
    func warmUps(_ turns: [Turns]) -> Int {
        let longest =
            turns.filter { $0.contender.layer == .cInterface }.compactMap(\.reports.first?.seconds).max() ?? 0
        return plan.sparesSlow && longest >= Self.longTurn ? 0 : 1
    }

    /// What cannot become the row's headline is shown, and costs no more time: native configurations behind the best one, the
    /// control, and the layers beside the C interface. One that was left behind goes on when the best one turns out slower.
    func spare(_ turns: [Turns], after round: Int) {
        let warmUps = warmUps(turns)
        let counted = round + 1 - warmUps
        func times(_ turn: Turns) -> [Double] {
            turn.reports.dropFirst(turn.reports.count > warmUps ? warmUps : 0).map(\.seconds)
        }
        let natives = turns.filter { $0.contender.isNative && $0.contender.layer == .cInterface }
        let best = natives.map { median(times($0)) }.min() ?? 0
        for turn in turns {
            if natives.contains(where: { $0 === turn }) {
                let own = turn.reports.count - warmUps
                let limit = own < 1 ? Self.hopeless : Self.farBehind[min(own, Self.farBehind.count) - 1]
                // Its fastest turn, the warm-up among them: one turn that something else held up shows nothing.
                turn.isDone = (turn.reports.map(\.seconds).min() ?? 0) > limit * best
            } else if turn.contender.isControl || turn.contender.layer != .cInterface {
                // Two turns, and one where they are long.
                if counted >= 1 + warmUps { turn.isDone = true }
            }
        }
    }
}
