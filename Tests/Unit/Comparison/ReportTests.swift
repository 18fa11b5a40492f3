import Foundation
import Report
import Testing

@testable import Comparison
@testable import Workloads

/// A report with made-up figures: two cases, two engines, one difference and one that is none.
private func sample() -> ComparisonReport {
    func result(_ name: String, _ engine: String, _ configuration: String, _ seconds: Double) -> MeasuredResult {
        MeasuredResult(
            suite: "engine", case: name, engine: engine, configuration: configuration, durability: .off,
            layer: .cInterface, operations: 1000, seconds: seconds,
            latency: LatencySummary(p50: 1, p90: 2, p99: 3, p999: 4, max: 5, mean: 1.5), checksum: "00ff", copy: 0,
            samples: [seconds], curve: [CurvePoint(percentile: 50, microseconds: 1)],
            cost: Cost(userSeconds: 0.1, systemSeconds: 0.2, minorFaults: 1, majorFaults: 0, contextSwitches: 2))
    }
    func ratio(_ name: String, _ configuration: String, _ value: Double, _ low: Double, _ high: Double) -> Ratio {
        Ratio(
            suite: "engine", case: name, durability: .off,
            baseline: Baseline(engine: "sqlite", configuration: configuration), engine: "lmdb", ratio: value, low: low,
            high: high, configuration: "default", layer: .cInterface, isDifferent: low > 1 || high < 1,
            published: name == "readrandom" ? 2.947 : nil, publishedSource: name == "readrandom" ? "theirs" : nil)
    }
    let environment = Environment(
        date: "2026-01-01T00:00:00Z", processor: "a <processor> & co", cores: 2, memoryBytes: 1 << 30, kernel: "Linux",
        system: nil, fileSystem: "ext4", sqliteVersion: "3.40.1", sqliteSource: "x",
        sqliteCompileOptions: ["SECURE_DELETE"],
        lmdbVersion: "LMDB", rootstockVersion: "0", swiftVersion: "6", build: "release", commit: nil, loadAverage: nil,
        clockOverheadNanoseconds: 25, command: "rootstock compare engine", seed: 301, sizes: ["engine": 1000],
        repeats: 5,
        configurations: ["leveldb": ["journal_mode=wal"], "default": []], seconds: nil)
    return ComparisonReport(
        environment: environment,
        results: [
            result("readrandom", "sqlite", "leveldb", 0.004), result("readrandom", "sqlite", "default", 0.008),
            result("readrandom", "lmdb", "default", 0.002), result("readseq", "sqlite", "leveldb", 0.003),
            result("readseq", "sqlite", "default", 0.001), result("readseq", "lmdb", "default", 0.001),
        ],
        ratios: [
            ratio("readrandom", "leveldb", 2, 1.8, 2.2), ratio("readrandom", "default", 4, 3.8, 4.2),
            ratio("readseq", "leveldb", 3, 2.8, 3.2), ratio("readseq", "default", 1, 0.9, 1.1),
        ],
        layers: [],
        cases: ["readrandom", "readseq"].map {
            CaseDescription(suite: "engine", case: $0, summary: "a, \"b\"", publishedName: nil, writes: false)
        }, failures: [], warnings: ["<noise>"])
}

