// Suite `fetching`: the advice of Core Data's performance guide, each piece as SQL that follows it and SQL that does not.
//
// Invariant: the cases of a pair give the same rows; what differs is how they are asked for.

extension Suite {
    public static let fetching = Suite(
        name: "fetching", title: "Ways to fetch: predicates, paging, lookups, aggregates, blobs",
        source: "Apple, Core Data Programming Guide, \"Performance\"",
        unit: "employees", defaultSize: 100_000, smallestSize: 500,
        fixtures: [FetchingSuite.staff, FetchingSuite.documents],
        workloads: FetchingSuite.workloads)
}

enum FetchingSuite {
    static let schema = """
        CREATE TABLE department (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, salary INTEGER, notes TEXT, department_id INTEGER);
        CREATE INDEX employee_department ON employee (department_id)
        """
    static let page = 100

    static func departments(_ size: Int) -> Int { max(1, size / 100) }

    static let staff = Fixture(name: "staff") { session in
        try session.execute(schema)
        let (size, seed) = (session.parameters.size, session.parameters.seed)
        let samples = Samples(seed: seed)
        let department = try session.statement("INSERT INTO department VALUES (?, ?, ?)")
        try session.fill(departments(size)) { index in
            try department.bind(1, index + 1)
            try department.bind(2, samples.lastNames.pick(mixed(index, seed)))
            try department.bind(3, samples.cities.pick(mixed(index, seed)))
            try department.run()
        }
        let notes = (0..<32).map { samples.paragraph(120, from: $0 * 3) }
        let employee = try session.statement("INSERT INTO employee VALUES (?, ?, ?, ?, ?)")
        try session.fill(size) { index in
            let random = mixed(index, seed &+ 1)
            try employee.bind(1, index + 1)
            try employee.bind(2, samples.fullNames.pick(random))
            try employee.bind(3, Int(20_000 + random % 100_000))
            try employee.bind(4, notes.pick(random >> 8))
            try employee.bind(5, 1 + Int((random >> 13) % UInt64(departments(size))))
            try employee.run()
        }
    }

    // MARK: Blobs

    struct BlobSize: Sendable {
        var name: String
        var bytes: Int
        var count: @Sendable (Int) -> Int
    }

    static let blobSizes: [BlobSize] = [
        BlobSize(name: "128B", bytes: 128) { max(2, $0 / 20) },
        BlobSize(name: "1KiB", bytes: 1 << 10) { max(2, $0 / 20) },
        BlobSize(name: "100KiB", bytes: 100 << 10) { max(2, $0 / 1000) },
        BlobSize(name: "1MiB", bytes: 1 << 20) { max(2, $0 / 5000) },
        BlobSize(name: "10MiB", bytes: 10 << 20) { max(1, $0 / 50_000) },
    ]

