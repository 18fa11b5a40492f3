// `rootstock compare`: runs workloads on several engines and prints what the choice of engine costs or buys.

import ArgumentParser
import CommandSupport
import Comparison
import Foundation
import OwnData
import Report
import Rootstock
import Workloads

struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the same SQL on several engines, side by side.",
        discussion: """
            Engines take turns, each turn in a process of its own, and a time is reported only where every engine gave the \
            same answers. See the suites and their cases with --list.

            rootstock compare engine readrandom readseq --entries 100000

            On a database and statements of your own, with the question "which engine serves me" answered in words:

            rootstock suggest app.sqlite > queries.sql
            rootstock compare --database app.sqlite --workload queries.sql

            The database is opened for reading only and imported into each engine; the copies are compared row by row.

            \(WorkloadGrammar.text)

            Exit status: 0; 1 if a case failed or engines gave different answers; 2 if --against found a ratio that got worse \
            beyond noise; 64 if the arguments are wrong.
            """)

    @Flag(help: "List the suites and their cases.")
    var list = false

    @Argument(help: "A suite, 'all', or 'headline': every case of suite engine and a case or two of each other one.")
    var suite: String?

    @Argument(help: ArgumentHelp("Cases of the suite; all of them if none is named.", valueName: "case"))
    var cases: [String] = []

    @Option(
        help: ArgumentHelp(
            "Engines, separated by commas. The baseline is native SQLite, in the configuration that is best in each row.",
            discussion:
                "sqlite stands for each of --configuration, sqlite:wal for that one. An engine named twice is set "
                + "against itself.", valueName: "engine,..."))
    var engines = "sqlite,lmdb"

    @Option(
        name: [.customLong("entries"), .customLong("objects"), .customLong("size")],
        help: "Size of the suite; its own default otherwise.")
    var size: Int?

    @Option(
        help: ArgumentHelp(
            "Run each case at these sizes, separated by commas, and draw its ratio by size as a curve.",
            valueName: "n,..."))
    var sizes: String?

    @OptionGroup(title: "Suite engine")
    var shape: EngineShapeOptions

    @OptionGroup(title: "Your own data")
    var own: OwnDataOptions

    @Option(
        help: ArgumentHelp(
            "What a commit survives: off, normal or full. Cases that name a class themselves keep it.",
            discussion: "off for the suites, full with --database."))
    var durability: StoreOptions.Durability?

    @Option(
        help: ArgumentHelp(
            "Native configurations, separated by commas: leveldb, default, wal, tuned. All of them otherwise, each in the "
                + "rows that it has a form for.", valueName: "configuration,..."))
    var configuration: String?

    @Option(name: .customLong("repeat"), help: "Turns of each engine at each case, after one to warm up.")
    var repeats = 5

    @Option(
        help: ArgumentHelp(
            "Time for all of it, such as 90s or 3m. Turns go on until ratios are known within --precision, or the time is over.",
            discussion:
                "The time is planned for --repeat turns. Sizes that are not given are made to fit. Given sizes may not fit: then "
                + "cases get fewer turns or are not run, and the report names them. With --database the mix comes first, and a case "
                + "has four turns of each engine or is not run.",
            valueName: "time"))
    var budget: String?

    @Option(help: "With --budget: a case is done once the 95% interval of its ratio is this narrow, in percent.")
    var precision = 5.0

    @Flag(
        help: ArgumentHelp(
            "Give fewer turns to contenders that cannot be a row's headline: slower native configurations, the control, layers.",
            discussion:
                "A configuration gets one turn if its fastest takes twice the best one's median. It gets two if it takes a "
                + "tenth longer, and three if it takes 3% longer. Turns of 2 s and more have no round to warm up."
        ))
    var spareSlow = false

    @Option(
        help: ArgumentHelp(
            "Note each turn in this file as it ends, and go on from the turns that the file holds.", valueName: "file"
        ))
    var resume: String?

    @Option(help: "Seed of the data and of the order of turns.")
    var seed: UInt32 = 301

    @Flag(help: "Run the variants of the cases too.")
    var variants = false

    @Flag(help: "Print what each contender costs too: processor time, memory, bytes written, sync calls, size.")
    var costs = false

    @Flag(help: "Only the headline cases of each suite.")
    var headline = false

    @Flag(help: "Short for --layers floor.")
    var floor = false

    @Flag(help: "Add engine sqlite-btree: SQLite's own B-tree behind the table layer.")
    var control = false

    @Option(
        help: ArgumentHelp(
            "Layers to measure beside the C interface, or 'all': floor (the engine's own calls, no SQL), swift-api, "
                + "user-defaults (suite library).",
            valueName: "layer,..."))
    var layers = ""

    @Option(help: "The directory for stores while measuring; a temporary one otherwise.")
    var directory: String?

    @Option(
        help: ArgumentHelp(
            "A command that starts each measuring process, its words separated by spaces. It can limit memory, for example. "
                + "Stores are prepared without it, and leave the page cache first.", valueName: "command"))
    var within: String?

    @OptionGroup(title: "Earlier comparisons")
    var history: HistoryOptions

    @Option(help: "Write the results as JSON to this file.")
    var json: String?

    @OptionGroup var files: ReportFiles

    func validate() throws {
        var isFolder: ObjCBool = false
        if let directory, FileManager.default.fileExists(atPath: directory, isDirectory: &isFolder), !isFolder.boolValue
        {
            throw ValidationError("\(directory) is no directory.")
        }
        if sizes != nil {
            guard size == nil else { throw ValidationError("--sizes stands in place of --size.") }
            guard !own.isAskedFor else { throw ValidationError("--sizes is of a suite, not of a database.") }
        }
        if own.isAskedFor {
            guard !list else { throw ValidationError("--database takes no suite.") }
            // An option's value, where the option is mistyped.
            if let suite {
                throw ValidationError("--database takes no suite, and '\(suite)' is none of its options' values.")
            }
            guard !shape.isAskedFor else { throw ValidationError("--database has keys and values of its own.") }
            try checkContestants()
            return
        }
        if !list && suite == nil { throw ValidationError("Name a suite, or see them with --list.") }
        if list && suite != nil { throw ValidationError("--list takes no suite.") }
        if !list { _ = try makePlan(nil) }
    }

    func run() throws {
        if list {
            print(CompareList.text(), terminator: "")
            return
        }
        try ReportFiles.check([json] + files.paths)
        let earlierFile = try history.earlierFile()
        let place = try workingDirectory()
        let removesPlace = directory == nil
        let before = removesPlace ? [] : Set((try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [])
        let takeBack: @Sendable () -> Void = {
            ChildProcess.endAll()
            if removesPlace {
                try? FileManager.default.removeItem(at: place)
                return
            }
            // A directory that the user named keeps what it held before.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? []
            for name in names where !before.contains(name) {
                try? FileManager.default.removeItem(at: place.appendingPathComponent(name))
            }
        }
        try Interruption.takingBack(takeBack) { try compare(in: place, earlierFile) }
    }

    private func compare(in place: URL, _ earlierFile: ComparisonReport?) throws {
        defer { if directory == nil { try? FileManager.default.removeItem(at: place) } }
        let progress = Progress()
        let ownData = try own.plan(
            size: size, seed: seed, durability: chosenDurability, in: place, progress: progress.show)
        defer { own.removeLeftovers(in: place) }
        let plan = try makePlan(ownData)
        var runner = Runner(
            plan: plan, directory: place,
            launch: ChildProcess.launcher(executable: ChildProcess.ownExecutable(), within: withinWords),
            progress: progress.show)
        do {
            runner.journal = try resume.map(TurnJournal.init(path:))
        } catch let error as JournalError {
            throw ValidationError(error.description)
        }
        var report = try runner.run()
        progress.clear()
        if let within {
            report.environment.within = within
            // What was published had the memory of a whole machine.
            for index in report.ratios.indices {
                (report.ratios[index].published, report.ratios[index].publishedSource) = (nil, nil)
            }
            report.warnings.append("each measuring process ran within: \(within)")
        }
        report.ownData = ownData.map(OwnDataDescription.init)
        print(report.terminalText(colour: isatty(STDOUT_FILENO) == 1, costs: costs), terminator: "")
        try write(report)
        let earlier = try history.keep(report, earlier: earlierFile)
        let isWorse = try history.show(report, since: earlier)
        if !report.failures.isEmpty { throw ExitCode.failure }
        if isWorse { throw ExitCode(2) }
    }

    private var chosenDurability: StoreOptions.Durability { durability ?? (own.isAskedFor ? .full : .off) }

    /// The engines and the rest of the question, without the cases: they are known when the user's files have been read.
    private func checkContestants() throws { _ = try makePlan(items: []) }

    private func makePlan(_ ownData: OwnDataPlan?) throws -> ComparisonPlan {
        do {
            return try makePlan(items: ownData.map { [$0.item] } ?? items())
        } catch let error as PlanError {
            throw ValidationError(error.description)
        }
    }

    private func makePlan(items: [PlanItem]) throws -> ComparisonPlan {
        do {
            guard precision > 0, precision.isFinite else { throw PlanError("--precision must be more than nothing") }
            var plan = try ComparisonPlan(
                items: items,
                engines: Self.names(engines) + (control ? [Contender.control] : []),
                configurations: configuration.map(Self.names), durability: chosenDurability, repeats: repeats,
                budget: try budget.map(secondsOfTime), seed: seed, layers: layerNames,
                command: (["rootstock"] + CommandLine.arguments.dropFirst().map(shellWord)).joined(separator: " "),
                rootstockVersion: Version.rootstock)
            plan.precision = precision / 100
            plan.shape = try shape.shape()
            plan.scales = size == nil && sizes == nil && !own.isAskedFor
            plan.sparesSlow = spareSlow
            if own.isAskedFor { plan.leastTurns = ratioNeedsTurns }
            plan.preparesAtOnce = true
            return plan
        } catch let error as PlanError {
            throw ValidationError(error.description)
        }
    }

    private var withinWords: [String] { within?.split(separator: " ").map(String.init) ?? [] }

    private var layerNames: [String] {
        let names = Self.names(layers)
        let all = Layer.measured.filter { $0 != .cInterface }.map(\.rawValue)
        return (names == ["all"] ? all : names) + (floor ? [Layer.floor.rawValue] : [])
    }

    private func items() throws -> [PlanItem] {
        guard let suite else { return [] }
        try shape.check(suite: suite, cases: cases)
        let suites: [Suite]
        if suite == Suite.engine.name {
            suites = [.engine(try shape.shape())]
        } else if suite == "all" || suite == Suite.headlineName {
            guard cases.isEmpty else { throw PlanError("'\(suite)' takes no cases") }
            suites = Suite.all
        } else {
            guard let found = Suite.named(suite) else {
                let known = (Suite.all.map(\.name) + ["all", Suite.headlineName]).joined(separator: ", ")
                throw PlanError("there is no suite '\(suite)'; there are \(known)")
            }
            suites = [found]
        }
        let sizes = try sizeList()
        return try suites.flatMap { found in
            // The short run over everything has the microbenchmark whole.
            let short = headline || (suite == Suite.headlineName && found.name != Suite.engine.name)
            let workloads =
                try cases.isEmpty
                ? found.workloads.filter { (variants || !$0.isVariant) && (!short || $0.isHeadline) }
                : cases.map { name in
                    guard let workload = found.workload(named: name) else {
                        let known = found.workloads.map(\.name).joined(separator: ", ")
                        throw PlanError("suite \(found.name) has no case '\(name)'; it has \(known)")
                    }
                    return workload
                }
            return sizes.map { size in
                var item = PlanItem(suite: found, workloads: workloads, size: size ?? found.defaultSize)
                item.isOneOfSizes = sizes.count > 1
                return item
            }
        }
    }

    /// The sizes to run at, least first; null stands for the suite's own.
    private func sizeList() throws -> [Int?] {
        guard let sizes else { return [size] }
        let numbers = try Self.names(sizes).map { text in
            guard let number = Int(text), number > 0 else {
                throw PlanError("'\(text)' in --sizes is no size; write numbers, such as --sizes 10000,100000")
            }
            return number
        }
        guard Set(numbers).count == numbers.count, numbers.count > 1 else {
            throw PlanError("--sizes takes two or more different numbers; for one there is --size")
        }
        return numbers.sorted()
    }

    private static func names(_ list: String) -> [String] {
        list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
    }

    private static let directoryPrefix = "rootstock-compare-"

    private func workingDirectory() throws -> URL {
        if let directory { return URL(fileURLWithPath: directory, isDirectory: true) }
        let temporary = FileManager.default.temporaryDirectory
        Self.removeLeftovers(in: temporary)
        return temporary.appendingPathComponent(
            "\(Self.directoryPrefix)\(ProcessInfo.processInfo.processIdentifier)", isDirectory: true)
    }

    /// Removes what comparisons left that were interrupted: directories whose process is gone.
    private static func removeLeftovers(in temporary: URL) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: temporary.path)) ?? []
        for name in names where name.hasPrefix(directoryPrefix) {
            guard let process = Int32(name.dropFirst(directoryPrefix.count)), kill(process, 0) != 0, errno == ESRCH
            else {
                continue
            }
            try? FileManager.default.removeItem(at: temporary.appendingPathComponent(name))
        }
    }

    private func write(_ report: ComparisonReport) throws {
        if let json { try ReportFiles.write(report.json(), to: json) }
        try files.write(report)
    }
}

