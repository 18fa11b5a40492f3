import Foundation
import Testing

@testable import Comparison
@testable import Workloads

/// A directory for one test's stores.
func temporaryDirectory() -> URL {
    FileManager.default.temporaryDirectory.appendingPathComponent("comparison-tests-\(UUID().uuidString)")
}

func plan(
    _ suite: Suite = .engine, cases: [String]? = nil, size: Int = 2000, engines: [String] = ["sqlite", "sqlite"],
    configurations: [String]? = ["leveldb"], durability: DurabilityClass = .off, repeats: Int = 4,
    layers: [String] = []
) throws -> ComparisonPlan {
    let workloads = cases.map { names in suite.workloads.filter { names.contains($0.name) } } ?? suite.workloads
    return try ComparisonPlan(
        items: [PlanItem(suite: suite, workloads: workloads, size: size)], engines: engines,
        configurations: configurations, durability: durability, repeats: repeats, seed: 301, layers: layers,
        command: "test", rootstockVersion: "test")
}

@Suite struct RunnerTests {
    /// Every case of every suite, on the native engine in its configurations and on LMDB: equal answers.
    @Test(arguments: Suite.all.map(\.name))
    func everyCaseAnswersAlikeOnEveryEngine(name: String) throws {
        let suite = try #require(Suite.named(name))
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let configurations = name == "engine" ? ConfigurationChoice.all.map(\.name) : ["wal"]
        let plan = try plan(
            suite, size: suite.smallestSize, engines: ["sqlite", "lmdb"], configurations: configurations, repeats: 1)
        let report = try Runner(plan: plan, directory: directory, launch: Turn.run).run()
        #expect(report.failures.map { "\($0.case) \($0.contender): \($0.message)" } == [])
        #expect(report.results.count == suite.workloads.reduce(0) { $0 + plan.contenders(for: $1).count })
        for workload in suite.workloads {
            let checksums = report.results.filter { $0.case == workload.name }.map(\.checksum)
            #expect(Set(checksums).count == 1, "\(workload.name)")
        }
        #expect(report.results.filter { $0.seconds <= 0 || $0.operations < 1 || $0.latency.max <= 0 }.map(\.case) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    /// Raw LMDB holds and gives the same keys and values as the table does.
    @Test func theFloorAnswersAsSQLDoes() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let suite = Suite.engine
        let native = try Runner(
            plan: plan(engines: ["sqlite"], repeats: 1), directory: directory, launch: Turn.run
        ).run()
        for workload in suite.workloads {
            guard workload.floor != nil else { continue }
            let contender = Contender(engine: "lmdb", configuration: "default", layer: .floor)
            let path = directory.appendingPathComponent("floor").path
            var request = TurnRequest(
                task: .prepare, suite: suite.name, name: workload.starting.fixture ?? "", contender: contender,
                durability: .off, parameters: Parameters(size: 2000, seed: 301), path: path + "-prepared",
                fixturePath: nil)
            if workload.starting.fixture != nil { _ = try Turn.run(request) }
            request.task = .measure
            request.name = workload.name
            request.fixturePath = path + "-prepared"
            if case .shared = workload.starting { request.path = path + "-prepared" } else { request.path = path }
            let turn = try #require(try Turn.run(request))
            let expected = native.results.first { $0.case == workload.name }
            #expect(turn.checksum == expected?.checksum, "\(workload.name)")
        }
    }

