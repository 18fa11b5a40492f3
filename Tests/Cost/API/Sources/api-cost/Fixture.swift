// Fixture.swift - the tables that every side reads, and how a store is opened under valgrind.

import Rootstock

enum Fixture {
    /// valgrind cannot map the 64 GiB that a store takes by default.
    static func options(_ path: String) -> StoreOptions {
        var options = StoreOptions()
        options.durability = .off
        if path.hasSuffix(".lmdb") { options.mapSize = 1 << 30 }
        return options
    }

    static func open(_ path: String) throws -> Connection { try Connection(path: path, options: options(path)) }

    static let titles = [
        "The Dispossessed", "The Lathe of Heaven", "A Wizard of Earthsea", "The Left Hand of Darkness",
        "Always Coming Home", "The Word for World Is Forest", "Four Ways to Forgiveness", "The Telling", "Lavinia",
        "Tehanu", "The Other Wind", "City of Illusions", "Planet of Exile", "Rocannon's World", "The Farthest Shore",
        "The Tombs of Atuan",
    ]

    static func fill(_ path: String, rows: Int) throws {
        let connection = try open(path)
        try connection.executeScript(
            """
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL NOT NULL);
            CREATE TABLE copy (id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL NOT NULL);
            CREATE TABLE loan (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author TEXT, pages INTEGER NOT NULL,
                fee REAL NOT NULL, isReturned INTEGER NOT NULL, due TEXT NOT NULL, note TEXT);
            BEGIN
            """)
        for row in 0..<rows {
            let title = titles[row % titles.count]
            try connection.execute("INSERT INTO book VALUES (?, ?, ?)", [row + 1, title, Double(row % 4000) / 100])
            try connection.execute(
                "INSERT INTO loan VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    row + 1, title, row % 3 == 0 ? nil : "Ursula K. Le Guin", 100 + row % 400, Double(row % 100) / 4,
                    row % 2 == 0, "2026-11-\(10 + row % 20) 07:44:02.125", row % 5 == 0 ? "a note of some length" : nil,
                ])
        }
        try connection.execute("COMMIT")
    }
}
