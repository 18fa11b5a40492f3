// What a store keeps when memory, files, the process or the power fail: runs Tests/Crash/FaultHarness, which prints its figures.

#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// A program's output and status.
    struct Run {
        var output: String
        var status: Int32
    }

    /// The program that lies beside the tests.
    func program(_ name: String) -> URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name)
    }

    /// Runs the program; what it writes to either stream is the output.
    func run(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws -> Run {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Run(output: String(decoding: output, as: UTF8.self), status: process.terminationStatus)
    }

    /// An empty folder, gone with the object.
    final class Folder {
        let path: String

        init() throws {
            path =
                FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-crash-\(UUID().uuidString)")
                .path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The tests share `ROOTSTOCK_TEST_SECONDS`. A run of the harness leaves out moments when its part is over, and says how many.
    @Suite(.serialized) struct FaultHarnessTests {
        private func harness(_ what: String, part: Double, _ more: [String] = []) throws {
            let folder = try Folder()
            let seed = SeededGenerator.environmentSeed()
            let seconds = environmentSeconds(default: 10) * part
            let result = try run(
                program("rootstock-fault-harness"), [what, folder.path, "\(seconds)", "\(seed)"] + more,
                environment: ["ROOTSTOCK_FAULT_STACK": "1"])
            print(result.output)
            #expect(result.status == 0, "\(what) \(more), seed \(seed): \(result.output)")
            #expect(result.output.contains("\(what): "), "figures are printed")
        }

        @Test func theNthAllocationFails() throws { try harness("allocations", part: 0.4) }

        @Test(arguments: ["full", "off"]) func theNthSystemCallFails(_ durability: String) throws {
            try harness("calls", part: 0.2, [#"{"durability":"\#(durability)"}"#])
        }

        @Test func theDiskIsFullOrReadOnly() throws { try harness("disk", part: 1) }

        @Test(arguments: ["full", "normal", "off"]) func theProcessIsKilledAtTheNthCall(_ durability: String) throws {
            try harness("kills", part: 0.1, [#"{"durability":"\#(durability)"}"#])
        }

        @Test func theProcessIsKilledOnPublicCallsAlone() throws {
            for mode in ["calls", "kills", "chances"] {
                try harness(mode, part: 0.05, [#"{"durability":"full","pageAccess":"none","commit":"plain"}"#])
            }
        }

        @Test(arguments: ["full", "normal", "off"]) func theProcessIsKilledAtAnyCallAgainAndAgain(_ durability: String)
            throws
        {
            try harness("chances", part: 0.3, [#"{"durability":"\#(durability)"}"#])
        }

        @Test(arguments: [
            "full", "normal", "mixed", "off", "full-map", "normal-map", "full-plain", "normal-plain", "off-plain",
        ]) func thePowerFails(_ durability: String) throws {
            try harness("power", part: 0.1, [durability])
        }

        @Test func aSealNamesEveryPageOfItsCommit() throws { try harness("seals", part: 0.4) }

        @Test func thePowerFailsBeforeAFlushThatNobodyWaitsFor() throws { try harness("later", part: 0.5) }

        @Test func thePowerOrTheFlushesFailWhileWritersShareThem() throws { try harness("group", part: 0.5) }

        @Test func thePowerFailsOrProcessesDieWhileSeveralWrite() throws { try harness("processes", part: 0.5) }
    }
#endif
