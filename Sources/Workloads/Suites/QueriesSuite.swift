// Suite `queries`: the shapes of SELECT that a program of rows and indexes asks for, one a case.
//
// Invariant: every case is one statement, and its rows have one right order. The plan is the planner's own affair on each
// engine: no hints.

extension Suite {
    public static let queries = Suite(
        name: "queries", title: "Queries: count, sum, ranges, a join by key, GROUP BY, ORDER BY an index with LIMIT",
        source: "our own: the shapes that scans and point reads leave out", unit: "sales", defaultSize: 1_000_000,
        smallestSize: 1000, fixtures: [QueriesSuite.sales], workloads: QueriesSuite.workloads,
        remarks: [
            "There are a tenth as many customers as sales, and a hundredth as many products.",
            "An operation is a row of the table that is gone through, or one range.",
            "count: SQLite's B-tree goes through the smallest index of the table; an engine that keeps the number of a tree's "
                + "entries gives it. The figure is that of a lookup, divided by the rows.",
        ])
}

enum QueriesSuite {
    static let schema = """
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL);
        CREATE TABLE sale (id INTEGER PRIMARY KEY, number INTEGER, customer INTEGER, product INTEGER, day INTEGER, \
        amount REAL, note TEXT);
        CREATE INDEX sale_number ON sale (number);
        CREATE INDEX sale_product_day ON sale (product, day)
        """
    static let rangeRows = 100

    static func customers(_ size: Int) -> Int { max(1, size / 10) }
    static func products(_ size: Int) -> Int { max(1, size / 100) }

    static let sales = Fixture(
        name: "sales",
        reading: [
            "SELECT * FROM customer ORDER BY id", "SELECT * FROM product ORDER BY id", "SELECT * FROM sale ORDER BY id",
            "SELECT number FROM sale ORDER BY number", "SELECT product, day FROM sale ORDER BY product, day",
        ]
    ) { session in
        try session.execute(schema)
        let size = session.parameters.size
        let seed = session.parameters.seed
        let samples = Samples(seed: seed)
        let customer = try session.statement("INSERT INTO customer VALUES (?, ?, ?)")
        try session.fill(customers(size)) { index in
            let random = mixed(index, seed)
            try customer.bind(1, index + 1)
            try customer.bind(2, samples.fullNames.pick(random))
            try customer.bind(3, samples.cities.pick(random >> 9))
            try customer.run()
        }
        let product = try session.statement("INSERT INTO product VALUES (?, ?, ?)")
        try session.fill(products(size)) { index in
            let random = mixed(index, seed &+ 1)
            try product.bind(1, index + 1)
            try product.bind(2, samples.titles.pick(random))
            try product.bind(3, Double(random % 100_000) / 100)
            try product.run()
        }
        let sale = try session.statement("INSERT INTO sale VALUES (?, ?, ?, ?, ?, ?, ?)")
        let numbers = shuffledNumbers(size, seed: seed)
        try session.fill(size) { index in
            let random = mixed(index, seed &+ 2)
            try sale.bind(1, index + 1)
            try sale.bind(2, Int(numbers[index]))
            try sale.bind(3, 1 + Int(random % UInt64(customers(size))))
            try sale.bind(4, 1 + Int((random >> 20) % UInt64(products(size))))
            try sale.bind(5, Int((random >> 40) % 3650))
            // Quarters add up exactly in whatever order.
            try sale.bind(6, Double((random >> 16) % 40_000) / 4)
            try sale.bind(7, samples.titles.pick(random >> 7))
            try sale.run()
        }
    }

    static let workloads: [Workload] = [
        pass("count", "count(*) of a table", "SELECT count(*) FROM sale"),
        pass("sum", "the sum of a column", "SELECT sum(amount) FROM sale"),
        ranges(
            "range-key", "\(rangeRows) rows by a range of the primary key",
            "SELECT * FROM sale WHERE id BETWEEN ? AND ? ORDER BY id", headline: true),
        ranges(
            "range-index", "\(rangeRows) rows by a range of a secondary index",
            "SELECT * FROM sale WHERE number BETWEEN ? AND ? ORDER BY number"),
        pass(
            "join", "three tables joined by key, all rows of the first",
            """
            SELECT sale.id, customer.name, product.name, amount FROM sale JOIN customer ON customer.id = sale.customer \
            JOIN product ON product.id = sale.product ORDER BY sale.id
            """),
        pass(
            "group-by", "count and sum by product, GROUP BY with an index that has its order",
            "SELECT product, count(*), sum(amount) FROM sale GROUP BY product ORDER BY product"),
        pass(
            "group-by-sorted", "count and sum by customer, GROUP BY without an index",
            "SELECT customer, count(*), sum(amount) FROM sale GROUP BY customer ORDER BY customer"),
        latest,
    ]

    private static func pass(_ name: String, _ summary: String, _ sql: String) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(sales.name), writes: false, operations: { $0 },
            run: { session, meter in
                let statement = try session.statement(sql)
                meter.begin()
                try session.takeRows(statement)
                meter.end()
            })
    }

    private static func count(_ size: Int) -> Int { max(1, size / 50) }

    private static func ranges(_ name: String, _ summary: String, _ sql: String, headline: Bool = false) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(sales.name), writes: false, isHeadline: headline,
            operations: count,
            run: { session, meter in
                let statement = try session.statement(sql)
                let size = session.parameters.size
                var random = ParkMiller(seed: session.parameters.seed)
                meter.begin()
                for _ in 0..<count(size) {
                    let first = 1 + random.next(below: max(1, size - rangeRows))
                    try statement.bind(1, first)
                    try statement.bind(2, first + rangeRows - 1)
                    try session.takeRows(statement)
                    meter.lap()
                }
                meter.end()
            })
    }

    private static let latest = Workload(
        name: "order-by-limit",
        summary: "the 20 latest sales of a product: ORDER BY the index that has the order, LIMIT",
        starting: .shared(sales.name), writes: false, operations: count,
        run: { session, meter in
            let statement = try session.statement(
                "SELECT day, id, amount, note FROM sale WHERE product = ? ORDER BY day DESC, id DESC LIMIT 20")
            let size = session.parameters.size
            var random = ParkMiller(seed: session.parameters.seed)
            meter.begin()
            for _ in 0..<count(size) {
                try statement.bind(1, 1 + random.next(below: products(size)))
                try session.takeRows(statement)
                meter.lap()
            }
            meter.end()
        })
}
