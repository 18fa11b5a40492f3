// Suite `objects`: what an object store does to the database under it, after Tarasenko 2025, table 1.
//
// Invariant: the pattern is an object store's, not a query author's. Ids come first, the values of an object when it is touched
// (a fault). Every update and delete checks the version it read (optimistic locking).

import RootstockObjects

extension Suite {
    public static let objects = Suite(
        name: "objects",
        title: "Object store: a million entities saved, faulted, updated, deleted",
        source: "Tarasenko 2025, \"LMDB for large volumes of data in iOS applications\", table 1",
        unit: "objects", defaultSize: 1_000_000, smallestSize: 300, fixtures: [ObjectsSuite.filled],
        workloads: ObjectsSuite.workloads,
        remarks: [
            "The paper measured through Core Data; here the statements that RootstockObjects issues are run directly. "
                + "--layers swift-api measures RootstockObjects itself.",
            "An operation is one object.",
        ])
}

enum ObjectsSuite {
    static let schema = """
        CREATE TABLE TestEntity (id INTEGER PRIMARY KEY, age INTEGER, birthDate REAL, city TEXT, country TEXT, email TEXT, \
        income REAL, name TEXT, version INTEGER)
        """
    /// What RootstockObjects runs.
    private static let statements = EntityStatements(table: "TestEntity")
    static let insert = statements.insert(["age", "birthDate", "city", "country", "email", "income", "name"])
    static let content = statements.all
    static let faultBatch = 100

    static let filled = Fixture(name: "objects", reading: [content]) { session in
        try session.execute(schema)
        let save = try saver(session)
        try session.fill(session.parameters.size) { try save($0) }
    }

    /// Transaction sizes of the paper; null is all objects in one.
    private static let batches: [(name: String, size: Int?)] = [
        ("all", nil), ("10000", 10_000), ("1000", 1000), ("100", 100), ("1", 1),
    ]

    static let workloads: [Workload] =
        batches.map { batch in
            Workload(
                name: "insert-\(batch.name)", summary: "insert objects, " + words(batch.size),
                publishedName: batch.size == 1 ? nil : "insert, \(batch.name) a save", starting: .fresh, writes: true,
                isHeadline: batch.size == 1000, operations: { $0 }, setUp: { try $0.execute(schema) },
                contentQueries: [content],
                runInSwift: { try insertObjects($0, $1, batch: batch.size) },
                run: { session, meter in
                    let save = try saver(session)
                    try session.prepareToSettle()
                    meter.begin()
                    let count = session.parameters.size
                    try session.inBatches(count, of: batch.size ?? count, meter) { try save($0) }
                    try session.settle()
                    meter.end()
                })
        }
        + [
            Workload(
                name: "fetch", summary: "ids first, then each object's values by its id", publishedName: "fetch",
                starting: .shared(filled.name), writes: false, isHeadline: true, operations: { $0 },
                runInSwift: { try fetchObjects($0, $1, batch: 1) }, run: fetch),
            Workload(
                name: "fetch-batched",
                summary: "ids first, then values for \(faultBatch) objects at a time by an IN list",
                starting: .shared(filled.name), writes: false, lapOperations: faultBatch, operations: { $0 },
                runInSwift: { try fetchObjects($0, $1, batch: faultBatch) }, run: fetchBatched),
            Workload(
                name: "fetch-joined", summary: "ids and values in one read", starting: .shared(filled.name),
                writes: false,
                lapOperations: 100, operations: { $0 }, runInSwift: fetchObjectsJoined, run: fetchJoined),
        ]
        + batches.map { batch in
            Workload(
                name: "update-\(batch.name)", summary: "fault, change and save objects, " + words(batch.size),
                publishedName: "update, \(batch.name) a save", starting: .copy(of: filled.name), writes: true,
                isHeadline: batch.size == 1000, operations: { $0 }, contentQueries: [content],
                runInSwift: { try changeObjects($0, $1, batch: batch.size) },
                run: { session, meter in try change(session, meter, batch: batch.size, staleEvery: nil) })
        }
        + [
            Workload(
                name: "update-stale",
                summary: "as update-1000, with every tenth version stale: a conflict, and no change",
                starting: .copy(of: filled.name), writes: true, isVariant: true, operations: { $0 },
                contentQueries: [content],
                run: { session, meter in try change(session, meter, batch: 1000, staleEvery: 10) })
        ]
        + batches.map { batch in
            Workload(
                name: "delete-\(batch.name)", summary: "fault and delete objects, " + words(batch.size),
                publishedName: "delete, \(batch.name) a save", starting: .copy(of: filled.name), writes: true,
                isHeadline: batch.size == 1000, operations: { $0 }, contentQueries: [content],
                runInSwift: { try removeObjects($0, $1, batch: batch.size) },
                run: { session, meter in try remove(session, meter, batch: batch.size) })
        }

