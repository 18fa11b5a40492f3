// Suite `reader`: a feed reader's day, after "Why I use SQLite and FMDB".
//
// Invariant: every case is something that the application does on a tap or at a launch, with the indexes such an application has.
// An operation is that whole thing unless the summary says otherwise.

extension Suite {
    public static let reader = Suite(
        name: "reader", title: "Feed reader: 100,000 articles in 500 feeds, notes and tags",
        source: "Brent Simmons, \"Why I use SQLite and FMDB instead of Core Data\"",
        unit: "articles", defaultSize: 100_000, smallestSize: 400, fixtures: [ReaderSuite.filled],
        workloads: ReaderSuite.workloads)
}

enum ReaderSuite {
    static let schema = """
        CREATE TABLE article (uniqueID TEXT UNIQUE, feedID INTEGER, title TEXT, body TEXT, read INTEGER, archived INTEGER, \
        sortDate REAL);
        CREATE INDEX article_feed ON article (feedID, read);
        CREATE INDEX article_timeline ON article (archived, sortDate);
        CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT, archived INTEGER);
        CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE tagsNotesLookup (tagID INTEGER, noteID INTEGER, archived INTEGER, PRIMARY KEY (tagID, noteID)) \
        WITHOUT ROWID;
        CREATE INDEX lookup_note ON tagsNotesLookup (noteID);
        CREATE INDEX lookup_archived ON tagsNotesLookup (archived, tagID)
        """
    static let content = [
        "SELECT uniqueID, feedID, title, body, read, archived, sortDate FROM article ORDER BY uniqueID"
    ]
    static let timeline = """
        SELECT uniqueID, feedID, title, sortDate FROM article WHERE archived = 0 ORDER BY sortDate DESC LIMIT 50
        """
    static let unread = "SELECT feedID, count(*) FROM article WHERE read = 0 GROUP BY feedID ORDER BY feedID"
    static let repetitions = 20

    static func feeds(_ size: Int) -> Int { max(1, size / 200) }
    static func marked(_ size: Int) -> Int { max(1, size / 10) }
    static func deleted(_ size: Int) -> Int { max(1, size / 20) }

    static func uniqueID(_ index: Int, _ seed: UInt32) -> String {
        let hexadecimal = String(mixed(index, seed), radix: 16)
        return "tag:example.org,\(String(repeating: "0", count: 16 - hexadecimal.count))\(hexadecimal)"
    }

    static let filled = Fixture(name: "reader") { session in
        try session.execute(schema)
        let (size, seed) = (session.parameters.size, session.parameters.seed)
        let samples = Samples(seed: seed)
        let bodies = (0..<64).map { samples.paragraph(200 + 40 * $0, from: $0) }
        let article = try session.statement("INSERT INTO article VALUES (?, ?, ?, ?, ?, ?, ?)")
        try session.fill(size) { index in
            let random = mixed(index, seed &+ 7)
            try article.bind(1, uniqueID(index, seed))
            try article.bind(2, 1 + Int(random % UInt64(feeds(size))))
            try article.bind(3, samples.titles.pick(random >> 10))
            try article.bind(4, bodies.pick(random >> 20))
            try article.bind(5, (random >> 30) % 4 == 0 ? 0 : 1)
            try article.bind(6, (random >> 33) % 3 == 0 ? 1 : 0)
            // Distinct, so that the order of a timeline is one and the same everywhere.
            try article.bind(7, Double(random % 500_000_000) + Double(index) / 1_048_576)
            try article.run()
        }
        let note = try session.statement("INSERT INTO note VALUES (?, ?, ?)")
        let lookup = try session.statement("INSERT OR IGNORE INTO tagsNotesLookup VALUES (?, ?, ?)")
        try session.fill(size / 10) { index in
            let random = mixed(index, seed &+ 8)
            let archived = random % 3 == 0 ? 1 : 0
            try note.bind(1, index + 1)
            try note.bind(2, samples.titles.pick(random >> 4))
            try note.bind(3, archived)
            try note.run()
            for turn in 0..<3 {
                try lookup.bind(1, 1 + Int((random >> UInt64(12 + 8 * turn)) % 200))
                try lookup.bind(2, index + 1)
                try lookup.bind(3, archived)
                try lookup.run()
            }
        }
        let tag = try session.statement("INSERT INTO tag VALUES (?, ?)")
        try session.fill(200) { index in
            try tag.bind(1, index + 1)
            try tag.bind(2, samples.cities.pick(UInt64(index)))
            try tag.run()
        }
    }

