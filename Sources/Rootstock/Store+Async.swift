// Store+Async.swift - reads and writes for tasks.
//
// Invariant: nothing of a closure runs on Swift's cooperative pool, which a wait for a lock or a disk would starve.

extension Store {
    /// Runs `body` in a read transaction, as the synchronous ``read(_:)-4mrkd`` does, while the task waits without a thread.
    ///
    /// ```swift
    /// let books = try await store.read { try $0.query("SELECT * FROM book", as: Book.self) }
    /// ```
    ///
    /// A cancelled task's statement is interrupted, and so is the next one that `body` prepares.
    ///
    /// - Throws: `CancellationError` if the task was cancelled; what `body` throws.
    public func read<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await readers.withConnection { connection in
            try connection.withReadTransaction { try connection.endingCancelled { try body(connection) } }
        }
    }

    /// Runs `body` in a write transaction, as the synchronous ``write(_:)-6fr01`` does, while the task waits without a thread.
    ///
    /// Writers are served in the order in which they came, and `body` is run again where the synchronous form runs it again. A task that is cancelled before the commit leaves nothing behind.
    ///
    /// - Throws: ``ResultCode/busy`` if another writer of this process or another has the lock for longer than ``StoreOptions/busyTimeout``;
    ///   `CancellationError` if the task was cancelled; what `body` throws.
    @discardableResult
    public func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let asked = ContinuousClock.now
        return try await writer.withConnection { [self] connection in
            try hub.watching(connection) {
                try connection.withRetriedTransaction(writeKind, asked: asked, timeout: options.busyTimeout) {
                    try connection.endingCancelled { try body(connection) }
                }
            }
        }
    }

    /// Runs `body` with the writing connection and no transaction around it, as the synchronous `withConnection` does.
    ///
    /// - Throws: as ``write(_:)-6fr01``.
    @discardableResult
    public func withConnection<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try await writer.withConnection { [hub] connection in
            try hub.watching(connection) {
                defer {
                    connection.uncancelled { if connection.isInTransaction { try? connection.execute("ROLLBACK") } }
                }
                return try connection.endingCancelled { try body(connection) }
            }
        }
    }
}

extension Connection {
    /// Fails with ``ResultCode/interrupt`` if the task that waits for this closure was cancelled: for loops that step a prepared statement.
    ///
    /// Preparing a statement, and so ``execute(_:_:)``, ``query(_:_:)`` and the like, asks by itself.
    public func checkCancellation() throws(DatabaseError) {
        if let call, call.isCancelled { throw DatabaseError(.interrupt) }
    }

    /// Runs `body` for an asynchronous call, which may interrupt it.
    func serving<T>(_ call: PoolCall, _ body: () throws -> T) throws -> T {
        self.call = call
        call.uses(database)
        defer {
            call.uses(nil)
            self.call = nil
        }
        do {
            return try body()
        } catch let error as DatabaseError where error.code == .interrupt && call.isCancelled {
            throw CancellationError()
        }
    }

    /// Runs `body`, and fails if the call was cancelled meanwhile, so that what it wrote is rolled back.
    fileprivate func endingCancelled<T>(_ body: () throws -> T) throws -> T {
        let result = try body()
        try checkCancellation()
        return result
    }
}
