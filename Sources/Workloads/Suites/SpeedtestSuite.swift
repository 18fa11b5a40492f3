// Suite `speedtest`: the kinds of statements that SQLite's own speedtest1 times, in statements of ours.
//
// Invariant: a case is a block of statements on the same three tables (no index, one index, primary key), its operations the
// statements of the block. Every write block leaves content that is hashed.

extension Suite {
    public static let speedtest = Suite(
        name: "speedtest", title: "Blocks of statements: inserts, ranges, LIKE, joins, updates, deletes, schema",
        source: "in the manner of SQLite's test/speedtest1.c", unit: "rows", defaultSize: 50_000, smallestSize: 200,
        fixtures: [SpeedtestSuite.filled], workloads: SpeedtestSuite.workloads,
        remarks: ["speedtest1's integrity check is left out: a store has none that costs the same."])
}

enum SpeedtestSuite {
    static let schema = """
        CREATE TABLE plain (a INTEGER, b INTEGER, c TEXT);
        CREATE TABLE indexed (a INTEGER, b INTEGER, c TEXT);
        CREATE INDEX indexed_b ON indexed (b);
        CREATE INDEX indexed_c ON indexed (c);
        CREATE TABLE keyed (a INTEGER PRIMARY KEY, b INTEGER, c TEXT)
        """
    static let contents = ["plain", "indexed", "keyed"].map { "SELECT a, b, c FROM \($0) ORDER BY a, b, c" }
    static let rangeWidth = 100

    static func once(_ size: Int) -> Int { 1 }
    static func few(_ size: Int) -> Int { max(1, size / 1000) }
    static func some(_ size: Int) -> Int { max(1, size / 10) }

    static let filled = Fixture(name: "speedtest") { session in
        try session.execute(schema)
        for table in ["plain", "indexed", "keyed"] {
            let insert = try inserter(session, table)
            try session.fill(session.parameters.size) { try insert($0) }
        }
    }

    static let workloads: [Workload] = [
        insert("insert-plain", "inserts into a table without index", "plain", ordered: true),
        insert("insert-indexed", "inserts into a table with two indexes", "indexed", ordered: false),
        insert("insert-keyed", "inserts by random primary key", "keyed", ordered: false),
        read("range-plain", "count and average over ranges, no index", few) { index, size in
            ("SELECT count(*), avg(b), sum(length(c)) FROM plain WHERE b BETWEEN ? AND ?", range(index, size))
        },
        read("range-indexed", "the same over an index", some) { index, size in
            ("SELECT count(*), avg(b), sum(length(c)) FROM indexed WHERE b BETWEEN ? AND ?", range(index, size))
        },
        read("range-keyed", "the same over the primary key", some) { index, size in
            ("SELECT count(*), avg(b), sum(length(c)) FROM keyed WHERE a BETWEEN ? AND ?", range(index, size))
        },
        read("like", "text that contains, no index helps", few) { index, _ in
            ("SELECT count(*), avg(b) FROM plain WHERE c LIKE '%' || ? || '%'", [1000 + index])
        },
        read("order-by", "the first ten of a sort without index", few) { index, size in
            ("SELECT a, b, c FROM plain WHERE b > ? ORDER BY c, a LIMIT 10", [index % size])
        },
        read("point-indexed", "text equality by an index", some) { index, size in
            (
                "SELECT a, b FROM indexed WHERE c = (SELECT c FROM keyed WHERE a = ?) ORDER BY a, b",
                [1 + index * 7 % size]
            )
        },
        read("join", "joins of three tables over a range", few, headline: true) { index, size in
            (
                """
                SELECT count(*), sum(k.b) FROM keyed k JOIN indexed i ON i.b = k.a JOIN keyed m ON m.a = i.a \
                WHERE k.a BETWEEN ? AND ?
                """, range(index, size)
            )
        },
        read("subquery", "a correlated subquery over a range", few) { index, size in
            (
                """
                SELECT sum(n) FROM (SELECT (SELECT count(*) FROM indexed i WHERE i.b = k.a) AS n FROM keyed k \
                WHERE k.a BETWEEN ? AND ?)
                """, range(index, size)
            )
        },
        write("update-range-plain", "updates of ranges, no index", few) { index, size in
            ("UPDATE plain SET b = b + 1 WHERE b BETWEEN ? AND ?", range(index, size))
        },
        write("update-range-indexed", "updates of ranges by the index that they change", few) { index, size in
            ("UPDATE indexed SET b = b + \(size) WHERE b BETWEEN ? AND ?", range(index, size))
        },
        write("update-keyed", "updates of single rows by primary key", some, headline: true) { index, size in
            ("UPDATE keyed SET b = b + 1 WHERE a = ?", [1 + index * 7 % size])
        },
        write("delete-range-indexed", "deletes of ranges by an index", few) { index, size in
            ("DELETE FROM indexed WHERE b BETWEEN ? AND ?", range(index, size))
        },
        write("delete-keyed", "deletes of single rows by primary key", some) { index, size in
            ("DELETE FROM keyed WHERE a = ?", [1 + index * 7 % size])
        },
        write("refill", "a table emptied and filled from another", once) { _, _ in
            ("INSERT INTO plain SELECT a, b, c FROM keyed", [])
        },
        Workload(
            name: "create-index", summary: "an index on a full table", starting: .copy(of: filled.name), writes: true,
            operations: { _ in 1 }, contentQueries: ["SELECT b, count(*) FROM plain GROUP BY b ORDER BY b"],
            run: { session, meter in
                let create = try session.statement("CREATE INDEX plain_b ON plain (b)")
                try session.measureChange(meter) { try create.run() }
            }),
        Workload(
            name: "drop-table", summary: "a table with two indexes dropped", starting: .copy(of: filled.name),
            writes: true,
            operations: { _ in 1 }, contentQueries: [contents[0], contents[2]],
            run: { session, meter in
                let drop = try session.statement("DROP TABLE indexed")
                try session.measureChange(meter) { try drop.run() }
            }),
    ]

