/// Connections lent out one at a time each, opened when they are first needed.
///
/// Invariants: a connection is either in `idle` or with exactly one borrower. Threads and asynchronous calls are served in the order in
/// which they came. A connection that a borrower has kept is no longer the one that the next borrower gets
/// (``Connection/init(takingOver:)``).
final class ConnectionPool: Sendable {
    /// A connection on its way between threads. Between lending and return only the borrower's thread touches it, and
    /// the pool's lock orders one borrower's use before the next one's.
    struct Lent: @unchecked Sendable {
        fileprivate(set) var connection: Connection
    }

    private struct State {
        var idle: [Lent] = []
        /// The threads that have a connection now, or are opening one.
        var borrowers: [ThreadIdentity] = []
        /// Calls that were lent a connection, or have leave to open one, and whose threads have not begun.
        var starting = 0
        /// Those of the borrowers that wait for another one.
        var blocked: [ThreadIdentity] = []
        /// Who waits, in order: threads, and calls that have no thread yet.
        var line: [(ticket: UInt64, call: PoolCall?)] = []
        var lastTicket: UInt64 = 0
        var isClosed = false
        /// Closed by a borrower, who cannot wait for himself: what comes back is closed then.
        var closesOnReturn = false

        mutating func enters(_ call: PoolCall?) -> UInt64 {
            lastTicket += 1
            line.append((lastTicket, call))
            return lastTicket
        }

        mutating func leaves(_ ticket: UInt64) -> PoolCall? {
            guard let index = line.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return line.remove(at: index).call
        }

        /// A connection for `thread`, or `.some(nil)` as leave to open one.
        mutating func take(_ thread: ThreadIdentity, of capacity: Int) -> Lent?? {
            if let lent = idle.popLast() {
                borrowers.append(thread)
                return .some(lent)
            }
            guard borrowers.count + starting < capacity else { return nil }
            borrowers.append(thread)
            return .some(nil)
        }

        /// The calls at the head of the line for which there are connections.
        mutating func admit(of capacity: Int) -> [(PoolCall, Lent?)] {
            var admitted: [(PoolCall, Lent?)] = []
            while let call = line.first?.call, !idle.isEmpty || borrowers.count + starting < capacity {
                line.removeFirst()
                starting += 1
                admitted.append((call, idle.popLast()))
            }
            return admitted
        }
    }

    private let path: String
    private let capacity: Int
    /// How long a call waits for a connection; `nil` for as long as it takes.
    private let patience: Duration?
    private let make: @Sendable () throws(DatabaseError) -> Connection
    private let state = Monitor(State())

    init(
        path: String, capacity: Int, patience: Duration? = nil,
        make: @escaping @Sendable () throws(DatabaseError) -> Connection
    ) {
        self.path = path
        self.capacity = capacity
        // Only a pool without patience has no end to its waits.
        self.patience = patience.map { min($0, .seconds(1 << 30)) }
        self.make = make
    }

    /// Opens the first connection now, so that what is wrong with the path is known at once.
    func open() throws(DatabaseError) {
        var lent = try borrow()
        endLoan(of: &lent)
    }

    /// Whether somebody has a connection, or waits for one.
    var isLent: Bool { state.withState { !$0.borrowers.isEmpty || $0.starting > 0 || !$0.line.isEmpty } }

    func withConnection<T>(_ body: (Connection) throws -> T) throws -> T {
        var lent = try borrow()
        defer { endLoan(of: &lent) }
        return try body(lent.connection)
    }

    /// The same for a task: `body` runs on a thread that may block. If the task is cancelled, its wait ends or its statement is interrupted.
    func withConnection<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        try Task.checkCancellation()
        let call = Monitor<PoolCall?>(nil)
        let isCancelled = Monitor(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let made = PoolCall { [self] call, lent in
                    continuation.resume(with: Result { try run(call, lent, body) })
                } refuse: {
                    continuation.resume(throwing: $0)
                }
                call.withState { $0 = made }
                enqueue(made)
                // Cancelled before there was anything to cancel.
                if isCancelled.withState({ $0 }) { cancel(made) }
            }
        } onCancel: {
            isCancelled.withState { $0 = true }
            if let call = call.withState({ $0 }) { cancel(call) }
        }
    }

    /// Waits until every connection is back, and closes them. One that the calling thread has itself is closed when it comes back.
    func close() {
        let thread = ThreadIdentity()
        let refused = state.withState { state in
            state.isClosed = true
            defer { state.line.removeAll { $0.call != nil } }
            return state.line.compactMap(\.call)
        }
        for call in refused {
            call.leavesLine()
            call.refuse(closed)
        }
        let idle = state.waiting { (state) -> [Lent]? in
            guard state.starting == 0, state.borrowers.allSatisfy({ $0 == thread }) else { return nil }
            state.closesOnReturn = !state.borrowers.isEmpty
            defer { state.idle = [] }
            return state.idle
        }
        for lent in idle { lent.connection.close() }
    }

    private var closed: DatabaseError { DatabaseError(.misuse, "the store \(path) is closed") }
}

// MARK: - Threads