    private static func words(_ size: Int?) -> String {
        switch size {
        case nil: "all in one transaction"
        case 1: "one a transaction"
        case let size?: "\(size) a transaction"
        }
    }

    private static func saver(_ session: Session) throws -> (Int) throws -> Void {
        let statement = try session.statement(insert)
        let seed = session.parameters.seed
        let samples = Samples(seed: seed)
        return { index in
            let random = mixed(index, seed)
            try statement.bind(1, index + 1)
            try statement.bind(2, Int(18 + random % 70))
            try statement.bind(3, Double(random % 2_000_000_000) - 1_000_000_000)
            try statement.bind(4, samples.cities.pick(random >> 3))
            try statement.bind(5, samples.countries.pick(random >> 7))
            try statement.bind(6, samples.emails.pick(random >> 11))
            try statement.bind(7, Double(random % 10_000_000) / 100)
            try statement.bind(8, samples.fullNames.pick(random >> 11))
            try statement.bind(9, 1)
            try statement.run()
        }
    }

    private static func readIds(_ session: Session) throws -> [Int] {
        let statement = try session.statement(statements.ids)
        var numbers: [Int] = []
        numbers.reserveCapacity(session.parameters.size)
        while try statement.step() { numbers.append(statement.integer(0)) }
        try statement.reset()
        return numbers
    }

    private static func fetch(_ session: Session, _ meter: Meter) throws {
        let statement = try session.statement(statements.one)
        _ = try session.statement(statements.ids)
        meter.begin()
        for id in try readIds(session) {
            try statement.bind(1, id)
            try session.takeRows(statement)
            meter.lap()
        }
        meter.end()
    }

    private static func fetchBatched(_ session: Session, _ meter: Meter) throws {
        let whole = try session.statement(statements.several(faultBatch))
        _ = try session.statement(statements.ids)
        meter.begin()
        let numbers = try readIds(session)
        var index = 0
        while index < numbers.count {
            // The last batch repeats its last id: a repeated value in an IN list asks for nothing more.
            for position in 0..<faultBatch {
                try whole.bind(Int32(position + 1), numbers[min(index + position, numbers.count - 1)])
            }
            try session.takeRows(whole)
            index += faultBatch
            meter.lap()
        }
        meter.end()
    }

    private static func fetchJoined(_ session: Session, _ meter: Meter) throws {
        try session.measureRows(try session.statement(content), meter)
    }

    private static func change(_ session: Session, _ meter: Meter, batch: Int?, staleEvery: Int?) throws {
        let fault = try session.statement(statements.one)
        let update = try session.statement(statements.update(["age", "income"]))
        _ = try session.statement(statements.ids)
        try session.prepareToSettle()
        var conflicts: UInt64 = 0
        meter.begin()
        let numbers = try readIds(session)
        try session.inBatches(numbers.count, of: batch ?? numbers.count, meter, isExplicit: true) { index in
            try fault.bind(1, numbers[index])
            guard try fault.step() else { throw WorkloadError("object \(numbers[index]) is gone") }
            session.take(fault)
            let version = fault.integer(8)
            try update.bind(1, fault.integer(1) + 1)
            try update.bind(2, fault.double(6) * 1.5)
            try fault.reset()
            let isStale = staleEvery.map { index % $0 == 0 } ?? false
            try update.bind(3, version + 1)
            try update.bind(4, numbers[index])
            try update.bind(5, isStale ? version - 1 : version)
            try update.run()
            let isConflict = session.connection.changes == 0
            if isConflict != isStale { throw WorkloadError("object \(numbers[index]) was saved against its version") }
            if isConflict { conflicts += 1 }
        }
        try session.settle()
        meter.end()
        session.answers.add(conflicts)
    }

    private static func remove(_ session: Session, _ meter: Meter, batch: Int?) throws {
        let fault = try session.statement(statements.one)
        let delete = try session.statement(statements.delete)
        _ = try session.statement(statements.ids)
        try session.prepareToSettle()
        meter.begin()
        let numbers = try readIds(session)
        try session.inBatches(numbers.count, of: batch ?? numbers.count, meter, isExplicit: true) { index in
            try fault.bind(1, numbers[index])
            guard try fault.step() else { throw WorkloadError("object \(numbers[index]) is gone") }
            session.take(fault)
            let version = fault.integer(8)
            try fault.reset()
            try delete.bind(1, numbers[index])
            try delete.bind(2, version)
            try delete.run()
            if session.connection.changes != 1 { throw WorkloadError("object \(numbers[index]) was not deleted") }
        }
        try session.settle()
        meter.end()
    }
}