    static let documents = Fixture(name: "documents") { session in
        for size in blobSizes {
            try session.execute(
                """
                CREATE TABLE whole\(size.name) (id INTEGER PRIMARY KEY, title TEXT, data BLOB);
                CREATE TABLE split\(size.name) (id INTEGER PRIMARY KEY, title TEXT);
                CREATE TABLE side\(size.name) (id INTEGER PRIMARY KEY, data BLOB)
                """)
            let samples = Samples(seed: session.parameters.seed)
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size.bytes, alignment: 16)
            defer { bytes.deallocate() }
            for index in bytes.indices {
                bytes[index] = UInt8(truncatingIfNeeded: mixed(index >> 6, 1) >> UInt64(index & 31))
            }
            let whole = try session.statement("INSERT INTO whole\(size.name) VALUES (?, ?, ?)")
            let split = try session.statement("INSERT INTO split\(size.name) VALUES (?, ?)")
            let side = try session.statement("INSERT INTO side\(size.name) VALUES (?, ?)")
            let count = size.count(session.parameters.size)
            try session.inBatches(count, of: max(2, (8 << 20) / size.bytes), Meter(operations: 1)) { index in
                let title = samples.titles.pick(mixed(index, 3))
                try whole.bind(1, index + 1)
                try whole.bind(2, title)
                try whole.bind(3, blob: UnsafeRawBufferPointer(bytes))
                try whole.run()
                try split.bind(1, index + 1)
                try split.bind(2, title)
                try split.run()
                try side.bind(1, index + 1)
                try side.bind(2, blob: UnsafeRawBufferPointer(bytes))
                try side.run()
            }
        }
    }

    private static func blobs(_ size: BlobSize) -> [Workload] {
        let read = { (name: String, place: String, sql: String) in
            Workload(
                name: "blob-\(size.name)-\(name)", summary: "read blobs of \(size.name) by id, kept \(place)",
                starting: .shared(documents.name), writes: false, operations: size.count,
                run: { session, meter in
                    let statement = try session.statement(sql)
                    let count = size.count(session.parameters.size)
                    meter.begin()
                    for index in 0..<count {
                        try statement.bind(1, 1 + index * 7 % count)
                        try session.takeRows(statement)
                        meter.lap()
                    }
                    meter.end()
                })
        }
        let list = { (name: String, place: String, sql: String) in
            scan(
                "titles-\(size.name)-\(name)", "list titles while blobs of \(size.name) are \(place)", sql,
                fixture: documents, rows: size.count)
        }
        return [
            read("row", "in the row", "SELECT title, data FROM whole\(size.name) WHERE id = ?"),
            read(
                "side", "in a side table",
                """
                SELECT title, data FROM split\(size.name) JOIN side\(size.name) ON side\(size.name).id = split\(size.name).id \
                WHERE split\(size.name).id = ?
                """),
            list("row", "in the row", "SELECT id, title FROM whole\(size.name) ORDER BY id"),
            list("side", "in a side table", "SELECT id, title FROM split\(size.name) ORDER BY id"),
        ]
    }

    // MARK: Cases

    static let workloads: [Workload] =
        [
            scan(
                "text-first", "a text predicate before a numeric one",
                "SELECT id, name FROM employee WHERE notes LIKE '%zu%' AND salary > 100000 ORDER BY id"),
            scan(
                "number-first", "the numeric predicate first",
                "SELECT id, name FROM employee WHERE salary > 100000 AND notes LIKE '%zu%' ORDER BY id"),
            Workload(
                name: "limit-then-rest", summary: "the first \(page) rows, then the rest",
                starting: .shared(staff.name),
                writes: false, operations: { _ in 1 },
                run: { session, meter in
                    let first = try session.statement("SELECT * FROM employee ORDER BY id LIMIT \(page)")
                    let rest = try session.statement("SELECT * FROM employee WHERE id > \(page) ORDER BY id")
                    meter.begin()
                    for statement in [first, rest] { try session.takeRows(statement) }
                    meter.lap()
                    meter.end()
                }),
            scan("all-at-once", "all rows at once", "SELECT * FROM employee ORDER BY id"),
            Workload(
                name: "page-offset", summary: "pages of \(page) by OFFSET, the first hundred pages",
                starting: .shared(staff.name), writes: false, operations: pages,
                run: { session, meter in
                    let statement = try session.statement("SELECT * FROM employee ORDER BY id LIMIT \(page) OFFSET ?")
                    meter.begin()
                    for number in 0..<pages(session.parameters.size) {
                        try statement.bind(1, number * page)
                        try session.takeRows(statement)
                        meter.lap()
                    }
                    meter.end()
                }),
            Workload(
                name: "page-key", summary: "the same pages by the last key seen", starting: .shared(staff.name),
                writes: false, isHeadline: true, operations: pages,
                run: { session, meter in
                    let statement = try session.statement(
                        "SELECT * FROM employee WHERE id > ? ORDER BY id LIMIT \(page)")
                    var last = 0
                    meter.begin()
                    for _ in 0..<pages(session.parameters.size) {
                        try statement.bind(1, last)
                        while try statement.step() {
                            session.take(statement)
                            last = statement.integer(0)
                        }
                        try statement.reset()
                        meter.lap()
                    }
                    meter.end()
                }),
            Workload(
                name: "lookups-each", summary: "employees, then each one's department by a query of its own",
                starting: .shared(staff.name), writes: false, operations: looked,
                run: { session, meter in
                    let employees = try session.statement(
                        "SELECT id, department_id FROM employee WHERE id <= ? ORDER BY id")
                    let department = try session.statement("SELECT name, city FROM department WHERE id = ?")
                    try employees.bind(1, looked(session.parameters.size))
                    meter.begin()
                    while try employees.step() {
                        session.take(employees)
                        try department.bind(1, employees.integer(1))
                        try session.takeRows(department)
                        meter.lap()
                    }
                    try employees.reset()
                    meter.end()
                }),
            Workload(
                name: "lookups-in", summary: "employees, then their departments by IN lists of \(page)",
                starting: .shared(staff.name), writes: false, lapOperations: page, operations: looked,
                run: { session, meter in
                    let employees = try session.statement(
                        "SELECT id, department_id FROM employee WHERE id <= ? ORDER BY id")
                    let department = try session.statement(
                        "SELECT id, name, city FROM department WHERE id IN (\(marks(page))) ORDER BY id")
                    try employees.bind(1, looked(session.parameters.size))
                    meter.begin()
                    var held = 0
                    while try employees.step() {
                        session.take(employees)
                        held += 1
                        try department.bind(Int32(held), employees.integer(1))
                        guard held == page else { continue }
                        try session.takeRows(department)
                        held = 0
                        meter.lap()
                    }
                    try employees.reset()
                    meter.end()
                }),
            Workload(
                name: "lookups-join", summary: "employees with their departments by a join",
                starting: .shared(staff.name),
                writes: false, isHeadline: true, lapOperations: page, operations: looked,
                run: { session, meter in
                    let statement = try session.statement(
                        """
                        SELECT e.id, e.department_id, d.name, d.city FROM employee e JOIN department d ON d.id = e.department_id \
                        WHERE e.id <= ? ORDER BY e.id
                        """)
                    try statement.bind(1, looked(session.parameters.size))
                    try session.measureRows(statement, meter)
                }),
            scan("ids-only", "ids and nothing else", "SELECT id FROM employee ORDER BY id"),
            scan(
                "aggregate-sql", "sum and count by department, in SQL",
                "SELECT department_id, count(*), sum(salary) FROM employee GROUP BY department_id ORDER BY department_id",
                rows: { _ in 1 }, laps: 1),
            Workload(
                name: "aggregate-load", summary: "the same by loading every row and adding",
                starting: .shared(staff.name),
                writes: false, operations: { _ in 1 },
                run: { session, meter in
                    let statement = try session.statement("SELECT department_id, salary FROM employee")
                    meter.begin()
                    var sums: [Int: (count: Int, salary: Int)] = [:]
                    while try statement.step() {
                        let department = statement.integer(0)
                        let known = sums[department] ?? (0, 0)
                        sums[department] = (known.count + 1, known.salary + statement.integer(1))
                    }
                    try statement.reset()
                    meter.lap()
                    meter.end()
                    for (department, sum) in sums.sorted(by: { $0.key < $1.key }) {
                        session.answers.add(UInt64(department))
                        session.answers.add(UInt64(sum.count))
                        session.answers.add(UInt64(sum.salary))
                    }
                }),
        ] + blobSizes.flatMap(blobs)

    private static func pages(_ size: Int) -> Int { max(1, min(100, size / page)) }
    private static func looked(_ size: Int) -> Int { max(page, min(10_000, size) / page * page) }

    private static func scan(
        _ name: String, _ summary: String, _ sql: String, fixture: Fixture = staff,
        rows: @escaping @Sendable (Int) -> Int = { $0 }, laps: Int = 100
    ) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(fixture.name), writes: false, lapOperations: laps,
            operations: rows,
            run: { session, meter in try session.measureRows(try session.statement(sql), meter) })
    }
}
