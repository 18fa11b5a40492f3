// Suite `records`: rows alone, in pairs and with ten children each, after a comparison of iOS object mappers (2021).
//
// Invariant: a read gives whole objects, children in their order; an insert is one transaction over all objects.

extension Suite {
    public static let records = Suite(
        name: "records", title: "Records: simple, 1:1 and 1:many",
        source: "\"Comparison of iOS ORMs\", 2021 (1000 objects; 1:many has 10 children each)",
        unit: "objects", defaultSize: 1000, smallestSize: 20, fixtures: [RecordsSuite.filled],
        workloads: RecordsSuite.workloads,
        remarks: ["An operation is one object with all that hangs on it."])
}

enum RecordsSuite {
    static let schema = """
        CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, profile TEXT);
        CREATE TABLE publisher (id INTEGER PRIMARY KEY, name TEXT, owner_id INTEGER REFERENCES owner(id));
        CREATE TABLE book (id INTEGER PRIMARY KEY, name TEXT, price REAL, publisher_id INTEGER REFERENCES publisher(id));
        CREATE INDEX book_publisher ON book (publisher_id)
        """
    static let contents = [
        "SELECT * FROM owner ORDER BY id", "SELECT * FROM publisher ORDER BY id", "SELECT * FROM book ORDER BY id",
    ]
    static let children = 10

    enum Shape: String, Sendable, CaseIterable {
        case simple
        case pair = "1-1"
        case many = "1-many"
    }

    static let filled = Fixture(name: "records") { session in
        try session.execute(schema)
        try session.execute("BEGIN")
        let save = try saver(session, .many)
        for index in 0..<session.parameters.size { try save(index) }
        try session.execute("COMMIT")
    }

    static let workloads: [Workload] =
        Shape.allCases.map { shape in
            withLayers(
                shape,
                Workload(
                    name: "insert-\(shape.rawValue)", summary: "insert \(words(shape)), all in one transaction",
                    publishedName: "insert \(shape.rawValue)", starting: .fresh, writes: true,
                    isHeadline: shape == .many,
                    operations: { $0 }, setUp: { try $0.execute(schema) }, contentQueries: contents,
                    run: { session, meter in
                        let save = try saver(session, shape)
                        try session.prepareToSettle()
                        meter.begin()
                        try session.inBatches(session.parameters.size, of: session.parameters.size, meter) {
                            try save($0)
                        }
                        try session.settle()
                        meter.end()
                    }))
        }
        + [
            read("read-simple", .simple, "SELECT id, name, owner_id FROM publisher ORDER BY id"),
            read(
                "read-1-1", .pair,
                """
                SELECT p.id, p.name, o.id, o.name, o.age, o.profile FROM publisher p JOIN owner o ON o.id = p.owner_id \
                ORDER BY p.id
                """),
            read(
                "read-1-many", .many,
                """
                SELECT p.id, p.name, b.id, b.name, b.price FROM publisher p JOIN book b ON b.publisher_id = p.id \
                ORDER BY p.id, b.id
                """),
        ]

    /// With Rootstock's Swift API above it.
    private static func withLayers(_ shape: Shape, _ workload: Workload, sql: String? = nil) -> Workload {
        var workload = workload
        if workload.writes {
            workload.runInSwift = { try insertInSwift($0, $1, shape) }
        } else if let sql {
            workload.runInSwift = { try readInSwift($0, $1, sql) }
        }
        return workload
    }

    private static func words(_ shape: Shape) -> String {
        switch shape {
        case .simple: "publishers"
        case .pair: "publishers with an owner each"
        case .many: "publishers with an owner and \(children) books each"
        }
    }

    private static func saver(_ session: Session, _ shape: Shape) throws -> (Int) throws -> Void {
        let publisher = try session.statement("INSERT INTO publisher VALUES (?, ?, ?)")
        let owner = try session.statement("INSERT INTO owner VALUES (?, ?, ?, ?)")
        let book = try session.statement("INSERT INTO book VALUES (?, ?, ?, ?)")
        let seed = session.parameters.seed
        let samples = Samples(seed: seed)
        return { index in
            let random = mixed(index, seed)
            if shape != .simple {
                try owner.bind(1, index + 1)
                try owner.bind(2, samples.fullNames.pick(random))
                try owner.bind(3, Int(20 + random % 60))
                try owner.bind(4, samples.titles.pick(random >> 8))
                try owner.run()
            }
            try publisher.bind(1, index + 1)
            try publisher.bind(2, samples.lastNames.pick(random >> 16))
            if shape == .simple { try publisher.bindNull(3) } else { try publisher.bind(3, index + 1) }
            try publisher.run()
            guard shape == .many else { return }
            for child in 0..<children {
                try book.bind(1, index * children + child + 1)
                try book.bind(2, samples.titles.pick(random >> UInt64(child)))
                try book.bind(3, Double((random >> UInt64(child)) % 10_000) / 100)
                try book.bind(4, index + 1)
                try book.run()
            }
        }
    }

    private static func read(_ name: String, _ shape: Shape, _ sql: String) -> Workload {
        withLayers(
            shape,
            Workload(
                name: name, summary: "read \(words(shape)) into objects", publishedName: "read \(shape.rawValue)",
                starting: .shared(filled.name), writes: false, isHeadline: shape == .many, lapOperations: 10,
                operations: { $0 },
                run: { session, meter in
                    let statement = try session.statement(sql)
                    var names: [String] = []
                    names.reserveCapacity(session.parameters.size)
                    var last = 0
                    var laps = RowLaps(meter)
                    meter.begin()
                    while try statement.step() {
                        session.take(statement)
                        let id = statement.integer(0)
                        if id != last {
                            last = id
                            names.append(statement.string(1))
                            laps.row()
                        }
                    }
                    try statement.reset()
                    meter.end()
                    session.answers.add(UInt64(names.count))
                }), sql: sql)
    }
}
