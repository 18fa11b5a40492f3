// ChecksumTests.swift - CRC-32C is the published one, and every way to it gives the same number.

import RootstockTableInternals
import TestSupport
import Testing

@Suite struct ChecksumTests {
    private static let ways: [(String, rootstock_crc)] = [
        ("table", rootstock_crc_portable), ("best", rootstock_crc_best()!),
    ]

    /// RFC 3720, appendix B.4, and the check value of the CRC catalogues.
    @Test func publishedValues() {
        let known: [([UInt8], UInt32)] = [
            (Array("123456789".utf8), 0xE306_9283),
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0..<32), 0x46DD_794E),
            (Array((0..<32).reversed()), 0x113F_DB5C),
            ([], 0),
        ]
        for (name, crc) in Self.ways {
            for (bytes, value) in known { #expect(crc(0, bytes, bytes.count) == value, "\(name) of \(bytes)") }
        }
    }

    /// At every length, from every address, in one piece and in two.
    @Test func everyWayIsTheSame() {
        var generator = SeededGenerator(seed: 20_261_121)
        let bytes = (0..<600).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for length in 0..<300 {
            let start = Int.random(in: 0...300, using: &generator)
            let cut = Int.random(in: 0...length, using: &generator)
            bytes.withUnsafeBytes { all in
                let base = all.baseAddress! + start
                let expected = rootstock_crc_portable(0, base, length)
                let best = rootstock_crc_best()!
                #expect(best(0, base, length) == expected)
                for crc in [rootstock_crc_portable, best] {
                    #expect(crc(crc(0, base, cut), base + cut, length - cut) == expected)
                }
            }
        }
    }

    /// As many as the seals of commits have pages, of sizes that the instruction takes and others.
    @Test func piecesAtOnce() {
        var generator = SeededGenerator(seed: 20_261_122)
        let bytes = (0..<9000).map { _ in UInt8.random(in: 0...255, using: &generator) }
        for size in [0, 4, 8, 100, 512, 1024] {
            for count in 0..<8 {
                bytes.withUnsafeBufferPointer { all in
                    let pieces: [UnsafePointer<UInt8>?] = (0..<count).map { all.baseAddress! + $0 * (size + 1) }
                    var sums = [UInt32](repeating: 1, count: count)
                    rootstock_crc_of_pieces(pieces, count, size, &sums)
                    #expect(sums == pieces.map { rootstock_crc_portable(0, $0, size) }, "\(count) of \(size)")
                }
            }
        }
    }
}
