// What is to be compared: cases, contenders, sizes and repeats.
//
// Invariant: a plan that could not be run as it is asked for is refused while it is made, by name, before anything is
// measured.

import Workloads

public struct PlanError: Error, CustomStringConvertible, Sendable {
    public var description: String
    public init(_ description: String) { self.description = description }
}

public struct PlanItem: Sendable {
    public var suite: Suite
    public var workloads: [Workload]
    public var size: Int

    public init(suite: Suite, workloads: [Workload], size: Int) {
        self.suite = suite
        self.workloads = workloads
        self.size = size
    }
}

public struct ComparisonPlan: Sendable {
    public var items: [PlanItem]
    public var engines: [String]
    public var configurations: [ConfigurationChoice]
    public var durability: DurabilityClass
    /// Turns of each contender at each case; with a budget, the least of them.
    public var repeats: Int
    /// Seconds for the whole plan: within it turns go on until a ratio is known within 5%.
    public var budget: Double?
    public var seed: UInt32
    /// Layers beside the C interface, which is always measured.
    public var layers: Set<Layer>
    /// For the report: how it was asked for, and by which version.
    public var command: String
    public var rootstockVersion: String

    /// - Parameter durability: the class for workloads that do not name one themselves.
    public init(
        items: [PlanItem], engines: [String], configurations: [String], durability: DurabilityClass, repeats: Int,
        budget: Double? = nil, seed: UInt32, layers: [String] = [], command: String, rootstockVersion: String
    ) throws {
        guard !engines.isEmpty else { throw PlanError("no engine was named") }
        guard repeats > 0 else { throw PlanError("repeats must be 1 or more") }
        if let budget, budget <= 0 { throw PlanError("a time budget must be more than nothing") }
        for item in items where item.size < 1 {
            throw PlanError("the size of suite \(item.suite.name) must be 1 or more")
        }
        self.items = items
        self.engines = engines
        self.configurations = try configurations.map { name in
            guard let choice = ConfigurationChoice.named(name) else {
                let known = ConfigurationChoice.all.map(\.name).joined(separator: ", ")
                throw PlanError("there is no native configuration '\(name)'; there are \(known)")
            }
            return choice
        }
        self.durability = durability
        self.repeats = repeats
        self.budget = budget
        self.seed = seed
        self.layers = Set(
            try layers.map { name in
                guard let layer = Layer(rawValue: name) else {
                    let known = Layer.allCases.map(\.rawValue).joined(separator: ", ")
                    throw PlanError("there is no layer '\(name)'; there are \(known)")
                }
                return layer
            })
        self.command = command
        self.rootstockVersion = rootstockVersion
        for workload in items.flatMap(\.workloads) {
            let durability = workload.durability ?? durability
            for choice in self.configurations where engines.contains("sqlite") && !choice.supports(durability) {
                throw PlanError(
                    "native configuration '\(choice.name)' keeps a rollback journal and has no form in durability class "
                        + "'\(durability.rawValue)', which is WAL's: choose wal, tuned or leveldb")
            }
        }
    }

    /// The contenders of a workload, the baseline first.
    func contenders(for workload: Workload) -> [Contender] {
        var contenders: [Contender] = []
        for engine in engines {
            let names = engine == "sqlite" ? configurations.map(\.name) : ["default"]
            for name in names {
                var contender = Contender(engine: engine, configuration: name)
                while contenders.contains(contender) { contender.copy += 1 }
                contenders.append(contender)
            }
        }
        if layers.contains(.swiftInterface) && workload.runInSwift != nil {
            contenders += contenders.map { contender in
                var above = contender
                above.layer = .swiftInterface
                return above
            }
        }
        if layers.contains(.floor) && workload.floor != nil && engines.contains("lmdb") {
            contenders.append(Contender(engine: "lmdb", configuration: "default", layer: .floor))
        }
        return contenders
    }
}

/// A length of time as a user writes it: "90s", "3m", "1h", or seconds.
public func secondsOfTime(_ text: String) throws -> Double {
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    guard let number = Double(digits), number.isFinite else {
        throw PlanError("'\(text)' is no length of time; write 90s, 3m or 1h")
    }
    return number * (unit ?? 1)
}
