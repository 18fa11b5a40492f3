import CSQLite

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
        try begin(kind, after: waited)
        return try finishing(commit: ["COMMIT"], rollback: ["ROLLBACK"], body)
    }

    /// Runs a store's closure in a transaction, and again where another writer was in its way, until the timeout is over that began at `asked`.
    ///
    /// That is so on engines on which several write at once. The closure's own error ends it, whatever it is.
    func withRetriedTransaction<T>(
        _ kind: TransactionKind, asked: ContinuousClock.Instant, timeout: Duration, _ body: () throws -> T
    ) throws -> T {
        guard hasManyWriters else { return try withTransaction(kind, after: .now - asked, body) }
        var longest: Int32 = 2
        while true {
            do {
                return try withTransaction(kind, after: .now - asked, body)
            } catch let error as DatabaseError where error.extendedCode == .busySnapshot && .now - asked < timeout {
                // The one that was in the way has ended: who comes first again is a matter of luck, and of waiting a little.
                sqlite3_sleep(.random(in: 1...longest))
                longest = min(longest * 2, 100)
            }
        }
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
            try uncancelled { for sql in commit { try execute(sql) } }
            return result
        } catch {
            // Some errors (a full disk, OR ROLLBACK) have ended the transaction already. The first error is the one to tell.
            uncancelled { for sql in rollback where isInTransaction { try? execute(sql) } }
            throw error
        }
    }
}

// MARK: - Statements that are kept

/// BEGIN and COMMIT as a store runs them around each closure, prepared once.
struct TransactionFrame {
    fileprivate var deferred: CompiledStatement?
    fileprivate var immediate: CompiledStatement?
    fileprivate var exclusive: CompiledStatement?
    fileprivate var end: CompiledStatement?
}

extension Connection {
    /// Runs `body` in a transaction that can write nothing.
    func withReadTransaction<T>(_ body: () throws -> T) throws -> T {
        try run(beginning(.deferred))
        do {
            let result = try refusingWrites(body)
            try uncancelled(end)
            return result
        } catch {
            if isInTransaction { try? uncancelled(end) }
            throw error
        }
    }

    /// Begins a transaction, with what is left of the busy timeout after a wait of `waited` elsewhere.
    private func begin(_ kind: TransactionKind, after waited: Duration) throws(DatabaseError) {
        let statement = try beginning(kind)
        try end(statement, steppingInParts(statement.handle, after: waited))
    }

    /// Steps a statement for a call that may be cancelled. It waits in parts where one that writes begins outside a transaction: refused the lock,
    /// it has left nothing behind, and may begin anew.
    @usableFromInline
    func step(_ handle: OpaquePointer?) throws(DatabaseError) -> Int32 {
        guard !isInTransaction, sqlite3_stmt_busy(handle) == 0, let handle,
            !FrontDoor.isReadOnly(handle)
        else { return sqlite3_step(handle) }
        return try steppingInParts(handle, after: .zero)
    }

    /// Steps a statement that begins outside a transaction, with what is left of the busy timeout after a wait of `waited` elsewhere.
    ///
    /// SQLite's own wait ends for nothing but its timeout, so that a call which may be cancelled waits in parts. A busy handler of the
    /// application's own has no timeout, and is left as it is.
    private func steppingInParts(_ handle: OpaquePointer?, after waited: Duration) throws(DatabaseError) -> Int32 {
        let mayBeCancelled = call != nil
        guard mayBeCancelled || waited > .milliseconds(1) else { return sqlite3_step(handle) }
        let asked = try busyTimeout
        guard asked > 0 else { return sqlite3_step(handle) }
        let deadline = ContinuousClock.now + .milliseconds(asked) - waited
        defer { sqlite3_busy_timeout(database, asked) }
        while true {
            let left = max(1, Int64((deadline - .now) / .milliseconds(1)))
            let part = mayBeCancelled ? min(left, 200) : left
            sqlite3_busy_timeout(database, Int32(clamping: part))
            let began = ContinuousClock.now
            let code = sqlite3_step(handle)
            // Sooner than that SQLite did not wait: waiting cannot help.
            guard part < left, code & 0xff == SQLITE_BUSY, .now - began >= .milliseconds(part / 2) else { return code }
            sqlite3_reset(handle)
            try checkCancellation()
        }
    }

    /// SQLite's busy timeout in milliseconds; 0 for none, or a handler of the application's own.
    private var busyTimeout: Int32 {
        get throws(DatabaseError) {
            if let knownBusyTimeout { return knownBusyTimeout }
            return try uncancelled { () throws(DatabaseError) in
                guard case .integer(let asked)? = try queryValue("PRAGMA busy_timeout") else { return 0 }
                return Int32(clamping: asked)
            }
        }
    }

    /// BEGIN means the same on every engine, whatever the schema, and the front door leaves it as it is.
    private func beginning(_ kind: TransactionKind) throws(DatabaseError) -> CompiledStatement {
        let kept =
            switch kind {
            case .deferred: frame.deferred
            case .immediate: frame.immediate
            case .exclusive: frame.exclusive
            }
        if let kept { return kept }
        let made = try keep("BEGIN \(kind.rawValue.uppercased())")
        switch kind {
        case .deferred: frame.deferred = made
        case .immediate: frame.immediate = made
        case .exclusive: frame.exclusive = made
        }
        return made
    }

    /// COMMIT of a transaction that has written nothing: the front door's own has no deferred foreign key to look at.
    private func end() throws(DatabaseError) {
        if let kept = frame.end { return try run(kept) }
        let made = try keep("COMMIT")
        frame.end = made
        try run(made)
    }

    private func keep(_ sql: String) throws(DatabaseError) -> CompiledStatement {
        guard let database else { throw closedError }
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw failure(code, sql: sql) }
        return CompiledStatement(handle: handle, sql: sql, isReusable: true)
    }

    private func run(_ statement: CompiledStatement) throws(DatabaseError) {
        try end(statement, sqlite3_step(statement.handle))
    }

    private func end(_ statement: CompiledStatement, _ code: Int32) throws(DatabaseError) {
        let error = code == SQLITE_DONE ? nil : failure(code, sql: statement.sql)
        sqlite3_reset(statement.handle)
        if let error { throw error }
    }

    /// Runs `body` whether or not the call that has the connection was cancelled: what ends a transaction.
    func uncancelled<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        guard let asked = call else { return try body() }
        call = nil
        asked.protect(true)
        defer {
            asked.protect(false)
            call = asked
        }
        return try body()
    }
}
