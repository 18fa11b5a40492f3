// Suite `engine` with several connections at once: readers beside a writer, and writers beside each other.
//
// Invariant: what is left behind does not depend on who came first, so that answers can be compared. Writers of one case share
// keys out, or write what belongs to the key. Where a companion writes as often as it can, the keys and the lengths of the values
// are the content that counts. A value is never torn: its pieces are written twice (`ValuePool.isWhole`), and a reader that meets
// two that differ fails the case.

import Rootstock

enum EngineConcurrent {
    static let readers = 2
    static let writers = 4

    static func workloads(_ shape: EngineShape) -> [Workload] {
        [
            beside(
                "readers-beside-writer",
                "point reads of random keys by \(readers) readers, while one writer overwrites random rows, one a transaction",
                measuresReaders: true),
            beside(
                "writer-beside-readers",
                "one writer overwrites random rows, one a transaction, while \(readers) readers make point reads",
                measuresReaders: false),
            synced(shape, "fillseqsync-4writers", .sequential),
            synced(shape, "fillrandsync-4writers", .random),
            mixed(shape),
        ]
    }

    // MARK: Readers beside a writer

    private static func beside(_ name: String, _ summary: String, measuresReaders: Bool) -> Workload {
        let operations: @Sendable (Int) -> Int = { size in
            measuresReaders ? max(1, size / readers) * readers : max(1, size / 10)
        }
        var workload = Workload(
            name: name, summary: summary, starting: .copy(of: EngineSuite.filled.name), writes: true, isVariant: true,
            operations: operations, contentQueries: ["SELECT key, length(value) FROM test ORDER BY key"],
            run: { session, meter in
                let size = session.parameters.size
                let rows = operations(size)
                try Workers.run(
                    [
                        Workers.Crew(
                            count: readers, operations: rows / readers, isCompanion: !measuresReaders,
                            prepare: { try reader($0, rows: measuresReaders ? rows / readers : nil) }),
                        Workers.Crew(
                            count: 1, operations: rows, isCompanion: measuresReaders,
                            prepare: { try writer($0, rows: measuresReaders ? nil : rows) }),
                    ], session, meter)
            })
        workload.opensSeveralConnections = true
        return workload
    }

    /// Reads so many rows, or until it is over.
    private static func reader(_ worker: Worker, rows: Int?) throws -> () throws -> Void {
        let session = worker.session
        let statement = try session.statement(EngineSuite.pointRead)
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        let size = session.parameters.size
        var random = ParkMiller(seed: session.parameters.seed &+ 1 &+ UInt32(worker.index))
        return {
            var row = 0
            while rows.map({ row < $0 }) ?? !worker.isOver() {
                key.set(random.next(below: size))
                try statement.bind(1, key: key)
                guard try statement.step() else { throw WorkloadError("a row was missing beside a writer") }
                let value = statement.blob(1)
                try checkWhole(value, session)
                try statement.reset()
                worker.recorder.lap()
                row += 1
            }
        }
    }

    private static func checkWhole(_ value: UnsafeRawBufferPointer, _ session: Session) throws {
        guard value.count == session.parameters.shape.valueBytes, ValuePool.isWhole(value)
        else { throw WorkloadError("a value was torn beside a writer") }
    }

    private static func writer(_ worker: Worker, rows: Int?) throws -> () throws -> Void {
        let session = worker.session
        let statement = try session.statement(EngineSuite.insert)
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        let pool = ValuePool()
        let valueBytes = session.parameters.shape.valueBytes
        let size = session.parameters.size
        var random = ParkMiller(seed: session.parameters.seed)
        return {
            var row = 0
            while rows.map({ row < $0 }) ?? !worker.isOver() {
                key.set(random.next(below: size))
                try statement.bind(1, key: key)
                try statement.bind(2, blob: pool.slice(valueBytes, for: row))
                try statement.run()
                worker.recorder.lap()
                row += 1
            }
        }
    }

    // MARK: Reads and writes on each connection

