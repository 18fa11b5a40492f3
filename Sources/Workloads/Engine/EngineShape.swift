// What suite `engine` writes and reads, where it is not db_bench's: `compare engine --key-size --value-size --threads --read-ratio`.
//
// Invariant: the standard shape is db_bench's, to the byte. Another one keeps the order of keys and of values, so that two engines
// are asked the same in every shape.

/// Sizes of keys and values of suite `engine`, and the mix of its case `mixed`.
public struct EngineShape: Sendable, Codable, Equatable {
    /// Bytes of a key: a number in decimal with leading zeros.
    public var keyBytes = 16
    /// Bytes of a value, but for the cases that name another size themselves.
    public var valueBytes = 100
    /// Connections of case `mixed`, each on a thread of its own.
    public var threads = 4
    /// The share of case `mixed` that is point reads; the rest overwrites rows.
    public var readRatio = 0.95

    /// LevelDB's: keys of 16 bytes, values of 100.
    public static let standard = EngineShape()

    private init() {}

    /// A shape with what was asked for, and db_bench's for the rest. Throws an error that names a value that cannot be.
    public init(keyBytes: Int?, valueBytes: Int?, threads: Int?, readRatio: Double?) throws {
        if let keyBytes {
            // Below, keys of readmissing do not fit; above, LMDB takes none.
            guard (16...500).contains(keyBytes) else {
                throw WorkloadError("a key has 16 to 500 bytes, not \(keyBytes)")
            }
            self.keyBytes = keyBytes
        }
        if let valueBytes {
            guard (1...1_000_000).contains(valueBytes) else {
                throw WorkloadError("a value has 1 to 1,000,000 bytes, not \(valueBytes)")
            }
            self.valueBytes = valueBytes
        }
        if let threads {
            guard (1...64).contains(threads) else { throw WorkloadError("there are 1 to 64 threads, not \(threads)") }
            self.threads = threads
        }
        if let readRatio {
            guard (0...1).contains(readRatio) else {
                throw WorkloadError("the share of reads is between 0 and 1, not \(readRatio)")
            }
            self.readRatio = readRatio
        }
    }

    /// What differs from the standard, in words; null where nothing does.
    public var text: String? {
        let standard = Self.standard
        let parts = [
            keyBytes == standard.keyBytes ? nil : "keys of \(keyBytes) bytes",
            valueBytes == standard.valueBytes ? nil : "values of \(valueBytes) bytes",
            threads == standard.threads ? nil : "\(threads) threads",
            readRatio == standard.readRatio ? nil : "reads \(readRatio) of the mix",
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
