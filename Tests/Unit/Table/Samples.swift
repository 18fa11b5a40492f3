// Samples.swift - values that are awkward to order and to store, and a generator of more of them.
//
// The generator is seeded: a failing test prints the seed, and ROOTSTOCK_TEST_SEED runs that seed again.

import RootstockTableInternals
import TestSupport

/// One SQL value that owns its bytes. Reals compare by bit pattern, so that -0.0 and 0.0 differ.
enum Sample: Equatable, CustomStringConvertible, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    static func text(_ string: String) -> Sample { .text(Array(string.utf8)) }

    static func == (left: Sample, right: Sample) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.real(let a), .real(let b)): a.bitPattern == b.bitPattern
        case (.text(let a), .text(let b)), (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let integer): "\(integer)"
        case .real(let real): "real \(real)"
        case .text(let bytes): "text \(bytes.prefix(40))(\(bytes.count))"
        case .blob(let bytes): "blob \(bytes.prefix(40))(\(bytes.count))"
        }
    }

    /// Calls body with the C value; its bytes live until body returns.
    func withValue<Result>(_ body: (UnsafePointer<rootstock_value>) throws -> Result) rethrows -> Result {
        switch self {
        case .null: return try withUnsafePointer(to: rootstock_test_null(), body)
        case .integer(let integer): return try withUnsafePointer(to: rootstock_test_integer(integer), body)
        case .real(let real): return try withUnsafePointer(to: rootstock_test_real(real), body)
        case .text(let bytes):
            return try bytes.withUnsafeBytes {
                try withUnsafePointer(to: rootstock_test_bytes(Int32(VALUE_TEXT), $0.baseAddress, $0.count), body)
            }
        case .blob(let bytes):
            return try bytes.withUnsafeBytes {
                try withUnsafePointer(to: rootstock_test_bytes(Int32(VALUE_BLOB), $0.baseAddress, $0.count), body)
            }
        }
    }

    init(_ value: rootstock_value) {
        var value = value
        switch Int(value.type) {
        case VALUE_INTEGER: self = .integer(rootstock_test_integer_of(&value))
        case VALUE_REAL: self = .real(rootstock_test_real_of(&value))
        case VALUE_TEXT:
            self = .text(Array(UnsafeRawBufferPointer(start: rootstock_test_data_of(&value), count: value.size)))
        case VALUE_BLOB:
            self = .blob(Array(UnsafeRawBufferPointer(start: rootstock_test_data_of(&value), count: value.size)))
        default: self = .null
        }
    }
}

enum Samples {
    /// Numbers around every edge of the encoding: zeros, 2^53, 2^62, the limits of Int64, denormals, infinities.
    static let numbers: [Sample] = {
        var numbers: [Sample] = []
        let integers: [Int64] = [0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 65535, 65536, .max, .min]
        for integer in integers {
            numbers += [.integer(integer), .real(Double(integer))]
            if integer < .max { numbers.append(.integer(integer + 1)) }
            if integer > .min { numbers.append(.integer(integer - 1)) }
        }
        for power in [31, 32, 47, 52, 53, 54, 55, 61, 62] {
            let base = Int64(1) << Int64(power)
            for step: Int64 in [-1025, -1024, -513, -512, -3, -2, -1, 0, 1, 2, 3, 511, 512, 513, 1023, 1024, 1025] {
                numbers += [.integer(base + step), .integer(-base - step)]
            }
            let real = Double(base)
            numbers += [.real(real), .real(real.nextUp), .real(real.nextDown)]
            numbers += [.real(-real), .real(-real.nextUp), .real(-real.nextDown)]
        }
        for step: Int64 in [1, 2, 511, 512, 513, 1022, 1023, 1024, 1025] {
            numbers += [.integer(.max - step), .integer(.min + step)]
        }
        let limit = 9_223_372_036_854_775_808.0
        for real in [
            -0.0, 0.5, 0.1, 1.5, 1e-300, 1e300, 1e18, 1e19, 1.8446744073709552e19, limit, limit.nextUp, limit.nextDown,
            .leastNonzeroMagnitude, .leastNormalMagnitude, .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude,
            .infinity,
        ] as [Double] {
            numbers += [.real(real), .real(-real)]
        }
        numbers += [.real(.nan), .real(-.nan)]
        return numbers
    }()

    /// Byte strings around every edge of escaping and of the collations, to be used as text and as blob.
    static let strings: [[UInt8]] = {
        var strings: [[UInt8]] = [
            [], [0], [0, 0], [0, 1], [0, 0xFF], [1], [0xFF], [0xFE], [0xFF, 0], [0xFF, 0xFF], [0xFF, 0xFE],
            [0xFE, 0xFF],
            [0, 0xFF, 1], [1, 0], [1, 0, 0], [1, 0, 1], [0x20], [0x20, 0x20], [0x61, 0x20], [0x61, 0x20, 0x20, 0],
            [0x61, 0x20, 0x62], [0x61, 0], [0x61, 0, 0x20],
        ]
        for string in [
            "a", "A", "b", "B", "ab", "AB", "aB", "Ab", "abc", "a\u{0}b", "a\u{0}B", "A\u{0}c", "a\u{0}bb",
            "A\u{0}\u{0}", "a\u{0}",
            "z", "Z", "[", "`", "@", "{", "_", "Z[", "z[", "a_", "A_", "a ", "A  ", " a", "a\t", "a\u{1}", "a!",
            "\u{E4}", "\u{C4}",
            "\u{1F600}", "\u{FFFF}", "0", "-1", "1e3", "9", "10",
        ] {
            strings.append(Array(string.utf8))
        }
        strings.append([UInt8](repeating: 0x61, count: 600))
        strings.append([UInt8](repeating: 0x61, count: 600) + [0])
        strings.append([UInt8](repeating: 0, count: 300))
        return strings
    }()

    static let all: [Sample] = [.null] + numbers + strings.flatMap { [.text($0), .blob($0)] }

    static func random(using generator: inout SeededGenerator) -> Sample {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return all.randomElement(using: &generator)!
        case 1: return .integer(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
        case 2: return .real(Double(bitPattern: generator.next()))
        case 3: return .real(Double(Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator)))
        case 4: return .integer(Int64.random(in: -3...3, using: &generator))
        case 5: return .real(Double(Int.random(in: -6...6, using: &generator)) / 2)
        case 6: return .blob(bytes(using: &generator))
        default: return .text(bytes(using: &generator))
        }
    }

    /// Short strings over few letters, so that prefixes and equal ones are common.
    private static func bytes(using generator: inout SeededGenerator) -> [UInt8] {
        let letters: [UInt8] = [
            0, 0, 1, 0x20, 0x20, 0x41, 0x61, 0x42, 0x62, 0x5A, 0x5B, 0x60, 0x7A, 0x7B, 0xC3, 0xA4, 0xFE, 0xFF,
        ]
        return (0..<Int.random(in: 0...6, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
    }
}
