// Latency of operations: an HDR histogram in nanoseconds, and its summary in microseconds.
//
// Invariant: values keep three significant digits whatever their size. Histograms of several turns are merged count by count, so
// that a percentile is one of all operations and not a mean of percentiles.

import Histogram

/// What crosses from a measuring process to its parent: the recorded values and their counts.
public struct LatencyCounts: Codable, Sendable, Equatable {
    public var nanoseconds: [UInt64]
    public var counts: [UInt64]
}

public struct LatencySummary: Codable, Sendable, Equatable {
    public var p50: Double
    public var p90: Double
    public var p99: Double
    public var p999: Double
    public var max: Double
    public var mean: Double
}

public struct LatencyHistogram: Sendable {
    private var histogram: Histogram<UInt64>

    public init() {
        histogram = Histogram<UInt64>(highestTrackableValue: 60_000_000_000, numberOfSignificantValueDigits: .three)
        histogram.autoResize = true
    }

    /// Records laps of several operations each as that many operations of the mean duration.
    public mutating func record(_ laps: UnsafeBufferPointer<UInt32>, operationsPerLap: Int) {
        let count = UInt64(operationsPerLap)
        for lap in laps { histogram.record(Swift.max(1, (UInt64(lap) + count / 2) / count), count: count) }
    }

    /// Records operations of which only the whole duration is known.
    public mutating func record(total nanoseconds: UInt64, operations: Int) {
        histogram.record(Swift.max(1, nanoseconds / UInt64(operations)), count: UInt64(operations))
    }

    public mutating func add(_ counts: LatencyCounts) {
        for (value, count) in zip(counts.nanoseconds, counts.counts) { histogram.record(value, count: count) }
    }

    public var counts: LatencyCounts {
        var result = LatencyCounts(nanoseconds: [], counts: [])
        for entry in histogram.recordedValues() {
            result.nanoseconds.append(entry.value)
            result.counts.append(entry.count)
        }
        return result
    }

    public var summary: LatencySummary {
        func microseconds(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1000 }
        return LatencySummary(
            p50: microseconds(50), p90: microseconds(90), p99: microseconds(99), p999: microseconds(99.9),
            max: Double(histogram.maxRecorded) / 1000, mean: histogram.mean / 1000)
    }

    /// Points of the latency curve: percentile and microseconds.
    public func curve() -> [CurvePoint] {
        Self.curvePercentiles.map {
            CurvePoint(percentile: $0, microseconds: Double(histogram.valueAtPercentile($0)) / 1000)
        }
    }

    static let curvePercentiles: [Double] = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100]
}

public struct CurvePoint: Codable, Sendable, Equatable {
    public var percentile: Double
    public var microseconds: Double
}
