// RowTests.swift - rows come back as they were written, at every width of their offsets, and damaged ones are refused.

import CSQLite
import RootstockTableInternals
import TestSupport
import Testing

/// Calls body with C values for all samples at once; their bytes live until body returns.
private func withValues<Result>(_ samples: [Sample], _ body: ([rootstock_value]) -> Result) -> Result {
    var owned: [UnsafeMutableRawBufferPointer] = []
    defer { for buffer in owned { buffer.deallocate() } }
    let values = samples.map { sample -> rootstock_value in
        switch sample {
        case .text(let bytes), .blob(let bytes):
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            buffer.copyBytes(from: bytes)
            owned.append(buffer)
            let type = if case .text = sample { VALUE_TEXT } else { VALUE_BLOB }
            return rootstock_test_bytes(
                Int32(type), bytes.isEmpty ? nil : UnsafeRawPointer(buffer.baseAddress), bytes.count)
        default: return sample.withValue { $0.pointee }
        }
    }
    return body(values)
}

private func write(_ samples: [Sample], compact: Bool = false) -> [UInt8]? {
    withValues(samples) { values in
        let size = rootstock_row_size(values, Int32(values.count))
        guard size > 0 else { return nil }
        // Guard bytes on both sides tell whether the writer kept to its size.
        var bytes = [UInt8](repeating: 0xA5, count: size + 16)
        bytes.withUnsafeMutableBufferPointer {
            rootstock_row_write($0.baseAddress! + 8, values, Int32(values.count), compact)
        }
        #expect(bytes.prefix(8).allSatisfy { $0 == 0xA5 } && bytes.suffix(8).allSatisfy { $0 == 0xA5 })
        expectRoomyWriterAgrees(values, Array(bytes[8..<8 + size]), compact: compact)
        return Array(bytes[8..<8 + size])
    }
}

/// The writer with room behind the row makes the same bytes, and the bounds tell no other width than the size does.
private func expectRoomyWriterAgrees(_ values: [rootstock_value], _ expected: [UInt8], compact: Bool) {
    let count = Int32(values.count)
    let code = rootstock_row_width_code_of(expected.count, count)
    let texts = rootstock_row_texts(values, count)
    let told = rootstock_row_width_code(texts, count)
    var bytes = [UInt8](repeating: 0xA5, count: expected.count + Int(ROW_ROOM) + 8)
    let written = bytes.withUnsafeMutableBufferPointer {
        rootstock_row_write_roomy($0.baseAddress, code, values, count, compact)
    }
    #expect(Array(bytes.prefix(written)) == expected && bytes.suffix(8).allSatisfy { $0 == 0xA5 })
    #expect(told < 0 || (told == code && rootstock_row_size_bound(texts, count) >= expected.count))
}

/// Reads every column, or nil where open or a column says corrupt.
private func read(_ bytes: [UInt8]) -> (samples: [Sample], compact: Bool)? {
    bytes.withUnsafeBytes { raw in
        var row = rootstock_row()
        guard rootstock_row_open(&row, raw.baseAddress, raw.count) == SQLITE_OK else { return nil }
        var samples: [Sample] = []
        // Backwards: a column is reached without walking the ones before it.
        for i in (0..<row.count).reversed() {
            var value = rootstock_value()
            var hasNul = false
            let code = rootstock_row_column(&row, i, &value, &hasNul)
            guard code == SQLITE_OK else {
                #expect(code == SQLITE_CORRUPT)
                return nil
            }
            let sample = Sample(value)
            samples.append(sample)
        }
        return (samples.reversed(), row.compact)
    }
}

private func verify(_ bytes: [UInt8]) -> Bool { rootstock_row_verify(bytes, bytes.count) == SQLITE_OK }

/// NaN never reaches a row: SQLite turns it into NULL first.
private func storable(_ sample: Sample) -> Bool {
    if case .real(let real) = sample { return !real.isNaN }
    return true
}

@Suite struct RowTests {
    @Test(arguments: [0, 1, 2, 30, 31, 32, 255, 256, 1999, 2000])
    func rowsComeBack(count: Int) throws {
        let samples = (0..<count).map { Samples.all.filter(storable)[$0 % Samples.all.filter(storable).count] }
        for compact in [false, true] {
            let bytes = try #require(write(samples, compact: compact))
            let row = try #require(read(bytes))
            #expect(row.samples == samples)
            #expect(row.compact == compact)
            #expect(verify(bytes))
        }
    }