extension ConnectionPool {
    private func borrow() throws(DatabaseError) -> Lent {
        let thread = ThreadIdentity()
        let atOnce = try state.withState { (state) throws(DatabaseError) -> Lent?? in
            if state.isClosed { throw closed }
            return state.line.isEmpty ? state.take(thread, of: capacity) : nil
        }
        let lent = if let atOnce { atOnce } else { try wait(thread) }
        if let lent { return lent }
        do {
            return Lent(connection: try make())
        } catch {
            forget(thread, returning: nil)
            throw error
        }
    }

    private func wait(_ thread: ThreadIdentity) throws(DatabaseError) -> Lent? {
        let ticket = state.withState { $0.enters(nil) }
        // An answer of .some(nil) is leave to open another connection.
        let answer: (inout State, Bool) throws(DatabaseError) -> Lent?? = {
            (state, isLate) throws(DatabaseError) -> Lent?? in
            state.blocked.removeAll { $0 == thread }
            if state.isClosed {
                _ = state.leaves(ticket)
                throw self.closed
            }
            if state.line.first?.ticket == ticket, let lent = state.take(thread, of: self.capacity) {
                state.line.removeFirst()
                return lent
            }
            if isLate { _ = state.leaves(ticket) }
            guard !isLate, state.borrowers.contains(thread) else { return nil }
            state.blocked.append(thread)
            // Every connection is with threads that wait for another one, this one included: it would be for ever.
            if state.starting == 0, state.borrowers.count == self.capacity,
                state.borrowers.allSatisfy({ state.blocked.contains($0) })
            {
                state.blocked.removeLast()
                _ = state.leaves(ticket)
                throw DatabaseError(
                    .misuse,
                    "a call inside a closure needs the connection to \(self.path) that the closure has: use that one")
            }
            return nil
        }
        defer { admit() }
        guard let patience else {
            return try state.waiting { (state) throws(DatabaseError) -> Lent?? in try answer(&state, false) }
        }
        guard let lent = try state.waiting(until: .now + patience, answer) else { throw DatabaseError(.busy) }
        return lent
    }

    private func endLoan(of lent: inout Lent) {
        lent.connection.resetStatements()
        // A ROLLBACK that was interrupted, since a statement that ran then kept the interruption alive.
        if lent.connection.isInTransaction { try? lent.connection.execute("ROLLBACK") }
        // Kept, or a statement of it: what was kept is refused from now on.
        if !isKnownUniquelyReferenced(&lent.connection) { lent.connection = Connection(takingOver: lent.connection) }
        // A closure may have closed it itself: the next one gets another connection.
        if lent.connection.database == nil || state.withState({ $0.closesOnReturn }) {
            lent.connection.close()
            forget(ThreadIdentity(), returning: nil)
        } else {
            forget(ThreadIdentity(), returning: lent)
        }
    }

    private func forget(_ thread: ThreadIdentity, returning lent: Lent?) {
        let admitted = state.withState { state in
            if let index = state.borrowers.firstIndex(of: thread) { state.borrowers.remove(at: index) }
            if let lent { state.idle.append(lent) }
            return state.admit(of: capacity)
        }
        start(admitted)
    }
}

// MARK: - Asynchronous calls

extension ConnectionPool {
    private func enqueue(_ call: PoolCall) {
        let entered = state.withState { state in
            state.isClosed ? nil : (state.enters(call), state.admit(of: capacity))
        }
        guard let (ticket, admitted) = entered else { return call.refuse(closed) }
        start(admitted)
        guard let patience, !admitted.contains(where: { $0.0 === call }) else { return }
        call.waits(
            with: Task.detached { [weak self] in
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                self?.withdraw(DatabaseError(.busy)) { $0.ticket == ticket }
            })
    }

    private func cancel(_ call: PoolCall) {
        call.cancel()
        withdraw(CancellationError()) { $0.call === call }
    }

    /// Ends the wait of the call that `isMeant`, if it still waits.
    private func withdraw(_ error: any Error, _ isMeant: ((ticket: UInt64, call: PoolCall?)) -> Bool) {
        let (call, admitted) = state.withState { state in
            let call = state.line.first(where: isMeant).flatMap { state.leaves($0.ticket) }
            return (call, state.admit(of: capacity))
        }
        call?.leavesLine()
        call?.refuse(error)
        start(admitted)
    }

    private func admit() { start(state.withState { $0.admit(of: capacity) }) }

    private func start(_ admitted: [(PoolCall, Lent?)]) {
        for (call, lent) in admitted {
            call.leavesLine()
            WorkerThreads.run { call.start(call, lent) }
        }
    }

    /// Runs `body` on the calling thread, which is a worker's.
    private func run<T>(_ call: PoolCall, _ granted: Lent?, _ body: (Connection) throws -> T) throws -> T {
        let thread = ThreadIdentity()
        state.withState { state in
            state.starting -= 1
            state.borrowers.append(thread)
        }
        var lent: Lent
        do {
            lent = try granted ?? Lent(connection: make())
        } catch {
            forget(thread, returning: nil)
            throw error
        }
        defer { endLoan(of: &lent) }
        return try lent.connection.serving(call) { try body(lent.connection) }
    }
}
