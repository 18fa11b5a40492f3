// Sample data with the look of an application's: names, places, addresses, titles.
//
// Invariant: a pure function of the seed and the index. Strings are made once, before any clock runs; a workload that binds
// one pays for the binding and not for making it.

/// Mixes a number into another that looks random (the finalizer of SplitMix64): data that any index can be asked for.
@inline(__always)
func mixed(_ index: Int, _ seed: UInt32) -> UInt64 {
    var z = UInt64(truncatingIfNeeded: index) &+ UInt64(seed) &* 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
}

struct Samples: Sendable {
    let firstNames: [String]
    let lastNames: [String]
    let fullNames: [String]
    let emails: [String]
    let cities: [String]
    let countries: [String]
    let titles: [String]

    private static let consonants = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"]
    private static let vowels = ["a", "e", "i", "o", "u"]

    init(seed: UInt32) {
        var random = ParkMiller(seed: seed)
        func word(_ syllables: Int) -> String {
            var text = ""
            for _ in 0..<syllables {
                text += Self.consonants[random.next(below: Self.consonants.count)]
                text += Self.vowels[random.next(below: Self.vowels.count)]
            }
            return text.prefix(1).uppercased() + text.dropFirst()
        }
        firstNames = (0..<200).map { _ in word(2 + random.next(below: 2)) }
        lastNames = (0..<500).map { _ in word(3 + random.next(below: 2)) }
        cities = (0..<300).map { _ in word(3) }
        countries = (0..<120).map { _ in word(4) }
        var names: [String] = []
        var addresses: [String] = []
        for index in 0..<2000 {
            let first = firstNames[random.next(below: firstNames.count)]
            let last = lastNames[random.next(below: lastNames.count)]
            names.append("\(first) \(last)")
            addresses.append("\(first).\(last)\(index)@example.org".lowercased())
        }
        fullNames = names
        emails = addresses
        titles = (0..<2000).map { _ in (0..<(2 + random.next(below: 4))).map { _ in word(2) }.joined(separator: " ") }
    }

    /// Text of about `count` bytes, of words.
    func paragraph(_ count: Int, from index: Int) -> String {
        var text = ""
        var next = index
        while text.utf8.count < count {
            text += titles[next % titles.count] + ". "
            next += 1
        }
        return String(text.prefix(count))
    }
}

extension Array {
    /// An element chosen by a random number.
    @inline(__always)
    func pick(_ random: UInt64) -> Element { self[Int(random % UInt64(count))] }
}

extension Session {
    /// Runs `body` for each number in transactions of `batch`, a lap each; the commit is in the lap of the batch's last.
    /// With a batch of 1 and `isExplicit` false each statement is a transaction by itself.
    @inline(__always)
    func inBatches(
        _ count: Int, of batch: Int, _ meter: Meter, isExplicit: Bool = false, _ body: (Int) throws -> Void
    ) throws {
        let begin = try statement("BEGIN")
        let commit = try statement("COMMIT")
        let withTransactions = batch > 1 || isExplicit
        var index = 0
        while index < count {
            let end = Swift.min(index + batch, count)
            if withTransactions { try begin.run() }
            while index < end {
                try body(index)
                index += 1
                if withTransactions && index == end { try commit.run() }
                meter.lap()
            }
        }
    }

    /// Fills something in transactions of 10,000, unmeasured.
    func fill(_ count: Int, _ body: (Int) throws -> Void) throws {
        try inBatches(count, of: 10_000, Meter(operations: 1), body)
    }
}
