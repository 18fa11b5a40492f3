#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// State that one thread at a time sees, and can wait to change.
///
/// The invariant is the lock's: `state` is touched between lock and unlock only.
final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: sending State) {
        self.state = state
        precondition(pthread_mutex_init(mutex, nil) == 0, "no memory for a mutex")
        precondition(pthread_cond_init(condition, nil) == 0, "no memory for a condition")
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Calls `body` with the state, and wakes those who wait for it to change.
    func withState<T, E: Error>(_ body: (inout State) throws(E) -> T) throws(E) -> T {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Calls `body` with the state until it gives an answer, sleeping in between until somebody changed the state.
    func waiting<T, E: Error>(_ body: (inout State) throws(E) -> T?) throws(E) -> T {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let answer = try body(&state) { return answer }
            pthread_cond_wait(condition, mutex)
        }
    }
}

/// The calling thread's identity, to tell a call inside a call from two threads' calls.
struct ThreadIdentity: Equatable {
    private let thread = pthread_self()

    static func == (first: ThreadIdentity, second: ThreadIdentity) -> Bool {
        pthread_equal(first.thread, second.thread) != 0
    }
}