    /// As many threads as the shape says; each draws a key, and then whether it reads or overwrites.
    private static func mixed(_ shape: EngineShape) -> Workload {
        let threads = shape.threads
        let operations: @Sendable (Int) -> Int = { max(1, $0 / threads) * threads }
        let reads = "\((shape.readRatio * 1000).rounded() / 10)% point reads"
        var workload = Workload(
            name: "mixed",
            summary: "\(reads), the rest overwrites a random row, one a transaction, by \(threads) threads at once",
            starting: .copy(of: EngineSuite.filled.name), writes: true, isVariant: true, operations: operations,
            contentQueries: [EngineSuite.content],
            run: { session, meter in
                let shape = session.parameters.shape
                let rows = max(1, session.parameters.size / shape.threads)
                let crew = Workers.Crew(count: shape.threads, operations: rows) { try mixedWorker($0, rows: rows) }
                try Workers.run([crew], session, meter)
            })
        workload.opensSeveralConnections = true
        return workload
    }

    /// Writes what belongs to the key, so that the content does not depend on who came last.
    private static func mixedWorker(_ worker: Worker, rows: Int) throws -> () throws -> Void {
        let session = worker.session
        let read = try session.statement(EngineSuite.pointRead)
        let write = try session.statement(EngineSuite.insert)
        let shape = session.parameters.shape
        let key = KeyBuffer(count: shape.keyBytes)
        let pool = ValuePool()
        let size = session.parameters.size
        let readsBelow = Int(shape.readRatio * 1_000_000)
        var random = ParkMiller(seed: session.parameters.seed &+ UInt32(worker.index))
        return {
            for _ in 0..<rows {
                let number = random.next(below: size)
                key.set(number)
                if random.next(below: 1_000_000) < readsBelow {
                    try read.bind(1, key: key)
                    guard try read.step() else { throw WorkloadError("a row was missing beside a writer") }
                    try checkWhole(read.blob(1), session)
                    try read.reset()
                } else {
                    try write.bind(1, key: key)
                    try write.bind(2, blob: pool.slice(shape.valueBytes, for: number))
                    try write.run()
                }
                worker.recorder.lap()
            }
        }
    }

    // MARK: Writers beside each other

    private static func synced(_ shape: EngineShape, _ name: String, _ order: EngineSuite.Order) -> Workload {
        let operations: @Sendable (Int) -> Int = { max(1, EngineSuite.synced($0) / writers) * writers }
        let place = order == .sequential ? "in key order" : "at random keys"
        var workload = Workload(
            name: name,
            summary:
                "insert values of \(shape.valueBytes) bytes \(place), one row a transaction, \(writers) writers at once",
            starting: .fresh, durability: .full, writes: true, isVariant: true, operations: operations,
            setUp: { try $0.execute(EngineSuite.schema) }, contentQueries: [EngineSuite.content],
            run: { session, meter in
                let rows = operations(session.parameters.size) / writers
                let crew = Workers.Crew(count: writers, operations: rows) { worker in
                    let session = worker.session
                    let statement = try session.statement(EngineSuite.insert)
                    let key = KeyBuffer(count: session.parameters.shape.keyBytes)
                    let pool = ValuePool()
                    let valueBytes = session.parameters.shape.valueBytes
                    var random = ParkMiller(seed: session.parameters.seed &+ UInt32(worker.index))
                    return {
                        for row in 0..<rows {
                            let number =
                                order == .sequential
                                ? row * writers + worker.index : random.next(below: session.parameters.size)
                            key.set(number)
                            try statement.bind(1, key: key)
                            try statement.bind(2, blob: pool.slice(valueBytes, for: number))
                            try statement.run()
                            worker.recorder.lap()
                        }
                    }
                }
                try Workers.run([crew], session, meter)
            })
        workload.opensSeveralConnections = true
        workload.userBytes = { operations($0) * (shape.keyBytes + shape.valueBytes) }
        return workload
    }
}
