// `rootstock torture`, for a while: processes that are killed lose nothing that was acknowledged.

#if os(Linux)
    import TestSupport
    import Testing

    @Suite struct TortureTests {
        @Test func killedProcessesLoseNothing() throws {
            let seed = SeededGenerator.environmentSeed()
            let seconds = environmentSeconds(default: 10)
            let result = try run(program("rootstock"), ["torture", "--seconds", "\(seconds)", "--seed", "\(seed)"])
            print(result.output)
            #expect(result.status == 0, "seed \(seed): \(result.output)")
            #expect(result.output.contains("nothing lost"))
        }
    }
#endif
