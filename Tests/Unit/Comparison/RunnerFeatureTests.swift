import Foundation
import Testing

@testable import Comparison
@testable import Workloads

/// Turns that take what `seconds` says and nothing else: what the runner makes of times is checked without waiting for any.
private final class FakeTurns {
    let template: TurnReport
    var requests: [TurnRequest] = []
    let seconds: (TurnRequest) -> Double

    init(_ seconds: @escaping (TurnRequest) -> Double) throws {
        self.seconds = seconds
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var request = TurnRequest.example
        request.path = directory.appendingPathComponent("x").path
        template = try #require(try Turn.run(request))
    }

    func launch(_ request: TurnRequest) -> TurnReport? {
        guard request.task == .measure else { return nil }
        requests.append(request)
        var report = template
        report.seconds = seconds(request)
        return report
    }
}

extension TurnRequest {
    fileprivate static let example = TurnRequest(
        task: .measure, suite: "engine", name: "fillseq", contender: Contender(engine: "sqlite", configuration: "wal"),
        durability: .off, parameters: Parameters(size: 10, seed: 1), path: "x", fixturePath: nil)
}

@Suite struct RunnerFeatureTests {
    private func run(_ plan: ComparisonPlan, _ fake: FakeTurns) throws -> ComparisonReport {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        return try Runner(plan: plan, directory: directory, launch: fake.launch).run()
    }

    /// Each row has its own best native configuration, and the ratio against it is the headline.
    @Test func theHeadlineIsAgainstTheBestNativeConfigurationOfTheRow() throws {
        let fake = try FakeTurns { request in
            switch (request.name, request.contender.configuration, request.contender.isNative) {
            case (_, _, false): 1
            case ("fillseq", "wal", _), ("fillrandom", "default", _): 2
            default: 4
            }
        }
        let report = try run(
            plan(cases: ["fillseq", "fillrandom"], engines: ["sqlite:default", "sqlite:wal", "lmdb"]), fake)
        #expect(report.ratios.count == 4)
        #expect(report.headlines.map(\.case) == ["fillseq", "fillrandom"])
        #expect(report.headlines.map(\.baseline.configuration) == ["wal", "default"])
        #expect(report.headlines.map(\.ratio) == [2, 2])
        #expect(report.ratios.filter { $0.isHeadline == false }.map(\.ratio) == [4, 4])
    }

    /// Without a word about it, every configuration runs in the rows that it has a form for.
    @Test func configurationsSitOutWhatTheyHaveNoFormFor() throws {
        func configurations(_ plan: ComparisonPlan, _ name: String) throws -> [String] {
            let workload = try #require(Suite.engine.workload(named: name))
            return plan.contenders(for: workload).filter(\.isNative).map(\.configuration)
        }
        let every = try plan(engines: ["sqlite", "lmdb"], configurations: nil)
        #expect(try configurations(every, "readseq") == ["leveldb", "default", "wal", "tuned"])
        #expect(try configurations(every, "fillseqsync") == ["leveldb", "default", "wal", "tuned"])
        #expect(try configurations(every, "readers-beside-writer") == ["default", "wal", "tuned"])
        let normal = try plan(engines: ["sqlite", "lmdb"], configurations: nil, durability: .normal)
        #expect(try configurations(normal, "readseq") == ["leveldb", "wal", "tuned"])
        #expect(throws: PlanError.self) { try plan(engines: ["sqlite:default"], durability: .normal) }
        let fake = try FakeTurns { _ in 1 }
        let report = try run(plan(cases: ["fillseqsync-4writers"], engines: ["sqlite:leveldb", "lmdb"]), fake)
        #expect(report.warnings.contains { $0.contains("leveldb keeps the file to one connection") })
    }