@Suite struct ReportTests {
    @Test func theHeadlineIsAgainstTheBestNativeConfiguration() {
        let table = sample().table(suite: "engine")
        #expect(
            table.columns.map(\.title) == [
                "case", "native us/op", "best of", "lmdb us/op", "native / lmdb", "95% interval", "published",
            ])
        #expect(table.rows[0] == ["readrandom", "4.00", "leveldb", "2.00", "2.00x", "1.80-2.20", "2.95x"])
        #expect(table.rows[1] == ["readseq", "1.00", "default", "1.00", "1.00x", "0.90-1.10 no difference", "-"])
    }

    /// Without an interval no form of the report shows anything that looks like one; an older report's bounds are none either.
    @Test func tooFewTurnsShowNoInterval() throws {
        for isOld in [true, false] {
            var report = sample()
            report.ratios[0].isUndecided = true
            report.ratios[0].isDifferent = false
            (report.ratios[0].low, report.ratios[0].high) = isOld ? (1, 2.2) : (nil, nil)
            #expect(report.table(suite: "engine").rows[0][5] == "too few turns")
            let html = try report.html()
            #expect(html.contains("2.00x <span") && !html.contains("2.00x ("))
            #expect(html.components(separatedBy: "class=\"interval\"").count == 2, "the other case's alone")
            for text in [report.terminalText(colour: false), report.markdown(), report.csv(), html] {
                #expect(text.contains("too few turns") && !text.contains("1.00-2.20") && !text.contains("1.00 to 2.20"))
            }
            let row = try #require(report.csv().split(separator: "\n").map(String.init).first { $0.contains("lmdb") })
            #expect(row.hasSuffix(",1,2.0,,,too few turns"))
            #expect(try report.changes(since: sample()).map(\.verdict) == [.undecided, .same, .same, .same])
        }
        var report = sample()
        (report.ratios[0].low, report.ratios[0].high, report.ratios[0].isUndecided) = (nil, nil, true)
        let object = try #require(try JSONSerialization.jsonObject(with: report.json()) as? [String: Any])
        let ratio = try #require((object["ratios"] as? [[String: Any]])?.first)
        #expect(ratio["low"] == nil && ratio["high"] == nil && ratio["ratio"] as? Double == 2)
    }

    /// The control has a turn or two by plan: it has a column for intervals only where it has one.
    @Test func theControlHasNoColumnOfMissingIntervals() {
        var report = sample()
        for result in report.results where result.engine == "lmdb" {
            var control = result
            control.engine = Contender.control
            report.results.append(control)
        }
        for ratio in report.ratios {
            var control = ratio
            control.engine = Contender.control
            control.isUndecided = true
            control.isDifferent = false
            report.ratios.append(control)
        }
        func titles() -> [String] { report.table(suite: "engine").columns.map(\.title) }
        #expect(titles().filter { $0 == "95% interval" }.count == 1)
        for index in report.ratios.indices { report.ratios[index].isUndecided = nil }
        #expect(titles().filter { $0 == "95% interval" }.count == 2)
        #expect(report.table(suite: "engine").rows.allSatisfy { $0.count == titles().count })
    }

    /// Small times keep their digits, and the report says what its time went to and how much of the data memory holds.
    @Test func smallTimesAndTheTimeSpent() {
        var report = sample()
        report.results[0].seconds = 4.1e-7
        report.results[0].cost.storeBytes = 1 << 20
        report.environment.seconds = 10
        report.spent = Spent(measured: 6, warmUps: 1, preparing: 1, around: 1.5, other: 0.5)
        #expect(report.table(suite: "engine").rows[0][1] == "0.00041")
        let text = report.terminalText(colour: false)
        #expect(text.contains("took 10 s: measured 6"))
        #expect(text.contains("greatest store 1.00 MiB, memory 1.00 GiB: reads are from the page cache"))
        #expect(report.markdown().contains("## Published figures"))
        report.environment.within = "limit 48"
        #expect(report.terminalText(colour: false).contains("each measuring process ran within `limit 48`"))
        #expect(!report.markdown().contains("## Published figures"))
    }

    @Test func terminalTextIsAlignedAndPlain() {
        let text = sample().terminalText(colour: false)
        #expect(!text.contains("\u{1B}"))
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("read") || $0.hasPrefix("case ") }
        let starts = lines.map { line in line.range(of: "x ")?.lowerBound.utf16Offset(in: line) }.compactMap { $0 }
        #expect(lines.count == 3)
        #expect(Set(starts).count == 1)
    }

    @Test func jsonHasThePromisedFields() throws {
        let object = try #require(try JSONSerialization.jsonObject(with: sample().json()) as? [String: Any])
        #expect(object["environment"] is [String: Any])
        let result = try #require((object["results"] as? [[String: Any]])?.first)
        for key in [
            "suite", "case", "engine", "configuration", "durability", "layer", "operations", "seconds", "checksum",
        ] {
            #expect(result[key] != nil, "\(key)")
        }
        let latency = try #require(result["latency"] as? [String: Any])
        #expect(Set(latency.keys) == ["p50", "p90", "p99", "p999", "max", "mean"])
        let ratio = try #require((object["ratios"] as? [[String: Any]])?.first)
        for key in ["suite", "case", "durability", "engine", "ratio", "low", "high"] {
            #expect(ratio[key] != nil, "\(key)")
        }
        #expect(ratio["baseline"] as? [String: String] == ["engine": "sqlite", "configuration": "leveldb"])
    }

    @Test func jsonReadsBack() throws {
        let data = try sample().json()
        #expect(try JSONDecoder().decode(ComparisonReport.self, from: data).json() == data)
    }

    @Test func aChangeIsOneWhereIntervalsDoNotTouch() throws {
        let earlier = sample()
        var later = sample()
        later.ratios[0].ratio = 1.5
        later.ratios[0].low = 1.4
        later.ratios[0].high = 1.7
        later.ratios[2].ratio = 3.1
        later.ratios[2].high = 3.4
        let verdicts = try later.changes(since: earlier).map(\.verdict)
        #expect(verdicts == [.worse, .same, .same, .same])
        #expect(try earlier.changes(since: later).map(\.verdict) == [.better, .same, .same, .same])
        #expect(ComparisonReport.text(of: try later.changes(since: earlier)).contains("worse"))
        later.environment.sizes["engine"] = 7
        #expect(throws: PlanError.self) { try later.changes(since: earlier) }
    }

    @Test func csvHasALineAResult() {
        let lines = sample().csv().split(separator: "\n")
        #expect(lines.count == 7)
        let widths = Set(lines.map { $0.split(separator: ",", omittingEmptySubsequences: false).count })
        #expect(widths.count == 1)
    }

    @Test func htmlStandsAloneAndEscapes() throws {
        let html = try sample().html()
        for absent in ["<script", "http://", "https://", "<noise>", "<processor>", "{{"] {
            #expect(!html.contains(absent), "\(absent)")
        }
        #expect(html.contains("&lt;noise&gt;"))
        #expect(html.contains("2.00x (1.80 to 2.20)"))
        #expect(html.contains("no difference"))
        #expect(html.contains("published 2.95x"))
        // Of each case: the best native configuration and its rival.
        #expect(html.components(separatedBy: "<polyline").count == 5)
        #expect(html.contains("SQLightning against SQLite 3.7.17") && html.contains(">2.95x<"))
        let opened = html.components(separatedBy: "<div").count
        #expect(opened == html.components(separatedBy: "</div>").count)
    }

    @Test func markdownTablesHaveOneWidth() {
        let parts = sample().markdown().components(separatedBy: "## Published")
        let tables = parts.map { $0.split(separator: "\n").filter { $0.hasPrefix("|") } }
        #expect(tables.map(\.count) == [12, 6])
        let (ratios, costs) = (tables[0].prefix(4), tables[0].dropFirst(4))
        for rows in [ratios, costs, tables[1][...]] {
            #expect(Set(rows.map { $0.filter { $0 == "|" }.count }).count == 1)
        }
    }

    /// One sentence an engine, with every case in it.
    @Test func aSentenceSaysWhatTheReportComesTo() {
        let sentence = sample().answer.joined()
        #expect(
            sentence.hasPrefix(
                "lmdb is faster than native SQLite at its best in 1 of 2 cases (median 2.00x"))
        #expect(sentence.contains(" and slower in 0"), "\(sentence)")
        #expect(sample().terminalText(colour: false).contains("lmdb is faster than native SQLite"))
        #expect(sample().markdown().contains("lmdb is faster than native SQLite"))
    }

    /// A row for each contender, and "-" for what was not counted.
    @Test func costsAreATable() {
        var report = sample()
        report.results[0].cost.storageBytesWritten = 2048
        report.results[0].cost.syncCalls = 3
        report.results[0].writeAmplification = 1.5
        let table = report.costTable(suite: "engine")
        #expect(table.rows.count == report.results.count)
        #expect(table.rows[0] == ["readrandom", "sqlite/leveldb", "0.300", "-", "2.00 KiB", "1.50", "3", "-"])
        #expect(table.rows[1].suffix(4) == ["-", "-", "-", "-"])
        #expect(!report.terminalText(colour: false).contains("write amplification"))
        #expect(report.terminalText(colour: false, costs: true).contains("write amplification"))
        #expect(report.markdown().contains("### Costs"))
    }

    /// An engine on a server has its round trips beside its times; nobody else has a column for them.
    @Test func roundTripsStandBesideTheTimesOfAnEngineOnAServer() throws {
        var report = sample()
        #expect(!report.table(suite: "engine").columns.contains { $0.title.contains("round trips") })
        #expect(!report.costTable(suite: "engine").columns.contains { $0.title.contains("round trips") })
        let index = try #require(report.results.firstIndex { $0.engine == "lmdb" && $0.case == "readrandom" })
        report.results[index].cost.roundTrips = report.results[index].operations * 3
        let table = report.table(suite: "engine")
        let column = try #require(table.columns.firstIndex { $0.title == "lmdb round trips/op" })
        #expect(Set(table.rows.map { "\($0[0]) \($0[column])" }).isSuperset(of: ["readrandom 3.00"]))
        #expect(table.rows.allSatisfy { $0.count == table.columns.count })
        #expect(table.rows.allSatisfy { $0[0] == "readrandom" || $0[column] == "-" })
        #expect(report.costTable(suite: "engine").rows[index].last == "\(report.results[index].operations * 3)")
        #expect(report.csv().contains(",\(report.results[index].operations * 3),"))
    }

    /// Every case once, every engine with a column; what is no verdict says so, and what failed is told below.
    @Test func theEngineTableHasEachEngine() {
        var report = sample()
        report.failures.append(
            Failure(suite: "engine", case: "readseq", contender: "granite", message: "granite keeps no trees"))
        let text = ComparisonReport.engineTable([report, report])
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(lines.first == "| suite | case | native us/op | lmdb |", "\(text)")
        #expect(lines.count == 2 + 2 * report.summaries.count)
        #expect(lines.contains { $0.hasPrefix("| engine | readrandom | 4.00 (leveldb) | 2.00, 2.00x |") }, "\(text)")
        #expect(lines.contains { $0.contains("readseq") && $0.contains("no difference") }, "\(text)")
        #expect(text.contains("- engine readseq, granite: granite keeps no trees"))
        #expect(text.contains("$ \(report.environment.command)"))
        for index in report.ratios.indices {
            report.ratios[index].isUndecided = true
            report.ratios[index].isDifferent = false
        }
        #expect(ComparisonReport.engineTable([report]).contains("2.00, 2.00x too few turns"))
    }

    /// An engine has one colour in bars, curves and costs, native SQLite another one, and a key says whose it is.
    @Test func anEngineHasOneColour() throws {
        var report = sample()
        for result in report.results where result.engine == "lmdb" {
            var other = result
            other.engine = "granite"
            report.results.append(other)
        }
        for ratio in report.ratios {
            var other = ratio
            other.engine = "granite"
            report.ratios.append(other)
        }
        let html = try report.html()
        for (name, style) in [("native faster", "line1"), ("lmdb faster", "line2"), ("granite faster", "line3")] {
            #expect(
                html.contains("<span class=\"swatch \(style)\" aria-hidden=\"true\"></span>\(name)</li>"), "\(name)")
        }
        for (name, style) in [("native (leveldb)", "line1"), ("lmdb", "line2"), ("granite", "line3")] {
            #expect(html.contains("<span class=\"key \(style)\" aria-hidden=\"true\"></span>\(name):"), "\(name)")
            let costs = html.components(separatedBy: "<span class=\"who\">\(name)").dropFirst()
            #expect(
                !costs.isEmpty && costs.allSatisfy { $0.prefix(120).contains("class=\"cost-fill \(style)\"") },
                "\(name)")
        }
        for (name, style) in [("lmdb", "line2"), ("granite", "line3")] {
            let bar = try #require(html.components(separatedBy: "<div class=\"name\">readrandom, \(name)</div>").last)
            #expect(bar.prefix(200).contains("class=\"fill \(style)\""), "\(name)")
        }
    }

    /// Losses first, then what is alike, then gains; several reports in one table.
    @Test func theHeadlineTableBeginsWithLosses() {
        var report = sample()
        var loss = report
        loss.cases[0].case = "fillseq"
        for index in loss.results.indices where loss.results[index].case == "readrandom" {
            loss.results[index].case = "fillseq"
        }
        for index in loss.ratios.indices where loss.ratios[index].case == "readrandom" {
            loss.ratios[index].case = "fillseq"
            loss.ratios[index].ratio = 0.5
            loss.ratios[index].low = 0.4
            loss.ratios[index].high = 0.6
            loss.ratios[index].isDifferent = true
        }
        report.cases.removeLast()
        for index in report.results.indices {
            report.results[index].cost.storeBytes = report.results[index].engine == "lmdb" ? 300 : 200
        }
        let lines = ComparisonReport.headlineTable([report, loss]).split(separator: "\n").filter { $0.hasPrefix("|") }
        #expect(lines.count == 5)
        #expect(lines[2] == "| fillseq | 4.00 (leveldb) | 2.00 | 0.50 | 0.40-0.60 | 1+1 | - | 2.95 |")
        #expect(lines[3].hasPrefix("| readseq |") && lines[3].contains("no difference"))
        #expect(lines[4] == "| readrandom | 4.00 (leveldb) | 2.00 | 2.00 | 1.80-2.20 | 1+1 | 1.50 | 2.95 |")
        #expect(
            ComparisonReport.headlineTable([report, loss]).contains(
                "native is faster in 1, lmdb in 0, 1 show no difference"))
        #expect(ComparisonReport.headlineTable([report], engine: "memory").contains("No row"))
        // The chart has the same rows in the same order, each with its figure.
        let chart = ComparisonReport.headlineChart([report, loss])
        let bars = chart.split(separator: "\n").filter { $0.contains("class=\"figure\"") }
        #expect(bars.count == 3)
        #expect(
            bars[0].contains("engine fillseq") && bars[0].contains("class=\"slower\"") && bars[0].contains(">0.50<"))
        #expect(
            bars[2].contains("engine readrandom") && bars[2].contains("class=\"faster\"") && bars[2].contains(">2.00<"))
        #expect(chart.hasPrefix("<svg ") && chart.hasSuffix("</svg>\n"))
    }

    /// Every published figure belongs to a case, and the ones shown in the tables are the same.
    @Test func publishedRowsAreWhole() {
        #expect(PublishedRow.all.count == 88)
        for row in PublishedRow.all {
            #expect(Suite.named(row.suite)?.workload(named: row.workload) != nil, "\(row.suite) \(row.workload)")
            #expect(!row.others.isEmpty && ([row.base] + row.others).allSatisfy { $0.value > 0 }, "\(row)")
        }
        for figure in PublishedFigure.all {
            let rows = PublishedRow.find(suite: figure.suite, workload: figure.workload)
            #expect(
                rows.contains { $0.base.value == figure.native && $0.others.first?.value == figure.other }, "\(figure)")
        }
        for reason in PublishedReason.all {
            for name in reason.workloads { #expect(Suite.named(reason.suite)?.workload(named: name) != nil, "\(name)") }
        }
    }

    /// Where ours falls short of what was published, the report says why.
    @Test func aShortfallHasItsReason() throws {
        for (published, isShort) in [(9.0, true), (2.1, false)] {
            var report = sample()
            for index in report.ratios.indices { report.ratios[index].published = published }
            report.ratios.removeAll { $0.case == "readseq" }
            #expect(try report.html().contains("Where ours falls short") == isShort)
            #expect(report.markdown().contains("(2.00x here, 9.00x published)") == isShort)
        }
    }

    @Test func publishedRatiosNameCasesThatExist() {
        for figure in PublishedFigure.all {
            let suite = Suite.named(figure.suite)
            #expect(suite?.workload(named: figure.workload) != nil, "\(figure.suite) \(figure.workload)")
            #expect(figure.ratio > 0)
        }
        let read = PublishedFigure.find(suite: "engine", workload: "readrandom")
        #expect(abs((read?.ratio ?? 0) - 2.947) < 0.001)
    }
}

