import Foundation
import Testing
import Workloads

@testable import Comparison
@testable import OwnData
@testable import Report
@testable import Rootstock

@Suite struct OwnSuiteTests {
    private func compare(
        _ sample: Sample, _ workload: String, size: Int? = 5, engines: [String] = ["sqlite", "lmdb"], repeats: Int = 1
    ) throws -> ComparisonReport {
        let path = try sample.write(workload, to: "queries.sql")
        let own = try OwnData.plan(
            database: sample.path, workload: path, size: size, seed: 7, durability: .off,
            directory: sample.directory.appendingPathComponent("own"))
        let plan = try ComparisonPlan(
            items: [PlanItem(suite: own.suite, workloads: own.suite.workloads, size: own.suite.defaultSize)],
            engines: engines, configurations: ["wal"], durability: .off, repeats: repeats, seed: 7, command: "test",
            rootstockVersion: "test")
        var report = try Runner(
            plan: plan, directory: sample.directory.appendingPathComponent("stores"), launch: Turn.run
        ).run()
        report.ownData = OwnDataDescription(
            database: own.database, databaseBytes: own.databaseBytes, tables: own.tables, rows: own.rows,
            skipped: own.skipped,
            operations: own.operations.map { .init(name: $0.name, weight: $0.weight, executions: $0.executions) })
        return report
    }

    private func messages(_ report: ComparisonReport) -> [String] {
        report.failures.map { "\($0.case), \($0.contender): \($0.message)" }
    }

    @Test func everyEngineAnswersAlike() throws {
        let sample = try Sample()
        let before = try sample.files()
        let report = try compare(sample, Sample.workload, engines: ["sqlite", "lmdb", "memory", "sqlite-btree"])
        #expect(messages(report) == [])
        #expect(report.cases.map(\.case) == ["mix", "open article", "by date", "titles of a feed", "mark read"])
        #expect(report.results.count == 5 * 4)
        #expect(try sample.files() == before, "the original was changed")
        let answer = report.answer.joined(separator: "\n")
        for words in [
            "operations a second", "disk ", "peak memory", "processor time", "Not brought along: table search",
            "compared row by row", "open article 20",
        ] {
            #expect(answer.contains(words), "\(words) is not in: \(answer)")
        }
        #expect(report.terminalText(colour: false).contains("Not brought along"))
        #expect(report.markdown().contains("## Answer"))
    }

