import Foundation
import Testing

@testable import Comparison
@testable import History
@testable import Rootstock

@Suite struct HistoryTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()

    private func report() throws -> ComparisonReport {
        try ComparisonReport.read(
            Self.root.appendingPathComponent("Tests/Fixtures/comparison-report.json").path)
    }

    private func withHistory(_ body: (History, String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("deep/history.lmdb").path
        try body(try History(path: path), path)
    }

    @Test func aRunIsKeptAndAnswersToSQL() throws {
        try withHistory { history, path in
            let report = try report()
            #expect(try history.append(report) == 1)
            #expect(try history.append(report) == 2)
            let connection = try Connection(path: path, engine: .lmdb)
            #expect(try connection.queryValue("SELECT count(*) FROM run") == 2)
            #expect(
                try connection.queryValue("SELECT count(*) FROM result WHERE run = 2")
                    == .integer(Int64(report.results.count)))
            #expect(
                try connection.queryValue("SELECT count(*) FROM ratio WHERE run = 1")
                    == .integer(Int64(report.ratios.count)))
            let known = try #require(report.ratios.first { $0.case == "readrandom" })
            #expect(
                try connection.queryValue(
                    "SELECT ratio FROM ratio WHERE suite = 'engine' AND name = 'readrandom' AND run = 2")
                    == .real(known.ratio))
            #expect(try connection.queryValue("SELECT size FROM size WHERE run = 1 AND suite = 'engine'") == 1_000_000)
            #expect(try connection.queryValue("PRAGMA integrity_check") == "ok")
        }
    }

    @Test func theLastComparableRunIsFound() throws {
        try withHistory { history, _ in
            let report = try report()
            #expect(try history.last(comparableTo: report) == nil)
            try history.append(report)
            var other = report
            other.environment.sizes["engine"] = 7
            try history.append(other)
            var seeded = report
            seeded.environment.seed = 1
            try history.append(seeded)
            var now = report
            now.ratios[0].ratio *= 100
            now.ratios[0].low = now.ratios[0].low.map { $0 * 100 }
            now.ratios[0].high = now.ratios[0].high.map { $0 * 100 }
            let earlier = try #require(try history.last(comparableTo: now))
            #expect(
                earlier.environment.sizes == report.environment.sizes
                    && earlier.environment.seed == report.environment.seed)
            let changes = try now.changes(since: earlier)
            #expect(changes.map(\.verdict).filter { $0 != .same } == [.better])
            #expect(try report.changes(since: now).map(\.verdict).filter { $0 != .same } == [.worse])
            #expect(try history.last(comparableTo: now, before: 1) == nil)
        }
    }

    @Test func whatIsNoHistoryIsRefused() throws {
        try withHistory { _, path in
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            let other = folder.appendingPathComponent("notes.lmdb").path
            try Connection(path: other, engine: .lmdb).execute("CREATE TABLE note (a)")
            let error = #expect(throws: HistoryError.self) { try History(path: other) }
            #expect(error?.description.contains("is not a history of version 1") == true)
            #expect(throws: HistoryError.self) { try History(path: "/dev/null/history.lmdb") }
        }
    }

    @Test func theDefaultPlaceFollowsTheEnvironment() {
        #expect(History.defaultPath(environment: ["XDG_DATA_HOME": "/d", "HOME": "/h"]) == "/d/rootstock/history.lmdb")
        #expect(History.defaultPath(environment: ["HOME": "/h"]) == "/h/.local/share/rootstock/history.lmdb")
        #expect(History.defaultPath(environment: ["XDG_DATA_HOME": "relative"]) == nil)
    }
}
