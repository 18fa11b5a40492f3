// Every published figure that belongs to a case of ours, as its source gives it.
//
// Invariant: figures only: names of systems and cases are ours, no sentence of a source stands here. A line is
// `case | dataset | metric | unit | system = value | ...`, the system that the others are held against first. Times of other
// machines and years mean nothing beside ours; the ratio of two systems of one line may.

/// Systems of one source, measured at one case.
public struct PublishedRow: Sendable, Equatable {
    public struct Figure: Sendable, Equatable {
        public var system: String
        public var value: Double
    }

    public var source: String
    public var suite: String
    /// The workload of ours that does what the figures were taken on.
    public var workload: String
    /// Size of the data, where the source has several; empty otherwise.
    public var dataset: String
    public var metric: String
    public var unit: String
    /// What the others are held against: SQLite, or what stands on it there.
    public var base: Figure
    public var others: [Figure]

    /// Above 1: less of it than the base, which is better in time, space and memory alike.
    public func ratio(_ figure: Figure) -> Double { base.value / figure.value }

    public static let all: [PublishedRow] = sources.flatMap { source in
        source.table.split(separator: "\n").map { line in
            let parts = line.split(separator: "|").map { $0.trimming }
            let figures = parts[4...].map { part -> Figure in
                let pair = part.split(separator: "=").map { $0.trimming }
                return Figure(system: pair[0], value: Double(pair[1]) ?? .nan)
            }
            return PublishedRow(
                source: source.name, suite: source.suite, workload: parts[0], dataset: parts[1] == "-" ? "" : parts[1],
                metric: parts[2], unit: parts[3], base: figures[0], others: Array(figures[1...]))
        }
    }

    public static func find(suite: String, workload: String) -> [PublishedRow] {
        all.filter { $0.suite == suite && $0.workload == workload }
    }

    private static let sources: [(name: String, suite: String, table: String)] = [
        ("SQLightning's README (1,000,000 entries, SSD)", "engine", sqlightning),
        ("Tarasenko 2025, table 1 (1,000,000 objects, mean of 10)", "objects", tarasenko),
        ("Zabicki 2018 (iPhone 6s, mean of 100)", "library", zabicki),
        ("Dr. Dobb's, quoted in Zabicki 2018 (iPhone 5s)", "cars", drdobbs),
        ("Comparison of iOS ORMs, 2021 (1,000 objects)", "records", orm),
        ("LevelDB's db_bench_sqlite3, 2019 (1,000,000 entries)", "engine", leveldb),
    ]

    private static let sqlightning = """
        fillseqsync | - | latency | us/op | SQLite 3.7.17 = 8175.371 | SQLightning = 6171.233
        fillrandsync | - | latency | us/op | SQLite 3.7.17 = 8308.706 | SQLightning = 6231.249
        fillseq | - | latency | us/op | SQLite 3.7.17 = 25.587 | SQLightning = 31.778
        fillseqbatch | - | latency | us/op | SQLite 3.7.17 = 7.402 | SQLightning = 7.087
        fillrandom | - | latency | us/op | SQLite 3.7.17 = 33.235 | SQLightning = 32.902
        fillrandbatch | - | latency | us/op | SQLite 3.7.17 = 18.847 | SQLightning = 13.754
        readrandom | - | latency | us/op | SQLite 3.7.17 = 22.645 | SQLightning = 7.685
        readseq | - | latency | us/op | SQLite 3.7.17 = 7.557 | SQLightning = 1.551
        readreverse | - | latency | us/op | SQLite 3.7.17 = 7.456 | SQLightning = 1.531
        """

    private static let tarasenko = """
        insert-all | - | time | s | Core Data = 18.81 | Core Data on SQLightning = 26.1
        insert-10000 | - | time | s | Core Data = 16.16 | Core Data on SQLightning = 24.68
        insert-1000 | - | time | s | Core Data = 16.01 | Core Data on SQLightning = 29.75
        insert-100 | - | time | s | Core Data = 17.21 | Core Data on SQLightning = 123.11
        fetch | - | time | s | Core Data = 1.06 | Core Data on SQLightning = 0.77
        update-all | - | time | s | Core Data = 18.36 | Core Data on SQLightning = 69.33
        update-10000 | - | time | s | Core Data = 17.88 | Core Data on SQLightning = 67.7
        update-1000 | - | time | s | Core Data = 17.4 | Core Data on SQLightning = 68
        update-100 | - | time | s | Core Data = 18 | Core Data on SQLightning = 67.98
        update-1 | - | time | s | Core Data = 18.26 | Core Data on SQLightning = 67.34
        delete-all | - | time | s | Core Data = 5.68 | Core Data on SQLightning = 51.01
        delete-10000 | - | time | s | Core Data = 4.92 | Core Data on SQLightning = 48.71
        delete-1000 | - | time | s | Core Data = 5.2 | Core Data on SQLightning = 47.48
        delete-100 | - | time | s | Core Data = 6.8 | Core Data on SQLightning = 47.43
        delete-1 | - | time | s | Core Data = 6.64 | Core Data on SQLightning = 47.21
        """

