import Foundation
import Testing

@testable import Comparison
@testable import Workloads

/// The time given to a comparison is kept, and what did not fit is said.
@Suite struct TimetableTests {
    @Test func casesToComeKeepTheirTime() {
        let begun = Date()
        var table = Timetable(begun: begun, seconds: 100, cases: 10)
        #expect(table.hasTime(forRoundOf: 100, casesToCome: 9, now: begun), "nothing is known of the others yet")
        for seconds in [1.0, 2, 50] { table.note(firstRound: seconds) }
        let later = begun.addingTimeInterval(60)
        #expect(table.hasTime(forRoundOf: 26, casesToCome: 7, now: later), "7 cases of 2 s after it")
        #expect(!table.hasTime(forRoundOf: 27, casesToCome: 7, now: later))
        // First rounds fill stores: those after them take less.
        var filling = Timetable(begun: begun, seconds: 100, cases: 10)
        filling.note(firstRound: 10, next: 1)
        #expect(filling.hasTime(forRoundOf: 34, casesToCome: 4, roundsToCome: 5, now: begun.addingTimeInterval(10)))
        #expect(!filling.hasTime(forRoundOf: 35, casesToCome: 4, roundsToCome: 5, now: begun.addingTimeInterval(10)))
        #expect(table.hasTimeToBegin(now: begun.addingTimeInterval(104)))
        #expect(!table.hasTimeToBegin(now: begun.addingTimeInterval(106)))
        #expect(table.end(ofSuiteEndingWith: 5) == begun.addingTimeInterval(50))
        let endless = Timetable(begun: begun, seconds: nil, cases: 10)
        #expect(endless.hasTime(forRoundOf: 1e9, casesToCome: 9, now: later) && endless.hasTimeToBegin(now: later))
        #expect(endless.end(ofSuiteEndingWith: 5) == nil)
    }

    /// Turns that are slower than the time given allows: fewer of them, then cases left out, each named. The clock stands but for the
    /// turns, so that what they cost is the same on every machine.
    @Test func theTimeGivenIsKept() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("time-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var measured: TurnReport?
        var clock = Date()
        func report(_ plan: ComparisonPlan) throws -> ComparisonReport {
            var runner = Runner(
                plan: plan, directory: directory,
                launch: { request in
                    var turn = try measured ?? Turn.run(request)
                    turn?.seconds = 0.05
                    measured = turn
                    clock.addTimeInterval(0.1)
                    return turn
                })
            runner.now = { clock }
            return try runner.run()
        }
        let names = ["fillseq", "fillrandom", "fillseqbatch", "fillrandbatch"]
        var plan = try plan(cases: names, size: 100, repeats: 10)
        // A round of two contenders takes 0.2 s: all would take 8.8 s.
        plan.budget = 2
        let started = clock
        let few = try report(plan)
        #expect(clock.timeIntervalSince(started) <= 2.1)
        #expect(clock.timeIntervalSince(started) > 1.5, "and used")
        #expect(Set(few.results.map(\.case)) == Set(names), "each has its round")
        #expect(few.results.allSatisfy { $0.samples.count < 10 })
        #expect(
            few.warnings.contains { $0.contains("fewer turns than 10 fitted into the time given: engine fillseq ") },
            "\(few.warnings)")
        plan.budget = 0.3
        let cut = try report(plan)
        #expect(!Set(cut.results.map(\.case)).contains("fillrandbatch"))
        #expect(cut.warnings.contains { $0.contains("not run") && $0.contains("engine fillrandbatch") })
        #expect(cut.failures.isEmpty)
    }

    /// A case has its four turns, in the order of the plan, or is not run: a figure without an interval answers nothing.
    @Test func aCaseHasItsLeastTurnsOrNone() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("least-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var clock = Date()
        var plan = try plan(cases: ["fillseq", "fillrandom", "fillseqbatch"], size: 100, repeats: 10)
        plan.leastTurns = ratioNeedsTurns
        // A case takes 5 rounds of 0.2 s.
        plan.budget = 2.5
        var runner = Runner(
            plan: plan, directory: directory,
            launch: { request in
                defer { clock.addTimeInterval(0.1) }
                return try Turn.run(request)
            })
        runner.now = { clock }
        let started = clock
        let report = try runner.run()
        #expect(clock.timeIntervalSince(started) <= 2.6)
        let names = plan.items[0].workloads.map(\.name)
        #expect(Set(report.results.map(\.case)) == Set(names.prefix(2)))
        #expect(report.results.allSatisfy { $0.samples.count >= ratioNeedsTurns })
        #expect(
            report.warnings.contains { $0.contains("not run") && $0.contains("engine \(names[2])") },
            "\(report.warnings)")
    }

    /// What filling and copying take counts before a case begins.
    @Test func whatCannotFitIsLeftOutBeforeItBegins() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("large-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var clock = Date()
        var largest = 0
        var plan = try plan(cases: ["readseq", "fillseq"], size: 10_000_000, repeats: 5)
        plan.budget = 60
        var runner = Runner(
            plan: plan, directory: directory,
            launch: { request in
                // Filling takes 10 s for a million rows, and all else none.
                let size = request.parameters.size
                largest = max(largest, size)
                clock.addTimeInterval(request.task == .prepare ? Double(size) / 1e5 : 0.01)
                var small = request
                small.parameters.size = 100
                return try Turn.run(small)
            })
        runner.now = { clock }
        let started = clock
        let report = try runner.run()
        #expect(clock.timeIntervalSince(started) <= 60)
        #expect(largest == 10_000_000 && Set(report.results.map(\.case)) == ["fillseq"], "\(report.failures)")
        #expect(
            report.warnings.contains { $0.contains("not begun") && $0.contains("engine readseq (about 201 s)") },
            "\(report.warnings)")
    }

    /// An engine set against itself is counted as such, and nothing else is.
    @Test func rowsOfAnEngineAgainstItselfAreCounted() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("same-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        var turn = 0
        func run(_ engines: [String]) throws -> ComparisonReport {
            try Runner(
                plan: plan(cases: ["fillseq", "fillrandom"], size: 100, engines: engines, repeats: 5),
                directory: directory,
                launch: { request in
                    var report = try Turn.run(request)
                    turn += 1
                    // The second of two alike is slower at one case.
                    report?.seconds = request.name == "fillseq" && request.contender.copy == 1 ? 2 : 1
                    return report
                }
            ).run()
        }
        let same = try #require(try run(["lmdb", "lmdb"]).selfComparison)
        #expect(same.rows == 2 && same.same == 1)
        #expect(try run(["sqlite:wal", "lmdb"]).selfComparison == nil)
    }
}
