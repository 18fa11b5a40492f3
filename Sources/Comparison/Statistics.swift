// Medians, and how sure a ratio of medians is.
//
// Invariant: everything here is a pure function of its arguments, the seed included. A ratio is printed as a difference only
// when the bootstrap interval does not hold 1.

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
    public var low: Double
    public var high: Double

    public var isDifferent: Bool { low > 1 || high < 1 }
}

/// The ratio of the medians of two samples with its 95% bootstrap interval (percentile method).
///
/// With fewer than five values a side no interval can be had at 95%: three against three lie apart by chance one time in
/// ten, four against four one in thirteen by this method. Then the interval is widened to hold 1.
public func ratioOfMedians(
    _ numerator: [Double], _ denominator: [Double], seed: UInt64, resamples: Int = 4000
) -> RatioEstimate {
    let ratio = median(numerator) / median(denominator)
    var random = SplitMix64(seed: seed)
    var ratios: [Double] = []
    ratios.reserveCapacity(resamples)
    for _ in 0..<resamples {
        let top = median(numerator.map { _ in numerator[Int.random(in: 0..<numerator.count, using: &random)] })
        let bottom = median(denominator.map { _ in denominator[Int.random(in: 0..<denominator.count, using: &random)] })
        ratios.append(top / bottom)
    }
    ratios.sort()
    var low = min(ratio, quantile(0.025, ofSorted: ratios))
    var high = max(ratio, quantile(0.975, ofSorted: ratios))
    if min(numerator.count, denominator.count) < 5 {
        low = min(low, 1)
        high = max(high, 1)
    }
    return RatioEstimate(ratio: ratio, low: low, high: high)
}
