// What a command takes back when it is interrupted: SIGINT, SIGTERM and SIGHUP end it only after that.
//
// Invariant: an action runs at most once, and not after the call that it belongs to has returned.

import Foundation

package enum Interruption {
    /// Runs `body`; a signal that ends the command meanwhile runs `action` first, on another thread.
    package static func takingBack<T>(_ action: @escaping @Sendable () -> Void, _ body: () throws -> T) rethrows -> T {
        begin()
        let token = actions.add(action)
        defer { actions.remove(token) }
        return try body()
    }

    private static let actions = Actions()

    /// Unchecked: its lock guards what it holds.
    private final class Actions: @unchecked Sendable {
        private let lock = NSLock()
        private var byToken: [(token: Int, action: @Sendable () -> Void)] = []
        private var next = 0

        func add(_ action: @escaping @Sendable () -> Void) -> Int {
            lock.withLock {
                next += 1
                byToken.append((next, action))
                return next
            }
        }
        func remove(_ token: Int) { lock.withLock { byToken.removeAll { $0.token == token } } }

        /// Newest first. The lock is kept: whoever has ended meanwhile waits for the end of the process.
        func runAndEnd(by number: Int32) -> Never {
            lock.lock()
            for entry in byToken.reversed() { entry.action() }
            signal(number, SIG_DFL)
            kill(getpid(), number)
            // Another thread may be the one that takes it.
            sleep(5)
            _exit(128 + number)
        }
    }

    /// A handler may call next to nothing: it writes the signal's number to a pipe, where a thread waits for it.
    /// Unchecked: set once, before the handler is.
    nonisolated(unsafe) private static var pipeEnds: (read: Int32, write: Int32) = (-1, -1)

    private static func begin() { _ = watching }

    private static let watching: Bool = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipeEnds = (ends[0], ends[1])
        // Whoever started the command may have blocked them: threads of a dispatch queue do.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        Thread.detachNewThread {
            var number: UInt8 = 0
            while read(pipeEnds.read, &number, 1) != 1 {}
            actions.runAndEnd(by: Int32(number))
        }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interruption.pipeEnds.write, &byte, 1)
                // The command's own thread makes no more files meanwhile. It goes on should it have a lock that an action needs.
                sleep(2)
            }
        }
        return true
    }()
}
