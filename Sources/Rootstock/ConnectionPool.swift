/// Connections lent out one at a time each, opened when they are first needed.
///
/// The invariant: a connection is either in `idle` or with exactly one borrower.
final class ConnectionPool: Sendable {
    /// A connection on its way between threads. Between lending and return only the borrower's thread touches it, and
    /// the pool's lock orders one borrower's use before the next one's.
    private struct Lent: @unchecked Sendable {
        let connection: Connection
    }

    private struct State {
        var idle: [Lent] = []
        /// The threads that have a connection now, or are opening one.
        var borrowers: [ThreadIdentity] = []
        /// Those of them that wait for another one.
        var blocked: [ThreadIdentity] = []
        var isClosed = false
        /// Closed by a borrower, who cannot wait for himself: what comes back is closed then.
        var closesOnReturn = false
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
        self.patience = patience
        self.make = make
    }

    /// Opens the first connection now, so that what is wrong with the path is known at once.
    func open() throws(DatabaseError) {
        endLoan(returning: try borrow())
    }

    func withConnection<T>(_ body: (Connection) throws -> T) throws -> T {
        let lent = try borrow()
        defer {
            lent.connection.resetStatements()
            endLoan(returning: lent)
        }
        return try body(lent.connection)
    }

    /// Waits until every connection is back, and closes them. One that the calling thread has itself is closed when it comes back.
    func close() {
        let thread = ThreadIdentity()
        state.withState { $0.isClosed = true }
        let idle = state.waiting { (state) -> [Lent]? in
            guard state.borrowers.allSatisfy({ $0 == thread }) else { return nil }
            state.closesOnReturn = !state.borrowers.isEmpty
            defer { state.idle = [] }
            return state.idle
        }
        for lent in idle { lent.connection.close() }
    }

    private func borrow() throws(DatabaseError) -> Lent {
        let thread = ThreadIdentity()
        let path = path
        let capacity = capacity
        // Only a pool without patience has no end to its waits.
        let deadline = patience.map { ContinuousClock.now + min($0, .seconds(1 << 30)) }
        // An answer of .some(nil) is leave to open another connection.
        let answer: (inout State) throws(DatabaseError) -> Lent?? = { (state) throws(DatabaseError) -> Lent?? in
            state.blocked.removeAll { $0 == thread }
            if state.isClosed { throw DatabaseError(.misuse, "the store \(path) is closed") }
            if let lent = state.idle.popLast() {
                state.borrowers.append(thread)
                return .some(lent)
            }
            if state.borrowers.count < capacity {
                state.borrowers.append(thread)
                return .some(nil)
            }
            guard state.borrowers.contains(thread) else { return nil }
            state.blocked.append(thread)
            // Every connection is with threads that wait for another one, this one included: it would be for ever.
            if state.borrowers.allSatisfy({ state.blocked.contains($0) }) {
                state.blocked.removeLast()
                throw DatabaseError(
                    .misuse, "a call inside a closure needs the connection to \(path) that the closure has")
            }
            return nil
        }
        let lent: Lent?
        if let deadline {
            let found = try state.waiting(until: deadline) { (state, isLate) throws(DatabaseError) -> Lent?? in
                if let answer = try answer(&state) { return answer }
                if isLate { state.blocked.removeAll { $0 == thread } }
                return nil
            }
            guard let found else { throw DatabaseError(.busy) }
            lent = found
        } else {
            lent = try state.waiting(answer)
        }
        if let lent { return lent }
        do {
            return Lent(connection: try make())
        } catch {
            endLoan(returning: nil)
            throw error
        }
    }

    private func endLoan(returning lent: Lent?) {
        let thread = ThreadIdentity()
        var lent = lent
        if let late = lent, state.withState({ $0.closesOnReturn }) {
            late.connection.close()
            lent = nil
        }
        state.withState { state in
            if let index = state.borrowers.firstIndex(of: thread) { state.borrowers.remove(at: index) }
            if let lent { state.idle.append(lent) }
        }
    }
}
