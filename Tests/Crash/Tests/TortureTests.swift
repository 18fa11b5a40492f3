// `rootstock-lab torture`, for a while: processes that are killed lose nothing that was acknowledged.

#if os(Linux)
    import Foundation
    import TestSupport
    import Testing
    import Torture

    @Suite struct TortureTests {
        /// Most of the time for lmdb; sqlite-btree shows that the torture, the logs and the table layer are right on any engine.
        @Test(arguments: [("lmdb", 0.6), ("sqlite-btree", 0.4)])
        func killedProcessesLoseNothing(engine: String, share: Double) throws {
            let seed = SeededGenerator.environmentSeed()
            let seconds = environmentSeconds(default: 10) * share
            func torture(_ more: [String]) throws -> Run {
                let result = try run(
                    program("rootstock-lab"), ["torture", "--engine", engine, "--seed", "\(seed)"] + more)
                print(result.output)
                return result
            }
            var result = try torture(["--seconds", "\(seconds)"])
            // Under a sanitizer, or beside other work, every process may have been killed before its first commit.
            if result.output.contains("no transaction was acknowledged") {
                result = try torture(["--seconds", "\(max(seconds, 10))", "--interval", "2000"])
            }
            #expect(result.status == 0, "seed \(seed): \(result.output)")
            #expect(result.output.contains("nothing lost"))
        }

        /// Writers that never write are killed for nothing: the run does not pass.
        @Test func aRunWithoutTransactionsFails() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("torture-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let idle = folder.appendingPathComponent("idle")
            try Data("#!/bin/sh\nexec sleep 60\n".utf8).write(to: idle)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: idle.path)
            var plan = Torture.Plan(folder: folder)
            plan.seconds = 0
            var torture = Torture(plan, executable: idle)
            let fault = #expect(throws: TortureFault.self) { try torture.run() }
            #expect(fault?.description.contains("no transaction was acknowledged") == true)
        }
    }
#endif
