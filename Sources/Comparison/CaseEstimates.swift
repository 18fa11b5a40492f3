// What the cases of a plan take at the sizes that were asked for, from two small runs of each.
//
// Invariant: an estimate is of wall time: filling the stores, copying them, hashing answers. A case that could not be tried in the
// time for trying has no estimate, and begins.

import Foundation
import Workloads

struct CaseEstimates {
    /// Seconds at the size asked for, by suite and case, and by suite and prepared store: of one contender, the slower of those tried.
    fileprivate var turns: [String: Double] = [:]
    fileprivate var fills: [String: Double] = [:]
    fileprivate var contenders: [String: [Contender]] = [:]

    /// Seconds until each contender has had one turn; null where nothing is known.
    func firstRound(
        _ workload: Workload, _ item: PlanItem, isPrepared: (Workload, PlanItem, Contender) -> Bool
    ) -> Double? {
        let key = "\(item.suite.name) \(item.caseName(workload))"
        guard let turn = turns[key], let all = contenders[key] else { return nil }
        let fill = workload.starting.fixture.flatMap { fills["\(item.suite.name) \($0) \(item.size)"] } ?? 0
        let unfilled = all.count { !isPrepared(workload, item, $0) }
        return turn * Double(all.count) + fill * Double(unfilled)
    }
}

extension Runner {
    /// Tries every case at two small sizes, and draws the line through them to the size asked for. Costs of a row grow with the store, so
    /// that this is the least that it may take.
    func estimateCases() throws -> CaseEstimates {
        var estimates = CaseEstimates()
        guard let budget = plan.budget else { return estimates }
        let end = now().addingTimeInterval(budget * Self.shareForPilots)
        for item in plan.items {
            let smallest = item.suite.smallestSize
            // A size near the smallest is tried by running it.
            guard item.size > smallest * 20 else { continue }
            let sizes = (smallest, smallest * 10)
            let (tiny, more) = (try trial(item, size: sizes.0, until: end), try trial(item, size: sizes.1, until: end))
            func atFullSize(_ first: [String: Double], _ second: [String: Double]) -> [String: Double] {
                var seconds: [String: Double] = [:]
                for (key, low) in first {
                    guard let high = second[key] else { continue }
                    seconds[key] =
                        SizeEstimate(full: item.size, smallest: smallest, sizes: sizes, seconds: (low, high))
                        .seconds(item.size)
                }
                return seconds
            }
            estimates.turns.merge(atFullSize(tiny.turns, more.turns)) { $1 }
            estimates.fills.merge(atFullSize(tiny.fills, more.fills)) { $1 }
            for workload in item.workloads {
                estimates.contenders["\(item.suite.name) \(item.caseName(workload))"] = plan.contenders(for: workload)
            }
        }
        return estimates
    }

    private func trial(
        _ item: PlanItem, size: Int, until end: Date
    ) throws -> (turns: [String: Double], fills: [String: Double]) {
        var small = item
        small.size = size
        var fixtures = PreparedStores(runner: self)
        defer { fixtures.removeAll() }
        var turns: [String: Double] = [:]
        var fills: [String: Double] = [:]
        for workload in item.workloads {
            let all = plan.contenders(for: workload)
            let key = "\(item.suite.name) \(item.caseName(workload))"
            for contender in all.count > 2 ? [all[0], all[all.count - 1]] : all {
                guard now() < end else { return (turns, fills) }
                progress("\(key): trying a small size")
                let path = directory.appendingPathComponent("pilot-\(contender.slug).store").path
                defer { try? StoreFiles.remove(path) }
                let durability = workload.durability ?? plan.durability
                do {
                    let began = now()
                    let isNew = !fixtures.isPrepared(workload, small, contender)
                    let fixture = try fixtures.path(workload, small, contender, durability)
                    let filled = now()
                    if isNew, let name = workload.starting.fixture {
                        let store = "\(item.suite.name) \(name) \(item.size)"
                        fills[store, default: 0].keep(filled.timeIntervalSince(began))
                    }
                    let isShared = Self.isShared(workload.starting)
                    _ = try launch(
                        TurnRequest(
                            task: .measure, suite: item.suite.name, name: workload.name, contender: contender,
                            durability: durability, parameters: plan.parameters(size: size),
                            path: isShared ? fixture ?? path : path, fixturePath: fixture,
                            definition: item.suite.definition))
                    turns[key, default: 0].keep(now().timeIntervalSince(filled))
                } catch {
                    // What fails is said when the contender has its turn.
                    continue
                }
            }
        }
        return (turns, fills)
    }
}

extension Double {
    fileprivate mutating func keep(_ other: Double) { self = Swift.max(self, other) }
}
