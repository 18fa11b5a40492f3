// What the turns of a case become in the report: results, ratios, warnings.
//
// Invariant: the headline of a row is its ratio against the native configuration with the least median there, chosen from the
// same turns; that choice can only favour native.

import Workloads

/// What a report warns of case by case, gathered so that it is said once.
struct Remarks {
    var scattering: [(name: String, scatter: Double)] = []
    /// Cases with fewer turns than were asked for, and cases with none.
    var short: [String] = []
    var late: [String] = []
    /// Cases that were left out before they began, with the seconds that one round of them would have taken.
    var large: [(name: String, seconds: Double)] = []

    func warnings(repeats: Int) -> [String] {
        var texts: [String] = []
        if !short.isEmpty {
            texts.append("fewer turns than \(repeats) fitted into the time given: \(short.joined(separator: ", "))")
        }
        if !large.isEmpty {
            texts.append(
                "not begun, because one round does not fit into what was left of the time given: "
                    + large.map { "\($0.name) (about \(Int($0.seconds.rounded(.up))) s)" }.joined(separator: ", ")
                    + "; more time or a smaller size fits them in")
        }
        if !late.isEmpty {
            texts.append(
                "not run, because the time given was over: \(late.joined(separator: ", ")); more time or a smaller size "
                    + "fits them in")
        }
        if !scattering.isEmpty {
            let worst = scattering.sorted { $0.scatter > $1.scatter }.prefix(8)
            texts.append(
                "turns scatter by more than \(Int(Runner.noticedScatter * 100))% of their median: "
                    + worst.map { "\($0.name) \(rounded($0.scatter * 100))%" }.joined(separator: ", ")
                    + (scattering.count > worst.count ? " and \(scattering.count - worst.count) more" : ""))
        }
        return texts
    }
}

extension Runner {
    /// Half the distance between the quartiles, over the median, from which on a report warns of it.
    static let noticedScatter = 0.15

    func add(
        _ turns: [Turns], _ workload: Workload, _ item: PlanItem, _ durability: DurabilityClass,
        to report: inout ComparisonReport, _ remarks: inout Remarks
    ) {
        let operations = workload.operations(item.size)
        for turn in turns {
            var histogram = LatencyHistogram()
            for one in turn.reports { histogram.add(one.latency) }
            let samples = turn.reports.map(\.seconds)
            let cost = Cost.medians(turn.reports.map(\.cost))
            let userBytes = userBytes(turn, workload, item)
            report.results.append(
                MeasuredResult(
                    suite: item.suite.name, case: item.caseName(workload), engine: turn.contender.engine,
                    configuration: turn.contender.configuration, durability: durability, layer: turn.contender.layer,
                    operations: operations, seconds: median(samples), latency: histogram.summary,
                    checksum: turn.reports[0].checksum, copy: turn.contender.copy, samples: samples,
                    curve: histogram.curve(), cost: cost, userBytes: userBytes,
                    writeAmplification: userBytes.flatMap(cost.writeAmplification)))
            if samples.count > 3 && scatter(samples) > Self.noticedScatter {
                remarks.scattering.append(
                    ("\(item.suite.name) \(item.caseName(workload)) \(turn.contender)", scatter(samples)))
            }
        }
        let engines = turns.map(\.contender.engine)
        guard let first = engines.contains("sqlite") ? "sqlite" : engines.first else { return }
        let sqlTurns = turns.filter { $0.contender.layer == .cInterface }
        // Each native configuration is a baseline; an engine against itself has its first as baseline of the others.
        let baselines = sqlTurns.filter { $0.contender.engine == first && $0.contender.copy == 0 }
        func time(_ turns: Turns) -> Double { median(turns.reports.map(\.seconds)) }
        let best = baselines.min { time($0) < time($1) }?.contender
        for baseline in baselines {
            for turn in turns where !baselines.contains(where: { $0.contender == turn.contender }) {
                let estimate = ratioOfMedians(baseline.reports.map(\.seconds), turn.reports.map(\.seconds))
                // Nothing was published of other keys and values than db_bench's, nor of a series of sizes.
                let published =
                    turn.contender.isNative || turn.contender.isControl || plan.shape != .standard || item.isOneOfSizes
                    ? nil : PublishedFigure.find(suite: item.suite.name, workload: workload.name)
                var ratio = Ratio(
                    suite: item.suite.name, case: item.caseName(workload), durability: durability,
                    baseline: Baseline(engine: first, configuration: baseline.contender.configuration),
                    engine: turn.contender.engine, ratio: estimate.ratio, low: estimate.interval?.lowerBound,
                    high: estimate.interval?.upperBound,
                    configuration: turn.contender.configuration, layer: turn.contender.layer,
                    isDifferent: estimate.isDifferent, isUndecided: estimate.isUndecided, published: published?.ratio,
                    publishedSource: published?.source)
                if turn.contender.layer == .cInterface {
                    ratio.isHeadline = baseline.contender == best
                    report.ratios.append(ratio)
                } else {
                    report.layers.append(ratio)
                }
            }
        }
    }

    /// Bytes of keys and values that one turn wrote. Where the suite does not say and the case began on an empty store, they
    /// are what the store holds afterwards.
    private func userBytes(_ turn: Turns, _ workload: Workload, _ item: PlanItem) -> Int? {
        guard workload.writes else { return nil }
        if let known = workload.userBytes { return known(item.size) }
        return workload.starting == .fresh ? turn.reports.first?.contentBytes : nil
    }
}

extension Cost {
    /// Bytes on their way to the device for each byte that the user wrote; what is in the page cache when the clock stops is on
    /// its way. Where the system counts none for the device, those of the write calls.
    func writeAmplification(_ userBytes: Int) -> Double? {
        // What a server writes is not this process's to count.
        guard userBytes > 0, roundTrips == nil else { return nil }
        let device = storageBytesWritten.flatMap { $0 > 0 ? $0 : nil }
        return (device ?? bytesWritten).map { Double($0) / Double(userBytes) }
    }
}
