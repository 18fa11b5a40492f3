// Threads of a workload, each with a connection of its own.
//
// Invariant: all workers stand ready, connected and with their statements prepared, before any of them begins and before the
// clock starts. The first failure of any is the failure of the workload. A worker's laps are its own memory until all have ended.

import Foundation
import Rootstock

/// What a worker records while it runs; read when it has ended.
public final class LapRecorder {
    private var laps: [UInt32]
    private var count = 0
    private var last: UInt64 = 0

    init(capacity: Int) {
        // Touched here, so that page faults do not fall into the time.
        laps = Array(repeating: 1, count: max(1, capacity))
    }

    func begin() { last = Meter.now() }

    @inline(__always)
    func lap() {
        let now = Meter.now()
        if count < laps.count {
            laps[count] = UInt32(clamping: now &- last)
            count += 1
        }
        last = now
    }

    var recorded: ArraySlice<UInt32> { laps[..<count] }
}

/// What a worker is given.
public struct Worker {
    public var index: Int
    public var session: Session
    public var recorder: LapRecorder
    /// Whether the workers that the time is measured for have all ended: until then a companion goes on.
    public var isOver: () -> Bool
}

enum Workers {
    /// One kind of worker.
    struct Crew {
        var count: Int
        /// Operations of each, for its recorder.
        var operations: Int
        /// Companions run until the others have ended, and are not recorded.
        var isCompanion = false
        /// Prepares on the worker's own thread and gives what it does when all begin.
        var prepare: @Sendable (Worker) throws -> () throws -> Void
    }

    /// Runs the crews at once and records what those measured took, from the moment all begin until the last has ended.
    static func run(_ crews: [Crew], _ session: Session, _ meter: Meter) throws {
        let total = crews.reduce(0) { $0 + $1.count }
        let shared = Shared(total: total, measured: crews.filter { !$0.isCompanion }.reduce(0) { $0 + $1.count })
        let connector = session.connector
        var recorders: [LapRecorder] = []
        for crew in crews {
            for index in 0..<crew.count {
                let recorder = LapRecorder(capacity: crew.isCompanion ? 1 : crew.operations)
                if !crew.isCompanion { recorders.append(recorder) }
                let box = RecorderBox(recorder: recorder)
                let thread = Thread {
                    var isReady = false
                    do {
                        let own = try connector.session()
                        defer { own.close() }
                        let body = try crew.prepare(
                            Worker(index: index, session: own, recorder: box.recorder, isOver: { shared.isOver }))
                        isReady = true
                        shared.ready()
                        if shared.waitForStart() {
                            box.recorder.begin()
                            try body()
                        }
                        shared.ended(isMeasured: !crew.isCompanion, error: nil)
                    } catch {
                        if !isReady { shared.ready() }
                        shared.ended(isMeasured: !crew.isCompanion, error: error)
                    }
                    shared.left()
                }
                thread.stackSize = 1 << 21
                thread.start()
            }
        }
        shared.waitUntilReady()
        meter.begin()
        shared.start()
        shared.waitUntilMeasuredHaveEnded()
        meter.end()
        shared.waitUntilAllHaveLeft()
        if let error = shared.error { throw error }
        for recorder in recorders { meter.add(recorder.recorded) }
    }

    /// A recorder on its way into its thread; nobody else touches it before the thread has ended.
    private struct RecorderBox: @unchecked Sendable { let recorder: LapRecorder }

    /// What the threads tell each other, under one lock.
    private final class Shared: @unchecked Sendable {
        private let condition = NSCondition()
        private var notReady: Int
        private var measured: Int
        private var present: Int
        private var hasStarted = false
        private var failure: Error?

        init(total: Int, measured: Int) {
            notReady = total
            present = total
            self.measured = measured
        }

        private func locked<T>(_ body: () -> T) -> T {
            condition.lock()
            defer {
                condition.broadcast()
                condition.unlock()
            }
            return body()
        }

        private func wait(while pending: () -> Bool) {
            condition.lock()
            while pending() { condition.wait() }
            condition.unlock()
        }

        func ready() { locked { notReady -= 1 } }
        func start() { locked { hasStarted = true } }
        func left() { locked { present -= 1 } }
        func ended(isMeasured: Bool, error: Error?) {
            locked {
                if let error { failure = failure ?? error }
                if isMeasured { measured -= 1 }
            }
        }
        /// Whether to begin at all: not where another could not get ready.
        func waitForStart() -> Bool {
            wait { !hasStarted }
            return error == nil
        }
        func waitUntilReady() { wait { notReady > 0 } }
        func waitUntilMeasuredHaveEnded() { wait { measured > 0 && failure == nil } }
        func waitUntilAllHaveLeft() { wait { present > 0 } }

        var isOver: Bool {
            condition.lock()
            defer { condition.unlock() }
            return measured == 0 || failure != nil
        }

        var error: Error? {
            condition.lock()
            defer { condition.unlock() }
            return failure
        }
    }
}
