// The pseudo-random data of LevelDB's db_bench, so that our keys and values are the ones that its figures were taken on.
//
// Invariant: everything here is a pure function of the seed. Two processes with the same seed bind the same bytes in the same
// order. So "answers are equal" is a statement about the engines and not about the data.

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
    private let bytes: Bytes
    private var position = 0

    public init(seed: UInt32 = 301) { bytes = seed == 301 ? Bytes.standard : Bytes(seed: seed) }

    /// A pool's bytes, which never change. db_bench's are made once a process: each worker and each turn asks for them.
    private final class Bytes: Sendable {
        static let standard = Bytes(seed: 301)
        private static let minimum = 1 << 20
        // Nobody writes here after `init`.
        nonisolated(unsafe) let content: UnsafeRawBufferPointer

        init(seed: UInt32) {
            var random = ParkMiller(seed: seed)
            var pool: [UInt8] = []
            pool.reserveCapacity(Self.minimum + 100)
            while pool.count < Self.minimum {
                let raw = (0..<50).map { _ in UInt8(0x20 + random.next(below: 95)) }
                pool += raw
                pool += raw
            }
            let content = UnsafeMutableRawBufferPointer.allocate(byteCount: pool.count, alignment: 16)
            content.copyBytes(from: pool)
            self.content = UnsafeRawBufferPointer(content)
        }

        deinit { content.deallocate() }
    }

    private static let pieceBytes = 100

    /// Slices for numbers begin where a piece does, so that `isWhole` can look at them.
    private static func stride(_ count: Int) -> Int { (count + pieceBytes - 1) / pieceBytes * pieceBytes }

    /// Whether the first and last bytes of a number's slice are those that its pieces, written twice, have at two places.
    public static func isWhole(_ value: UnsafeRawBufferPointer) -> Bool {
        let half = pieceBytes / 2
        guard value.count > half else { return true }
        let last = value.count - 1
        return value[0] == value[half] && (last % pieceBytes < half || value[last] == value[last - half])
    }

    /// The bytes that belong to a number, whoever asks for them and when.
    public func slice(_ count: Int, for number: Int) -> UnsafeRawBufferPointer {
        let stride = Self.stride(count)
        let start = number % (bytes.content.count / stride) * stride
        return UnsafeRawBufferPointer(rebasing: bytes.content[start..<start + count])
    }

    /// The next `count` bytes. They stay where they are for the life of the pool.
    public func next(_ count: Int) -> UnsafeRawBufferPointer {
        precondition(count <= bytes.content.count, "a value is longer than the pool")
        if position + count > bytes.content.count { position = 0 }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes.content[position..<position + count])
    }
}

/// A key of 16 bytes or more: the number in decimal with leading zeros (`%016d`), written in place.
public final class KeyBuffer {
    /// Digits that are written anew for each number; a longer key begins with zeros.
    public static let digits = 16
    public let count: Int
    public let bytes: UnsafeMutablePointer<UInt8>
    private let number: UnsafeMutablePointer<UInt8>

    public init(count: Int = KeyBuffer.digits) {
        precondition(count >= Self.digits, "a key has room for its digits")
        self.count = count
        bytes = .allocate(capacity: count)
        bytes.initialize(repeating: 0x30, count: count)
        number = bytes + (count - Self.digits)
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    public func set(_ value: Int) {
        let words = UnsafeMutableRawPointer(number)
        words.storeBytes(of: 0x3030_3030_3030_3030, toByteOffset: 0, as: UInt64.self)
        words.storeBytes(of: 0x3030_3030_3030_3030, toByteOffset: 8, as: UInt64.self)
        var rest = UInt64(value)
        var index = Self.digits - 1
        while rest > 0 {
            let quotient = rest / 10
            number[index] = 0x30 + UInt8(truncatingIfNeeded: rest &- quotient &* 10)
            rest = quotient
            index -= 1
        }
    }
}
