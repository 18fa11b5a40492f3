// What is to be compared: cases, contenders, sizes and repeats.
//
// Invariant: a plan that could not be run as it is asked for is refused while it is made, by name, before anything is
// measured.

import Rootstock
import Workloads

public struct PlanError: Error, CustomStringConvertible, Sendable {
    public var description: String
    public init(_ description: String) { self.description = description }
}

public struct PlanItem: Sendable {
    public var suite: Suite
    public var workloads: [Workload]
    public var size: Int
    /// Whether the plan has the suite at other sizes too: then the name of a case says its size.
    public var isOneOfSizes = false

    public init(suite: Suite, workloads: [Workload], size: Int) {
        self.suite = suite
        self.workloads = workloads
        self.size = size
    }

    /// A case's name in the report.
    func caseName(_ workload: Workload) -> String {
        isOneOfSizes ? "\(workload.name) at \(size)" : workload.name
    }
}

public struct ComparisonPlan: Sendable {
    public var items: [PlanItem]
    /// Engines, and for the native one each configuration: the contenders at the C interface, the baseline first.
    public var contestants: [Contestant]
    public var durability: DurabilityClass
    /// Turns of each contender at each case; with a budget, the least of them.
    public var repeats: Int
    /// Seconds for the whole plan: within it turns go on until a ratio is known as well as `precision` says.
    public var budget: Double?
    /// How wide an interval may be, as a fraction, for its case to be done before the time is over.
    public var precision = 0.05
    /// Whether sizes may be made smaller to fit the budget.
    public var scales = false
    /// Whether time is spared. Contenders that cannot be a row's headline are left at a turn or two: native configurations
    /// clearly behind the best, the control, other layers. Long turns have no round to warm up.
    public var sparesSlow = false
    /// Whether the stores of a case's contenders are filled at once, as many as there are processors; nothing is measured meanwhile.
    /// The runner's `launch` is then called from several threads.
    public var preparesAtOnce = false
    /// With a budget: a case has this many turns of each contender, or is not run; the cases come in the order of the plan. 0: each has
    /// its first turn before any has more.
    public var leastTurns = 0
    public var seed: UInt32
    /// What suite `engine` writes and reads.
    public var shape = EngineShape.standard
    /// Layers beside the C interface, which is always measured.
    public var layers: Set<Layer>
    /// For the report: how it was asked for, and by which version.
    public var command: String
    public var rootstockVersion: String

    /// An engine, or the native engine in one configuration.
    public struct Contestant: Sendable, Equatable {
        public var engine: String
        public var configuration: String
        /// Whether it was named itself; a configuration that came by the list may sit out rows that it has no form for.
        public var isNamed: Bool
    }

    func parameters(size: Int) -> Parameters { Parameters(size: size, seed: seed, shape: shape) }

    /// The configurations that were asked for and are in the plan.
    public var configurations: [ConfigurationChoice] {
        ConfigurationChoice.all.filter { choice in
            contestants.contains { $0.engine == "sqlite" && $0.configuration == choice.name }
        }
    }