    private static let zabicki = """
        save-rows | small | time | ms | SQLite = 175.45 | UserDefaults = 2.07 | Realm = 5.52 | Core Data = 16.05 | FMDB = 173.63
        save-rows | medium | time | ms | SQLite = 1877.78 | UserDefaults = 4.48 | Realm = 36.46 | Core Data = 150.01 | FMDB = 1872.36
        save-rows | large | time | ms | SQLite = 35044.62 | UserDefaults = 30.48 | Realm = 201.93 | Core Data = 24912.73 | FMDB = 34217.17
        save-rows | small | file size | kB | SQLite = 61.32 | UserDefaults = 0.04 | Realm = 16.38 | FMDB = 61.23 | Core Data = 80.04
        save-rows | medium | file size | kB | SQLite = 318.34 | UserDefaults = 0.08 | Realm = 106.99 | FMDB = 326.34 | Core Data = 592.94
        save-rows | large | file size | kB | SQLite = 3177.88 | UserDefaults = 4.0 | Realm = 2588.67 | FMDB = 3264.3 | Core Data = 7240.79
        save-rows | small | cpu | % | SQLite = 18 | FMDB = 19 | Realm = 47 | Core Data = 83 | UserDefaults = 88
        save-rows | medium | cpu | % | SQLite = 16 | FMDB = 19 | Realm = 77 | UserDefaults = 96 | Core Data = 97
        save-rows | large | cpu | % | SQLite = 16 | FMDB = 19 | Realm = 88 | Core Data = 98 | UserDefaults = 97
        save-rows | small | memory | MB | SQLite = 86.5 | UserDefaults = 86.4 | FMDB = 86.4 | Core Data = 88.6 | Realm = 89.7
        save-rows | medium | memory | MB | SQLite = 91.4 | UserDefaults = 91.3 | FMDB = 91.4 | Realm = 94.8 | Core Data = 102.7
        save-rows | large | memory | MB | SQLite = 133.2 | FMDB = 134.9 | Realm = 141.6 | UserDefaults = 145.7 | Core Data = 258.5
        read-all | small | time | ms | SQLite = 1.13 | UserDefaults = 0.38 | Core Data = 0.47 | Realm = 1.38 | FMDB = 1.81
        read-all | medium | time | ms | SQLite = 8.19 | Core Data = 0.75 | Realm = 1.37 | UserDefaults = 2.23 | FMDB = 9.08
        authors-named | small | time | ms | SQLite = 0.13 | UserDefaults = 0.14 | Realm = 0.2 | Core Data = 0.33 | FMDB = 0.69
        books-most-authors | small | time | ms | SQLite = 0.61 | Core Data = 0.25 | UserDefaults = 0.37 | FMDB = 1.07 | Realm = 1.61
        books-most-authors | medium | time | ms | SQLite = 0.87 | Core Data = 0.58 | FMDB = 1.43 | Realm = 2.18 | UserDefaults = 2.34
        books-most-authors | large | time | ms | SQLite = 3.6 | FMDB = 4.03 | Core Data = 8.63 | Realm = 14.79 | UserDefaults = 21.15
        publishers-most-books | small | time | ms | SQLite = 0.19 | UserDefaults = 0.1 | Core Data = 0.23 | FMDB = 0.71 | Realm = 1.5
        publishers-most-books | medium | time | ms | SQLite = 0.3 | Core Data = 0.34 | UserDefaults = 0.38 | FMDB = 0.94 | Realm = 1.51
        publishers-most-books | large | time | ms | SQLite = 0.73 | Core Data = 1.04 | FMDB = 1.35 | Realm = 3.35 | UserDefaults = 4.05
        delete-all | small | time | ms | SQLite = 27.13 | UserDefaults = 0.13 | Realm = 1.51 | Core Data = 11.65 | FMDB = 21.88
        delete-all | medium | time | ms | SQLite = 21.89 | UserDefaults = 0.12 | Realm = 1.84 | Core Data = 12.38 | FMDB = 23.14
        delete-all | large | time | ms | SQLite = 21.37 | UserDefaults = 0.02 | Realm = 2.49 | Core Data = 22.87 | FMDB = 22.87
        delete-authors-of-books | small | time | ms | SQLite = 0.69 | UserDefaults = 0.29 | FMDB = 1.23 | Realm = 1.39 | Core Data = 5.44
        delete-authors-of-books | medium | time | ms | SQLite = 5.4 | UserDefaults = 1.67 | Realm = 1.73 | FMDB = 6.13 | Core Data = 15.64
        delete-authors-of-books | large | time | ms | SQLite = 82.09 | Realm = 5.43 | UserDefaults = 14.87 | FMDB = 87.57 | Core Data = 95.38
        delete-publishers-by-title | small | time | ms | SQLite = 0.27 | UserDefaults = 0.31 | Realm = 1.39 | FMDB = 4.34 | Core Data = 4.79
        delete-publishers-by-title | medium | time | ms | SQLite = 1.29 | UserDefaults = 1.9 | Realm = 15.5 | FMDB = 18.83 | Core Data = 29.27
        delete-publishers-by-title | large | time | ms | SQLite = 6.63 | UserDefaults = 24.92 | Realm = 50.86 | FMDB = 94.44 | Core Data = 174.6
        rename-authors | small | time | ms | SQLite = 0.2 | FMDB = 0.67 | Realm = 1.44 | Core Data = 2.13 | UserDefaults = 2.31
        rename-authors | medium | time | ms | SQLite = 0.45 | FMDB = 1.0 | Realm = 1.47 | Core Data = 2.73 | UserDefaults = 3.43
        rename-authors | large | time | ms | SQLite = 0.74 | FMDB = 2.33 | Realm = 2.66 | Core Data = 3.83 | UserDefaults = 4.36
        set-dates | small | time | ms | SQLite = 3.33 | Realm = 0.74 | FMDB = 3.22 | Core Data = 7.5 | UserDefaults = 10.15
        set-dates | medium | time | ms | SQLite = 8.49 | Realm = 2.49 | FMDB = 17.58 | UserDefaults = 40.43 | Core Data = 172.88
        set-dates | large | time | ms | SQLite = 136.73 | Realm = 8.57 | FMDB = 75.59 | UserDefaults = 306.18 | Core Data = 490.68
        """

