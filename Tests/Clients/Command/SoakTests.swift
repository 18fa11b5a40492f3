import Foundation
import Testing

/// `rootstock-lab soak`, in a process of its own, whose memory and descriptors are nobody else's: some seconds on LMDB and a few on
/// each other engine, or ROOTSTOCK_TEST_SECONDS.
@Suite struct SoakTests {
    @Test(arguments: [("lmdb", 0.7), ("sqlite-btree", 0.2), ("memory", 0.1)])
    func nothingDiffersAndNothingGrows(engine: String, share: Double) throws {
        var environment = ProcessInfo.processInfo.environment
        let seconds = environment["ROOTSTOCK_TEST_SECONDS"].flatMap(Double.init) ?? 15
        let seed = environment["ROOTSTOCK_TEST_SEED"] ?? String(UInt32.random(in: 1...999_999))
        // AddressSanitizer keeps 256 MiB of what was freed: memory would grow until it has them.
        environment["ASAN_OPTIONS"] = (environment["ASAN_OPTIONS"].map { $0 + ":" } ?? "") + "quarantine_size_mb=8"
        let soak = try run(
            lab, ["soak", "--engine", engine, "--seconds", String(max(1.5, seconds * share)), "--seed", seed],
            environment: environment)
        #expect(soak.status == 0, "\(soak.error)\(soak.output)")
        #expect(soak.output.contains("comparisons"))
        print("soak on \(engine): \(soak.output)", terminator: "")
    }
}
