// What others published for the same cases, to be shown beside what we measure.
//
// Invariant: only ratios are kept, since the figures come from other machines and years, and each is the ratio of two systems
// of one source. The sources are named; the times they are made of stand beside them.

public struct PublishedFigure: Sendable {
    public var suite: String
    /// The workload of ours that does what the figure was taken on.
    public var workload: String
    /// Time of the native system, and of the one set against it, in the unit of the source.
    public var native: Double
    public var other: Double
    public var unit: String
    public var source: String

    /// Above 1: the other system is faster.
    public var ratio: Double { native / other }

    public static func find(suite: String, workload: String) -> PublishedFigure? {
        all.first { $0.suite == suite && $0.workload == workload }
    }

    public static let all: [PublishedFigure] = sqlightning + customStore

    /// SQLightning against the SQLite 3.7.17 it replaces, 1,000,000 entries on an SSD: SQLightning's README, quoted in
    /// Tarasenko 2025, figure 4.
    private static let sqlightning: [PublishedFigure] = [
        ("fillseqsync", 8175.371, 6171.233), ("fillrandsync", 8308.706, 6231.249), ("fillseq", 25.587, 31.778),
        ("fillseqbatch", 7.402, 7.087), ("fillrandom", 33.235, 32.902), ("fillrandbatch", 18.847, 13.754),
        ("readrandom", 22.645, 7.685), ("readseq", 7.557, 1.551), ("readreverse", 7.456, 1.531),
    ].map {
        PublishedFigure(
            suite: "engine", workload: $0.0, native: $0.1, other: $0.2, unit: "us/op",
            source: "SQLightning / SQLite 3.7.17")
    }

    /// A Core Data store on SQLightning against Core Data's own on SQLite, 1,000,000 objects, mean of 10: Tarasenko 2025,
    /// table 1. Its insert of one object a transaction was not finished.
    private static let customStore: [PublishedFigure] = [
        ("insert-all", 18.81, 26.1), ("insert-10000", 16.16, 24.68), ("insert-1000", 16.01, 29.75),
        ("insert-100", 17.21, 123.11), ("fetch", 1.06, 0.77), ("update-all", 18.36, 69.33),
        ("update-10000", 17.88, 67.7), ("update-1000", 17.4, 68), ("update-100", 18, 67.98), ("update-1", 18.26, 67.34),
        ("delete-all", 5.68, 51.01), ("delete-10000", 4.92, 48.71), ("delete-1000", 5.2, 47.48),
        ("delete-100", 6.8, 47.43), ("delete-1", 6.64, 47.21),
    ].map {
        PublishedFigure(
            suite: "objects", workload: $0.0, native: $0.1, other: $0.2, unit: "s",
            source: "Core Data on SQLightning / on SQLite")
    }
}