    private static let drdobbs = """
        store | 50000 | file size | kB | SQLite = 1676 | Core Data = 6532
        store | 100000 | file size | kB | SQLite = 3364 | Core Data = 13296
        store | 200000 | file size | kB | SQLite = 6824 | Core Data = 27004
        store | 50000 | memory | MB | SQLite = 21 | Core Data = 32
        store | 100000 | memory | MB | SQLite = 29 | Core Data = 53
        store | 200000 | memory | MB | SQLite = 46 | Core Data = 91
        fetch | 50000 | time | ms | SQLite = 140 | Core Data = 107
        fetch | 100000 | time | ms | SQLite = 280 | Core Data = 230
        fetch | 200000 | time | ms | SQLite = 580 | Core Data = 475
        """

    private static let orm = """
        read-simple | 1000 | time | ms | FMDB = 1 | Core Data = 1 | GRDB = 3 | GRDB (SQL) = 2 | Realm = 0.022
        read-1-1 | 1000 | time | ms | FMDB = 3 | Core Data = 1 | GRDB = 15 | GRDB (SQL) = 4 | Realm = 0.024
        read-1-many | 1000 | time | ms | FMDB = 22 | Core Data = 2 | GRDB = 121 | GRDB (SQL) = 30 | Realm = 0.025
        insert-simple | 1000 | time | ms | FMDB = 6 | Core Data = 15 | GRDB = 30 | GRDB (SQL) = 5 | Realm = 13
        insert-1-1 | 1000 | time | ms | FMDB = 11 | Core Data = 30 | GRDB = 152 | GRDB (SQL) = 31 | Realm = 30
        insert-1-many | 1000 | time | ms | FMDB = 56 | Core Data = 202 | GRDB = 872 | GRDB (SQL) = 378 | Realm = 158
        """

    private static let leveldb = """
        fillseq | - | latency | us/op | SQLite rowid table = 21.3 | SQLite WITHOUT ROWID = 16.2
        fillseqsync | - | latency | us/op | SQLite rowid table = 146 | SQLite WITHOUT ROWID = 147
        fillseqbatch | - | latency | us/op | SQLite rowid table = 2.07 | SQLite WITHOUT ROWID = 2.29
        fillrandom | - | latency | us/op | SQLite rowid table = 34.8 | SQLite WITHOUT ROWID = 27.9
        fillrandsync | - | latency | us/op | SQLite rowid table = 160 | SQLite WITHOUT ROWID = 142
        fillrandbatch | - | latency | us/op | SQLite rowid table = 15.1 | SQLite WITHOUT ROWID = 16.1
        overwrite | - | latency | us/op | SQLite rowid table = 43.7 | SQLite WITHOUT ROWID = 26.8
        overwritebatch | - | latency | us/op | SQLite rowid table = 27.7 | SQLite WITHOUT ROWID = 19.0
        readrandom | - | latency | us/op | SQLite rowid table = 12.7 | SQLite WITHOUT ROWID = 11.7
        readseq | - | latency | us/op | SQLite rowid table = 2.6 | SQLite WITHOUT ROWID = 0.155
        fillrand100K | - | latency | us/op | SQLite rowid table = 606 | SQLite WITHOUT ROWID = 817
        fillseq100K | - | latency | us/op | SQLite rowid table = 657 | SQLite WITHOUT ROWID = 755
        readrand100K | - | latency | us/op | SQLite rowid table = 54.9 | SQLite WITHOUT ROWID = 288
        """
}

extension Substring {
    fileprivate var trimming: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
