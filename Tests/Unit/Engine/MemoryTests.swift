// Whether a store's pages are read one by one: what memory the process may use, and what is asked of the system then.
//
// Invariant: the files of /proc and /sys are the test's own, so that the machine's limits decide nothing.

import Foundation
import RootstockEngine
import RootstockEngineProbe
import Testing

@Suite struct MemoryTests {
    /// A machine with these files and no others.
    private static func limit(_ files: [String: String]) throws -> UInt64 {
        let scratch = Scratch()
        for (path, text) in files {
            let file = URL(fileURLWithPath: scratch.path("machine") + path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        return memory_probe_limit(scratch.path("machine"))
    }

    @Test func theLeastLimitOfTheGroupsCounts() throws {
        let machine = UInt64(sysconf(Int32(_SC_PHYS_PAGES))) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
        try #expect(Self.limit([:]) == machine)
        try #expect(Self.limit(["/proc/self/cgroup": "0::/\n"]) == machine)
        let version2 = "0::/user.slice/app.scope\n"
        let files = [
            "/proc/self/cgroup": version2, "/sys/fs/cgroup/user.slice/app.scope/memory.max": "max\n",
            "/sys/fs/cgroup/user.slice/memory.max": "67108864\n",
        ]
        try #expect(Self.limit(files) == 64 << 20)
        try #expect(
            Self.limit(files.merging(["/sys/fs/cgroup/memory.max": "33554432\n"]) { $1 }) == 32 << 20,
            "a container sees its own limit at the top")
        try #expect(
            Self.limit([
                "/proc/self/cgroup": "5:cpu:/a\n4:memory:/a/b\n0::/\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "50331648\n",
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": "100663296\n",
            ]) == 48 << 20)
        try #expect(Self.limit(["/proc/self/cgroup": "nonsense\n4:memory\n:::\n"]) == machine)
    }

    @Test func aStoreIsReadByThePageWhereThatIsAskedFor() throws {
        for readAhead in [nil, true, false] {
            let scratch = Scratch()
            let environment = try Environment(
                engine: "lmdb", path: scratch.path(),
                .init(durability: ROOTSTOCK_DURABILITY_OFF, readAhead: readAhead))
            let tree = try environment.write { transaction in
                let tree = try transaction.tree("t", create: true)
                for number in 0..<3000 {
                    try transaction.put(
                        tree, Bytes(text: "\(10_000 + number)"),
                        Bytes(repeating: 7, count: number % 500 == 0 ? 30_000 : 90))
                }
                return tree
            }
            try environment.read { transaction in
                try #expect(transaction.all(tree).count == 3000)
                #expect(memory_probe_by_one(transaction.pointer) == (readAhead == false ? 1 : 0))
            }
        }
    }
}