/// The child's side of a turn; started by `compare` only.
struct MeasureTurn: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: ChildProcess.subcommand, abstract: "One turn of a comparison.", shouldDisplay: false)

    @Argument var request: String

    func run() throws {
        if let report = try ChildProcess.answer(request) { FileHandle.standardOutput.write(report) }
    }
}

enum CompareList {
    static func text() -> String {
        var text = ""
        for suite in Suite.all {
            text += "\(suite.name) - \(suite.title)\n  source: \(suite.source)\n"
            text += "  size: \(suite.defaultSize) \(suite.unit)\n"
            let width = suite.workloads.map(\.name.count).max() ?? 0
            for workload in suite.workloads {
                let padding = String(repeating: " ", count: width - workload.name.count)
                var notes = workload.publishedName.map { ["published as \($0)"] } ?? []
                if let durability = workload.durability { notes.append("always durability \(durability.rawValue)") }
                if workload.isVariant { notes.append("variant") }
                if workload.isHeadline { notes.append("headline") }
                let note = notes.isEmpty ? "" : " (" + notes.joined(separator: "; ") + ")"
                text += "    \(workload.name)\(padding)  \(workload.summary)\(note)\n"
            }
            for remark in suite.remarks { text += "  note: \(remark)\n" }
            text += "\n"
        }
        text += "native configurations:\n"
        for choice in ConfigurationChoice.all { text += "    \(choice.name): \(choice.summary)\n" }
        text +=
            "\nbeside them: --control (SQLite's B-tree behind the table layer), --floor, --layers swift-api,user-defaults\n"
        return text
    }
}

/// One line on a terminal that says what runs now; nothing elsewhere.
final class Progress {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ text: String) {
        guard isTerminal else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text.prefix(110))".utf8))
    }

    func clear() {
        guard isTerminal else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}