/// The answer in words on the user's own data.
@Suite struct AnswerTests {
    /// A report of two cases on the engine's suite, as if one were the mix of the user's statements.
    private func answer(repeats: Int) throws -> String {
        let directory = temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: directory) }
        var report = try Runner(
            plan: plan(
                cases: ["fillseq", "fillrandom"], size: 100, engines: ["sqlite:wal", "lmdb"], repeats: repeats),
            directory: directory, launch: Turn.run
        ).run()
        for index in report.results.indices where report.results[index].case == "fillseq" {
            report.results[index].case = "mix"
        }
        for index in report.ratios.indices where report.ratios[index].case == "fillseq" {
            report.ratios[index].case = "mix"
        }
        for index in report.cases.indices where report.cases[index].case == "fillseq" {
            report.cases[index].case = "mix"
        }
        report.ownData = OwnDataDescription(
            database: "engine", databaseBytes: 1, tables: 1, rows: 1, skipped: [], operations: [])
        return report.answer.joined(separator: "\n")
    }

    @Test func tooFewTurnsAreNoVerdict() throws {
        let few = try answer(repeats: 1)
        #expect(!few.contains("No difference") && !few.contains("Slower") && !few.contains("Faster"), "\(few)")
        #expect(few.contains("Too few turns to tell: fillrandom"), "\(few)")
        #expect(few.contains(" more with --budget, or --repeat 4 without it"), "\(few)")
        #expect(try !answer(repeats: 4).contains("Too few turns"))
    }
}
