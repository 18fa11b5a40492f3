// The clock that a workload carries through its inner loop.
//
// Invariant: between `begin` and `end` a lap costs one clock reading and one store into memory that was touched before;
// no allocation, no lock, no histogram. What is made of the laps is made after the clock has stopped.

import RootstockEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the stores on servers that this process has open have waited for.
public enum RoundTrips {
    /// Answers waited for so far; 0 where no store is on a server. Asking is not counted, and takes a round trip's time.
    public static var waited: Int { Int(rootstock_round_trips()) }
}

public final class Meter {
    /// Duration of each lap in nanoseconds; a lap covers `lapOperations` operations.
    private let laps: UnsafeMutablePointer<UInt32>
    private let capacity: Int
    private var count = 0
    private var last: UInt64 = 0
    private var started: UInt64 = 0
    public private(set) var elapsedNanoseconds: UInt64 = 0
    public let lapOperations: Int
    private let onBegin: () -> Void
    private let onEnd: () -> Void

    /// - Parameters:
    ///   - operations: how many operations will be measured; laps beyond that are counted in the total time only.
    ///   - lapOperations: operations between two readings of the clock: 1, or more where one operation is not much longer
    ///     than the reading itself.
    ///   - onBegin, onEnd: called right outside the measured time, to read counters of the process.
    public init(
        operations: Int, lapOperations: Int = 1, onBegin: @escaping () -> Void = {}, onEnd: @escaping () -> Void = {}
    ) {
        self.lapOperations = max(1, lapOperations)
        capacity = max(1, operations / self.lapOperations)
        laps = .allocate(capacity: capacity)
        // Writing every page here keeps page faults out of the measured time.
        laps.initialize(repeating: 1, count: capacity)
        self.onBegin = onBegin
        self.onEnd = onEnd
    }

    deinit { laps.deallocate() }

    public var lapNanoseconds: UnsafeBufferPointer<UInt32> { UnsafeBufferPointer(start: laps, count: count) }

    public func begin() {
        onBegin()
        started = Self.now()
        last = started
    }

    @inline(__always)
    public func lap() {
        let now = Self.now()
        if count < capacity {
            laps[count] = UInt32(clamping: now &- last)
            count += 1
        }
        last = now
    }

    /// Laps that workers recorded, when the time has ended.
    func add(_ recorded: ArraySlice<UInt32>) {
        for lap in recorded where count < capacity {
            laps[count] = lap
            count += 1
        }
    }

    public func end() {
        elapsedNanoseconds = Self.now() - started
        onEnd()
    }

    @inline(__always)
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(time.tv_nsec))
    }

    /// What one lap adds to the time it measures, in nanoseconds: the mean over many laps of nothing.
    public static func overheadNanoseconds() -> Double {
        let rounds = 20_000
        let meter = Meter(operations: rounds)
        meter.begin()
        for _ in 0..<rounds { meter.lap() }
        meter.end()
        return Double(meter.elapsedNanoseconds) / Double(rounds)
    }
}
