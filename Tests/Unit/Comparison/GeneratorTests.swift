import Testing
import Workloads

/// The data of db_bench: what makes a figure comparable is that the bytes are the same.
@Suite struct GeneratorTests {
    @Test func parkMillerGivesThePublishedSequence() {
        var random = ParkMiller(seed: 1)
        var value: UInt32 = 0
        for _ in 0..<10_000 { value = random.next() }
        // Park and Miller 1988: the value that a right implementation has after 10,000 steps from 1.
        #expect(value == 1_043_618_065)
    }

    @Test(arguments: [UInt32(0), 2_147_483_647, 0x8000_0000])
    func seedsThatWouldStickAreReplaced(seed: UInt32) {
        var random = ParkMiller(seed: seed)
        #expect(random.next() == 16807)
    }

    @Test func valuesAreSlicesOfPiecesWrittenTwice() {
        let pool = ValuePool()
        var random = ParkMiller(seed: 301)
        let first = (0..<50).map { _ in UInt8(0x20 + random.next(below: 95)) }
        #expect(Array(pool.next(100)) == first + first)
        #expect(Array(pool.next(50)) == Array(pool.next(50)))
    }

    @Test func thePoolWraps() {
        let pool = ValuePool()
        let first = Array(pool.next(100_000))
        for _ in 0..<9 { _ = pool.next(100_000) }
        // The pool holds 1,048,600 bytes: the eleventh value does not fit behind the tenth.
        #expect(Array(pool.next(100_000)) == first)
    }

    /// What a reader beside writers looks at: a value put together of two is found out.
    @Test(arguments: [1, 50, 51, 99, 100, 130, 1000, 4096, 100_000])
    func aTornValueIsNotWhole(count: Int) {
        let pool = ValuePool()
        for number in 0..<50 { #expect(ValuePool.isWhole(pool.slice(count, for: number))) }
        var torn = Array(pool.slice(count, for: 0))
        guard count > 50 else { return }
        torn[0] ^= 1
        #expect(!torn.withUnsafeBytes { ValuePool.isWhole($0) })
        torn[0] ^= 1
        torn[count - 1] ^= 1
        // The last byte of a piece's first half has no double before it.
        #expect(torn.withUnsafeBytes { ValuePool.isWhole($0) } == ((count - 1) % 100 < 50))
    }

    @Test func longKeysBeginWithZeros() {
        let key = KeyBuffer(count: 40)
        key.set(1234)
        #expect(
            String(decoding: UnsafeBufferPointer(start: key.bytes, count: key.count), as: UTF8.self)
                == String(repeating: "0", count: 36) + "1234")
    }

    @Test(arguments: [0, 7, 1234, 9_999_999_999_999_999])
    func keysAreSixteenDigits(number: Int) {
        let key = KeyBuffer()
        key.set(8_888_888_888_888_888)
        key.set(number)
        let text = String(number)
        let expected = String(repeating: "0", count: 16 - text.count) + text
        #expect(String(decoding: UnsafeBufferPointer(start: key.bytes, count: 16), as: UTF8.self) == expected)
    }

    @Test func aShuffleHoldsEachNumberOnceAndFollowsTheSeed() {
        let numbers = shuffledNumbers(1000, seed: 301)
        #expect(numbers.sorted() == Array(0..<1000))
        #expect(numbers != numbers.sorted())
        #expect(numbers == shuffledNumbers(1000, seed: 301))
        #expect(numbers != shuffledNumbers(1000, seed: 302))
    }
}

@Suite struct AnswerHashTests {
    private func hash(_ parts: [[UInt8]]) -> UInt64 {
        var hash = AnswerHash()
        for part in parts { part.withUnsafeBytes { hash.add($0) } }
        return hash.value
    }

    @Test func everyByteLengthAndOrderCounts() {
        let base = hash([[1, 2, 3], [4]])
        #expect(base == hash([[1, 2, 3], [4]]))
        #expect(base != hash([[1, 2, 4], [4]]))
        #expect(base != hash([[1, 2], [3, 4]]))
        #expect(base != hash([[4], [1, 2, 3]]))
        #expect(hash([[]]) != hash([]))
        #expect(hash([[0]]) != hash([[0, 0]]))
    }
}
