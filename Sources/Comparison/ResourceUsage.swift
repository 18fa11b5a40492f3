// What a measured stretch cost this process: processor time, memory, input and output.
//
// Invariant: figures are differences between two readings taken right outside the measured time, in a process that does
// nothing else. A counter that the system does not offer is null, never zero.

import Foundation
import SyncCounter

public struct Cost: Codable, Sendable, Equatable {
    public var userSeconds: Double
    public var systemSeconds: Double
    public var minorFaults: Int
    public var majorFaults: Int
    public var contextSwitches: Int
    /// Bytes passed to read and write calls, and how many calls.
    public var bytesRead: Int?
    public var bytesWritten: Int?
    public var readCalls: Int?
    public var writeCalls: Int?
    /// Bytes that went to and came from the storage device.
    public var storageBytesRead: Int?
    public var storageBytesWritten: Int?
    /// Calls that ask for data on storage: fsync, fdatasync, msync. Null where the program cannot count them.
    public var syncCalls: Int?
    /// Answers of a server that were waited for. Null where no store is on one.
    public var roundTrips: Int? = nil
    /// Peak of resident memory within the stretch, mapped file pages included.
    public var peakResidentBytes: Int?
    /// Space that the store's files take on disk afterwards.
    public var storeBytes: Int?

    public var processorSeconds: Double { userSeconds + systemSeconds }
}

struct UsageReading {
    private var usage = rusage()
    private var io: [String: Int] = [:]
    private var syncCalls: Int64 = -1

    static func now() -> UsageReading {
        var reading = UsageReading()
        #if canImport(Glibc)
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &reading.usage)
        #else
            getrusage(RUSAGE_SELF, &reading.usage)
        #endif
        reading.io = procFields("/proc/self/io")
        reading.syncCalls = sync_counter_calls()
        return reading
    }

    func cost(until later: UsageReading) -> Cost {
        func seconds(_ a: timeval, _ b: timeval) -> Double {
            Double(b.tv_sec - a.tv_sec) + Double(b.tv_usec - a.tv_usec) / 1e6
        }
        func difference(_ name: String) -> Int? {
            guard let before = io[name], let after = later.io[name] else { return nil }
            return after - before
        }
        return Cost(
            userSeconds: seconds(usage.ru_utime, later.usage.ru_utime),
            systemSeconds: seconds(usage.ru_stime, later.usage.ru_stime),
            minorFaults: later.usage.ru_minflt - usage.ru_minflt, majorFaults: later.usage.ru_majflt - usage.ru_majflt,
            contextSwitches: later.usage.ru_nvcsw + later.usage.ru_nivcsw - usage.ru_nvcsw - usage.ru_nivcsw,
            bytesRead: difference("rchar"), bytesWritten: difference("wchar"), readCalls: difference("syscr"),
            writeCalls: difference("syscw"), storageBytesRead: difference("read_bytes"),
            storageBytesWritten: difference("write_bytes"),
            syncCalls: syncCalls < 0 ? nil : Int(later.syncCalls - syncCalls), peakResidentBytes: nil, storeBytes: nil)
    }
}

/// Lines of `name: number ...` in a file of /proc; empty where there is none.
func procFields(_ path: String) -> [String: Int] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [:] }
    var fields: [String: Int] = [:]
    for line in text.split(separator: "\n") {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let number = parts[1].split(whereSeparator: { " \tk".contains($0) }).first else {
            continue
        }
        fields[String(parts[0])] = Int(number)
    }
    return fields
}

/// Peak resident memory since the last reset, and the reset (Linux: /proc/self/clear_refs).
enum PeakMemory {
    static func reset() { try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8) }
    static func bytes() -> Int? { procFields("/proc/self/status")["VmHWM"].map { $0 * 1024 } }
}

/// The files that make up a store at a path: a file and what lies beside it, or a directory's.
enum StoreFiles {
    static let suffixes = ["", "-wal", "-shm", "-journal", "-lock", ".plist"]

    /// Every file of it that there is.
    private static func all(_ path: String, _ suffixes: [String] = suffixes) -> [String] {
        suffixes.flatMap { suffix -> [String] in
            var status = stat()
            guard stat(path + suffix, &status) == 0 else { return [] }
            guard status.st_mode & S_IFMT == S_IFDIR else { return [path + suffix] }
            let names = FileManager.default.enumerator(atPath: path + suffix)?.compactMap { $0 as? String } ?? []
            return names.sorted().map { "\(path + suffix)/\($0)" }
        }
    }

    static func remove(_ path: String) throws {
        for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Has the system forget what it keeps of the files in memory. They are on storage (copies and prepared stores are synced),
    /// and nothing of them may be mapped.
    static func evict(_ path: String) {
        #if os(Linux)
            for file in all(path) {
                let descriptor = open(file, O_RDONLY)
                guard descriptor >= 0 else { continue }
                fdatasync(descriptor)
                posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
                close(descriptor)
            }
        #endif
    }

    /// By which a store that was written to is told from one that was only read.
    struct Stamp: Equatable {
        fileprivate var files: [[Int]] = []
    }

    static func stamp(_ path: String) -> Stamp {
        var stamp = Stamp()
        for file in all(path, ["", "-wal", "-journal"]) {
            var status = stat()
            // A log of no bytes and none are the same.
            guard stat(file, &status) == 0, status.st_size > 0 else { continue }
            #if os(Linux)
                let time = status.st_mtim
            #else
                let time = status.st_mtimespec
            #endif
            stamp.files.append([Int(status.st_ino), Int(status.st_size), time.tv_sec, time.tv_nsec])
        }
        return stamp
    }

    static func bytes(_ path: String) -> Int {
        all(path).reduce(0) { sum, file in
            var status = stat()
            guard stat(file, &status) == 0 else { return sum }
            return sum + Int(status.st_blocks) * 512
        }
    }

    /// Copies the main file, or the directory; its store is closed, so that it is all there is. The copy is on disk afterwards,
    /// so that writing it back does not fall into the time of what runs next.
    static func copy(_ from: String, to path: String) throws {
        try remove(path)
        try FileManager.default.copyItem(atPath: from, toPath: path)
        try synchronize(path)
    }

    static func synchronize(_ path: String) throws {
        for file in all(path) {
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: file))
            try handle.synchronize()
            try handle.close()
        }
    }
}