    /// Draws that engines answered alike because nothing was found would prove nothing.
    @Test func parametersMeetRows() throws {
        let sample = try Sample()
        let path = try sample.write(Sample.workload, to: "queries.sql")
        let own = try OwnData.plan(
            database: sample.path, workload: path, size: 5, seed: 7, durability: .off,
            directory: sample.directory.appendingPathComponent("own"))
        let file = try WorkloadFile(text: Sample.workload, name: "queries.sql")
        let pools = try ParameterPools(path: sample.directory.appendingPathComponent("own/parameters.sqlite").path)
        let drawing = Drawing(file, pools, seed: 7)
        #expect(own.suite.workloads.count == 5)
        func texts(_ values: [BoundValue]) -> [String] {
            values.compactMap { if case .text(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
        }
        let ids = try texts(drawing.values(operation: 0, count: 50))
        #expect(ids.count == 50 && Set(ids).count > 20 && ids.allSatisfy { $0.hasPrefix("u") })
        #expect(try texts(Drawing(file, pools, seed: 7).values(operation: 0, count: 50)) == ids, "the seed decides")
        #expect(try texts(Drawing(file, pools, seed: 8).values(operation: 0, count: 50)) != ids)
        let bounds = try drawing.values(operation: 1, count: 40)
        for pair in stride(from: 0, to: 80, by: 2) {
            guard case .real(let low) = bounds[pair], case .real(let high) = bounds[pair + 1] else {
                Issue.record("bounds are reals")
                return
            }
            // 5% of 300 rows, 1.5 apart.
            #expect(abs((high - low) - 14 * 1.5) < 1e-9)
        }
        let feeds = try drawing.values(operation: 2, count: 400).map {
            if case .integer(let id) = $0 { id } else { -1 }
        }
        let most = Dictionary(grouping: feeds, by: { $0 }).values.map(\.count).max() ?? 0
        #expect(most > 70, "Zipf's law gives the first of 19 rows more than its even share of 21")
        // Three draws of an id and one of a text for each transaction.
        #expect(try drawing.values(operation: 3, count: 10).count == 40)
    }

    @Test func whatNeedsATableThatIsLeftOutIsNamed() throws {
        let sample = try Sample(rows: 20)
        let workload = """
            -- name: search
            -- :word = sample(search_content.c0)
            SELECT * FROM search WHERE search MATCH :word;
            -- name: open
            -- :id = sample(article.uniqueID)
            SELECT * FROM article WHERE uniqueID = :id;
            """
        let report = try compare(sample, workload)
        #expect(messages(report) == [])
        #expect(report.cases.map(\.case) == ["mix", "open"])
        #expect(report.answer.joined().contains("operation 'search' of line 3: it uses table search"))
    }

    @Test(arguments: [
        (
            "-- :x = sample(artcle.uniqueID)\nSELECT :x",
            "queries.sql:1: the database has no table 'artcle'; it has feed, article"
        ),
        ("-- :x = sample(article.id)\nSELECT :x", "queries.sql:1: table article has no column 'id'; it has uniqueID"),
        ("SELECT 1;\n\nSELEC 2", "queries.sql:3: SELEC cannot be measured"),
        (
            "SELECT 1;\n\nSELECT absent FROM article",
            "queries.sql:3: native SQLite says of 'statement 2': no such column: absent"
        ),
        (
            "INSERT INTO stern VALUES (1, 1)",
            "queries.sql:1: native SQLite says of 'statement 1': CHECK constraint failed"
        ),
        ("-- :x = sample(bare.a)\nSELECT :x", "queries.sql:1: bare holds no value to draw from"),
        ("SELECT * FROM search", "no operation is left"),
    ])
    func faultsInTheFileEndBeforeAnythingIsMeasured(workload: String, words: String) throws {
        let sample = try Sample(rows: 10)
        let error = #expect(throws: (any Error).self) { try compare(sample, workload) }
        #expect("\(error.map { "\($0)" } ?? "")".contains(words), "\(error.map { "\($0)" } ?? "")")
    }

    @Test func sizesAreCalibratedAndRepeatsKept() throws {
        let sample = try Sample(rows: 10)
        let path = try sample.write("-- repeat: 3\nSELECT 1;\nSELECT 2", to: "queries.sql")
        let own = try OwnData.plan(
            database: sample.path, workload: path, size: nil, seed: 7, durability: .off,
            directory: sample.directory.appendingPathComponent("own"))
        #expect(own.operations.map(\.executions)[0] == 3)
        #expect(own.operations.map(\.executions)[1] > 3)
        #expect(own.suite.workloads.map { $0.operations(1) }[1] == 3)
    }

    /// What is suggested runs as it is, on every engine alike; what would fail is a remark that says why.
    @Test func aSuggestionRunsAsItIs() throws {
        let sample = try Sample(rows: 60)
        let before = try sample.files()
        let text = try Suggestion.text(
            database: sample.path, directory: sample.directory.appendingPathComponent("suggest"), seed: 3)
        #expect(try sample.files() == before)
        for words in [
            "-- name: article by key", "-- name: feed by url", "range(article.date", "article through articleByFeed",
            "JOIN feed ON", "-- name: insert tag", "-- name: delete tag", "\"odd \"\"name\"",
            "(not imported) table search",
            "-- :article, :name = sample(tag.article, tag.name)",
        ] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(text.contains("-- (does not run as it is) CHECK constraint failed"))
        #expect(!text.contains("-- name: insert stern\n-- weight"))
        let report = try compare(sample, text, size: 2)
        #expect(messages(report) == [])
        #expect(report.cases.count > 25)
    }
}
