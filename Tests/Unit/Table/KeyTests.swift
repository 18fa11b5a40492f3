// KeyTests.swift - encoded keys sort under memcmp as SQLite sorts the values, and decode to what was encoded.

import CSQLite
import RootstockTableInternals
import TestSupport
import Testing

private let collations: [String: rootstock_collation] = [
    "BINARY": ROOTSTOCK_COLLATION_BINARY, "NOCASE": ROOTSTOCK_COLLATION_NOCASE, "RTRIM": ROOTSTOCK_COLLATION_RTRIM,
]

private func column(_ order: ColumnOrder, final: Bool = false, real: Bool = false) -> rootstock_key_column {
    rootstock_key_column(
        collation: UInt8(collations[order.collation]!.rawValue), descending: order.descending, final: final,
        real_affinity: real)
}

private func encode(_ samples: [Sample], _ columns: [rootstock_key_column]) -> [UInt8] {
    var buffer = rootstock_buffer()
    defer { rootstock_buffer_free(&buffer) }
    for (sample, column) in zip(samples, columns) {
        let code = sample.withValue { value in
            withUnsafePointer(to: column) { rootstock_key_append(&buffer, value, $0) }
        }
        #expect(code == SQLITE_OK)
    }
    return Array(UnsafeBufferPointer(start: buffer.data, count: buffer.size))
}

private func isExact(_ sample: Sample, _ column: rootstock_key_column) -> Bool {
    sample.withValue { value in withUnsafePointer(to: column) { rootstock_key_is_exact(value, $0) } }
}

/// Decodes every column, or nil where the decoder says corrupt. Also holds skip to the same answer and the same place.
private func decode(_ key: [UInt8], _ columns: [rootstock_key_column]) -> [Sample]? {
    key.withUnsafeBytes { bytes in
        var offset = 0
        var skipped = 0
        var samples: [Sample] = []
        for column in columns {
            var scratch = rootstock_buffer()
            defer { rootstock_buffer_free(&scratch) }
            var value = rootstock_value()
            let code = withUnsafePointer(to: column) {
                rootstock_key_decode(bytes.baseAddress, bytes.count, &offset, $0, &value, &scratch)
            }
            let skip = withUnsafePointer(to: column) {
                rootstock_key_skip(bytes.baseAddress, bytes.count, &skipped, $0)
            }
            guard code == SQLITE_OK else {
                #expect(code == SQLITE_CORRUPT)
                return nil
            }
            #expect(skip == SQLITE_OK && skipped == offset)
            samples.append(Sample(value))
        }
        return offset == bytes.count ? samples : nil
    }
}

private func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    Int(rootstock_key_compare(left, left.count, right, right.count)).signum()
}

/// Every pair, or against neighbours in SQLite's order where there are too many: order is transitive.
private func expectOrder(
    _ tuples: [[Sample]], _ orders: [ColumnOrder], _ columns: [rootstock_key_column], seed: UInt64? = nil
) throws {
    let ranks = try nativeRanks(tuples, orders)
    let keys = tuples.map { encode($0, columns) }
    let sorted = tuples.indices.sorted { ranks[$0] < ranks[$1] }
    var wrong: [String] = []
    func check(_ a: Int, _ b: Int) {
        if compare(keys[a], keys[b]) != (ranks[a] - ranks[b]).signum() {
            wrong.append("\(tuples[a]) and \(tuples[b]): keys \(keys[a]) \(keys[b])")
        }
    }
    if tuples.count <= 700 {
        for a in tuples.indices {
            for b in tuples.indices { check(a, b) }
        }
    } else {
        for (a, b) in zip(sorted, sorted.dropFirst()) { check(a, b) }
    }
    #expect(
        wrong.isEmpty,
        "seed \(seed.map(String.init) ?? "none"), \(orders): \(wrong.count) wrong, first \(wrong.first ?? "")")
}

extension Int64 {
    fileprivate func signum() -> Int { self < 0 ? -1 : self > 0 ? 1 : 0 }
}

@Suite struct KeyTests {
    @Test(arguments: ColumnOrder.all, [false, true])
    func orderOfAwkwardValuesIsSQLites(order: ColumnOrder, final: Bool) throws {
        try expectOrder(Samples.all.map { [$0] }, [order], [column(order, final: final)])
    }

