// Suite `engine`: the microbenchmark of LevelDB's db_bench_sqlite3, which SQLightning's published figures follow.
//
// Invariant: keys, values, order of access and SQL text are db_bench's; where this departs (reads fetch every column, the
// existing store holds every key) the suite's remarks say so.

extension Suite {
    public static let engine = engine(.standard)

    /// The suite with keys and values of other sizes than db_bench's: nothing was published of those.
    public static func engine(_ shape: EngineShape) -> Suite {
        Suite(
            name: "engine",
            title: "Microbenchmark: \(shape.keyBytes)-byte keys, \(shape.valueBytes)-byte values",
            source: "LevelDB benchmarks/db_bench_sqlite3.cc; SQLightning README",
            unit: "entries", defaultSize: 1_000_000, smallestSize: 2000,
            fixtures: [EngineSuite.filled, EngineSuite.filledRowid, EngineSuite.filledLarge],
            workloads: EngineSuite.workloads(shape),
            remarks: [
                "Reads fetch every column; db_bench steps over the rows without fetching. Length, first and last byte of each "
                    + "column are read while the clock runs.",
                "readrand100K therefore tells what it costs to get at a large value, not to read it through: "
                    + "readrand100K-whole (--variants) reads every byte.",
                "The existing store holds all keys, inserted in random order in batches; db_bench reads what its random "
                    + "fills left, in which some keys are missing.",
                "Scans read the clock every 100 rows: their percentiles are of means over 100 rows.",
                "The cases with several connections give each thread its own, in one process. A native configuration that locks "
                    + "others out (leveldb) sits them out.",
                "readrandom-cold gives back the store's pages to the system before it starts; a host may still hold them. A "
                    + "store larger than memory: --entries, in a group with limited memory (systemd-run --scope -p MemoryMax=512M).",
                "mixed: each thread draws a key and reads it, or overwrites its row; --threads and --read-ratio say how many and which "
                    + "share. --key-size and --value-size apply to every case whose name gives no size.",
            ])
    }
}

enum EngineSuite {
    static let schema = "CREATE TABLE test (key blob, value blob, PRIMARY KEY(key)) WITHOUT ROWID"
    static let rowidSchema = "CREATE TABLE test (key blob, value blob, PRIMARY KEY(key))"
    static let insert = "REPLACE INTO test (key, value) VALUES (?, ?)"
    static let content = "SELECT key, value FROM test ORDER BY key"
    static let largeValueBytes = 100_000
    static let batch = 1000

    enum Order: Sendable { case sequential, random }
    enum Keys: Sendable { case present, missing, hot }

    // MARK: Prepared stores

    static let filled = Fixture(
        name: "filled", reading: [content], build: { try fill($0, schema: schema) },
        buildFloor: { store, parameters in
            try FloorEngine.fill(
                store, parameters, order: shuffledNumbers(parameters.size, seed: parameters.seed),
                parameters.shape.valueBytes)
        })
    static let filledRowid = Fixture(
        name: "filled-rowid",
        reading: ["SELECT * FROM test ORDER BY rowid", "SELECT key FROM test ORDER BY key"],
        build: { try fill($0, schema: rowidSchema) })
    static let filledLarge = Fixture(
        name: "filled-100K",
        build: { session in
            try session.execute(schema)
            let numbers = (0..<Int32(large(session.parameters.size))).map { $0 }
            try fill(session, order: numbers, valueBytes: largeValueBytes)
        },
        buildFloor: { store, parameters in
            try FloorEngine.fill(
                store, parameters, order: (0..<Int32(large(parameters.size))).map { $0 }, largeValueBytes)
        })

    static func large(_ size: Int) -> Int { max(1, size / 1000) }
    static func synced(_ size: Int) -> Int { max(1, size / 100) }

    private static func fill(_ session: Session, schema: String) throws {
        try session.execute(schema)
        let order = shuffledNumbers(session.parameters.size, seed: session.parameters.seed)
        try fill(session, order: order, valueBytes: session.parameters.shape.valueBytes)
    }

    private static func fill(_ session: Session, order: [Int32], valueBytes: Int) throws {
        let statement = try session.statement(insert)
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        let pool = ValuePool()
        try session.execute("BEGIN")
        for (index, number) in order.enumerated() {
            key.set(Int(number))
            try statement.bind(1, key: key)
            try statement.bind(2, blob: pool.slice(valueBytes, for: index))
            try statement.run()
            if (index + 1) % batch == 0 {
                try session.execute("COMMIT")
                try session.execute("BEGIN")
            }
        }
        try session.execute("COMMIT")
    }

    // MARK: Workloads

