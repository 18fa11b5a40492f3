// A running hash over the rows that an engine answered.
//
// Invariant: equal sequences of rows (column by column: storage class, length, bytes) give equal hashes on every engine;
// the order of rows counts. While the clock runs only `touch` is used: length, first and last byte of a column. So the answer is
// fetched and its memory read, and the hashing does not drown the engine. The whole hash is taken in a pass of its own over the
// same rows.

public struct AnswerHash: Sendable {
    public private(set) var value: UInt64 = 0x9e37_79b9_7f4a_7c15

    public init() {}

    public mutating func add(_ word: UInt64) {
        var mixed = (value ^ word) &* 0xff51_afd7_ed55_8ccd
        mixed ^= mixed >> 33
        value = mixed
    }

    public mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        add(rest)
    }

    public mutating func add(_ text: String) {
        var copy = text
        copy.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// A row of two blobs, as a session hashes it column by column.
    public mutating func addRow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) {
        let blobTag: UInt64 = 4  // SQLITE_BLOB
        add(UInt64(2))
        add(first)
        add(blobTag)
        add(second)
        add(blobTag)
    }

    /// The cheap form for use while the clock runs.
    @inline(__always)
    public mutating func touch(_ bytes: UnsafeRawBufferPointer) {
        var word = UInt64(bytes.count)
        if let base = bytes.baseAddress, bytes.count > 0 {
            let end = base.load(fromByteOffset: bytes.count - 1, as: UInt8.self)
            word = word << 16 | UInt64(base.load(as: UInt8.self)) << 8 | UInt64(end)
        }
        value = (value ^ word) &* 0x0000_0100_0000_01b3
    }

    /// Reads every byte, for workloads in which the reader does; the sum is cheap beside reading the memory.
    @inline(__always)
    public mutating func touchWhole(_ bytes: UnsafeRawBufferPointer) {
        var sum = UInt64(bytes.count)
        var offset = 0
        while offset + 8 <= bytes.count {
            sum &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        touch(sum)
        touch(bytes)
    }

    @inline(__always)
    public mutating func touch(_ word: UInt64) {
        value = (value ^ word) &* 0x0000_0100_0000_01b3
    }

    public var hexadecimal: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
