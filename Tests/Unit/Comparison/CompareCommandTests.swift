import Comparison
import Foundation
import Testing

/// `rootstock compare` as a user runs it, with turns in real child processes.
@Suite final class CompareCommandTests {
    struct Transcript {
        var output: String
        var error: String
        var status: Int32
    }

    private let data = FileManager.default.temporaryDirectory.appendingPathComponent("data-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: data) }

    private func process(_ arguments: [String]) -> Process {
        #if os(Linux)
            let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        #else
            let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }!.bundleURL
        #endif
        let process = Process()
        process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("rootstock")
        process.arguments = arguments
        // What tests measure belongs into nobody's history.
        process.environment = ProcessInfo.processInfo.environment.merging(["XDG_DATA_HOME": data]) { $1 }
        return process
    }

    private func rootstock(_ arguments: [String]) throws -> Transcript {
        let process = process(arguments)
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let said = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Transcript(
            output: String(decoding: text, as: UTF8.self), error: String(decoding: said, as: UTF8.self),
            status: process.terminationStatus)
    }

    @Test func comparesAndWritesEveryReport() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("compare-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = { (name: String) in directory.appendingPathComponent(name).path }
        let run = try rootstock(
            [
                "compare", "engine", "fillseqbatch", "readrandom", "--engines", "sqlite:wal,sqlite:wal", "--entries",
                "2000",
                "--repeat",
                "2", "--directory", file("stores"), "--json", file("r.json"), "--html", file("r.html"), "--markdown",
                file("r.md"), "--csv", file("r.csv"),
            ])
        #expect(run.status == 0, "\(run.error)")
        #expect(run.error == "", "progress is for terminals")
        #expect(run.output.contains("fillseqbatch") && run.output.contains("too few turns"))
        let report = try JSONDecoder().decode(
            ComparisonReport.self, from: Data(contentsOf: URL(fileURLWithPath: file("r.json"))))
        #expect(report.results.map(\.case) == ["fillseqbatch", "fillseqbatch", "readrandom", "readrandom"])
        #expect(report.results.map(\.operations) == [2000, 2000, 2000, 2000])
        #expect(report.results.allSatisfy { $0.samples.count == 2 && $0.cost.peakResidentBytes ?? 1 > 0 })
        #expect(report.ratios.map(\.case) == ["fillseqbatch", "readrandom"])
        #expect(try String(contentsOfFile: file("r.html"), encoding: .utf8).hasPrefix("<!DOCTYPE html>"))
        #expect(try String(contentsOfFile: file("r.md"), encoding: .utf8).contains("| fillseqbatch |"))
        #expect(try String(contentsOfFile: file("r.csv"), encoding: .utf8).split(separator: "\n").count == 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: file("stores")) == [], "stores were left behind")
    }