    /// Every column and some together, exchanged in a row's bytes, give the bytes of the row with the new values, where the offsets keep
    /// their width.
    @Test func patchedRowsAreWrittenRows() throws {
        let all = Samples.all.filter(storable) + [.blob([UInt8](repeating: 7, count: 240)), .text([0x61, 0, 0x62])]
        var generator = SeededGenerator(seed: 20)
        var patched = 0
        for _ in 0..<4000 {
            let count = Int.random(in: 1...40, using: &generator)
            // A row from before ALTER TABLE ADD COLUMN has fewer columns, and all that it lacks are given.
            let widened = count < 31 && Bool.random(using: &generator)
            let before = widened ? Int.random(in: 1...count, using: &generator) : count
            var new = (0..<count).map { _ in all.randomElement(using: &generator)! }
            let old = Array(new.prefix(before))
            var columns: UInt32 = 0
            for i in before..<max(before, count) { columns |= 1 << UInt32(i) }
            for i in 0..<min(before, 32) where Int.random(in: 0..<3, using: &generator) == 0 {
                new[i] = all.randomElement(using: &generator)!
                columns |= 1 << UInt32(i)
            }
            let bytes = try #require(write(old, compact: true))
            let expected = try #require(write(new, compact: true))
            let got = withValues(new) { values in
                bytes.withUnsafeBytes { raw -> [UInt8] in
                    var row = rootstock_row()
                    guard rootstock_row_open(&row, raw.baseAddress, raw.count) == SQLITE_OK else { return [] }
                    var out = [UInt8](
                        repeating: 0xA5,
                        count: raw.count + values.reduce(0) { $0 + $1.size + ROW_PATCH_MORE } + 8)
                    let size = out.withUnsafeMutableBufferPointer {
                        rootstock_row_patch($0.baseAddress!, &row, Int32(count), values, columns)
                    }
                    #expect(out.suffix(8).allSatisfy { $0 == 0xA5 })
                    return Array(out.prefix(size))
                }
            }
            if bytes[0] >> 6 == expected[0] >> 6 {
                #expect(got == expected)
                patched += 1
            } else {
                #expect(got.isEmpty)
            }
        }
        #expect(patched > 1000)
    }

    /// Columns that a row lacks take the most: eight bytes of a number, a type, an offset. What stands behind the room stays.
    @Test func patchedRowsLieInTheRoomThatIsPromised() throws {
        for text in [0, 300] {
            for count in 1...29 {
                let old: [Sample] = [.text([UInt8](repeating: 0x61, count: text))]
                let new = old + [Sample](repeating: .integer(Int64.max), count: count)
                let bytes = try #require(write(old, compact: true))
                let expected = try #require(write(new, compact: true))
                let room = bytes.count + count * ROW_PATCH_MORE
                #expect(expected.count <= room)
                let columns = (UInt32(1) << UInt32(count + 1)) - 2
                let got = withValues(new) { values in
                    bytes.withUnsafeBytes { raw -> [UInt8] in
                        var row = rootstock_row()
                        guard rootstock_row_open(&row, raw.baseAddress, raw.count) == SQLITE_OK else { return [] }
                        var out = [UInt8](repeating: 0xA5, count: room + 8)
                        let size = out.withUnsafeMutableBufferPointer {
                            rootstock_row_patch($0.baseAddress!, &row, Int32(count + 1), values, columns)
                        }
                        #expect(out.suffix(8).allSatisfy { $0 == 0xA5 })
                        return Array(out.prefix(size))
                    }
                }
                #expect(bytes[0] >> 6 != expected[0] >> 6 || got == expected)
            }
        }
    }