    /// Who cannot be the headline has fewer turns: the hopeless one, the slow ones, the control, the floors.
    @Test func whoCannotBeTheHeadlineIsSparedFurtherTurns() throws {
        let fake = try FakeTurns { request in
            switch (request.contender.isNative, request.contender.configuration) {
            case (true, "default"): 0.9
            case (true, "wal"): 0.2
            case (true, "tuned"): 0.35
            default: 0.1
            }
        }
        var plan = try plan(
            cases: ["fillseq"],
            engines: ["sqlite:default", "sqlite:wal", "sqlite:tuned", "lmdb", Contender.control], repeats: 5,
            layers: ["floor"])
        plan.sparesSlow = true
        let report = try run(plan, fake)
        #expect(report.results.map(\.samples.count) == [1, 5, 2, 5, 2, 2, 2])
        #expect(report.headlines.map(\.baseline.configuration) == ["wal", "wal"])
        #expect(report.headlines.first?.isDifferent == true)
        #expect(fake.requests.count == 1 + 6 + 3 + 6 + 3 + 3 + 3)
        plan.sparesSlow = false
        #expect(try run(plan, fake).results.map(\.samples.count) == [5, 5, 5, 5, 5, 5, 5])

        let long = try FakeTurns { $0.contender.layer == .floor ? 1 : 2 }
        plan.sparesSlow = true
        #expect(try run(plan, long).results.map(\.samples.count) == [5, 5, 5, 5, 1, 1, 1])
        #expect(long.requests.count == 4 * 5 + 3, "long turns are measured from the first on")

        // A configuration that one slow turn held up goes on; one that is behind in each does not.
        var isFirst = true
        let held = try FakeTurns { request in
            switch (request.contender.isNative, request.contender.configuration) {
            case (true, "wal"): return 0.2
            case (true, "tuned"):
                defer { isFirst = false }
                return isFirst ? 0.5 : 0.2
            case (true, "default"): return 0.21
            default: return 0.1
            }
        }
        #expect(try run(plan, held).results.map(\.samples.count) == [3, 5, 5, 5, 2, 2, 2])

        // One that was left behind goes on when the best turns out slower than it: the headline is never against two turns.
        var wal = 0
        let turning = try FakeTurns { request in
            switch (request.contender.isNative, request.contender.configuration) {
            case (true, "wal"):
                wal += 1
                return wal > 3 ? 0.4 : 0.2
            case (true, "tuned"): return 0.25
            case (true, "default"): return 0.9
            default: return 0.1
            }
        }
        let turned = try run(plan, turning)
        #expect(turned.headlines.first?.baseline.configuration == "tuned")
        let tuned = try #require(turned.results.first { $0.configuration == "tuned" })
        #expect(tuned.samples.count == 5)
    }

    /// Answers on a prepared store are hashed once where a turn is long, and again when the store is not as it was.
    @Test func longReadsAreHashedOnce() throws {
        let fake = try FakeTurns { $0.name == "readrandom" ? 1.5 : 0.5 }
        _ = try run(
            plan(cases: ["readrandom", "readseq", "fillseq"], engines: ["sqlite:wal", "lmdb"], repeats: 3), fake)
        func known(_ name: String) -> [Bool] {
            fake.requests.filter { $0.name == name }.map { $0.knownChecksum != nil }
        }
        #expect(known("readrandom") == [false, false] + Array(repeating: true, count: 6))
        #expect(known("readseq").allSatisfy { !$0 } && known("fillseq").allSatisfy { !$0 })

        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var seen: [Bool] = []
        let report = try Runner(
            plan: plan(cases: ["readrandom"], engines: ["sqlite:wal"], repeats: 3), directory: directory,
            launch: { request in
                var turn = try Turn.run(request)
                guard request.task == .measure else { return turn }
                seen.append(request.knownChecksum != nil)
                turn?.seconds = 1.5
                if seen.count == 2 { utimes(request.path, nil) }
                return turn
            }
        ).run()
        #expect(seen == [false, true, false, true], "the second turn touched the file")
        #expect(report.failures.isEmpty && Set(report.results.map(\.checksum)).count == 1)
    }

    /// Native configurations of one journal start from one file; an engine against itself has two.
    @Test func preparedStoresAreSharedWhereTheyAreTheSame() throws {
        func paths(_ engines: [String]) throws -> [String] {
            let directory = temporaryDirectory()
            defer { try? FileManager.default.removeItem(at: directory) }
            var paths: [String] = []
            let report = try Runner(
                plan: plan(cases: ["readseq"], engines: engines, repeats: 1), directory: directory,
                launch: { request in
                    if request.task == .prepare { paths.append(request.path) }
                    return try Turn.run(request)
                }
            ).run()
            #expect(report.failures.map(\.message) == [])
            return paths
        }
        #expect(try paths(["sqlite:wal", "sqlite:tuned", "sqlite:default", "sqlite:mapped", "lmdb"]).count == 3)
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        for (suite, fixture, size) in [
            ("engine", "filled", 20_000), ("engine", "filled-rowid", 5000), ("queries", "sales", 5000),
        ] {
            let files = try ["wal", "tuned", "leveldb", "mapped"].map { name in
                let path = directory.appendingPathComponent("\(fixture)-\(name)").path
                _ = try Turn.run(
                    TurnRequest(
                        task: .prepare, suite: suite, name: fixture,
                        contender: Contender(engine: "sqlite", configuration: name), durability: .off,
                        parameters: Parameters(size: size, seed: 301), path: path, fixturePath: nil))
                return try Data(contentsOf: URL(fileURLWithPath: path))
            }
            #expect(Set(files).count == 1, "\(fixture): each fills the same bytes")
        }
        #expect(try paths(["sqlite:wal", "sqlite:wal"]).count == 2)
        #expect(try paths(["lmdb", "lmdb"]).count == 2)
    }

