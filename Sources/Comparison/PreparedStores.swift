// Stores that cases start from, filled once and kept while their suite runs.
//
// Invariant: a contender never finds a store that another engine filled, nor one of another journal mode. Native
// configurations of one journal mode have one file in common: what tells them apart is set by each connection and leaves
// nothing in the file. The two sides of an engine against itself have one each.

import Foundation
import Workloads

struct PreparedStores {
    let runner: Runner
    private var paths: [String: String] = [:]
    /// What filling them took.
    private(set) var seconds = 0.0

    init(runner: Runner) { self.runner = runner }

    /// Fills what a case's contenders start from, as many stores at once as there are processors. What fails here is tried again, and
    /// said, when the contender has its turn.
    mutating func prepareAtOnce(_ run: Runner.CaseRun) {
        var requests: [String: TurnRequest] = [:]
        for turns in run.turns {
            guard let (key, request) = request(run.workload, run.item, turns.contender, run.durability),
                paths[key] == nil
            else { continue }
            requests[key] = requests[key] ?? request
        }
        guard requests.count > 1 else { return }
        runner.progress("\(run.item.suite.name): preparing \(requests.count) stores")
        let started = runner.now()
        let queue = requests.sorted { $0.key < $1.key }
        let filled = Filled()
        // Each call starts a process of its own and touches nothing that another one does.
        nonisolated(unsafe) let launch = runner.launch
        let threads = min(queue.count, ProcessInfo.processInfo.activeProcessorCount)
        DispatchQueue.concurrentPerform(iterations: threads) { _ in
            while let next = filled.next(below: queue.count) {
                do {
                    _ = try launch(queue[next].value)
                    filled.add(next)
                } catch {
                    continue
                }
            }
        }
        for index in filled.all { paths[queue[index].key] = queue[index].value.path }
        seconds += runner.now().timeIntervalSince(started)
    }

    /// Which stores are filled, and which is to be next; for several threads. Unchecked: its lock guards it.
    private final class Filled: @unchecked Sendable {
        private let lock = NSLock()
        private var begun = 0
        private var ended: [Int] = []

        func next(below count: Int) -> Int? {
            lock.withLock {
                guard begun < count else { return nil }
                begun += 1
                return begun - 1
            }
        }
        func add(_ index: Int) { lock.withLock { ended.append(index) } }
        var all: [Int] { lock.withLock { ended } }
    }

    private func request(
        _ workload: Workload, _ item: PlanItem, _ contender: Contender, _ durability: DurabilityClass
    ) -> (key: String, request: TurnRequest)? {
        // What is kept in UserDefaults, its workloads fill in themselves.
        guard let name = workload.starting.fixture, contender.layer != .userDefaults else { return nil }
        let key = "\(name)-\(contender.storeKind)"
        return (
            key,
            TurnRequest(
                task: .prepare, suite: item.suite.name, name: name, contender: contender, durability: durability,
                parameters: runner.plan.parameters(size: item.size),
                path: runner.directory.appendingPathComponent("prepared-\(key).store").path, fixturePath: nil,
                definition: item.suite.definition)
        )
    }

    /// Whether a contender's store for the case is there.
    func isPrepared(_ workload: Workload, _ item: PlanItem, _ contender: Contender) -> Bool {
        request(workload, item, contender, workload.durability ?? runner.plan.durability).map { paths[$0.key] != nil }
            ?? true
    }

    mutating func path(
        _ workload: Workload, _ item: PlanItem, _ contender: Contender, _ durability: DurabilityClass
    ) throws -> String? {
        guard let (key, request) = request(workload, item, contender, durability) else { return nil }
        if let known = paths[key] { return known }
        runner.progress("\(item.suite.name): preparing store '\(request.name)' for \(contender)")
        let started = runner.now()
        _ = try runner.launch(request)
        seconds += runner.now().timeIntervalSince(started)
        paths[key] = request.path
        return request.path
    }

    mutating func removeAll() {
        for path in paths.values { try? StoreFiles.remove(path) }
        paths = [:]
        seconds = 0
    }
}

extension Contender {
    /// Contenders of one kind may start from one prepared store.
    fileprivate var storeKind: String {
        let kind = layer == .floor ? "floor" : "sql"
        let journal = isNative ? ConfigurationChoice.named(configuration)?.journal ?? configuration : "store"
        return "\(engine)-\(journal)-\(kind)-\(copy)"
    }
}

/// What a comparison's time went to, in seconds.
public struct Spent: Codable, Sendable, Equatable {
    /// Between the begin and the end of what is reported.
    public var measured = 0.0
    /// Rounds that only warmed up, whole.
    public var warmUps = 0.0
    /// Filling the stores that cases start from.
    public var preparing = 0.0
    /// Around the measured time: starting processes, warming up within them, copying stores, hashing answers and content.
    public var around = 0.0
    /// All else: finding sizes, removing stores.
    public var other = 0.0

    var known: Double { measured + warmUps + preparing + around }

    mutating func add(_ run: Runner.CaseRun) {
        for turns in run.turns {
            for (index, wallSeconds) in turns.wallSeconds.enumerated() where index < turns.reports.count {
                if index < run.warmUps && turns.reports.count > 1 {
                    warmUps += wallSeconds
                } else if wallSeconds > 0 {
                    measured += turns.reports[index].seconds
                    around += max(0, wallSeconds - turns.reports[index].seconds)
                }
            }
        }
    }
}