    static let workloads: [Workload] = [
        Workload(
            name: "mark-read", summary: "mark a tenth of the articles read by id, one transaction; an operation is one",
            starting: .copy(of: filled.name), writes: true, isHeadline: true, operations: marked,
            contentQueries: content,
            run: { session, meter in
                try touchIDs(
                    session, meter, "UPDATE article SET read = 1 - read WHERE uniqueID = ?", marked, cached: true)
            }),
        Workload(
            name: "mark-read-uncached", summary: "as mark-read, preparing the statement anew each time",
            starting: .copy(of: filled.name), writes: true, operations: { marked($0) }, contentQueries: content,
            run: { session, meter in
                try touchIDs(
                    session, meter, "UPDATE article SET read = 1 - read WHERE uniqueID = ?", marked, cached: false)
            }),
        Workload(
            name: "mark-read-in",
            summary: "mark a tenth of the articles read by IN lists of 500; an operation is one article",
            starting: .copy(of: filled.name), writes: true, lapOperations: 500, operations: { listed($0) },
            contentQueries: content, run: markByLists),
        change("mark-feed", "mark a feed read", ["UPDATE article SET read = 1 WHERE feedID = 1 AND read = 0"]),
        query("unread-counts", "unread counts per feed", [unread]),
        query("timeline", "the newest 50 that are not archived", [timeline], headline: true),
        Workload(
            name: "start-up", summary: "open the store and read the first screen: timeline and unread counts",
            starting: .shared(filled.name), writes: false, operations: { _ in 1 },
            run: { session, meter in
                session.close()
                meter.begin()
                try session.reopen()
                for sql in [timeline, unread] {
                    try session.takeRows(try session.statement(sql))
                }
                meter.lap()
                meter.end()
            }),
        query(
            "tags-joined", "tags with notes that are not archived, by a join",
            [
                """
                SELECT DISTINCT tag.id, tag.name FROM tag JOIN tagsNotesLookup ON tagID = tag.id \
                JOIN note ON note.id = noteID WHERE note.archived = 0 ORDER BY tag.id
                """
            ]),
        query(
            "tags-denormalised", "the same by the lookup's own archived column",
            [
                """
                SELECT id, name FROM tag WHERE id IN (SELECT tagID FROM tagsNotesLookup WHERE archived = 0) ORDER BY id
                """
            ]),
        Workload(
            name: "delete", summary: "delete a twentieth of the articles by id, one transaction; an operation is one",
            starting: .copy(of: filled.name), writes: true, operations: deleted, contentQueries: content,
            run: { session, meter in
                try touchIDs(session, meter, "DELETE FROM article WHERE uniqueID = ?", deleted, cached: true)
            }),
    ]

    private static func listed(_ size: Int) -> Int { max(500, marked(size) / 500 * 500) }

    /// Every tenth (or so) article's id, spread over the store.
    private static func chosenIDs(_ session: Session, _ count: Int) -> [String] {
        let size = session.parameters.size
        return (0..<count).map { uniqueID($0 * 10 % size + $0 * 10 / size, session.parameters.seed) }
    }

    private static func touchIDs(
        _ session: Session, _ meter: Meter, _ sql: String, _ count: (Int) -> Int, cached: Bool
    ) throws {
        let ids = chosenIDs(session, count(session.parameters.size))
        let kept = try session.statement(sql)
        try session.prepareToSettle()
        meter.begin()
        try session.inBatches(ids.count, of: max(2, ids.count), meter) { index in
            if cached {
                try kept.bind(1, ids[index])
                try kept.run()
            } else {
                try session.withFreshStatement(sql) { statement in
                    try statement.bind(1, ids[index])
                    try statement.run()
                }
            }
        }
        try session.settle()
        meter.end()
    }

    private static func markByLists(_ session: Session, _ meter: Meter) throws {
        let ids = chosenIDs(session, listed(session.parameters.size))
        let update = try session.statement("UPDATE article SET read = 1 WHERE uniqueID IN (\(marks(500)))")
        try session.prepareToSettle()
        meter.begin()
        try session.statement("BEGIN").run()
        for start in stride(from: 0, to: ids.count, by: 500) {
            for offset in 0..<500 { try update.bind(Int32(offset + 1), ids[start + offset]) }
            try update.run()
            meter.lap()
        }
        try session.statement("COMMIT").run()
        try session.settle()
        meter.end()
    }

    private static func change(_ name: String, _ summary: String, _ sql: [String]) -> Workload {
        Workload(
            name: name, summary: summary, starting: .copy(of: filled.name), writes: true, operations: { _ in 1 },
            contentQueries: content,
            run: { session, meter in
                let statements = try sql.map { try session.statement($0) }
                try session.measureChange(meter) { for statement in statements { try statement.run() } }
            })
    }

    private static func query(_ name: String, _ summary: String, _ sql: [String], headline: Bool = false) -> Workload {
        Workload(
            name: name, summary: summary, starting: .shared(filled.name), writes: false, isHeadline: headline,
            operations: { _ in repetitions },
            run: { session, meter in
                try session.measureRepeated(repetitions, try sql.map { try session.statement($0) }, meter)
            })
    }
}
