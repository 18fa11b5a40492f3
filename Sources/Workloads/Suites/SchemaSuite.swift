// Suite `schema`: what a change of the schema, and a look at it, cost beside 50, 400 and 2,000 tables.
//
// Invariant: each table has two indexes and a foreign key to the table before it. Each case runs once at every one of the three
// sizes, so that a cost which grows with the number of tables shows. A smaller size of the suite caps all three.

extension Suite {
    public static let schema = Suite(
        name: "schema", title: "One more change of a schema with many tables, opening it, looking at it",
        source: "Our own: applications with many tables (Django, sqlite-utils)",
        unit: "tables", defaultSize: 2000, smallestSize: 8,
        fixtures: SchemaSuite.sizes.map(SchemaSuite.tables), workloads: SchemaSuite.workloads,
        remarks: [
            """
            A change is one statement in a transaction of its own. The number behind a case's name is how many tables the store has; \
            a size below it takes its place.
            """
        ])
}

enum SchemaSuite {
    static let sizes = [50, 400, 2000]
    static let rows = 4
    /// Indexes and tables made in one transaction while a store is filled.
    static let tablesInTransaction = 100

    static func fixtureName(_ size: Int) -> String { "tables-\(size)" }

    static func tables(_ named: Int) -> Fixture {
        Fixture(name: fixtureName(named)) { session in
            let count = min(named, session.parameters.size)
            for number in 0..<count {
                if number % tablesInTransaction == 0 { try session.execute("BEGIN") }
                try session.execute(
                    """
                    CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES t\(max(0, number - 1)) (id),
                      name TEXT NOT NULL, price REAL);
                    CREATE INDEX t\(number)_parent ON t\(number) (parent);
                    CREATE INDEX t\(number)_name ON t\(number) (name)
                    """)
                for row in 1...rows {
                    try session.execute(
                        "INSERT INTO t\(number) VALUES (\(row), \(row), 'name \(row * 7 % rows)', \(row).5)")
                }
                if number % tablesInTransaction == tablesInTransaction - 1 || number == count - 1 {
                    try session.execute("COMMIT")
                }
            }
        }
    }

    static let contents = [
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name", "SELECT * FROM t0 ORDER BY id",
    ]

    /// How many changes are measured: each of a table of its own.
    static func changes(_ tables: Int) -> Int { max(1, min(20, tables / 4)) }

    /// `text` gives the statement for the table of that number.
    private static func change(
        _ name: String, _ summary: String, _ named: Int, headline: Bool = false,
        text: @escaping @Sendable (Int) -> String
    ) -> Workload {
        Workload(
            name: "\(name)-\(named)", summary: "\(summary), beside \(named) tables",
            starting: .copy(of: fixtureName(named)), writes: true, isHeadline: headline,
            operations: { changes(min(named, $0)) }, contentQueries: contents,
            run: { session, meter in
                let tables = min(named, session.parameters.size)
                let texts = (0..<changes(tables)).map { text(tables - 1 - $0) }
                try session.takeRows(try session.statement("SELECT * FROM t0 WHERE id = 1"))
                try session.prepareToSettle()
                meter.begin()
                for sql in texts {
                    try session.withFreshStatement(sql) { try $0.run() }
                    meter.lap()
                }
                try session.settle()
                meter.end()
            })
    }

    /// What is read again and again, `rounds` times; a round is an operation.
    private static func look(
        _ name: String, _ summary: String, _ named: Int, rounds: Int,
        _ round: @escaping @Sendable (Session, _ tables: Int) throws -> Void
    ) -> Workload {
        Workload(
            name: "\(name)-\(named)", summary: "\(summary), \(named) tables", starting: .shared(fixtureName(named)),
            writes: false, operations: { _ in rounds },
            run: { session, meter in
                let tables = min(named, session.parameters.size)
                try session.takeRows(try session.statement("SELECT * FROM t0 WHERE id = 1"))
                meter.begin()
                for _ in 0..<rounds {
                    try round(session, tables)
                    meter.lap()
                }
                meter.end()
            })
    }

    static let workloads: [Workload] = sizes.flatMap { size in
        [
            change("create-table", "one more table", size, headline: size == 400) {
                "CREATE TABLE more\($0) (id INTEGER PRIMARY KEY, name TEXT)"
            },
            change("drop-table", "drop a table that no other refers to", size) { "DROP TABLE t\($0)" },
            change("create-index", "one more index", size) { "CREATE INDEX t\($0)_price ON t\($0) (price)" },
            change("alter-add-column", "one more column", size) { "ALTER TABLE t\($0) ADD COLUMN more TEXT" },
            look("open-and-query", "open the store and read one row", size, rounds: 5) { session, _ in
                session.close()
                try session.reopen()
                try session.takeRows(try session.statement("SELECT * FROM t1 WHERE id = 2"))
            },
            look("foreign-key-check", "PRAGMA foreign_key_check", size, rounds: 5) { session, _ in
                try session.withFreshStatement("PRAGMA foreign_key_check") { try session.takeRows($0) }
            },
            look("table-info", "PRAGMA table_info of each table", size, rounds: 3) { session, tables in
                for number in 0..<tables {
                    try session.withFreshStatement("PRAGMA table_info(t\(number))") { try session.takeRows($0) }
                }
            },
        ]
    }
}
