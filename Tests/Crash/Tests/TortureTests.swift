// `rootstock-lab torture`, for a while: processes that are killed lose nothing that was acknowledged.

#if os(Linux)
    import TestSupport
    import Testing

    @Suite struct TortureTests {
        /// Most of the time for lmdb; sqlite-btree shows that the torture, the logs and the table layer are right on any engine.
        @Test(arguments: [("lmdb", 0.6), ("sqlite-btree", 0.4)])
        func killedProcessesLoseNothing(engine: String, share: Double) throws {
            let seed = SeededGenerator.environmentSeed()
            let seconds = environmentSeconds(default: 10) * share
            let result = try run(
                program("rootstock-lab"),
                ["torture", "--engine", engine, "--seconds", "\(seconds)", "--seed", "\(seed)"])
            print(result.output)
            #expect(result.status == 0, "seed \(seed): \(result.output)")
            #expect(result.output.contains("nothing lost"))
        }
    }
#endif
