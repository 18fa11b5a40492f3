// WorkerThreads.swift - threads for asynchronous calls, which may block and so may not run on Swift's cooperative pool.
//
// Invariant: as many threads run as there are connections in use by such calls. A thread that has had nothing to do for a while ends.

import Foundation

enum WorkerThreads {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var idle = 0
    }

    private static let state = Monitor(State())
    private static let patience: Duration = .seconds(10)

    /// Runs `job` on a thread of its own, soon.
    static func run(_ job: @escaping @Sendable () -> Void) {
        let isShort = state.withState { state in
            state.jobs.append(job)
            return state.jobs.count > state.idle
        }
        if isShort { Thread.detachNewThread { work() } }
    }

    private static func work() {
        while let job = next() { job() }
    }

    private static func next() -> (@Sendable () -> Void)? {
        state.withState { $0.idle += 1 }
        return state.waiting(until: .now + patience) { state, isLate in
            if !state.jobs.isEmpty {
                state.idle -= 1
                return .some(state.jobs.removeFirst())
            }
            guard isLate else { return nil }
            state.idle -= 1
            return .some(nil)
        } ?? nil
    }
}
