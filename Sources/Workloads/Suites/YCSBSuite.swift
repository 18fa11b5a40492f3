// Suite `ycsb`: the core mixes of the Yahoo! Cloud Serving Benchmark on a table of ten text fields.
//
// Invariant: an operation is a transaction. Which record an operation touches follows YCSB's generators (scrambled zipfian
// with exponent 0.99, or latest), drawn from the seed. So every engine gets the same operations in the same order. With several
// threads each has its share of the operations, a connection and a seed of its own. Who writes a record last is then up to the
// machine. The content that must agree is the keys and the lengths of the fields.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Suite {
    public static let ycsb = Suite(
        name: "ycsb", title: "YCSB core mixes A to F", source: "Cooper et al. 2010, YCSB core workloads",
        unit: "records (and as many operations)", defaultSize: 100_000, smallestSize: 500, fixtures: [YCSBSuite.filled],
        workloads: YCSBSuite.workloads,
        remarks: [
            "A to F run on one thread; A-2threads and the like (--variants) on several, each with its own connection, in one process."
        ])
}

enum YCSBSuite {
    static let schema = """
        CREATE TABLE usertable (ycsb_key TEXT PRIMARY KEY, \
        \((0..<10).map { "field\($0) TEXT" }.joined(separator: ", ")))
        """
    static let content = ["SELECT * FROM usertable ORDER BY ycsb_key"]
    static let fieldBytes = 100

    struct Mix: Sendable {
        var name: String
        var summary: String
        /// Percentages; together 100.
        var shares: [(operation: Operation, percent: Int)]
        var isLatest = false

        var writes: Bool { shares.contains { $0.operation != .read && $0.operation != .scan } }

        /// The operation that a number in 0..<100 stands for.
        func operation(_ number: Int) -> Operation {
            var rest = number
            for share in shares {
                if rest < share.percent { return share.operation }
                rest -= share.percent
            }
            preconditionFailure("the shares of mix \(name) do not add up to 100")
        }
    }

    enum Operation: Sendable { case read, update, insert, scan, readModifyWrite }

    static let mixes: [Mix] = [
        Mix(name: "A", summary: "update heavy: half reads, half updates", shares: [(.read, 50), (.update, 50)]),
        Mix(name: "B", summary: "read mostly: 5% updates", shares: [(.read, 95), (.update, 5)]),
        Mix(name: "C", summary: "read only", shares: [(.read, 100)]),
        Mix(name: "D", summary: "read latest: 5% inserts", shares: [(.read, 95), (.insert, 5)], isLatest: true),
        Mix(name: "E", summary: "short ranges of 1 to 100 rows, 5% inserts", shares: [(.scan, 95), (.insert, 5)]),
        Mix(name: "F", summary: "half reads, half read-modify-write", shares: [(.read, 50), (.readModifyWrite, 50)]),
    ]

    static let filled = Fixture(name: "usertable") { session in
        try session.execute(schema)
        let insert = try inserter(session, ValuePool(seed: session.parameters.seed))
        try session.fill(session.parameters.size) { try insert($0) }
    }

    static let workloads: [Workload] = [1, 2, 4].flatMap { threads in mixes.map { workload($0, threads: threads) } }

    private static func workload(_ mix: Mix, threads: Int) -> Workload {
        let writes = mix.writes
        let operations: @Sendable (Int) -> Int = { size in max(1, size / threads) * threads }
        let suffix = threads == 1 ? "" : "-\(threads)threads"
        var workload = Workload(
            name: mix.name + suffix, summary: mix.summary + (threads == 1 ? "" : ", \(threads) threads"),
            starting: writes ? .copy(of: filled.name) : .shared(filled.name), writes: writes,
            isHeadline: mix.name == "B" && threads == 1, isVariant: threads > 1, operations: operations,
            contentQueries: writes ? (threads == 1 ? content : lengths) : [],
            run: { session, meter in
                if threads == 1 {
                    let body = try prepare(mix, session, thread: 0, of: 1)
                    meter.begin()
                    try body { meter.lap() }
                    try session.settle()
                    return meter.end()
                }
                let crew = Workers.Crew(count: threads, operations: operations(session.parameters.size) / threads) {
                    worker in
                    let body = try prepare(mix, worker.session, thread: worker.index, of: threads)
                    return { try body { worker.recorder.lap() } }
                }
                try Workers.run([crew], session, meter)
            })
        workload.opensSeveralConnections = threads > 1
        return workload
    }

