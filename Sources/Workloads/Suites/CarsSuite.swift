// Suite `cars`: store and fetch 50,000, 100,000 and 200,000 records, after Dr. Dobb's.
//
// Invariant: a record is one car; there are a hundred cars to a manufacturer. What the article compares is file size and
// memory, which every result carries.

extension Suite {
    public static let cars = Suite(
        name: "cars", title: "Cars and manufacturers: store all, fetch all",
        source: "Dr. Dobb's, quoted in Zabicki 2018 (iPhone 5s; 50,000, 100,000 and 200,000 records)",
        unit: "records", defaultSize: 200_000, smallestSize: 200, fixtures: [CarsSuite.filled],
        workloads: CarsSuite.workloads)
}

enum CarsSuite {
    static let schema = """
        CREATE TABLE manufacturer (name TEXT PRIMARY KEY, city TEXT, employees INTEGER);
        CREATE TABLE car (name TEXT, price REAL, type TEXT, details TEXT, manufacturer TEXT)
        """
    static let contents = ["SELECT * FROM manufacturer ORDER BY name", "SELECT rowid, * FROM car ORDER BY rowid"]

    static let filled = Fixture(name: "cars") { session in
        try session.execute(schema)
        try session.execute("BEGIN")
        let store = try saver(session)
        for index in 0..<session.parameters.size { try store(index) }
        try session.execute("COMMIT")
    }

    static let workloads: [Workload] = [
        Workload(
            name: "store", summary: "store all records in one transaction", publishedName: "store", starting: .fresh,
            writes: true, isHeadline: true, operations: { $0 }, setUp: { try $0.execute(schema) },
            contentQueries: contents,
            run: { session, meter in
                let store = try saver(session)
                try session.prepareToSettle()
                meter.begin()
                try session.inBatches(session.parameters.size, of: session.parameters.size, meter) { try store($0) }
                try session.settle()
                meter.end()
            }),
        fetch("fetch", "fetch all records", "SELECT name, price, type, details, manufacturer FROM car ORDER BY rowid"),
        fetch(
            "fetch-joined", "fetch all records with their manufacturers",
            """
            SELECT car.name, price, type, details, manufacturer.name, city, employees FROM car \
            JOIN manufacturer ON manufacturer.name = car.manufacturer ORDER BY car.rowid
            """),
    ]

    private static func saver(_ session: Session) throws -> (Int) throws -> Void {
        let manufacturer = try session.statement("INSERT INTO manufacturer VALUES (?, ?, ?)")
        let car = try session.statement("INSERT INTO car VALUES (?, ?, ?, ?, ?)")
        let seed = session.parameters.seed
        let samples = Samples(seed: seed)
        let details = (0..<32).map { samples.paragraph(60, from: $0) }
        let types = ["saloon", "estate", "coupe", "van", "roadster"]
        return { index in
            let maker = "\(samples.lastNames.pick(UInt64(index / 100))) \(index / 100)"
            if index % 100 == 0 {
                try manufacturer.bind(1, maker)
                try manufacturer.bind(2, samples.cities.pick(mixed(index, seed)))
                try manufacturer.bind(3, Int(mixed(index, seed) % 50_000))
                try manufacturer.run()
            }
            let random = mixed(index, seed &+ 1)
            try car.bind(1, samples.titles.pick(random))
            try car.bind(2, Double(500_000 + random % 9_000_000) / 100)
            try car.bind(3, types.pick(random >> 8))
            try car.bind(4, details.pick(random >> 16))
            try car.bind(5, maker)
            try car.run()
        }
    }

    private static func fetch(_ name: String, _ summary: String, _ sql: String) -> Workload {
        Workload(
            name: name, summary: summary, publishedName: name == "fetch" ? "fetch" : nil,
            starting: .shared(filled.name),
            writes: false, isHeadline: name == "fetch", lapOperations: 100, operations: { $0 },
            run: { session, meter in
                try session.measureRows(try session.statement(sql), meter)
            })
    }
}
