// Sizes that fit a time budget, found by a small run of everything first.
//
// Invariant: sizes only shrink, all suites by what the same share of the time asks for, and what was chosen is said in the
// report. Estimates are of wall time, preparing and checking included, because that is what a budget is spent on.

import Foundation
import Workloads

extension Runner {
    /// Share of the time that the least number of turns may be expected to take: costs of a row grow with the store.
    static let shareForLeast = 0.6

    /// Share of the time that finding the sizes may take: a machine too busy for that gets the sizes of what it got through.
    static let shareForPilots = 0.2

    /// Makes sizes smaller until the least number of turns is expected to fit.
    mutating func scaleSizes() throws {
        guard let budget = plan.budget else { return }
        let started = now()
        let end = started.addingTimeInterval(budget * Self.shareForPilots)
        var estimates: [Int: SizeEstimate] = [:]
        for (index, item) in plan.items.enumerated() where now() < end {
            progress("\(item.suite.name): finding the size that fits")
            let small = Self.pilotSize(item)
            // Two sizes tell what a turn costs at any size from what a row costs.
            guard let tiny = try pilot(item, size: item.suite.smallestSize, until: end) else { break }
            let more = small > item.suite.smallestSize ? try pilot(item, size: small, until: end) : tiny
            // Without the second all of it is taken for what a row costs: more than it is, which is the safe side.
            estimates[index] = SizeEstimate(
                full: item.size, smallest: item.suite.smallestSize,
                sizes: (item.suite.smallestSize, more == nil ? item.suite.smallestSize : small),
                seconds: (tiny, more ?? tiny))
        }
        let left = budget - now().timeIntervalSince(started)
        // Cases that were not tried are taken to be like those that were.
        let cases = plan.items.reduce(0) { $0 + $1.workloads.count }
        let tried = estimates.keys.reduce(0) { $0 + plan.items[$1].workloads.count }
        let share =
            max(0, left) * Self.shareForLeast / Double(plan.repeats + 1) * Double(tried) / Double(max(1, cases))
        let fraction = tried == 0 ? 0 : SizeEstimate.fraction(of: Array(estimates.values), seconds: share)
        for index in plan.items.indices {
            let item = plan.items[index]
            let estimate =
                estimates[index]
                ?? SizeEstimate(
                    full: item.size, smallest: item.suite.smallestSize, sizes: (1, 1), seconds: (0, 0))
            plan.items[index].size = estimate.size(fraction)
        }
    }

    private static func pilotSize(_ item: PlanItem) -> Int {
        min(item.size, max(item.suite.smallestSize, min(item.suite.smallestSize * 5, item.size / 50)))
    }

    /// Seconds that a round of all cases of a suite takes at a size, from the first and the last of their contenders. Null if it
    /// does not end in time. A contender that fails is the measuring's affair.
    private func pilot(_ item: PlanItem, size: Int, until end: Date) throws -> Double? {
        var small = item
        small.size = size
        var fixtures = PreparedStores(runner: self)
        defer { fixtures.removeAll() }
        var seconds = 0.0
        for workload in item.workloads {
            let all = plan.contenders(for: workload)
            let tried = all.count > 2 ? [all[0], all[all.count - 1]] : all
            let started = now()
            guard started < end else { return nil }
            for contender in tried {
                let path = directory.appendingPathComponent("pilot-\(contender.slug).store").path
                defer { try? StoreFiles.remove(path) }
                let durability = workload.durability ?? plan.durability
                do {
                    let fixture = try fixtures.path(workload, small, contender, durability)
                    _ = try launch(
                        TurnRequest(
                            task: .measure, suite: item.suite.name, name: workload.name, contender: contender,
                            durability: durability, parameters: plan.parameters(size: size),
                            path: Self.isShared(workload.starting) ? fixture ?? path : path, fixturePath: fixture))
                } catch is WorkloadError {
                    continue
                }
            }
            seconds += now().timeIntervalSince(started) * Double(all.count) / Double(max(1, tried.count))
        }
        return seconds
    }
}

/// What a round of a suite takes, from two small rounds.
struct SizeEstimate {
    var full: Int
    var smallest: Int
    var sizes: (Int, Int)
    var seconds: (Double, Double)

    /// Seconds at a size: a part that is always there, and one that grows with it.
    func seconds(_ size: Int) -> Double {
        guard sizes.1 > sizes.0 else { return seconds.1 * max(1, Double(size) / Double(sizes.1)) }
        let slope = max(0, seconds.1 - seconds.0) / Double(sizes.1 - sizes.0)
        return seconds.0 + slope * Double(max(0, size - sizes.0))
    }

    /// The size at a fraction of the full one, with two digits that count.
    func size(_ fraction: Double) -> Int {
        if fraction >= 1 { return full }
        let wanted = max(Double(smallest), Double(full) * fraction)
        var step = 1.0
        while wanted / step >= 100 { step *= 10 }
        return min(full, max(smallest, Int((wanted / step).rounded(.down) * step)))
    }

    /// The greatest fraction of the full sizes at which all together stay within the seconds.
    static func fraction(of estimates: [SizeEstimate], seconds: Double) -> Double {
        func total(_ fraction: Double) -> Double { estimates.reduce(0) { $0 + $1.seconds($1.size(fraction)) } }
        if total(1) <= seconds { return 1 }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if total(middle) <= seconds { low = middle } else { high = middle }
        }
        return low
    }
}
