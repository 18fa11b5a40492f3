// What the rest of the machine did while a comparison ran.
//
// Invariant: only what the kernel counts is said; where it counts nothing the answer is null.

import Foundation

/// Processor time of the whole machine, from when this was made.
struct MachineNoise {
    private let busy: Double?
    private let own: Double
    private let started: UInt64

    init() {
        busy = Self.busySeconds()
        own = Self.ownSeconds()
        started = DispatchTime.now().uptimeNanoseconds
    }

    /// Share of all processors' time that went to others than this program and its children, time that a host took away
    /// included; null where the system does not say.
    func othersShare() -> Double? {
        guard let busy, let later = Self.busySeconds() else { return nil }
        let elapsed = Double(DispatchTime.now().uptimeNanoseconds - started) / 1e9
        guard elapsed > 0 else { return nil }
        let others = later - busy - (Self.ownSeconds() - own)
        return max(0, others) / elapsed / Double(ProcessInfo.processInfo.activeProcessorCount)
    }

    /// User, nice, system, interrupts and stolen time of all processors: the first line of /proc/stat without idle and waiting.
    private static func busySeconds() -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8),
            let line = text.split(separator: "\n").first
        else { return nil }
        let fields = line.split(separator: " ").dropFirst().compactMap { Double($0) }
        guard fields.count >= 8 else { return nil }
        return (fields[0] + fields[1] + fields[2] + fields[5] + fields[6] + fields[7])
            / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    private static func ownSeconds() -> Double {
        var sum = 0.0
        #if canImport(Glibc)
            let whose = [__rusage_who_t(RUSAGE_SELF.rawValue), __rusage_who_t(RUSAGE_CHILDREN.rawValue)]
        #else
            let whose = [RUSAGE_SELF, RUSAGE_CHILDREN]
        #endif
        for who in whose {
            var usage = rusage()
            getrusage(who, &usage)
            for time in [usage.ru_utime, usage.ru_stime] { sum += Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        }
        return sum
    }
}