    private static func range(_ index: Int, _ size: Int) -> [Int] {
        let start = Int(mixed(index, 11) % UInt64(size))
        return [start, start + rangeWidth]
    }

    private static func inserter(_ session: Session, _ table: String) throws -> (Int) throws -> Void {
        let statement = try session.statement("INSERT INTO \(table) VALUES (?, ?, ?)")
        let (size, seed) = (session.parameters.size, session.parameters.seed)
        let order = table == "plain" ? nil : shuffledNumbers(size, seed: seed)
        let samples = Samples(seed: seed)
        return { index in
            let number = order.map { Int($0[index]) } ?? index
            let random = mixed(number, seed)
            try statement.bind(1, number + 1)
            try statement.bind(2, Int(random % UInt64(size)))
            try statement.bind(3, samples.titles.pick(random >> 20) + " \(random % 10_000)")
            try statement.run()
        }
    }

    private static func insert(_ name: String, _ summary: String, _ table: String, ordered: Bool) -> Workload {
        Workload(
            name: name, summary: summary + ", one transaction", starting: .fresh, writes: true, operations: { $0 },
            setUp: { try $0.execute(schema) }, contentQueries: contents,
            run: { session, meter in
                let insert = try inserter(session, table)
                try session.prepareToSettle()
                meter.begin()
                try session.inBatches(session.parameters.size, of: session.parameters.size, meter) { try insert($0) }
                try session.settle()
                meter.end()
            })
    }

    typealias Maker = @Sendable (_ index: Int, _ size: Int) -> (sql: String, arguments: [Int])

    private static func read(
        _ name: String, _ summary: String, _ count: @escaping @Sendable (Int) -> Int, headline: Bool = false,
        _ make: @escaping Maker
    ) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(filled.name), writes: false, isHeadline: headline,
            operations: count,
            run: { session, meter in
                let size = session.parameters.size
                let statement = try session.statement(make(0, size).sql)
                meter.begin()
                for index in 0..<count(size) {
                    for (position, argument) in make(index, size).arguments.enumerated() {
                        try statement.bind(Int32(position + 1), argument)
                    }
                    try session.takeRows(statement)
                    meter.lap()
                }
                meter.end()
            })
    }

    private static func write(
        _ name: String, _ summary: String, _ count: @escaping @Sendable (Int) -> Int, headline: Bool = false,
        _ make: @escaping Maker
    ) -> Workload {
        Workload(
            name: name, summary: summary + ", one transaction", starting: .copy(of: filled.name), writes: true,
            isHeadline: headline, operations: count, contentQueries: contents,
            run: { session, meter in
                let size = session.parameters.size
                let statement = try session.statement(make(0, size).sql)
                let clear = name == "refill" ? try session.statement("DELETE FROM plain") : nil
                try session.prepareToSettle()
                meter.begin()
                try session.inBatches(count(size), of: max(2, count(size)), meter) { index in
                    try clear?.run()
                    for (position, argument) in make(index, size).arguments.enumerated() {
                        try statement.bind(Int32(position + 1), argument)
                    }
                    try statement.run()
                }
                try session.settle()
                meter.end()
            })
    }
}