    @Test(arguments: ColumnOrder.all)
    func orderOfGeneratedValuesIsSQLites(order: ColumnOrder) throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        let samples = (0..<20_000).map { _ in [Samples.random(using: &generator)] }
        try expectOrder(samples, [order], [column(order)], seed: seed)
        try expectOrder(samples, [order], [column(order, final: true)], seed: seed)
    }

    @Test func orderOfCompositeKeysIsSQLites() throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let orders = (0..<Int.random(in: 2...4, using: &generator)).map { _ in
                ColumnOrder.all.randomElement(using: &generator)!
            }
            // Few distinct values in front let the columns behind decide.
            let pool = (0..<6).map { _ in Samples.random(using: &generator) }
            let tuples = (0..<2000).map { _ in
                orders.indices.map { _ in
                    Bool.random(using: &generator)
                        ? pool.randomElement(using: &generator)! : Samples.random(using: &generator)
                }
            }
            for final in [false, true] {
                let columns = orders.enumerated().map { column($1, final: final && $0 == orders.count - 1) }
                try expectOrder(tuples, orders, columns, seed: seed)
            }
        }
    }

    @Test(arguments: ColumnOrder.all, [false, true])
    func decodeGivesBackWhatIsExact(order: ColumnOrder, real: Bool) throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        let samples = Samples.all + (0..<5000).map { _ in Samples.random(using: &generator) }
        for final in [false, true] {
            let column = column(order, final: final, real: real)
            for sample in samples {
                let decoded = decode(encode([sample], [column]), [column])
                #expect(decoded?.count == 1, "seed \(seed): \(sample) does not decode")
                guard let decoded = decoded?.first else { continue }
                #expect(
                    (decoded == sample) == isExact(sample, column),
                    "seed \(seed): \(sample) decodes as \(decoded), exact: \(isExact(sample, column))")
            }
        }
    }

    @Test func exactnessIsWhatTheHeaderSays() {
        let plain = column(ColumnOrder(collation: "BINARY", descending: false))
        let real = column(ColumnOrder(collation: "BINARY", descending: false), real: true)
        let noCase = column(ColumnOrder(collation: "NOCASE", descending: true))
        let trimming = column(ColumnOrder(collation: "RTRIM", descending: false))
        #expect(!isExact(.real(1.0), plain))
        #expect(isExact(.real(1.5), plain))
        #expect(isExact(.real(1.0), real))
        #expect(!isExact(.integer(1), real))
        #expect(!isExact(.real(-0.0), plain))
        #expect(!isExact(.real(-0.0), real))
        #expect(isExact(.real(.infinity), plain))
        #expect(isExact(.integer(.max), plain))
        #expect(!isExact(.text("Aa"), noCase))
        #expect(isExact(.text("aa"), noCase))
        #expect(!isExact(.text("a\u{0}a"), noCase))
        #expect(isExact(.blob([0x41, 0x20]), noCase))
        #expect(!isExact(.text("a "), trimming))
        #expect(isExact(.blob([0x20]), trimming))
    }

    @Test func numbersTakeNineBytesOrEleven() {
        let plain = [column(ColumnOrder(collation: "BINARY", descending: false))]
        #expect(encode([.integer(1 << 53 - 1)], plain).count == 9)
        #expect(encode([.integer((1 << 53) - 1)], plain).count == 9)
        #expect(encode([.integer(1 << 53)], plain).count == 11)
        #expect(encode([.real(.infinity)], plain).count == 11)
        #expect(encode([.null], plain) == [5])
    }

    @Test func truncatedAndMutatedKeysAreRefusedOrCanonical() {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let orders = (0..<3).map { _ in ColumnOrder.all.randomElement(using: &generator)! }
            let columns = orders.map { column($0) }
            var key = encode(orders.map { _ in Samples.random(using: &generator) }, columns)
            if Bool.random(using: &generator) {
                key.removeLast(Int.random(in: 1...key.count, using: &generator))
                #expect(decode(key, columns) == nil, "seed \(seed): a truncated key decoded: \(key)")
            } else {
                key[Int.random(in: 0..<key.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                if let samples = decode(key, columns) {
                    #expect(
                        encode(samples, columns) == key,
                        "seed \(seed): \(key) decodes but is not what \(samples) encodes as")
                }
            }
        }
    }

    @Test(
        arguments: [
            [0x10, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],  // -0.0
            [0x10, 0xFF, 0xF8, 0, 0, 0, 0, 0, 0, 0, 0],  // NaN
            [0x10, 0xC3, 0x40, 0, 0, 0, 0, 0, 0, 0, 2],  // 2^53 + 2 has a double of its own
            [0x10, 0xFF, 0xF0, 0, 0, 0, 0, 0, 0, 0, 1],  // infinity + 1
            [0x20, 0x61], [0x20, 0x61, 0], [0x20, 0, 2], [0x40], [0], [],
        ] as [[UInt8]])
    func bytesThatNoEncoderMakesAreCorrupt(key: [UInt8]) {
        #expect(decode(key, [column(ColumnOrder(collation: "BINARY", descending: false))]) == nil)
    }

    @Test func successorIsTheLeastStringAboveThePrefix() {
        func successor(_ bytes: [UInt8]) -> [UInt8]? {
            var buffer = rootstock_buffer()
            defer { rootstock_buffer_free(&buffer) }
            #expect(rootstock_buffer_append(&buffer, bytes, bytes.count) == SQLITE_OK)
            return rootstock_key_successor(&buffer)
                ? Array(UnsafeBufferPointer(start: buffer.data, count: buffer.size)) : nil
        }
        #expect(successor([1, 2]) == [1, 3])
        #expect(successor([1, 0xFF]) == [2])
        #expect(successor([1, 0xFF, 0xFF]) == [2])
        #expect(successor([0xFF, 0xFF]) == nil)
        #expect(successor([]) == nil)
    }

    @Test func rowidsSortAsIntegers() {
        let rowids: [Int64] = [.min, .min + 1, -256, -1, 0, 1, 255, 256, .max - 1, .max]
        let encoded = rowids.map { rowid in
            var bytes = [UInt8](repeating: 0, count: 8)
            rootstock_rowid_encode(rowid, &bytes)
            return bytes
        }
        for (rowid, bytes) in zip(rowids, encoded) { #expect(rootstock_rowid_decode(bytes) == rowid) }
        for (low, high) in zip(encoded, encoded.dropFirst()) { #expect(compare(low, high) < 0) }
    }

    @Test func aMegabyteKeySurvives() {
        let order = ColumnOrder(collation: "BINARY", descending: true)
        let sample = Sample.blob((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) })
        #expect(
            decode(encode([sample, .integer(7)], [column(order), column(order)]), [column(order), column(order)])
                == [sample, .integer(7)])
    }
}
