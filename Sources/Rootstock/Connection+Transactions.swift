/// When a transaction takes its locks.
public enum TransactionKind: String, CaseIterable, Sendable {
    /// At the first read and the first write. A write after a read can find that another connection has written since.
    case deferred
    /// The write lock at once: nobody else writes until the end.
    case immediate
    /// As `immediate`; in SQLite's rollback journal modes nobody else reads either.
    case exclusive
}

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// Transactions do not nest; use ``withSavepoint(_:)`` inside one.
    public func withTransaction<T>(_ kind: TransactionKind = .deferred, _ body: () throws -> T) throws -> T {
        try withTransaction(kind, after: .zero, body)
    }

    /// The same by a caller who has used up some of the busy timeout.
    func withTransaction<T>(
        _ kind: TransactionKind, after waited: Duration, _ body: () throws -> T
    ) throws -> T {
        try waitingLess(by: waited) { try execute("BEGIN \(kind.rawValue.uppercased())") }
        return try finishing(commit: ["COMMIT"], rollback: ["ROLLBACK"], body)
    }

    /// Runs `body` in a savepoint: what it wrote is kept when it returns and undone when it throws, while the transaction
    /// around it goes on. Outside a transaction the savepoint is one by itself.
    public func withSavepoint<T>(_ body: () throws -> T) throws -> T {
        // Savepoints of one name stack up, and the innermost is meant.
        try execute("SAVEPOINT rootstock")
        return try finishing(
            commit: ["RELEASE rootstock"], rollback: ["ROLLBACK TO rootstock", "RELEASE rootstock"], body)
    }

    private func finishing<T>(commit: [String], rollback: [String], _ body: () throws -> T) throws -> T {
        do {
            let result = try body()
            for sql in commit { try execute(sql) }
            return result
        } catch {
            // Some errors (a full disk, OR ROLLBACK) have ended the transaction already. The first error is the one to tell.
            for sql in rollback where isInTransaction { try? execute(sql) }
            throw error
        }
    }
}
