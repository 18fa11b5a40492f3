// Store+Observation.swift - a store's commits as asynchronous sequences.

extension Store {
    /// An element at once, and one after each commit that changed a row of one of `tables`, or of any table.
    ///
    /// ```swift
    /// for await _ in store.changes(of: ["book"]) { await list.reload() }
    /// ```
    ///
    /// Commits that come faster than the loop takes them are one element. Commits of this `Store` are told at once. Those of other processes, and of
    /// other stores of the same file, are found within a quarter of a second. All observers hear of them, since their tables are not known.
    /// The same goes for a change of the schema, and of a WITHOUT ROWID table. The sequence ends when its task is cancelled or the store is
    /// closed.
    public func changes(of tables: Set<String>? = nil) -> AsyncStream<Void> {
        let names = tables.map { Set($0.map { $0.lowercased() }) }
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hub = hub
        let number = hub.join(tables: names, poll: pollForOthers, continuation)
        // The first element is for what others commit before the store has begun to look.
        let beginning = Task.detached { [weak self] in
            await self?.beginLooking()
            continuation.yield()
        }
        continuation.onTermination = { _ in
            beginning.cancel()
            hub.leave(number)
        }
        return stream
    }

    /// What `body` reads, now and after each commit that changed a table that it read.
    ///
    /// ```swift
    /// for try await titles in store.observe({ try $0.query("SELECT title FROM book", as: String.self) }) {
    ///     print(titles)
    /// }
    /// ```
    ///
    /// `body` runs in a read transaction, on a thread that may block. It runs again when the next element is asked for: commits that come faster are one
    /// element, and the last one is never missed. The tables are those of the statements that `body` ran last. The same value may come twice. Of
    /// whose commits it hears, and when, see ``changes(of:)``.
    public func observe<Value: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Value
    ) -> Observation<Value> {
        Observation(store: self, read: body)
    }

    /// Looks for commits of others until it is cancelled.
    private var pollForOthers: @Sendable () async -> Void {
        { [weak self] in
            while (try? await Task.sleep(for: .milliseconds(200))) != nil {
                guard let store = self else { return }
                guard let mark = try? await store.commitMark(), store.hub.hasOthers(upTo: mark) else { continue }
                store.hub.told(upTo: mark)
                store.hub.tell(of: nil)
            }
        }
    }

    /// Has the looks for others' commits begin here. A writer at work is not waited for: the first look after it tells everybody.
    fileprivate func beginLooking() async { hub.begin(at: writer.isLent ? nil : try? await commitMark()) }

    fileprivate func commitMark() async throws -> Int64 {
        // By the writer, whose own commits do not count.
        try await writer.withConnection { try $0.commitMark() }
    }
}

/// What a closure reads from a store, anew after each commit that concerns it: see ``Store/observe(_:)``.
public struct Observation<Value: Sendable>: AsyncSequence, Sendable {
    let store: Store
    let read: @Sendable (Connection) throws -> Value

    public func makeAsyncIterator() -> Iterator { Iterator(store: store, read: read) }

    /// The values, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let store: Store
        let read: @Sendable (Connection) throws -> Value
        private var subscription: Subscription?

        init(store: Store, read: @escaping @Sendable (Connection) throws -> Value) {
            self.store = store
            self.read = read
        }

        /// The next value; `nil` once the task is cancelled or the store is closed.
        public mutating func next() async throws -> Value? {
            do {
                return try await value()
            } catch is CancellationError where Task.isCancelled {
                return nil
            }
        }

        private mutating func value() async throws -> Value? {
            if let subscription {
                guard await subscription.changed() else { return nil }
                // The body may read other tables this time, which somebody changes before they are known.
                subscription.narrow(to: nil)
            }
            // Before the read, so that no commit falls between the two.
            let current = subscription ?? Subscription(store)
            if subscription == nil { await store.beginLooking() }
            subscription = current
            let read = read
            let (value, tables) = try await store.read { connection in
                try connection.readingTables { try read(connection) }
            }
            current.narrow(to: tables)
            return value
        }
    }

    private final class Subscription: Sendable {
        private let hub: ChangeHub
        private let number: Int
        private let stream: AsyncStream<Void>

        init(_ store: Store) {
            hub = store.hub
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            self.stream = stream
            number = store.subscribe(continuation)
        }

        deinit { hub.leave(number) }

        func changed() async -> Bool { await stream.first { _ in true } != nil }

        func narrow(to tables: Set<String>?) { hub.narrow(number, to: tables) }
    }
}

extension Store {
    fileprivate func subscribe(_ continuation: AsyncStream<Void>.Continuation) -> Int {
        hub.join(tables: nil, poll: pollForOthers, continuation)
    }
}
