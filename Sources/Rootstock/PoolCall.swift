// PoolCall.swift - an asynchronous call on its way through a pool: in line, on a connection, ended.
//
// Invariant: the call's continuation is resumed once: by `start`, which runs it, or by `refuse`.

import CSQLite

@usableFromInline
final class PoolCall: Sendable {
    private struct State {
        var isCancelled = false
        var hasLeftLine = false
        var timer: Task<Void, Never>?
        /// SQLite's connection while the call has one, which any thread may interrupt: under the monitor's lock it is not closed.
        nonisolated(unsafe) var database: OpaquePointer?
        /// Whether its connection does what a cancelled call does, too: end a transaction.
        var isProtected = false
    }

    /// Runs the call with the connection that it is lent, or with leave to open one.
    let start: @Sendable (PoolCall, ConnectionPool.Lent?) -> Void

    /// Ends the call without having run it.
    let refuse: @Sendable (any Error) -> Void

    private let state = Monitor(State())

    init(
        start: @escaping @Sendable (PoolCall, ConnectionPool.Lent?) -> Void,
        refuse: @escaping @Sendable (any Error) -> Void
    ) {
        self.start = start
        self.refuse = refuse
    }

    var isCancelled: Bool { state.withState { $0.isCancelled } }

    /// Makes the statement that runs now fail, and the next one that is prepared.
    func cancel() {
        state.withState { $0.isCancelled = true }
        guard interrupt() else { return }
        // SQLite forgets an interrupt that comes while no statement runs, so between the question of a statement that is prepared and its
        // first step. One is not enough, then.
        Task.detached { [self] in
            repeat { try? await Task.sleep(for: .milliseconds(10)) } while interrupt()
        }
    }

    /// Interrupts the statement that runs; returns whether the call still has a connection.
    private func interrupt() -> Bool {
        // Under the lock, under which the connection is given back, too: nobody else's statement is interrupted.
        state.withState { state in
            guard let database = state.database else { return false }
            if !state.isProtected { sqlite3_interrupt(database) }
            return true
        }
    }

    /// Begins or ends what is done although the call is cancelled.
    func protect(_ isProtected: Bool) { state.withState { $0.isProtected = isProtected } }

    /// Tells which connection the call has, from here to the call with `nil`.
    func uses(_ database: OpaquePointer?) { state.withState { $0.database = database } }

    /// The timer that ends the wait, which is cancelled when the wait is over.
    func waits(with timer: Task<Void, Never>) {
        let isOver = state.withState { state in
            if !state.hasLeftLine { state.timer = timer }
            return state.hasLeftLine
        }
        if isOver { timer.cancel() }
    }

    func leavesLine() {
        let timer = state.withState { state in
            state.hasLeftLine = true
            return state.timer
        }
        timer?.cancel()
    }
}
