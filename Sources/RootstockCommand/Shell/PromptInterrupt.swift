// Ctrl-C at the prompt: it ends the statement that runs, and what goes on from one statement to the next.
//
// Invariant: the handler touches no variable that Swift watches. It runs in the midst of the prompt's own accesses, and Swift ends a process
// in which one access of a variable falls into another. So what both share lies behind a pointer, whose accesses are not watched.

import CommandSupport
import Foundation
import Rootstock

enum PromptInterrupt {
    /// Each field is one word: the handler finds it as it was before or as it is behind.
    private struct State {
        /// Whether Ctrl-C was typed since this was last cleared.
        var isTyped = false
        /// The connection at work. Whoever sets it keeps it, and takes it away before closing it.
        var connection: Unmanaged<Connection>?
    }

    /// Unchecked: the prompt's thread sets it, and the handler runs there or finds one word. It lives as long as the process.
    nonisolated(unsafe) private static let state = {
        let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
        state.initialize(to: State())
        return state
    }()

    /// From here on SIGINT ends statements and not the process.
    static func begin() {
        state.pointee = State()
        signal(SIGINT) { _ in
            PromptInterrupt.state.pointee.isTyped = true
            PromptInterrupt.state.pointee.connection?.takeUnretainedValue().interrupt()
        }
    }

    static var isTyped: Bool { state.pointee.isTyped }

    static func clear() { state.pointee.isTyped = false }

    /// Runs `body`, in which Ctrl-C interrupts the connection.
    static func interrupting<T>(_ connection: Connection, _ body: () throws -> T) rethrows -> T {
        try withExtendedLifetime(connection) {
            let before = state.pointee.connection
            state.pointee.connection = Unmanaged.passUnretained(connection)
            defer { state.pointee.connection = before }
            return try body()
        }
    }

    /// The connection is about to be closed: Ctrl-C leaves it alone.
    static func leave() { state.pointee.connection = nil }

    /// Interrupting a connection ends its statement; this ends what goes on from one to the next.
    static func check() throws {
        if isTyped { throw CommandFailure("interrupted") }
    }
}