    private static let lengths = [
        "SELECT ycsb_key, \((0..<10).map { "length(field\($0))" }.joined(separator: ", ")) FROM usertable ORDER BY ycsb_key"
    ]

    static func key(_ number: Int) -> String { "user\(mixed(number, 0))" }

    private static func inserter(_ session: Session, _ pool: ValuePool) throws -> (Int) throws -> Void {
        let marks = Array(repeating: "?", count: 11).joined(separator: ", ")
        let statement = try session.statement("INSERT INTO usertable VALUES (\(marks))")
        return { number in
            try statement.bind(1, key(number))
            for field in 0..<10 {
                try statement.bind(Int32(field + 2), borrowedText: pool.next(fieldBytes).bindMemory(to: UInt8.self))
            }
            try statement.run()
        }
    }

    /// Prepares the statements of one thread and gives what it does; that calls its argument after each operation.
    private static func prepare(
        _ mix: Mix, _ session: Session, thread: Int, of threads: Int
    ) throws -> (_ lap: () -> Void) throws -> Void {
        let read = try session.statement("SELECT * FROM usertable WHERE ycsb_key = ?")
        let scan = try session.statement("SELECT * FROM usertable WHERE ycsb_key >= ? ORDER BY ycsb_key LIMIT ?")
        let updates = try (0..<10).map {
            try session.statement("UPDATE usertable SET field\($0) = ? WHERE ycsb_key = ?")
        }
        let begin = try session.statement("BEGIN IMMEDIATE")
        let commit = try session.statement("COMMIT")
        try session.prepareToSettle()
        let pool = ValuePool(seed: session.parameters.seed &+ 1)
        let insert = try inserter(session, pool)
        var random = SplitMix(seed: UInt64(session.parameters.seed) &+ UInt64(thread) &* 0x9e37_79b9)
        // A thread inserts every so manieth record, and knows of its own.
        var records = session.parameters.size + thread
        let zipfian = Zipfian(items: session.parameters.size)

        func choose(_ random: inout SplitMix) -> String {
            let rank = zipfian.rank(random.unit())
            if mix.isLatest {
                let latest = records - threads
                // Before its first insert a thread's latest record is one of those that were there from the start.
                return key(max(0, min(latest, latest - rank * threads)))
            }
            return key(Int(mixed(rank, 77) % UInt64(threads == 1 ? records : session.parameters.size)))
        }
        func readOne(_ name: String) throws {
            try read.bind(1, name)
            try session.takeRows(read)
        }
        func updateOne(_ name: String, _ field: Int) throws {
            let statement = updates[field]
            try statement.bind(1, borrowedText: pool.next(fieldBytes).bindMemory(to: UInt8.self))
            try statement.bind(2, name)
            try statement.run()
        }

        return { lap in
            for _ in 0..<max(1, session.parameters.size / threads) {
                switch mix.operation(Int(random.next() % 100)) {
                case .read:
                    try readOne(choose(&random))
                case .update:
                    try updateOne(choose(&random), Int(random.next() % 10))
                case .insert:
                    try insert(records)
                    records += threads
                case .scan:
                    try scan.bind(1, choose(&random))
                    try scan.bind(2, 1 + Int(random.next() % 100))
                    try session.takeRows(scan)
                case .readModifyWrite:
                    let name = choose(&random)
                    try begin.run()
                    try readOne(name)
                    try updateOne(name, Int(random.next() % 10))
                    try commit.run()
                }
                lap()
            }
        }
    }
}

struct SplitMix {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return mixed(Int(truncatingIfNeeded: state), 0)
    }

    /// In 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}

/// Ranks with probability falling as rank^-0.99: the method of Gray et al. 1994, which YCSB uses.
struct Zipfian {
    private let items: Double
    private let theta = 0.99
    private let alpha: Double
    private let zeta: Double
    private let eta: Double

    init(items: Int) {
        self.items = Double(items)
        var sum = 0.0
        for rank in 1...max(2, items) { sum += 1 / pow(Double(rank), theta) }
        zeta = sum
        alpha = 1 / (1 - theta)
        let firstTwo = 1 + pow(0.5, theta)
        eta = (1 - pow(2 / self.items, 1 - theta)) / (1 - firstTwo / sum)
    }

    /// The rank, from 0, for a number in 0 ..< 1.
    func rank(_ unit: Double) -> Int {
        let scaled = unit * zeta
        if scaled < 1 { return 0 }
        if scaled < 1 + pow(0.5, theta) { return 1 }
        return min(Int(items) - 1, Int(items * pow(eta * unit - eta + 1, alpha)))
    }
}
