// Bystanders.swift - two threads beside the soak: one moves money between accounts, one counts it all the time.
//
// Invariant: the sum of the accounts never changes, whatever else happens to the store.

import Foundation
import Rootstock

/// Unchecked: its lock guards what changes.
final class Bystanders: @unchecked Sendable {
    private let lock = NSLock()
    private let group = DispatchGroup()
    // Guarded by the lock.
    private var stopped = false
    private var firstFailure: String?
    private var transfers = 0
    private var balances = 0

    var failure: String? { lock.withLock { firstFailure } }

    init(options: SoakOptions, path: String) throws {
        start("transfer", options, path) { [self] connection, random in
            let (from, to) = (random.number(1...50), random.number(1...50))
            let amount = Value(random.number(1...20))
            try connection.withTransaction(.immediate) {
                try connection.execute("UPDATE account SET balance = balance - ? WHERE id = ?", [amount, Value(from)])
                try connection.execute("UPDATE account SET balance = balance + ? WHERE id = ?", [amount, Value(to)])
            }
            lock.withLock { transfers += 1 }
        }
        start("balance", options, path) { [self] connection, _ in
            let sum = try connection.queryValue("SELECT sum(balance) FROM account")
            if sum != 50_000 { fail("the accounts hold \(String(describing: sum)) instead of 50000") }
            lock.withLock { balances += 1 }
        }
    }

    private func fail(_ text: String) { lock.withLock { firstFailure = firstFailure ?? text } }

    private func start(
        _ name: String, _ options: SoakOptions, _ path: String,
        _ turn: @escaping @Sendable (Connection, inout SoakGenerator) throws -> Void
    ) {
        group.enter()
        let thread = Thread { [self] in
            defer { group.leave() }
            var random = SoakGenerator(seed: options.seed &+ 77)
            do {
                var storeOptions = StoreOptions(durability: .off)
                storeOptions.busyTimeout = .seconds(60)
                let connection = try Connection(path: path, engine: options.engine, options: storeOptions)
                while !lock.withLock({ stopped || firstFailure != nil }) {
                    do { try turn(connection, &random) } catch let error as DatabaseError
                        where error.code == .constraint
                    {
                        // An account without money: the transfer is undone.
                    }
                    // The soak's own work is to get the writer's lock as well.
                    usleep(2000)
                }
                connection.close()
            } catch {
                fail("\(name): \(error)")
            }
        }
        thread.start()
    }

    func stop() -> (transfers: Int, balances: Int) {
        lock.withLock { stopped = true }
        group.wait()
        return lock.withLock { (transfers, balances) }
    }
}