    @Test func malformedRowsAreNotPatched() throws {
        let bytes = try #require(write([.integer(5), .text([0x61]), .null, .integer(-300)], compact: true))
        for place in 5..<9 {
            for end in UInt8(0)...255 where end != bytes[place] {
                var damaged = bytes
                damaged[place] = end
                let size = damaged.withUnsafeBytes { raw -> Int in
                    var row = rootstock_row()
                    guard rootstock_row_open(&row, raw.baseAddress, raw.count) == SQLITE_OK else { return 0 }
                    var out = [UInt8](repeating: 0, count: raw.count + 40)
                    let value = rootstock_value()
                    return withUnsafePointer(to: value) { rootstock_row_patch(&out, &row, row.count, $0, 0) }
                }
                // Ends that ascend to the body's own are taken for what they say.
                let ends = Array(damaged[5..<9])
                let ascend = zip(ends, ends.dropFirst()).allSatisfy { $0 <= $1 } && ends[3] == bytes[8]
                #expect((size > 0) == ascend)
            }
        }
    }

    @Test func tooManyColumnsAreRefused() { #expect(write([Sample](repeating: .null, count: 2001)) == nil) }

    @Test(arguments: [0, 1, 254, 255, 256, 257, 65_534, 65_535, 65_536, 65_537, 16_777_215, 16_777_216])
    func offsetsTakeTheSmallestWidth(body: Int) throws {
        let width = body <= 255 ? 1 : body <= 65_535 ? 2 : 4
        let samples: [Sample] = [.null, .blob([UInt8](repeating: 7, count: body))]
        let bytes = try #require(write(samples))
        #expect(bytes.count == 1 + 2 + 2 * width + body)
        #expect(read(bytes)?.samples == samples)
        #expect(verify(bytes))
        if body > 0 {
            // The same body as text counts its NUL.
            let text: [Sample] = [.text([UInt8](repeating: 0x61, count: body - 1)), .integer(0)]
            #expect(try #require(write(text)).count == 1 + 2 + 2 * width + body)
        }
    }

    @Test(
        arguments: [
            (0, 0), (1, 1), (-1, 1), (127, 1), (-128, 1), (128, 2), (-129, 2), (32_767, 2), (32_768, 3), (8_388_607, 3),
            (8_388_608, 4),
            (-8_388_609, 4), (2_147_483_647, 4), (2_147_483_648, 6), (140_737_488_355_327, 6), (140_737_488_355_328, 8),
            (-140_737_488_355_329, 8), (Int64.max, 8), (Int64.min, 8),
        ] as [(Int64, Int)])
    func integersTakeTheFewestBytes(integer: Int64, size: Int) throws {
        let bytes = try #require(write([.integer(integer)]))
        #expect(bytes.count == 3 + size)
        #expect(read(bytes)?.samples == [.integer(integer)])
    }

    @Test func textIsFollowedByANulAndSaysWhetherItHoldsOne() throws {
        for (text, inside) in [("abc", false), ("a\u{0}c", true), ("", false)] {
            let bytes = try #require(write([.text(text)]))
            #expect(bytes.last == 0)
            bytes.withUnsafeBytes { raw in
                var row = rootstock_row()
                var value = rootstock_value()
                var hasNul = !inside
                #expect(rootstock_row_open(&row, raw.baseAddress, raw.count) == SQLITE_OK)
                #expect(rootstock_row_column(&row, 0, &value, &hasNul) == SQLITE_OK)
                #expect(hasNul == inside)
                #expect(rootstock_row_column(&row, 0, &value, nil) == SQLITE_OK)
            }
        }
    }

    @Test func generatedRowsComeBackAndTruncatedOnesAreRefused() throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let samples = (0..<Int.random(in: 1...40, using: &generator)).map { _ in Samples.random(using: &generator) }
                .filter(storable)
            let bytes = try #require(write(samples))
            #expect(read(bytes)?.samples == samples, "seed \(seed)")
            #expect(verify(bytes), "seed \(seed)")
            let short = Array(bytes.dropLast(Int.random(in: 1...bytes.count, using: &generator)))
            #expect(!verify(short), "seed \(seed): a truncated row was accepted: \(short)")
        }
    }

    @Test func mutatedRowsAreRefusedOrCanonical() throws {
        let seed = SeededGenerator.environmentSeed()
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let samples = (0..<Int.random(in: 1...8, using: &generator)).map { _ in Samples.random(using: &generator) }
                .filter(storable)
            var bytes = try #require(write(samples))
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let row = read(bytes)
            if verify(bytes) {
                let row = try #require(row, "seed \(seed): verify accepts what column refuses")
                #expect(write(row.samples, compact: row.compact) == bytes, "seed \(seed)")
            }
        }
    }
}
