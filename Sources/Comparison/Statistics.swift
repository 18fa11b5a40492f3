// Medians, and how sure a ratio of medians is.
//
// Invariant: everything here is a pure function of its arguments. A ratio is printed as a difference only when its interval
// does not hold 1, and two samples of one thing are called different in at most 5% of comparisons.

/// A small seeded generator (SplitMix64) for shuffling turns and resampling.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64
    public init(seed: UInt64) { state = seed }
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

public func median(_ values: [Double]) -> Double {
    precondition(!values.isEmpty, "the median of nothing")
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The value below which the fraction `quantile` of sorted values lies, interpolated.
public func quantile(_ quantile: Double, ofSorted values: [Double]) -> Double {
    precondition(!values.isEmpty, "a quantile of nothing")
    let position = quantile * Double(values.count - 1)
    let below = Int(position)
    let above = min(below + 1, values.count - 1)
    return values[below] + (values[above] - values[below]) * (position - Double(below))
}

/// Half the distance between the quartiles over the median: how much a sample scatters.
public func scatter(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = median(values)
    return middle == 0 ? 0 : (quantile(0.75, ofSorted: sorted) - quantile(0.25, ofSorted: sorted)) / 2 / middle
}

public struct RatioEstimate: Sendable, Equatable {
    public var ratio: Double
    /// Null where there were too few turns for one: then nothing can be said, least of all that there is no difference.
    public var interval: ClosedRange<Double>?

    public var isUndecided: Bool { interval == nil }
    public var isDifferent: Bool { interval.map { !$0.contains(1) } ?? false }
}

/// Turns a side without which a ratio has no interval: three against three lie apart by chance one time in ten.
public let ratioNeedsTurns = 4

/// The ratio of the medians of two samples, with an interval that holds the true ratio in at least 95% of comparisons.
///
/// The interval is exact and asks for no distribution (Hodges and Lehmann). It holds every factor by which the second sample can
/// be stretched before the rank test of Mann and Whitney calls the two different at 5%. Resampling the turns, which is more
/// usual, calls two samples of five alike "different" in one comparison of ten. Its ends are ratios of two turns that were
/// measured. With fewer than four turns a side no interval can be had at 95%: three against three lie apart by chance one time in
/// ten. Then there is none, and the ratio is undecided.
///
/// - Parameter resolution: how far two runs of the same thing lie apart, as a fraction. The reasons are those that every turn of
///   a contender shares: where its files and its memory came to lie. The interval is widened by it at both ends.
public func ratioOfMedians(
    _ numerator: [Double], _ denominator: [Double], resolution: Double = measuringResolution
) -> RatioEstimate {
    let ratio = median(numerator) / median(denominator)
    var ratios: [Double] = []
    ratios.reserveCapacity(numerator.count * denominator.count)
    for top in numerator { for bottom in denominator { ratios.append(top / bottom) } }
    ratios.sort()
    guard let cut = RankTest.cut(numerator.count, denominator.count) else {
        return RatioEstimate(ratio: ratio, interval: nil)
    }
    let low = min(ratio, ratios[cut]) / (1 + resolution)
    let high = max(ratio, ratios[ratios.count - 1 - cut]) * (1 + resolution)
    return RatioEstimate(ratio: ratio, interval: low...high)
}

/// Engines set against themselves differ by less than this in the medians of many turns.
public let measuringResolution = 0.01

/// The rank test of Mann and Whitney at 5%, both sides together.
enum RankTest {
    /// How many of the sorted pairwise ratios lie outside of the interval at each end; null where not even the whole range
    /// of them makes 95%.
    static func cut(_ first: Int, _ second: Int) -> Int? {
        guard first > 0, second > 0 else { return nil }
        let tail = 0.025
        if first > 25 && second > 25 {
            // By then the statistic is normal.
            let mean = Double(first * second) / 2
            let deviation = (Double(first * second * (first + second + 1)) / 12).squareRoot()
            return max(0, Int((mean - 1.96 * deviation).rounded(.down)) - 1)
        }
        // The interval from the (c+1)th smallest to the (c+1)th greatest misses the truth with probability 2 P(U <= c).
        let counts = countsOfStatistic(first, second)
        let all = counts.reduce(0, +)
        var sum = 0.0
        var cut: Int?
        for (value, count) in counts.enumerated() {
            sum += count
            if sum / all > tail { break }
            cut = value
        }
        return cut
    }

    /// In how many of the orders of the two samples together the statistic has each value from 0 on. These are the coefficients
    /// of the product of (1 - x^(second + i)) / (1 - x^i) for i from 1 to first.
    private static func countsOfStatistic(_ first: Int, _ second: Int) -> [Double] {
        let top = first * second
        var counts = [Double](repeating: 0, count: top + 1)
        counts[0] = 1
        for i in 1...first {
            for u in stride(from: top, through: second + i, by: -1) { counts[u] -= counts[u - second - i] }
            for u in stride(from: i, through: top, by: 1) { counts[u] += counts[u - i] }
        }
        return counts
    }
}
