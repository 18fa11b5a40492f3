// Store+Streaming.swift - the rows of a query as an asynchronous sequence.
//
// Invariant: at most one batch of rows is made ahead of who takes them. The snapshot ends with the sequence's iterator.

extension Store {
    /// The rows of a query, decoded as in ``Connection/query(_:_:as:)``, as they are asked for. A hundred rows are in memory, however long
    /// the result is.
    ///
    /// ```swift
    /// for try await book in store.stream("SELECT * FROM book ORDER BY title", as: Book.self) { print(book.title) }
    /// ```
    ///
    /// All rows are of one snapshot, which is held, with one of the store's reading connections, until the last row, the end of the loop or of its task.
    /// Inside a closure, use ``Connection/cursor(_:_:as:)``.
    public func stream<Element: Decodable & Sendable>(
        _ sql: String, _ arguments: Arguments = [], as type: Element.Type
    ) -> RowStream<Element> {
        RowStream(store: self, sql: sql, arguments: arguments)
    }

    /// The same, what is interpolated bound: `store.stream(literal: "SELECT * FROM book WHERE author = \(author)", as: Book.self)`.
    public func stream<Element: Decodable & Sendable>(literal sql: SQL, as type: Element.Type) -> RowStream<Element> {
        stream(sql.text, Arguments(values: sql.arguments), as: type)
    }
}

/// The rows of a query as an asynchronous sequence: see ``Store/stream(_:_:as:)``. Each loop over it runs the query anew.
public struct RowStream<Element: Decodable & Sendable>: AsyncSequence, Sendable {
    let store: Store
    let sql: String
    let arguments: Arguments

    public func makeAsyncIterator() -> Iterator { Iterator(run: RowRun(store, sql, arguments)) }

    /// The rows, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let run: RowRun<Element>
        private var batch: [Element] = []
        private var position = 0

        fileprivate init(run: RowRun<Element>) { self.run = run }

        /// The next row, or `nil` after the last one.
        ///
        /// - Throws: What the query met; `CancellationError`.
        public mutating func next() async throws -> Element? {
            if position == batch.count {
                batch = try await run.channel.next()
                position = 0
            }
            guard position < batch.count else { return nil }
            defer { position += 1 }
            return batch[position]
        }
    }
}

/// One run of the query, which ends when nobody refers to it any more.
private final class RowRun<Element: Decodable & Sendable>: Sendable {
    let channel: BatchChannel<Element>
    private let producer: Task<Void, Never>

    init(_ store: Store, _ sql: String, _ arguments: Arguments) {
        let channel = BatchChannel<Element>()
        self.channel = channel
        producer = Task.detached {
            do {
                try await store.read { connection in
                    let rows = try connection.cursor(sql, arguments, as: Element.self)
                    var batch: [Element] = []
                    while let row = try rows.next() {
                        batch.append(row)
                        guard batch.count == 100 else { continue }
                        guard channel.send(batch) else { return }
                        batch.removeAll(keepingCapacity: true)
                    }
                    if !batch.isEmpty { _ = channel.send(batch) }
                }
                channel.finish(nil)
            } catch {
                channel.finish(error)
            }
        }
    }

    deinit {
        channel.close()
        // A query that has no row to hand over asks the channel nothing: it is interrupted.
        producer.cancel()
    }
}

/// Batches from a thread, which waits until one is asked for, to a task, which waits until one is there.
private final class BatchChannel<Element: Sendable>: Sendable {
    private struct State {
        var consumer: CheckedContinuation<[Element], any Error>?
        var isClosed = false
        var isFinished = false
        var error: (any Error)?
    }

    private let state = Monitor(State())

    /// Hands `batch` over. `false` if nobody wants more.
    func send(_ batch: [Element]) -> Bool {
        let consumer = state.waiting { state -> CheckedContinuation<[Element], any Error>?? in
            if state.isClosed { return .some(nil) }
            guard let consumer = state.consumer else { return nil }
            state.consumer = nil
            return consumer
        }
        consumer?.resume(returning: batch)
        return consumer != nil
    }

    /// Tells that no more comes.
    func finish(_ error: (any Error)?) {
        let consumer = state.withState { state in
            state.isFinished = true
            // Whoever waits gets the error now; else the next to ask does.
            state.error = state.consumer == nil ? error : nil
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(with: error.map { .failure($0) } ?? .success([]))
    }

    /// Wants no more.
    func close() {
        let consumer = state.withState { state in
            state.isClosed = true
            defer { state.consumer = nil }
            return state.consumer
        }
        consumer?.resume(throwing: CancellationError())
    }

    /// The next batch; an empty one at the end.
    func next() async throws -> [Element] {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<[Element], any Error>? = state.withState { state in
                    if state.isClosed { return .failure(CancellationError()) }
                    guard state.isFinished else {
                        state.consumer = continuation
                        return nil
                    }
                    defer { state.error = nil }
                    return state.error.map { .failure($0) } ?? .success([])
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            close()
        }
    }
}
