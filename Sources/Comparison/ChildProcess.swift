// A turn in a process of its own. This program starts itself with a hidden subcommand, passes the request as JSON in an argument,
// and reads the report as JSON from standard output.
//
// Invariant: a child that fails, in whatever way, becomes an error that carries what it said on standard error. A child does
// not outlive the comparison that it measures for: one that was killed and is started again would meet it at its stores.

import Foundation
import SyncCounter
import Workloads

public enum ChildProcess {
    /// The subcommand that the child is started with; its one argument is the request.
    public static let subcommand = "measure-turn"

    /// Launches turns as children of the executable.
    ///
    /// - Parameter within: words of a command that starts each measuring process, such as one that limits its memory; what it is
    ///   to run follows them. The prepared store then leaves the page cache first, so that what is read is charged to the
    ///   process. Stores are prepared without it.
    public static func launcher(executable: URL, within: [String] = []) -> Runner.Launch {
        { request in
            let process = Process()
            let json = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
            if request.task == .measure && !within.isEmpty {
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = within + [executable.path, subcommand, json]
                if let prepared = request.fixturePath { StoreFiles.evict(prepared) }
            } else {
                process.executableURL = executable
                process.arguments = [subcommand, json]
            }
            // Foundation reads this once, when a process begins: its files are to lie with the other stores.
            if request.contender.layer == .userDefaults {
                var environment = ProcessInfo.processInfo.environment
                environment["XDG_CONFIG_HOME"] = URL(fileURLWithPath: request.path).deletingLastPathComponent().path
                process.environment = environment
            }
            let output = Pipe()
            let errors = Pipe()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = errors
            // `waitUntilExit` looks every 50 ms, which is longer than most turns of a small suite take.
            let ended = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in ended.signal() }
            try running.start(process)
            defer { running.ended(process) }
            let data = output.fileHandleForReading.readDataToEndOfFile()
            let said = errors.fileHandleForReading.readDataToEndOfFile()
            ended.wait()
            guard process.terminationStatus == 0 else {
                var text = String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
                if text.hasPrefix("Error: ") { text.removeFirst("Error: ".count) }
                let how = process.terminationReason == .uncaughtSignal ? "signal" : "status"
                throw WorkloadError(
                    text.isEmpty ? "the measuring process ended with \(how) \(process.terminationStatus)" : text)
            }
            return data.isEmpty ? nil : try JSONDecoder().decode(TurnReport.self, from: data)
        }
    }

    private static let running = Running()

    /// Measuring processes that have begun and not ended. Unchecked: its lock guards them.
    private final class Running: @unchecked Sendable {
        private let lock = NSLock()
        private var processes: [Process] = []
        private var isOver = false

        func start(_ process: Process) throws {
            try lock.withLock {
                if isOver { throw WorkloadError("the comparison was interrupted") }
                try process.run()
                processes.append(process)
            }
        }
        func ended(_ process: Process) { lock.withLock { processes.removeAll { $0 === process } } }
        func endAll() {
            let all = lock.withLock {
                isOver = true
                return processes
            }
            for process in all { kill(process.processIdentifier, SIGKILL) }
            for process in all { process.waitUntilExit() }
        }
    }

    /// Ends the measuring processes that are under way; none begins after it.
    public static func endAll() { running.endAll() }

    /// The child's side: runs the request and gives what to print.
    public static func answer(_ argument: String) throws -> Data? {
        child_ends_with_its_parent()
        let request = try JSONDecoder().decode(TurnRequest.self, from: Data(argument.utf8))
        return try Turn.run(request).map { try JSONEncoder().encode($0) }
    }

    /// The running executable.
    public static func ownExecutable() -> URL {
        #if os(Linux)
            if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
                return URL(fileURLWithPath: path)
            }
        #endif
        return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    }
}
