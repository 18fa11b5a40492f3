// SeededGenerator.swift - randomness that a failing test can repeat: the seed is printed, and ROOTSTOCK_TEST_SEED runs it again.

import Foundation

/// SplitMix64: small, seedable, good enough to choose test data.
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The seed asked for by the environment, or a new one.
    public static func environmentSeed() -> UInt64 {
        ProcessInfo.processInfo.environment["ROOTSTOCK_TEST_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 1...999_999_999)
    }

    /// True once in `count` times.
    public mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    /// One of the elements, which are some.
    public mutating func pick<C: Collection>(_ elements: C) -> C.Element { elements.randomElement(using: &self)! }

    /// A number of the range.
    public mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

/// How long the random parts of the tests may take: ROOTSTOCK_TEST_SECONDS, or a few seconds.
public func environmentSeconds(default seconds: Double) -> Double {
    ProcessInfo.processInfo.environment["ROOTSTOCK_TEST_SECONDS"].flatMap { Double($0) } ?? seconds
}

/// How many programs a random part of the tests draws at most: ROOTSTOCK_TEST_PROGRAMS, or what the time allows. With a number, a fast
/// machine draws none that a slow one has not passed in a longer run.
public func environmentPrograms() -> Int {
    ProcessInfo.processInfo.environment["ROOTSTOCK_TEST_PROGRAMS"].flatMap { Int($0) } ?? .max
}