    /// Each case has its first round; then the cheap ones have all of theirs before the expensive one has more.
    @Test func theCheapestCasesHaveTheirTurnsFirst() throws {
        let fake = try FakeTurns { $0.name == "fillseq" ? 900 : $0.name == "fillrandom" ? 700 : 800 }
        var plan = try plan(
            cases: ["fillseq", "fillrandom", "readseq"], engines: ["sqlite:wal", "lmdb"], repeats: 5)
        plan.budget = 1e6
        plan.sparesSlow = true
        _ = try run(plan, fake)
        let names = fake.requests.map(\.name)
        func turns(_ name: String, _ count: Int) -> [String] { Array(repeating: name, count: count) }
        #expect(
            names == turns("fillseq", 2) + turns("fillrandom", 2) + turns("readseq", 2) + turns("fillrandom", 8)
                + turns("readseq", 8) + turns("fillseq", 8))
    }

    /// A suite against itself, with turns that scatter as on a busy machine: at most one row in twenty is called different.
    @Test func aWholeRunOfAnEngineAgainstItselfShowsNoDifference() throws {
        var random = SplitMix64(seed: 11)
        let fake = try FakeTurns { _ in
            Double.random(in: 1...1.2, using: &random) * (Double.random(in: 0..<1, using: &random) < 0.1 ? 2 : 1)
        }
        var rows = 0
        var different = 0
        for seed in 1...12 {
            var plan = try plan(engines: ["lmdb", "lmdb"], repeats: 5)
            plan.seed = UInt32(seed)
            let report = try run(plan, fake)
            #expect(report.failures.map(\.message) == [])
            rows += report.headlines.count
            different += report.headlines.filter(\.isDifferent).count
        }
        #expect(rows == 12 * Suite.engine.workloads.count)
        #expect(Double(different) <= 0.05 * Double(rows), "\(different) of \(rows)")
    }

    @Test func sizesShrinkToFitTheTime() {
        let estimate = SizeEstimate(full: 1_000_000, smallest: 2000, sizes: (2000, 10_000), seconds: (1, 2))
        #expect(estimate.seconds(2000) == 1)
        #expect(estimate.seconds(10_000) == 2)
        #expect(estimate.seconds(1_000_000) == 1 + 998.0 / 8)
        #expect(SizeEstimate.fraction(of: [estimate], seconds: 200) == 1)
        let size = estimate.size(SizeEstimate.fraction(of: [estimate], seconds: 10))
        #expect(size == 74_000, "two digits count, and no more time than there is")
        #expect(
            estimate.size(SizeEstimate.fraction(of: [estimate], seconds: 0)) == 2000, "never below the least that works"
        )
        let two = SizeEstimate.fraction(of: [estimate, estimate], seconds: 20)
        #expect(abs(two - SizeEstimate.fraction(of: [estimate], seconds: 10)) < 0.002)
    }

    @Test func aScaledRunSaysSo() throws {
        let fake = try FakeTurns { _ in 1 }
        var clock = Date(timeIntervalSinceReferenceDate: 0)
        let slow = { (request: TurnRequest) -> TurnReport? in
            clock.addTimeInterval(Double(request.parameters.size) / 1_000_000)
            return fake.launch(request)
        }
        var plan = try plan(cases: ["fillseq"], size: 1_000_000, engines: ["sqlite:wal", "lmdb"], repeats: 1)
        plan.budget = 1
        plan.scales = true
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var runner = Runner(plan: plan, directory: directory, launch: slow)
        runner.now = { clock }
        let report = try runner.run()
        let size = try #require(report.environment.sizes["engine"])
        #expect(size < 300_000 && size >= 2000, "a million takes a second a turn; all four have one")
        #expect(
            report.warnings.contains {
                $0.contains("scaled down") && $0.contains("engine to \(size) of 1000000 entries")
            })
        #expect(report.results.allSatisfy { $0.operations == size })
    }

    @Test func aJournalOfSomethingElseIsRefused() throws {
        let path = temporaryDirectory().path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try TurnJournal(path: path).begin(plan())
        #expect(throws: JournalError.self) { try TurnJournal(path: path).begin(plan(engines: ["lmdb"])) }
        try TurnJournal(path: path).begin(plan())
        for text in ["no journal\n", "{}\n", "a file of one line"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: JournalError.self) { try TurnJournal(path: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
        }
        // Interrupted as its first line was written.
        try Data(#"{"plan":{"#.utf8).write(to: URL(fileURLWithPath: path))
        try TurnJournal(path: path).begin(plan())
    }

    /// What was written for a byte of the user's: known for the microbenchmark, taken from the content for plain inserts.
    @Test func writeAmplificationIsPerByteOfTheUser() throws {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let engine = try Runner(
            plan: plan(cases: ["fillseqbatch", "overwrite", "readseq"], engines: ["sqlite:wal"], repeats: 1),
            directory: directory, launch: Turn.run
        ).run()
        #expect(engine.results.map(\.userBytes) == [2000 * 116, 2000 * 116, nil])
        let first = try #require(engine.results.first)
        #expect(first.megabytesPerSecond ?? 0 > 0)
        if first.cost.bytesWritten != nil { #expect(first.writeAmplification ?? 0 >= 1) }
        let cars = try Runner(
            plan: plan(.cars, cases: ["store"], size: 200, engines: ["sqlite:wal"], repeats: 1), directory: directory,
            launch: Turn.run
        ).run()
        #expect(cars.results.first?.userBytes ?? 0 > 200 * 20)
    }

    /// The results that the project keeps can be shown again, those of layers that nothing measures any more among them.
    @Test func keptReportsAreRead() throws {
        let folder = PageTests.root.appendingPathComponent("Vendor-notes/results")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }
        #expect(names.count > 5)
        for name in names {
            let report = try ComparisonReport.read(folder.appendingPathComponent(name).path)
            #expect(!report.terminalText(colour: false, costs: false).isEmpty, "\(name)")
        }
    }

    /// Other keys and values than db_bench's: every case's answers are equal, and what is shown says so.
    @Test func otherSizesOfKeysAndValuesAnswerAlike() throws {
        let shape = try EngineShape(keyBytes: 33, valueBytes: 130, threads: 3, readRatio: 0.5)
        let suite = Suite.engine(shape)
        var plan = try plan(
            suite, cases: ["fillseq", "overwritebatch", "readmissing", "readseq", "readers-beside-writer", "mixed"],
            engines: ["sqlite:wal", "lmdb"], repeats: 1, layers: ["floor", "swift-api"])
        plan.shape = shape
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        let report = try Runner(plan: plan, directory: directory, launch: Turn.run).run()
        #expect(report.failures.map(\.message) == [])
        #expect(report.ratios.allSatisfy { $0.published == nil })
        #expect(report.results.first { $0.case == "fillseq" }?.userBytes == 2000 * 163)
        #expect(
            report.terminalText(colour: false, costs: false).contains(
                "keys of 33 bytes, values of 130 bytes, 3 threads, reads 0.5 of the mix"))
        var standard = report
        standard.environment.shape = nil
        #expect(throws: PlanError.self) { try report.changes(since: standard) }
        #expect(try report.changes(since: report).count == report.ratios.count)
    }

    @Test func aWorkerThatFailsFailsItsCase() throws {
        let directory = temporaryDirectory()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let request = TurnRequest(
            task: .measure, suite: "engine", name: "fillseq",
            contender: Contender(engine: "sqlite", configuration: "wal"),
            durability: .off, parameters: Parameters(size: 10, seed: 1),
            path: directory.appendingPathComponent("x").path,
            fixturePath: nil)
        let session = try Turn.open(request, path: request.path, durability: .off, size: 10)
        defer { session.close() }
        for isEarly in [true, false] {
            let good = Workers.Crew(count: 2, operations: 1, isCompanion: true) { worker in
                { while !worker.isOver() {} }
            }
            let bad = Workers.Crew(count: 2, operations: 1) { worker in
                if isEarly && worker.index == 1 { throw WorkloadError("not ready") }
                return { if worker.index == 1 { throw WorkloadError("broken") } }
            }
            let error = #expect(throws: WorkloadError.self) {
                try Workers.run([good, bad], session, Meter(operations: 2))
            }
            #expect(error?.message == (isEarly ? "not ready" : "broken"))
        }
    }
}
