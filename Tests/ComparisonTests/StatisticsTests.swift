import Comparison
import Testing

@Suite struct StatisticsTests {
    @Test func medians() {
        #expect(median([3]) == 3)
        #expect(median([5, 1, 3]) == 3)
        #expect(median([4, 1, 3, 2]) == 2.5)
    }

    @Test func aClearDifferenceIsOne() {
        let estimate = ratioOfMedians([2.0, 2.1, 1.9, 2.05, 1.95], [1.0, 1.02, 0.98, 1.01, 0.99], seed: 1)
        #expect(estimate.isDifferent)
        #expect(estimate.ratio == 2.0)
        #expect(estimate.low > 1.8 && estimate.high < 2.2)
        #expect(estimate.low <= estimate.ratio && estimate.ratio <= estimate.high)
    }

    @Test func fewValuesCannotShowADifference() {
        #expect(!ratioOfMedians([2, 2, 2], [1, 1, 1], seed: 1).isDifferent)
    }

    @Test func theSameSeedGivesTheSameInterval() {
        let numerator = [1.0, 1.2, 0.9, 1.4, 1.1]
        let denominator = [1.1, 1.0, 1.3, 0.8, 1.2]
        #expect(ratioOfMedians(numerator, denominator, seed: 7) == ratioOfMedians(numerator, denominator, seed: 7))
    }

    /// Two samples of one distribution, many times: a difference may be called in at most a tenth of them, which leaves
    /// room for the small samples' coarseness, and must be called in nearly all where one side takes half as long again.
    @Test func intervalsCoverAsTheySay() {
        var random = SplitMix64(seed: 42)
        var falseAlarms = 0
        var missed = 0
        let rounds = 200
        for round in 0..<rounds {
            let first = (0..<5).map { _ in Double.random(in: 0.9...1.1, using: &random) }
            let second = (0..<5).map { _ in Double.random(in: 0.9...1.1, using: &random) }
            let slower = (0..<5).map { _ in 1.5 * Double.random(in: 0.9...1.1, using: &random) }
            let seed = UInt64(round)
            if ratioOfMedians(first, second, seed: seed, resamples: 200).isDifferent { falseAlarms += 1 }
            if !ratioOfMedians(slower, second, seed: seed, resamples: 200).isDifferent { missed += 1 }
        }
        #expect(falseAlarms <= rounds / 10, "\(falseAlarms) of \(rounds)")
        #expect(missed <= rounds / 20, "\(missed) of \(rounds)")
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