    static func workloads(_ shape: EngineShape) -> [Workload] {
        [
            write(shape, "fillseqsync", "Sync Seq Write", .sequential, rows: synced, durability: .full),
            write(shape, "fillrandsync", "Sync Rand Write", .random, rows: synced, durability: .full),
            write(shape, "fillseq", "Seq Write", .sequential),
            write(shape, "fillseqbatch", "Batch Seq Write", .sequential, batch: batch, headline: true),
            write(shape, "fillrandom", "Rand Write", .random),
            write(shape, "fillrandbatch", "Batch Rand Write", .random, batch: batch),
            write(shape, "overwrite", nil, .random, starting: .copy(of: filled.name)),
            write(shape, "overwritebatch", nil, .random, batch: batch, starting: .copy(of: filled.name)),
            read("readrandom", "Rand Read", headline: true),
            scan("readseq", "Seq Read", "SELECT * FROM test ORDER BY key", backward: false),
            scan("readreverse", "Rev Seq Read", "SELECT * FROM test ORDER BY key DESC", backward: true),
            write(shape, "fillseq100K", nil, .sequential, rows: large, valueBytes: largeValueBytes),
            write(shape, "fillrand100K", nil, .random, rows: large, valueBytes: largeValueBytes),
            read("readrand100K", nil, rows: large, fixture: filledLarge),
            read("readrand100K-whole", nil, rows: large, fixture: filledLarge, isWhole: true, variant: true),
            read("readrandom-transaction", nil, inTransaction: true, variant: true),
            read("readmissing", nil, keys: .missing, variant: true),
            read("readhot", nil, keys: .hot, variant: true),
            write(shape, "fillrandbatch-rowid", nil, .random, batch: batch, schema: rowidSchema, variant: true),
            read("readrandom-rowid", nil, fixture: filledRowid, floor: false, variant: true),
            scan(
                "readseq-rowid", nil, "SELECT * FROM test ORDER BY key", backward: false, fixture: filledRowid,
                variant: true),
            scan(
                "readreverse-rowid", nil, "SELECT * FROM test ORDER BY key DESC", backward: true,
                fixture: filledRowid,
                variant: true),
            cold(read("readrandom-cold", nil, rows: cold, keySpace: { $0 }, floor: false, variant: true)),
        ] + EngineConcurrent.workloads(shape)
    }

    /// Rows read from a store that is not in memory: each costs a read of the device.
    static func cold(_ size: Int) -> Int { max(1, size / 100) }

    private static func cold(_ workload: Workload) -> Workload {
        var workload = workload
        workload.startsCold = true
        workload.runInSwift = nil
        workload.summary += ", with nothing of the store in the page cache"
        return workload
    }

    private static func write(
        _ engineShape: EngineShape, _ name: String, _ publishedName: String?, _ order: Order, batch: Int = 1,
        rows: @escaping @Sendable (Int) -> Int = { $0 }, valueBytes: Int? = nil,
        starting: Starting = .fresh, durability: DurabilityClass? = nil, schema: String = EngineSuite.schema,
        headline: Bool = false, variant: Bool = false
    ) -> Workload {
        let shape = WriteShape(order: order, batch: batch, valueBytes: valueBytes)
        let bytes = valueBytes ?? engineShape.valueBytes
        let place = order == .sequential ? "in key order" : "at random keys"
        let unit = batch == 1 ? "one row a transaction" : "\(batch) rows a transaction"
        let verb = starting == .fresh ? "insert" : "overwrite"
        var workload = Workload(
            name: name, summary: "\(verb) values of \(bytes) bytes \(place), \(unit)",
            publishedName: publishedName,
            starting: starting, durability: durability, writes: true, isHeadline: headline, isVariant: variant,
            operations: rows,
            setUp: { if starting == .fresh { try $0.execute(schema) } },
            contentQueries: [content],
            floor: schema == EngineSuite.schema
                ? FloorWorkload { try FloorEngine.write($0, $1, $2, shape, rows: rows($1.size)) } : nil,
            runInSwift: { try EngineSwift.write($0, $1, shape, rows: rows($0.parameters.size)) },
            run: { try runWrite($0, $1, shape, rows: rows($0.parameters.size)) })
        workload.userBytes = { rows($0) * (engineShape.keyBytes + bytes) }
        return workload
    }