    /// - Parameters:
    ///   - engines: names of engines; the native one stands for each of `configurations`, or, as `sqlite:wal`, for one.
    ///   - configurations: null for all that there are, each in the rows that it has a form for.
    ///   - durability: the class for workloads that do not name one themselves.
    public init(
        items: [PlanItem], engines: [String], configurations: [String]?, durability: DurabilityClass, repeats: Int,
        budget: Double? = nil, seed: UInt32, layers: [String] = [], command: String, rootstockVersion: String
    ) throws {
        guard !engines.isEmpty else { throw PlanError("no engine was named") }
        guard repeats > 0 else { throw PlanError("repeats must be 1 or more") }
        if let budget, budget <= 0 { throw PlanError("a time budget must be more than nothing") }
        for item in items where item.size < 1 {
            throw PlanError("the size of suite \(item.suite.name) must be 1 or more")
        }
        self.items = items
        contestants = try engines.flatMap { try Self.contestants($0, configurations) }
        self.durability = durability
        self.repeats = repeats
        self.budget = budget
        self.seed = seed
        self.layers = Set(
            try layers.map { name in
                guard let layer = Layer(rawValue: name), Layer.measured.contains(layer) else {
                    let known = Layer.measured.map(\.rawValue).joined(separator: ", ")
                    throw PlanError("there is no layer '\(name)'; there are \(known)")
                }
                return layer
            })
        self.command = command
        self.rootstockVersion = rootstockVersion
        for workload in items.flatMap(\.workloads) {
            let durability = workload.durability ?? durability
            for contestant in contestants where contestant.isNamed {
                guard let choice = contestant.choice else { continue }
                guard choice.supports(durability) else {
                    throw PlanError(
                        "native configuration '\(choice.name)' keeps a rollback journal and has no form in durability class "
                            + "'\(durability.rawValue)', which is WAL's: choose wal, tuned or leveldb")
                }
            }
        }
    }

    private static func contestants(_ name: String, _ configurations: [String]?) throws -> [Contestant] {
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts[0] == "sqlite" else {
            guard Engine.registered.contains(Engine(name: parts[0])) else {
                let known = (["sqlite"] + Engine.registered.map(\.name)).joined(separator: ", ")
                throw PlanError("there is no engine '\(parts[0])'; there are \(known)")
            }
            guard Engine(name: name).isKnown else {
                throw PlanError("engine '\(parts[0])' has no form '\(parts[1])'; write \(parts[0]) alone")
            }
            return [Contestant(engine: name, configuration: "default", isNamed: true)]
        }
        let names =
            parts.count == 2 ? [parts[1]] : configurations ?? ConfigurationChoice.all.filter(\.isListed).map(\.name)
        let areNamed = parts.count == 2 || configurations != nil
        return try names.map { name in
            guard ConfigurationChoice.named(name) != nil else {
                let known = ConfigurationChoice.all.map(\.name).joined(separator: ", ")
                throw PlanError("there is no native configuration '\(name)'; there are \(known)")
            }
            return Contestant(engine: "sqlite", configuration: name, isNamed: areNamed)
        }
    }

    /// The contenders of a workload, the baseline first.
    func contenders(for workload: Workload) -> [Contender] {
        var contenders: [Contender] = []
        for contestant in contestants {
            if let choice = contestant.choice {
                guard choice.supports(workload.durability ?? durability), choice.supports(workload) else { continue }
            }
            var contender = Contender(engine: contestant.engine, configuration: contestant.configuration)
            while contenders.contains(contender) { contender.copy += 1 }
            contenders.append(contender)
        }
        let alone = contenders.filter { $0.copy == 0 }
        if layers.contains(.swiftInterface) && workload.runInSwift != nil {
            contenders += alone.map { contender in
                var above = contender
                above.layer = .swiftInterface
                return above
            }
        }
        // SQLite's own B-tree has no calls of its own to be asked by: it is the control's floor.
        if layers.contains(.floor) && workload.floor != nil {
            contenders += alone.filter { !$0.isNative }.map { contender in
                var below = contender
                below.layer = .floor
                return below
            }
        }
        if layers.contains(.userDefaults) && workload.runInUserDefaults != nil {
            contenders.append(Contender(engine: "foundation", configuration: "default", layer: .userDefaults))
        }
        return contenders
    }
}

extension ComparisonPlan.Contestant {
    var choice: ConfigurationChoice? { engine == "sqlite" ? ConfigurationChoice.named(configuration) : nil }
}

/// A length of time as a user writes it: "90s", "3m", "1h", or seconds.
public func secondsOfTime(_ text: String) throws -> Double {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard let number = Double(digits), number.isFinite, number > 0 else {
        throw PlanError("'\(text)' is no length of time; write 90s, 3m or 1h")
    }
    return number * (unit ?? 1)
}
