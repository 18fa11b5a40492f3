// Engines.swift - what every test of the API runs on, and where its files lie.

import Foundation
import Rootstock

/// The engines that the API promises the same behaviour on.
let engines: [Engine] = [.sqlite, .lmdb]

/// Those that the tests of the API's own conveniences run on: SQLite's B-tree behind the table layer, too.
let apiEngines: [Engine] = [.sqlite, .lmdb, "sqlite-btree"]

/// A folder of a test's own, removed when the test lets go of it.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String = "test.store") -> String { url.appendingPathComponent(name).path }
}

/// A program of this package's, which stands beside the tests.
func program(_ name: String, _ arguments: [String]) -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent(name)
    process.arguments = arguments
    return process
}

/// What `body` throws, which must be a `DatabaseError`.
func databaseError(_ body: () throws -> Void) throws -> DatabaseError? {
    do {
        try body()
        return nil
    } catch let error as DatabaseError {
        return error
    }
}

/// A task of `hold`, once that has called `pause`, as inside of a closure that holds the writer. `goOn.signal()` lets it go on.
func paused(
    _ hold: @escaping @Sendable (_ pause: @escaping @Sendable () -> Void) async throws -> Void
) async -> (task: Task<Void, any Error>, goOn: DispatchSemaphore) {
    let (inside, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let task = Task {
        try await hold {
            inside.signal()
            goOn.wait()
        }
    }
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            inside.wait()
            continuation.resume()
        }
    }
    return (task, goOn)
}