    private static func read(
        _ name: String, _ publishedName: String?, rows: @escaping @Sendable (Int) -> Int = { $0 },
        keySpace: (@Sendable (Int) -> Int)? = nil, fixture: Fixture = filled, keys: Keys = .present,
        inTransaction: Bool = false, isWhole: Bool = false,
        floor: Bool = true,
        headline: Bool = false, variant: Bool = false
    ) -> Workload {
        let which =
            switch keys {
            case .present: "random keys"
            case .missing: "random keys that are not there"
            case .hot: "random keys among one percent"
            }
        let how = (inTransaction ? "in one transaction" : "autocommit") + (isWhole ? ", every byte read" : "")
        let floorRun = FloorWorkload { store, parameters, meter in
            try FloorEngine.read(
                store, parameters, meter, rows: rows(parameters.size), keys: keys, inTransaction: inTransaction,
                isWhole: isWhole)
        }
        let swiftRun: @Sendable (Session, Meter) throws -> Void = { session, meter in
            try EngineSwift.read(session, meter, rows: rows(session.parameters.size), keys: keys)
        }
        return Workload(
            name: name, summary: "point reads of \(which), \(how)", publishedName: publishedName,
            starting: .shared(fixture.name), writes: false, isHeadline: headline, isVariant: variant, operations: rows,
            floor: floor ? floorRun : nil, runInSwift: isWhole || inTransaction ? nil : swiftRun,
            run: { session, meter in
                let size = session.parameters.size
                try runRead(
                    session, meter, rows: rows(size), keySpace: (keySpace ?? rows)(size), keys: keys,
                    inTransaction: inTransaction, isWhole: isWhole)
            })
    }

    private static func scan(
        _ name: String, _ publishedName: String?, _ sql: String, backward: Bool, fixture: Fixture = filled,
        variant: Bool = false
    ) -> Workload {
        Workload(
            name: name, summary: "one pass over all rows in " + (backward ? "falling" : "rising") + " key order",
            publishedName: publishedName, starting: .shared(fixture.name), writes: false, isVariant: variant,
            lapOperations: 100, operations: { $0 },
            floor: fixture.name == filled.name
                ? FloorWorkload { store, _, meter in try FloorEngine.scan(store, meter, backward: backward) } : nil,
            runInSwift: { try EngineSwift.scan($0, $1, sql) }, run: { try runScan($0, $1, sql) })
    }

    // MARK: Inner loops

    struct WriteShape: Sendable {
        var order: Order
        var batch: Int
        /// Null: as the suite's shape has it.
        var valueBytes: Int?

        func valueBytes(_ parameters: Parameters) -> Int { valueBytes ?? parameters.shape.valueBytes }
    }

    private static func runWrite(_ session: Session, _ meter: Meter, _ shape: WriteShape, rows: Int) throws {
        let statement = try session.statement(insert)
        let begin = try session.statement("BEGIN")
        let end = try session.statement("END")
        try session.prepareToSettle()
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        let pool = ValuePool()
        let valueBytes = shape.valueBytes(session.parameters)
        var random = ParkMiller(seed: session.parameters.seed)
        let keySpace = session.parameters.size
        var row = 0
        meter.begin()
        while row < rows {
            let batchEnd = min(row + shape.batch, rows)
            if shape.batch > 1 { try begin.run() }
            while row < batchEnd {
                key.set(shape.order == .sequential ? row : random.next(below: keySpace))
                try statement.bind(1, key: key)
                try statement.bind(2, blob: pool.next(valueBytes))
                try statement.run()
                row += 1
                if shape.batch > 1 && row == batchEnd { try end.run() }
                meter.lap()
            }
        }
        try session.settle()
        meter.end()
    }

    static let pointRead = "SELECT * FROM test WHERE key = ?"

    private static func runRead(
        _ session: Session, _ meter: Meter, rows: Int, keySpace: Int, keys: Keys, inTransaction: Bool, isWhole: Bool
    ) throws {
        let statement = try session.statement(pointRead)
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        var chooser = KeyChooser(keys, rows: keySpace, seed: session.parameters.seed)
        if inTransaction { try session.execute("BEGIN") }
        meter.begin()
        for _ in 0..<rows {
            key.set(chooser.next())
            try statement.bind(1, key: key)
            while try statement.step() {
                if isWhole { session.takeWholeBlobs(statement) } else { session.takeBlobs(statement) }
            }
            try statement.reset()
            meter.lap()
        }
        meter.end()
        if inTransaction { try session.execute("COMMIT") }
    }

    private static func runScan(_ session: Session, _ meter: Meter, _ sql: String) throws {
        let statement = try session.statement(sql)
        try session.measureRows(statement, meter) { session.takeBlobs($0) }
    }

    /// Which keys a read asks for.
    struct KeyChooser {
        private var random: ParkMiller
        private let bound: Int
        private let offset: Int

        init(_ keys: Keys, rows: Int, seed: UInt32) {
            random = ParkMiller(seed: seed)
            switch keys {
            case .present: (bound, offset) = (rows, 0)
            case .missing: (bound, offset) = (rows, 1_000_000_000_000)
            case .hot: (bound, offset) = (max(1, rows / 100), 0)
            }
        }

        @inline(__always)
        mutating func next() -> Int { offset + random.next(below: bound) }
    }
}
