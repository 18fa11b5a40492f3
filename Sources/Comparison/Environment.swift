// Where and how a comparison ran: what a reader needs to judge a figure or to take it again.
//
// Invariant: what cannot be found out is null or left out, never guessed. Nothing personal is recorded: no host or user
// name, no path outside the store's file system type.

import CLMDB
import CSQLite
import Foundation
import Rootstock
import Workloads

public struct Environment: Codable, Sendable {
    public var date: String
    public var processor: String?
    public var cores: Int
    public var memoryBytes: UInt64
    /// What the process's control group may use of it, page cache included; null where there is no limit.
    public var memoryLimitBytes: UInt64?
    public var kernel: String
    public var system: String?
    public var fileSystem: String?
    public var sqliteVersion: String
    public var sqliteSource: String
    public var sqliteCompileOptions: [String]
    public var lmdbVersion: String
    public var rootstockVersion: String
    public var swiftVersion: String
    public var build: String
    public var commit: String?
    public var loadAverage: Double?
    /// What a reading of the clock adds to each lap; it is in the times of all engines alike and not subtracted.
    public var clockOverheadNanoseconds: Double
    public var command: String
    public var seed: UInt32
    public var sizes: [String: Int]
    public var repeats: Int
    public var configurations: [String: [String]]
    public var seconds: Double?
    /// The command that each measuring process ran within, such as one that limits its memory.
    public var within: String? = nil
    /// What suite `engine` wrote and read, where it was not db_bench's.
    public var shape: EngineShape? = nil
    /// The sizes of each suite that was run at several, in the order of the run; `sizes` has the last then.
    public var series: [String: [Int]]? = nil
}

extension Environment {
    static func capture(plan: ComparisonPlan, directory: URL) throws -> Environment {
        var versionParts: (Int32, Int32, Int32) = (0, 0, 0)
        let lmdb = mdb_version(&versionParts.0, &versionParts.1, &versionParts.2).map { String(cString: $0) }
        var name = utsname()
        uname(&name)
        let kernel = [field(&name.sysname), field(&name.release), field(&name.machine)].joined(separator: " ")
        var sizes: [String: Int] = [:]
        var series: [String: [Int]] = [:]
        for item in plan.items {
            sizes[item.suite.name] = item.size
            if item.isOneOfSizes { series[item.suite.name, default: []].append(item.size) }
        }
        var configurations: [String: [String]] = [:]
        for choice in plan.configurations { configurations[choice.name] = choice.settings }
        return Environment(
            date: ISO8601DateFormatter().string(from: Date()), processor: processorName(),
            cores: ProcessInfo.processInfo.activeProcessorCount, memoryBytes: ProcessInfo.processInfo.physicalMemory,
            memoryLimitBytes: memoryLimit(),
            kernel: kernel, system: systemName(), fileSystem: fileSystemType(directory.path),
            sqliteVersion: String(cString: sqlite3_libversion()), sqliteSource: String(cString: sqlite3_sourceid()),
            sqliteCompileOptions: compileOptions(), lmdbVersion: lmdb ?? "unknown",
            rootstockVersion: plan.rootstockVersion, swiftVersion: swiftVersion, build: buildKind,
            commit: commit(), loadAverage: loadAverage(), clockOverheadNanoseconds: Meter.overheadNanoseconds(),
            command: plan.command, seed: plan.seed, sizes: sizes, repeats: plan.repeats, configurations: configurations,
            seconds: nil, shape: plan.shape == .standard ? nil : plan.shape,
            series: series.isEmpty ? nil : series)
    }

    /// The suites' sizes, and what suite `engine` wrote and read where it was not db_bench's.
    public var sizesText: String {
        let sizes = sizes.sorted { $0.key < $1.key }.map { name, size in
            "\(name) " + (series?[name] ?? [size]).map(String.init).joined(separator: ", ")
        }
        return (sizes + [shape?.text].compactMap { $0 }).joined(separator: ", ")
    }

    private static func field<T>(_ tuple: inout T) -> String {
        withUnsafeBytes(of: &tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func processorName() -> String? {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("model name") {
            return line.split(separator: ":").dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return nil
    }

    private static func systemName() -> String? {
        guard let text = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("PRETTY_NAME=") {
            return line.dropFirst("PRETTY_NAME=".count).trimmingCharacters(in: ["\""])
        }
        return nil
    }

    /// The least limit of the control groups (version 2, or 1) that this process is in.
    private static func memoryLimit() -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8) else { return nil }
        var limits: [UInt64] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { continue }
            let file: String
            if parts[1].isEmpty {
                file = "/sys/fs/cgroup\(parts[2])/memory.max"
            } else if parts[1].split(separator: ",").contains("memory") {
                file = "/sys/fs/cgroup/memory\(parts[2])/memory.limit_in_bytes"
            } else {
                continue
            }
            guard let value = try? String(contentsOfFile: file, encoding: .utf8),
                let number = UInt64(value.trimmingCharacters(in: .whitespacesAndNewlines))
            else { continue }
            if number < ProcessInfo.processInfo.physicalMemory { limits.append(number) }
        }
        return limits.min()
    }

    /// Type of the file system that holds a path: that of the mount point with the longest matching prefix.
    static func fileSystemType(_ path: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/mounts", encoding: .utf8) else { return nil }
        let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var best: (length: Int, type: String)?
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count > 3 else { continue }
            let mount = String(parts[1])
            let isParent = mount == "/" || resolved == mount || resolved.hasPrefix(mount + "/")
            if isParent && mount.count >= best?.length ?? 0 { best = (mount.count, "\(parts[2]) (\(parts[3]))") }
        }
        return best?.type
    }

    private static func compileOptions() -> [String] {
        var options: [String] = []
        var index: Int32 = 0
        while let option = sqlite3_compileoption_get(index) {
            options.append(String(cString: option))
            index += 1
        }
        return options
    }

    private static var buildKind: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private static var swiftVersion: String {
        #if compiler(>=6.4)
            "6.4 or later"
        #elseif compiler(>=6.3)
            "6.3"
        #elseif compiler(>=6.2)
            "6.2"
        #else
            "6.1"
        #endif
    }

    /// The commit of the working tree that the command is run in, with "+" where it has changes.
    private static func commit() -> String? {
        guard let head = output(["git", "rev-parse", "--short=12", "HEAD"]), !head.isEmpty else { return nil }
        let changes = output(["git", "status", "--porcelain", "--untracked-files=no"]) ?? ""
        return head + (changes.isEmpty ? "" : "+")
    }

    private static func output(_ command: [String]) -> String? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func loadAverage() -> Double? {
        var loads = [Double](repeating: 0, count: 1)
        return getloadavg(&loads, 1) == 1 ? loads[0] : nil
    }
}
