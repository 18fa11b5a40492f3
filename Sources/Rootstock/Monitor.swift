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
        #if canImport(Darwin)
            precondition(pthread_cond_init(condition, nil) == 0, "no memory for a condition")
        #else
            // Waits are timed against a clock that nobody sets.
            var attributes = pthread_condattr_t()
            precondition(
                pthread_condattr_init(&attributes) == 0
                    && pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0
                    && pthread_cond_init(condition, &attributes) == 0, "no memory for a condition")
            pthread_condattr_destroy(&attributes)
        #endif
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

    /// Calls `body` with the state until it gives an answer, sleeping in between until somebody changed the state, and wakes the others.
    func waiting<T, E: Error>(_ body: (inout State) throws(E) -> T?) throws(E) -> T {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            if let answer = try body(&state) { return answer }
            pthread_cond_wait(condition, mutex)
        }
    }

    /// The same until `deadline` at the latest. `body` is called with whether it has passed; without an answer then, the call gives
    /// `nil`.
    func waiting<T, E: Error>(
        until deadline: ContinuousClock.Instant, _ body: (inout State, _ isLate: Bool) throws(E) -> T?
    ) throws(E) -> T? {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        while true {
            let left = deadline - .now
            if let answer = try body(&state, left <= .zero) { return answer }
            if left <= .zero { return nil }
            sleep(left)
        }
    }

    /// Sleeps, under the lock, until the condition is signalled or the time is over.
    private func sleep(_ time: Duration) {
        let (seconds, attoseconds) = min(time, .seconds(1 << 30)).components
        var moment = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        #if canImport(Darwin)
            pthread_cond_timedwait_relative_np(condition, mutex, &moment)
        #else
            var now = timespec()
            clock_gettime(CLOCK_MONOTONIC, &now)
            moment.tv_sec += now.tv_sec
            moment.tv_nsec += now.tv_nsec
            if moment.tv_nsec >= 1_000_000_000 {
                moment.tv_sec += 1
                moment.tv_nsec -= 1_000_000_000
            }
            pthread_cond_timedwait(condition, mutex, &moment)
        #endif
    }
}

/// The calling thread's identity, to tell a call inside a call from two threads' calls.
struct ThreadIdentity: Equatable {
    private let thread = pthread_self()

    static func == (first: ThreadIdentity, second: ThreadIdentity) -> Bool {
        pthread_equal(first.thread, second.thread) != 0
    }
}
