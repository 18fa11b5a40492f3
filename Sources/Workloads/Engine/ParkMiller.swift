// The pseudo-random data of LevelDB's db_bench, so that our keys and values are the ones that its figures were taken on.
//
// Invariant: everything here is a pure function of the seed. Two processes with the same seed bind the same bytes in the
// same order, which is what makes "answers are equal" a statement about the engines and not about the data.

/// The Park-Miller "minimal standard" generator: x <- 16807 x mod (2^31 - 1), as in LevelDB's `util/random.h`.
public struct ParkMiller: Sendable {
    static let modulus: UInt64 = 2_147_483_647
    private var state: UInt64

    public init(seed: UInt32) {
        let reduced = UInt64(seed & 0x7fff_ffff)
        // 0 and the modulus itself are fixed points: the sequence would never leave them.
        state = reduced == 0 || reduced == Self.modulus ? 1 : reduced
    }

    public mutating func next() -> UInt32 {
        state = (state &* 16807) % Self.modulus
        return UInt32(truncatingIfNeeded: state)
    }

    /// A number in `0..<bound`, by remainder as db_bench takes it.
    public mutating func next(below bound: Int) -> Int {
        precondition(bound > 0, "a random number needs a range that is not empty")
        return Int(next()) % bound
    }
}

/// The numbers `0..<count`, each once, in an order that depends on the seed alone (Fisher-Yates).
public func shuffledNumbers(_ count: Int, seed: UInt32) -> [Int32] {
    var random = ParkMiller(seed: seed)
    var numbers = (0..<Int32(count)).map { $0 }
    for index in stride(from: count - 1, to: 0, by: -1) {
        numbers.swapAt(index, random.next(below: index + 1))
    }
    return numbers
}

/// db_bench's values: slices, one after the other and wrapping, of a pool of about 1 MiB made of 100-byte pieces, each 50
/// random printable bytes written twice (compressible by half).
public final class ValuePool {
    private static let minimumBytes = 1 << 20
    private let bytes: UnsafeMutableRawBufferPointer
    private var position = 0

    public init(seed: UInt32 = 301) {
        var random = ParkMiller(seed: seed)
        var pool: [UInt8] = []
        pool.reserveCapacity(Self.minimumBytes + 100)
        while pool.count < Self.minimumBytes {
            let raw = (0..<50).map { _ in UInt8(0x20 + random.next(below: 95)) }
            pool += raw
            pool += raw
        }
        bytes = .allocate(byteCount: pool.count, alignment: 16)
        bytes.copyBytes(from: pool)
    }

    deinit { bytes.deallocate() }

    /// The bytes that belong to a number, whoever asks for them and when.
    public func slice(_ count: Int, for number: Int) -> UnsafeRawBufferPointer {
        let start = number % (bytes.count / count) * count
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
    }

    /// The next `count` bytes. They stay where they are for the life of the pool.
    public func next(_ count: Int) -> UnsafeRawBufferPointer {
        precondition(count <= bytes.count, "a value is longer than the pool")
        if position + count > bytes.count { position = 0 }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }
}

/// A 16-byte key: the number in decimal with leading zeros (`%016d`), written in place.
public final class KeyBuffer {
    public static let count = 16
    public let bytes: UnsafeMutablePointer<UInt8>

    public init() {
        bytes = .allocate(capacity: Self.count)
        bytes.initialize(repeating: 0x30, count: Self.count)
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    public func set(_ number: Int) {
        let words = UnsafeMutableRawPointer(bytes)
        words.storeBytes(of: 0x3030_3030_3030_3030, toByteOffset: 0, as: UInt64.self)
        words.storeBytes(of: 0x3030_3030_3030_3030, toByteOffset: 8, as: UInt64.self)
        var rest = UInt64(number)
        var index = Self.count - 1
        while rest > 0 {
            let quotient = rest / 10
            bytes[index] = 0x30 + UInt8(truncatingIfNeeded: rest &- quotient &* 10)
            rest = quotient
            index -= 1
        }
    }
}
