import Testing

@testable import Comparison

@Suite struct StatisticsTests {
    @Test func medians() {
        #expect(median([3]) == 3)
        #expect(median([5, 1, 3]) == 3)
        #expect(median([4, 1, 3, 2]) == 2.5)
    }

    @Test func aClearDifferenceIsOne() throws {
        let estimate = ratioOfMedians([2.0, 2.1, 1.9, 2.05, 1.95], [1.0, 1.02, 0.98, 1.01, 0.99])
        #expect(estimate.isDifferent)
        #expect(estimate.ratio == 2.0)
        let interval = try #require(estimate.interval)
        #expect(interval.lowerBound > 1.8 && interval.upperBound < 2.2)
        #expect(interval.contains(estimate.ratio))
    }

    @Test func fewValuesCannotShowADifference() {
        let estimate = ratioOfMedians([2, 2, 2], [1, 1, 1])
        #expect(estimate.interval == nil && estimate.isUndecided && !estimate.isDifferent)
    }

    /// The table of Mann and Whitney: with so many values a side, this many of the sorted ratios lie outside at each end.
    @Test(arguments: [
        (3, 3, nil), (4, 4, 0), (5, 5, 2), (6, 6, 5), (7, 7, 8), (10, 10, 23), (20, 20, 127), (2, 8, 0), (2, 7, nil),
    ])
    func ranksCutOffWhatTheTableSays(first: Int, second: Int, expected: Int?) {
        #expect(RankTest.cut(first, second) == expected)
        #expect(RankTest.cut(second, first) == expected)
    }

    @Test func manyValuesGoOverIntoTheNormalDistribution() throws {
        let exact = try #require(RankTest.cut(25, 30))
        let normal = try #require(RankTest.cut(26, 30))
        #expect(normal > exact && normal < exact + 25)
    }

    /// Two samples of one distribution, as turns are: a difference may be called in one comparison of twenty. Drift that hits
    /// both alike, long tails and few turns included.
    @Test(arguments: [(4, false), (5, false), (5, true), (8, true), (20, false)])
    func anEngineAgainstItselfShowsNoDifference(turns: Int, drifts: Bool) {
        var random = SplitMix64(seed: 42)
        func sample(_ factor: Double, _ turn: Int) -> Double {
            let noise = Double.random(in: 0.95...1.05, using: &random)
            let hiccup = Double.random(in: 0..<1, using: &random) < 0.1 ? 1.5 : 1
            return factor * noise * hiccup * (drifts ? 1 + 0.3 * Double(turn) / Double(turns) : 1)
        }
        var (falseAlarms, missed) = (0, 0)
        let rounds = 500
        for _ in 0..<rounds {
            let first = (0..<turns).map { sample(1, $0) }
            let second = (0..<turns).map { sample(1, $0) }
            let slower = (0..<turns).map { sample(3, $0) }
            if ratioOfMedians(first, second, resolution: 0).isDifferent { falseAlarms += 1 }
            if !ratioOfMedians(slower, second, resolution: 0).isDifferent { missed += 1 }
        }
        // 5% of 500, and three standard deviations of such a count.
        #expect(falseAlarms <= 40, "\(falseAlarms) of \(rounds)")
        #expect(missed <= rounds / 100, "\(missed) of \(rounds)")
    }

    /// The interval holds the true ratio as often as it says.
    @Test func intervalsCoverAsTheySay() {
        var random = SplitMix64(seed: 7)
        var missed = 0
        for _ in 0..<1000 {
            let first = (0..<6).map { _ in 2 * Double.random(in: 0.9...1.1, using: &random) }
            let second = (0..<6).map { _ in Double.random(in: 0.9...1.1, using: &random) }
            let estimate = ratioOfMedians(first, second, resolution: 0)
            if estimate.interval.map({ !$0.contains(2) }) ?? true { missed += 1 }
        }
        #expect(missed <= 70, "\(missed) of 1000")
    }

    @Test func theResolutionWidensTheInterval() {
        let exact = ratioOfMedians([1.005, 1.005, 1.005, 1.005], [1, 1, 1, 1], resolution: 0)
        #expect(exact.isDifferent && exact.interval?.lowerBound == 1.005)
        #expect(!ratioOfMedians([1.005, 1.005, 1.005, 1.005], [1, 1, 1, 1]).isDifferent)
    }

    @Test func scatterIsRelative() {
        #expect(scatter([1, 1, 1, 1]) == 0)
        #expect(abs(scatter([10, 20, 30, 40, 50]) - 1.0 / 3) < 1e-9)
    }
}

@Suite struct LatencyTests {
    private func histogram(_ laps: [UInt32], operationsPerLap: Int = 1) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        laps.withUnsafeBufferPointer { histogram.record($0, operationsPerLap: operationsPerLap) }
        return histogram
    }

    @Test func percentilesAreThoseOfTheValues() {
        let summary = histogram((1...1000).map { UInt32($0 * 1000) }).summary
        #expect(abs(summary.p50 - 500) < 1)
        #expect(abs(summary.p99 - 990) < 1)
        #expect(abs(summary.max - 1000) < 1)
        #expect(abs(summary.mean - 500.5) < 1)
    }

    @Test func aLapOfSeveralOperationsCountsAsThatMany() {
        let counts = histogram([1000, 3000], operationsPerLap: 10).counts
        #expect(counts.nanoseconds == [100, 300])
        #expect(counts.counts == [10, 10])
    }

    @Test func mergedTurnsAreOneSample() {
        var merged = LatencyHistogram()
        merged.add(histogram(Array(repeating: 1000, count: 99)).counts)
        merged.add(histogram([1_000_000]).counts)
        #expect(merged.counts.counts.reduce(0, +) == 100)
        #expect(abs(merged.summary.p50 - 1) < 0.01)
        #expect(abs(merged.summary.max - 1000) < 1)
    }
}