    @Test func severalSizesAreATableAndACurve() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("sizes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = { (name: String) in directory.appendingPathComponent(name).path }
        let run = try rootstock([
            "compare", "engine", "readrandom", "--engines", "sqlite:wal,lmdb", "--sizes", "4000,1000", "--repeat", "1",
            "--json", file("r.json"), "--html", file("r.html"), "--markdown", file("r.md"),
        ])
        #expect(run.status == 0, "\(run.error)")
        #expect(run.output.contains("readrandom at 1000") && run.output.contains("by size"))
        let report = try JSONDecoder().decode(
            ComparisonReport.self, from: Data(contentsOf: URL(fileURLWithPath: file("r.json"))))
        #expect(report.cases.map(\.case) == ["readrandom at 1000", "readrandom at 4000"])
        #expect(
            report.cases.map(\.ofCase) == ["readrandom", "readrandom"] && report.cases.map(\.size) == [1000, 4000])
        // Each size has stores of its own.
        #expect(report.results.map(\.operations) == [1000, 1000, 4000, 4000])
        #expect(report.environment.series == ["engine": [1000, 4000]])
        #expect(report.ratios.allSatisfy { $0.published == nil })
        let page = try String(contentsOfFile: file("r.html"), encoding: .utf8)
        #expect(page.contains("Ratio of readrandom by size") && page.contains("x at 1000, "))
        #expect(try String(contentsOfFile: file("r.md"), encoding: .utf8).contains("| readrandom | lmdb |"))
    }

    #if os(Linux)
        /// What a durability class promises can be seen: one sync or more for each commit in `full`, none in `off`.
        @Test(arguments: ["sqlite", "lmdb"])
        func durabilityShowsInTheSyncCalls(engine: String) throws {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("syncs-\(UUID().uuidString).json")
            defer { try? FileManager.default.removeItem(at: file) }
            let run = try rootstock(
                [
                    "compare", "engine", "fillseqsync", "fillseq", "--engines", engine, "--entries", "2000", "--repeat",
                    "1", "--json", file.path,
                ])
            #expect(run.status == 0, "\(run.output) \(run.error)")
            let report = try JSONDecoder().decode(ComparisonReport.self, from: Data(contentsOf: file))
            let synced = try #require(report.results.first { $0.case == "fillseqsync" })
            #expect(synced.durability == .full && synced.operations == 20)
            #expect(try #require(synced.cost.syncCalls) >= 20)
            #expect(report.results.first { $0.case == "fillseq" }?.cost.syncCalls == 0)
        }
    #endif

    /// A command that limits a measuring process starts it, and only it; where that command fails, so does the case.
    @Test func measuringProcessesRunWithinACommand() throws {
        let arguments = [
            "compare", "engine", "readrandom", "--engines", "sqlite:wal", "--entries", "2000", "--repeat", "1",
            "--no-history",
            "--within",
        ]
        let good = try rootstock(arguments + ["env A=1"])
        #expect(good.status == 0, "\(good.error)")
        #expect(good.output.contains("each measuring process ran within: env A=1"))
        let bad = try rootstock(arguments + ["sh -c false"])
        #expect(bad.status == 1)
        #expect(bad.output.contains("failed: engine readrandom sqlite/wal: the measuring process ended with status 1"))
    }

    /// Killed in the middle, it goes on where it was: turns that ended are not taken again, and the report is whole.
    @Test func goesOnAfterItWasKilled() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("resume-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let journal = directory.appendingPathComponent("turns").path
        let json = directory.appendingPathComponent("r.json")
        let arguments = [
            "compare", "engine", "fillseqbatch", "readrandom", "readseq", "--engines", "sqlite:wal,lmdb", "--entries",
            "2000",
            "--repeat", "4", "--directory", directory.appendingPathComponent("stores").path, "--resume", journal,
            "--json",
            json.path,
        ]
        /// Lines that were written whole: a reader can come upon one in the middle, where it goes over the end of a page.
        func turns() -> [String] {
            let text = (try? String(contentsOfFile: journal, encoding: .utf8)) ?? ""
            return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }
        // A gate before each measuring process that is shut as of the ninth line: however fast the one and slow the other, it
        // is killed in the middle. It opens for nobody, and falls when the comparison is gone.
        let gate = directory.appendingPathComponent("gate.sh")
        try Data(
            """
            while [ "$(wc -l <"$1")" -ge 9 ]; do kill -0 $PPID 2>/dev/null || exit 1; sleep 0.05; done
            shift
            exec "$@"
            """.utf8
        ).write(to: gate)
        let interrupted = process(arguments + ["--within", "sh \(gate.path) \(journal)"])
        interrupted.standardOutput = FileHandle.nullDevice
        try interrupted.run()
        let deadline = Date().addingTimeInterval(300)
        while turns().count < 9, interrupted.isRunning, Date() < deadline { usleep(2000) }
        try #require(interrupted.isRunning, "it ended before it could be killed")
        kill(interrupted.processIdentifier, SIGKILL)
        interrupted.waitUntilExit()
        let before = turns()
        try #require(before.count == 9, "killed after \(before.count) lines of 31")
        // A line that was being written when the power went.
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: journal))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(#"{"place":{"suite":"eng"#.utf8))
        try handle.close()

        let run = try rootstock(arguments)
        #expect(run.status == 0, "\(run.output) \(run.error)")
        let after = turns()
        #expect(after.count == 31, "one line for the plan and one for each turn, warm-ups included")
        #expect(Array(after.prefix(before.count)) == before)
        let report = try JSONDecoder().decode(ComparisonReport.self, from: Data(contentsOf: json))
        #expect(report.results.map(\.samples.count) == Array(repeating: 4, count: 6))

        let other = try rootstock(arguments.map { $0 == "2000" ? "3000" : $0 })
        #expect(other.status != 0)
        #expect(other.error.contains("another comparison (sizes)"), "\(other.error)")
    }

    #if os(Linux)
        /// A comparison that is killed leaves no measuring process behind that would go on writing to its stores.
        @Test func aMeasuringProcessEndsWithItsComparison() throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent("orphan-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            /// Measuring processes that have the directory's name among their words.
            func measuring() -> Int {
                let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
                return processes.filter { name in
                    guard Int(name) != nil, let words = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
                    else { return false }
                    let text = String(decoding: words, as: UTF8.self)
                    return text.contains("measure-turn") && text.contains(directory.lastPathComponent)
                }.count
            }
            let comparison = process([
                "compare", "engine", "fillrandom", "--engines", "sqlite:wal", "--entries", "20000000", "--repeat", "1",
                "--directory", directory.path,
            ])
            comparison.standardOutput = FileHandle.nullDevice
            try comparison.run()
            let deadline = Date().addingTimeInterval(120)
            let store = directory.appendingPathComponent("turn-sqlite-wal-c-api-0.store.warm-up").path
            // Its store is there: it has begun, and what it has to do takes minutes.
            while !FileManager.default.fileExists(atPath: store), comparison.isRunning, Date() < deadline {
                usleep(2000)
            }
            #expect(measuring() == 1)
            kill(comparison.processIdentifier, SIGKILL)
            comparison.waitUntilExit()
            while measuring() > 0, Date() < deadline { usleep(10_000) }
            #expect(measuring() == 0)
        }

        /// Ctrl-C: no stores are left, in the temporary directory or in one that the user named, whose other files stay.
        @Test(arguments: [false, true]) func anInterruptedComparisonRemovesItsStores(namesDirectory: Bool) throws {
            let files = FileManager.default
            let directory = files.temporaryDirectory.appendingPathComponent("interrupted-\(UUID().uuidString)")
            try files.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? files.removeItem(at: directory) }
            if namesDirectory { try Data().write(to: directory.appendingPathComponent("mine")) }
            let comparison = process(
                [
                    "compare", "engine", "fillrandom", "--engines", "sqlite:wal", "--entries", "20000000", "--repeat",
                    "1",
                ]
                    + (namesDirectory ? ["--directory", directory.path] : []))
            comparison.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": directory.path]) { $1 }
            comparison.standardOutput = FileHandle.nullDevice
            try comparison.run()
            func stores() -> [String] {
                (files.enumerator(atPath: directory.path)?.allObjects as? [String] ?? []).filter {
                    $0.contains(".store")
                }
            }
            let deadline = Date().addingTimeInterval(60)
            while stores().isEmpty, comparison.isRunning, Date() < deadline { usleep(2000) }
            #expect(!stores().isEmpty, "it was seen at work")
            kill(comparison.processIdentifier, SIGINT)
            comparison.waitUntilExit()
            #expect(comparison.terminationReason == .uncaughtSignal && comparison.terminationStatus == SIGINT)
            #expect(try files.contentsOfDirectory(atPath: directory.path) == (namesDirectory ? ["mine"] : []))
        }
    #endif

    /// The lists in UserDefaults give the rows that the engines give; each child has a folder of its own for them.
    @Test func userDefaultsAnswerAsTheEnginesDo() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("defaults-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let run = try rootstock(
            [
                "compare", "library", "--engines", "sqlite:wal", "--layers", "user-defaults", "--size", "10",
                "--repeat",
                "1", "--json", file.path,
            ])
        #expect(run.status == 0, "\(run.output) \(run.error)")
        let report = try JSONDecoder().decode(ComparisonReport.self, from: Data(contentsOf: file))
        #expect(report.failures.map(\.message) == [])
        let layer = report.results.filter { $0.layer == .userDefaults }
        #expect(layer.count == 10, "every case but save-rows")
        #expect(layer.allSatisfy { $0.cost.storeBytes ?? 1 > 0 })
        #expect(report.layers.count == 10)
    }

    @Test func aFailingEngineIsNamedAndEndsInAFailure() throws {
        let run = try rootstock(
            [
                "compare", "engine", "fillseq", "--engines", "sqlite:wal,lmdb", "--entries", "100", "--repeat", "1",
                "--within", "false",
            ])
        #expect(run.status == 1)
        #expect(run.output.contains("failed: engine fillseq lmdb:"))
    }

    /// A history of two runs, an earlier one that was slower by far or faster by far, and the statuses a CI job sees.
    @Test func changesEndInTheirStatus() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = { (name: String) in directory.appendingPathComponent(name).path }
        let ask = [
            "compare", "engine", "fillseqbatch", "--entries", "500", "--repeat", "1", "--configuration", "wal",
            "--history",
            file("h.lmdb"),
        ]
        let first = try rootstock(ask + ["--against", "last", "--json", file("first.json")])
        #expect(first.status == 0 && first.error.contains("this one is the first"), "\(first.error)")
        let second = try rootstock(ask + ["--against", "last"])
        // With one turn there is no interval: nothing is beyond noise.
        #expect(second.status == 0 && second.output.contains("too few turns"), "\(second.output) \(second.error)")
        let count = try rootstock([
            "sql", file("h.lmdb"), "SELECT count(*), max(ratio.run) FROM run JOIN ratio ON run = run.id",
        ])
        #expect(count.output == "2|2\n", "\(count.output) \(count.error)")
        var report = try ComparisonReport.read(file("first.json"))
        for index in report.ratios.indices {
            (report.ratios[index].low, report.ratios[index].high, report.ratios[index].isUndecided) = (1e6, 1e6, false)
        }
        try report.json().write(to: URL(fileURLWithPath: file("better.json")))
        let worse = try rootstock(ask + ["--no-history", "--against", file("better.json")])
        #expect(worse.status == 64, "--history and --no-history exclude each other")
        let really = try rootstock(ask + ["--repeat", "4", "--against", file("better.json")])
        #expect(really.status == 2 && really.output.contains("worse"), "\(really.output) \(really.error)")
        #expect(try rootstock(ask + ["--against", file("none.json")]).status == 1)
        let again = try rootstock(["report", file("first.json")])
        #expect(again.status == 0 && again.output.contains("fillseqbatch"))
    }

    /// The user's own way: suggest, then compare, each a process of its own.
    @Test func answersForADatabaseOfTheUsers() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("own-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = { (name: String) in directory.appendingPathComponent(name).path }
        let made = try rootstock(
            [
                "sql", "--engine", "sqlite", file("app.sqlite"),
                "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT UNIQUE); "
                    + "INSERT INTO note (title) VALUES ('a'), ('b'), ('c')",
            ])
        #expect(made.status == 0, "\(made.error)")
        let suggestion = try rootstock(["suggest", file("app.sqlite")])
        #expect(suggestion.status == 0 && suggestion.output.contains("-- name: note by title"), "\(suggestion.error)")
        try Data(suggestion.output.utf8).write(to: URL(fileURLWithPath: file("q.sql")))
        let run = try rootstock(
            [
                "compare", "--database", file("app.sqlite"), "--workload", file("q.sql"), "--size", "3", "--repeat",
                "1",
                "--durability", "off", "--configuration", "wal", "--json", file("r.json"), "--html", file("r.html"),
                "--directory", file("stores"),
            ])
        #expect(run.status == 0, "\(run.output) \(run.error)")
        #expect(run.output.contains("operations a second") && run.output.contains("compared row by row"))
        let report = try ComparisonReport.read(file("r.json"))
        #expect(report.ownData?.rows == 3 && report.ownData?.database == "app.sqlite")
        #expect(try FileManager.default.contentsOfDirectory(atPath: file("stores")) == [], "something was left behind")
        let wrong = try rootstock(["compare", "--database", file("app.sqlite")])
        #expect(wrong.status != 0 && wrong.error.contains("'rootstock suggest DATABASE'"))

        let imported = try rootstock(["import", file("app.sqlite"), file("note.lmdb")])
        #expect(imported.output == "3 rows in 1 table, equal to the original's\n", "\(imported.error)")
        #expect(try rootstock(["sql", file("note.lmdb"), "SELECT group_concat(title) FROM note"]).output == "a,b,c\n")
        #expect(try rootstock(["import", file("app.sqlite"), file("note.lmdb")]).error.contains("exists"))
    }

    @Test(arguments: [
        (["compare"], "Name a suite"), (["compare", "chess"], "no suite 'chess'"),
        (["compare", "engine", "castling"], "no case 'castling'"),
        (["compare", "engine", "--configuration", "fastest"], "no native configuration 'fastest'"),
        (["compare", "engine", "--durability", "normal", "--configuration", "default"], "durability class 'normal'"),
        (["compare", "engine", "--repeat", "0"], "repeats must be 1 or more"),
        (["compare", "engine", "--engines", "sqlite:fastest"], "no native configuration 'fastest'"),
        (["compare", "engine", "--engines", "lmdb:wal"], "engine 'lmdb' has no form 'wal'"),
        (["compare", "engine", "--engines", "sqlite,granite"], "no engine 'granite'"),
        (
            ["compare", "--database", "/nowhere", "--workload", "/nowhere", "--engines", "granite"],
            "no engine 'granite'"
        ),
        (["compare", "engine", "--budget", "soon"], "'soon' is no length of time; write 90s, 3m or 1h"),
        (["compare", "engine", "--budget=-3m"], "'-3m' is no length of time"),
        (["compare", "engine", "--json", "/"], "/ is a directory"),
        (["compare", "engine", "--html", "/nowhere/x.html"], "/nowhere/x.html cannot be written"),
        (["compare", "engine", "--precision", "0"], "--precision must be more than nothing"),
        (["compare", "engine", "--sizes", "1000,many"], "'many' in --sizes is no size"),
        (["compare", "engine", "--sizes", "1000"], "two or more different numbers"),
        (["compare", "engine", "--sizes", "1000,2000", "--size", "5"], "--sizes stands in place of --size"),
        (["compare", "engine", "--key-size", "8"], "a key has 16 to 500 bytes, not 8"),
        (["compare", "engine", "--value-size", "0"], "a value has 1 to 1,000,000 bytes, not 0"),
        (["compare", "engine", "mixed", "--threads", "0"], "there are 1 to 64 threads, not 0"),
        (["compare", "engine", "mixed", "--read-ratio", "1.5"], "the share of reads is between 0 and 1, not 1.5"),
        (["compare", "engine", "--threads", "2"], "of case mixed"),
        (["compare", "cars", "--value-size", "50"], "of suite engine; 'cars' has its own"),
        (["compare", "headline", "readseq"], "'headline' takes no cases"),
        (["compare", "engine", "fillseq", "--resume", "/dev/null/x"], "/dev/null/x"),
    ])
    func whatCannotBeRunIsRefusedByName(arguments: [String], words: String) throws {
        let run = try rootstock(arguments)
        #expect(run.status != 0)
        #expect(run.error.contains(words), "\(run.error)")
    }

    @Test func theListNamesEverySuiteAndCase() throws {
        let run = try rootstock(["compare", "--list"])
        #expect(run.status == 0)
        for word in [
            "engine", "objects", "library", "records", "reader", "fetching", "cars", "ycsb", "speedtest", "schema",
        ] {
            #expect(run.output.contains("\n\(word) - ") || run.output.hasPrefix("\(word) - "), "\(word)")
        }
        for word in ["fillseqsync", "fillrandsync", "readreverse", "fillrand100K", "Sync Seq Write", "leveldb"] {
            #expect(run.output.contains(word), "\(word)")
        }
    }
}
