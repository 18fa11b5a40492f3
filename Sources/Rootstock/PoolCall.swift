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
        state.withState { state in
            state.isCancelled = true
            // Under the lock, under which the connection is given back, too: nobody else's statement is interrupted.
            if let database = state.database { sqlite3_interrupt(database) }
        }
    }

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
