// Why a case of ours falls short of a published ratio, where it does.
//
// Invariant: a reason is shown only in a report whose ratio, with its whole interval, lies below the published one. What is
// said here is measured somewhere: `Vendor-notes/sqlightning.md` has the same cases with the figures.

public enum PublishedReason {
    /// What is known of the difference; null where nothing is.
    public static func find(suite: String, workload: String) -> String? {
        all.first { $0.suite == suite && $0.workloads.contains(workload) }?.text
    }

    static let all: [(suite: String, workloads: [String], text: String)] = [
        (
            "engine", ["readseq", "readreverse"],
            "Both sides of the published row are rowid tables, which look each row up a second time; here both are WITHOUT "
                + "ROWID, which made SQLite's own scan 17 times faster (LevelDB's figures). Case readseq-rowid is the nearer "
                + "one. What is left is three calls of the virtual-table interface a row, which SQLightning, built into "
                + "SQLite, does not make."
        ),
        (
            "engine", ["fillseqsync", "fillrandsync"],
            "The published times, 6 to 8 ms a commit on both sides, are those of the drive's flush. Where a flush is cheap, as "
                + "here, their number decides: the write-ahead log is flushed once a commit, LMDB's pages and then its meta "
                + "page twice."
        ),
        (
            "engine", ["fillseq", "fillrandom", "overwrite"],
            "One row a transaction: LMDB writes anew every page from the root to the leaf, and its lock costs a system call, "
                + "where the write-ahead log appends. The published SQLite, a rowid table with an index, wrote two trees a row."
        ),
        (
            "engine", ["fillseqbatch", "fillrandbatch"],
            "The published SQLite wrote two trees a row, the table's and the index's; here both sides write one."
        ),
        (
            "engine", ["readrandom"],
            "The published SQLite looked up an index and then a table; here both sides look up one tree, which helps native "
                + "more."
        ),
        (
            "objects", ["fetch"],
            "The published fetch is Core Data's, which reads values in batches behind its faults; here each object is a "
                + "query of its own, whose cost is the statement and not the engine. Cases fetch-batched and fetch-joined "
                + "are the nearer ones."
        ),
    ]
}