    @Test func theSwiftInterfaceAnswersAsTheOthersDo() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(
            plan: plan(
                cases: ["fillseqsync", "fillrandbatch", "overwrite", "readrandom", "readreverse"],
                engines: ["sqlite", "lmdb"], repeats: 1, layers: ["floor", "swift-api"]),
            directory: directory, launch: Turn.run
        ).run()
        #expect(report.failures.map(\.message) == [])
        #expect(report.results.count == 5 * 5)
        #expect(report.ratios.count == 5, "only SQL by the C interface is held against SQL by the C interface")
        #expect(report.layers.count == 5 * 3)
    }

    /// Objects saved and read through Rootstock's API are those of the C interface.
    @Test func recordsAnswerAlikeInEveryLayer() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(
            plan: plan(
                .records, size: 20, engines: ["sqlite:wal", "lmdb"], repeats: 1, layers: ["swift-api"]),
            directory: directory, launch: Turn.run
        ).run()
        #expect(report.failures.map { "\($0.case) \($0.contender): \($0.message)" } == [])
        #expect(report.results.count == 6 * 2 * 2)
    }

    @Test func anEngineWithoutFilesFillsItsStoreInEachTurn() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(
            plan: plan(cases: ["fillseq", "overwritebatch", "readseq"], engines: ["sqlite", "memory"], repeats: 1),
            directory: directory, launch: Turn.run
        ).run()
        #expect(report.failures.map(\.message) == [])
        #expect(report.ratios.map(\.engine) == ["memory", "memory", "memory"])
    }

    @Test func noTimeIsReportedWhereAnswersDiffer() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(
            plan: plan(cases: ["readrandom", "readseq"]), directory: directory,
            launch: { request in
                var turn = try Turn.run(request)
                if request.name == "readseq" && request.contender.copy == 1 { turn?.checksum = "0000000000000000" }
                return turn
            }
        ).run()
        #expect(report.results.map(\.case) == ["readrandom", "readrandom"])
        #expect(report.ratios.map(\.case) == ["readrandom"])
        #expect(report.failures.count == 1)
        #expect(report.failures.first?.message.hasPrefix("answers differ") == true)
    }

    @Test func aContenderThatFailsIsNamedAndTheOthersGoOn() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(
            plan: plan(cases: ["fillseq"]), directory: directory,
            launch: { request in
                if request.contender.copy == 1 { throw WorkloadError("out of order") }
                return try Turn.run(request)
            }
        ).run()
        #expect(report.results.count == 1)
        #expect(report.ratios.isEmpty)
        #expect(report.failures.map(\.message) == ["out of order"])
    }

    @Test func turnsAreInterleavedAndTheirOrderFollowsTheSeed() throws {
        var order: [Int] = []
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try Runner(
            plan: plan(cases: ["fillseq"], repeats: 7), directory: directory,
            launch: { request in
                order.append(request.contender.copy)
                return try Turn.run(request)
            }
        ).run()
        let rounds = stride(from: 0, to: order.count, by: 2).map { Array(order[$0..<$0 + 2]) }
        #expect(rounds.count == 8)
        #expect(rounds.allSatisfy { $0.sorted() == [0, 1] })
        #expect(Set(rounds).count == 2, "one engine always went first")
    }

    @Test func aBudgetBuysTurnsUntilTheRatioIsKnown() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        // Times that scatter by half never let a ratio be known within 5%; times that do not, do at once.
        for (scatter, expected) in [(0.5, Runner.mostRounds), (0.0, 5)] {
            var turn = 0
            var measured: TurnReport?
            var plan = try plan(cases: ["fillseq"], size: 100, repeats: 5)
            plan.budget = 3600
            let report = try Runner(
                plan: plan, directory: directory,
                launch: { request in
                    turn += 1
                    var report = try measured ?? Turn.run(request)
                    measured = report
                    report?.seconds = 1 + scatter * Double(turn * 7 % 11) / 11
                    return report
                }
            ).run()
            #expect(report.results.map(\.samples.count) == [expected, expected])
        }
    }

    @Test func lengthsOfTime() throws {
        #expect(try secondsOfTime("90s") == 90)
        #expect(try secondsOfTime("3m") == 180)
        #expect(try secondsOfTime("1.5h") == 5400)
        #expect(try secondsOfTime("7") == 7)
        for wrong in ["", "m", "3x", "three"] { #expect(throws: PlanError.self) { try secondsOfTime(wrong) } }
    }

    @Test func whatHasNoFormIsRefused() {
        #expect(throws: PlanError.self) { try plan(configurations: ["default"], durability: .normal) }
        #expect(throws: PlanError.self) { try plan(configurations: ["fastest"]) }
        #expect(throws: PlanError.self) { try plan(repeats: 0) }
        #expect(throws: PlanError.self) { try plan(size: 0) }
        #expect(throws: PlanError.self) { try plan(layers: ["cellar"]) }
    }

    @Test func configurationsAreInForce() throws {
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let expected: [(String, DurabilityClass, String, Int)] = [
            ("leveldb", .off, "wal", 0), ("leveldb", .full, "wal", 2), ("default", .off, "delete", 0),
            ("default", .full, "delete", 2), ("wal", .normal, "wal", 1), ("tuned", .full, "wal", 2),
        ]
        for (name, durability, journal, synchronous) in expected {
            let path = directory.appendingPathComponent("\(name)-\(durability.rawValue)").path
            let request = TurnRequest(
                task: .measure, suite: "engine", name: "fillseq",
                contender: Contender(engine: "sqlite", configuration: name), durability: durability,
                parameters: Parameters(size: 1, seed: 1), path: path, fixturePath: nil)
            let session = try Turn.open(request, path: path, durability: durability, size: 1)
            let mode = try session.statement("PRAGMA journal_mode")
            #expect(try mode.step() && mode.string(0) == journal, "\(name)")
            let level = try session.statement("PRAGMA synchronous")
            #expect(try level.step() && level.integer(0) == synchronous, "\(name) \(durability)")
            session.close()
        }
    }
}
