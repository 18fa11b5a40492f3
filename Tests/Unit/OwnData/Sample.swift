import Foundation
import Rootstock

/// A directory for one test, and a database in it that has everything in it.
final class Sample {
    let directory: URL
    var path: String { directory.appendingPathComponent("app.sqlite").path }

    init(rows: Int = 300) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("own-data-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let connection = try Connection(path: path, engine: .sqlite)
        try connection.executeScript(Self.schema.replacingOccurrences(of: "ROWS", with: "\(rows)"))
        connection.close()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func file(_ name: String) -> String { directory.appendingPathComponent(name).path }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Names and contents of the files of the database.
    func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
        where name.hasPrefix("app.sqlite") {
            files[name] = try Data(contentsOf: directory.appendingPathComponent(name))
        }
        return files
    }

    static let schema = """
        PRAGMA page_size = 8192;
        PRAGMA journal_mode = wal;
        PRAGMA user_version = 7;
        PRAGMA application_id = 1234;
        CREATE TABLE feed (id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL UNIQUE, title TEXT);
        CREATE TABLE article (
            uniqueID TEXT PRIMARY KEY, feed INTEGER NOT NULL REFERENCES feed (id) ON DELETE CASCADE,
            title TEXT COLLATE NOCASE, body BLOB, read INT DEFAULT 0 CHECK (read IN (0, 1)), date REAL,
            words INT GENERATED ALWAYS AS (length(title)) STORED, shout TEXT AS (upper(title))) WITHOUT ROWID;
        CREATE INDEX articleByFeed ON article (feed, date DESC);
        CREATE INDEX articleByDate ON article (date);
        CREATE INDEX unread ON article (date) WHERE read = 0;
        CREATE INDEX lowered ON article (lower(title));
        CREATE TABLE "odd ""name" ("select" INT, "a b" TEXT, "a-b", rowid TEXT, UNIQUE ("a b"));
        CREATE TABLE hidden (rowid INT, _rowid_ INT, oid INT);
        CREATE TABLE tag (article TEXT REFERENCES article, name TEXT, PRIMARY KEY (article, name)) WITHOUT ROWID;
        CREATE TABLE log (line TEXT);
        CREATE TABLE typed (id INT PRIMARY KEY, v ANY) STRICT;
        CREATE TABLE stern (id INTEGER PRIMARY KEY, sum INT CHECK (sum = id * 2));
        CREATE TABLE bare (a, b);
        CREATE VIEW unreadCount AS SELECT feed, count(*) AS n FROM article WHERE read = 0 GROUP BY feed;
        CREATE TRIGGER onRead AFTER UPDATE OF read ON article WHEN new.read = 1
        BEGIN INSERT INTO log VALUES (new.uniqueID || ' read'); END;
        CREATE VIRTUAL TABLE search USING fts5 (title);
        CREATE TRIGGER toSearch AFTER INSERT ON feed BEGIN INSERT INTO search (title) VALUES (new.title); END;
        CREATE VIEW found AS SELECT * FROM search;
        WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO feed (url, title) SELECT 'http://x/' || i, CASE WHEN i % 7 = 0 THEN NULL ELSE 'Feed ' || i END FROM n;
        WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
            INSERT INTO article (uniqueID, feed, title, body, read, date)
            SELECT 'u' || i, 1 + i % 19, 'Title ' || (i * 7919 % 20000), zeroblob(i % 300), i % 3 = 0, i * 1.5 FROM n;
        INSERT INTO tag SELECT uniqueID, 't' || (feed % 5) FROM article WHERE feed < 10;
        INSERT INTO "odd ""name" VALUES (1, 'x', x'00ff', 'r1'), (NULL, NULL, 2.5, NULL), (3, 'y', 9223372036854775807, 'ü');
        INSERT INTO hidden VALUES (1, 2, 3), (1, 2, 3), (NULL, NULL, NULL);
        INSERT INTO typed VALUES (1, 'text'), (2, x'01'), (3, NULL), (4, 4.5), (5, ''), (6, x'');
        INSERT INTO stern VALUES (1, 2), (5, 10);
        INSERT INTO log VALUES ('first'), (NULL), ('third'), (char(0) || 'nul' || char(0));
        DELETE FROM log WHERE rowid = 2;
        DELETE FROM feed WHERE id = 20;
        ANALYZE;
        """

    /// Reads, ranges, a join, a transaction that writes.
    static let workload = """
        -- pragma: foreign_keys = on
        -- name: open article
        -- weight: 20
        -- :id = sample(article.uniqueID)
        SELECT * FROM article WHERE uniqueID = :id;
        -- name: by date
        -- :low, :high = range(article.date, 0.05)
        SELECT uniqueID, date FROM article WHERE date BETWEEN :low AND :high ORDER BY date;
        -- name: titles of a feed
        -- :feed = zipf(feed.id)
        SELECT feed.title, article.title FROM article JOIN feed ON feed.id = article.feed WHERE feed.id = :feed;
        -- name: mark read
        -- weight: 3
        -- transaction:
        -- :id = sample(article.uniqueID)
        -- times: 3
        UPDATE article SET read = 1 WHERE uniqueID = :id;
        -- :line = text(12)
        INSERT INTO log (line) VALUES (:line) RETURNING line;
        -- end
        """
}
