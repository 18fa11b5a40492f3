// Store+Copy.swift - a store's content in a new file, on any engine.
//
// Invariant: the new file has its name only when it is whole and every row has been compared; ended early, nothing is left.

import CSQLite
import Foundation

extension Store {
    /// Copies the store's content to a new file at `path`, on the same engine or another one.
    ///
    /// ```swift
    /// let report = try store.copy(to: "library.sqlite")
    /// print("\(report.rows) rows in \(report.tables.count) tables")
    /// ```
    ///
    /// Tables, rows, indexes, views, triggers, AUTOINCREMENT's counters, `user_version` and `application_id` come over, from one snapshot.
    /// Then every row is read on both sides and compared. Reads and writes of the store go on meanwhile.
    ///
    /// - Parameters:
    ///   - path: The file to make. Until it is whole it has another name beside `path`.
    ///   - engine: The engine of the copy; `nil` for the usual one of the file's name, as ``Engine/usual(for:)`` has it.
    ///   - options: How the new file is made. The store's own functions and collations are added, since a schema may use them.
    ///   - progress: Gets the rows to copy and to compare as its total. Cancelled, it ends the copy.
    /// - Throws: ``ResultCode/error`` if something is at `path` already, which is left alone, or on engine `memory`, which keeps no file.
    ///   ``ResultCode/error`` also if the new store's rows differ. Errors of the new store. `CancellationError`.
    @discardableResult
    public func copy(
        to path: String, engine: Engine? = nil, options: StoreOptions = StoreOptions(),
        reporting progress: Progress? = nil
    ) throws -> CopyReport {
        let job = CopyJob(to: path, engine: engine, options: options, of: self, progress: progress)
        return try readers.withConnection { try job.run(from: $0) }
    }

    /// The same for a task, which a cancellation ends, too.
    @discardableResult
    public func copy(
        to path: String, engine: Engine? = nil, options: StoreOptions = StoreOptions(),
        reporting progress: Progress? = nil
    ) async throws -> CopyReport {
        let job = CopyJob(to: path, engine: engine, options: options, of: self, progress: progress)
        return try await readers.withConnection { try job.run(from: $0) }
    }
}

private struct CopyJob: Sendable {
    let file: PartialFile
    let engine: Engine
    let options: StoreOptions
    let progress: Progress?

    init(to path: String, engine: Engine?, options: StoreOptions, of store: Store, progress: Progress?) {
        file = PartialFile(for: path)
        self.engine = engine ?? Engine.usual(for: path)
        var options = options
        options.functions = store.options.functions + options.functions
        options.collations = store.options.collations + options.collations
        self.options = options.completed(for: self.engine, path: path)
        self.progress = progress
    }

    func run(from source: Connection) throws -> CopyReport {
        let report = try source.withReadTransaction {
            let schema = try SourceSchema(of: source)
            progress?.totalUnitCount = Int64(max(1, 2 * schema.rows))
            return try StoreCopier(source: source, schema: schema).run(
                to: file, engine: engine, options: options,
                isCancelled: { source.call?.isCancelled == true || progress?.isCancelled == true }
            ) { step in
                switch step {
                case .importing(let rows, _): progress?.completedUnitCount = Int64(rows)
                case .building: break
                case .comparing(let rows, _): progress?.completedUnitCount = Int64(schema.rows + rows)
                }
            }
        }
        if let progress { progress.completedUnitCount = progress.totalUnitCount }
        source.log?(
            .info, "copy made",
            ["path": source.path, "target": file.target, "engine": engine.name, "rows": "\(report.rows)"])
        return report
    }
}

extension StoreCopier {
    /// Makes the copy in a new file, which has its name when it is whole and `original` has found nothing wrong.
    package func run(
        to file: PartialFile, engine: Engine, options: StoreOptions, isCancelled: () -> Bool = { false },
        progress: (Step) throws -> Void, checking original: () throws -> Void = {}
    ) throws -> CopyReport {
        // Told before a row is read; engine memory would lose all of it with its connection.
        if engine == .memory { throw DatabaseError(.error, "engine memory keeps no file: nothing can be copied to it") }
        try file.checkTarget()
        do {
            let target = try Connection(path: file.path, engine: engine, options: options)
            defer { target.close() }
            let report = try target.ending(when: isCancelled) {
                try run(into: target) { step in
                    if isCancelled() { throw CancellationError() }
                    try progress(step)
                }
            }
            try original()
            target.close()
            try file.publish()
            return report
        } catch {
            file.remove()
            throw (error as? DatabaseError).map(file.named) ?? error
        }
    }
}

extension Connection {
    /// Runs `body`, whose statements end when `isCancelled` says so: an index of a large table is one statement.
    fileprivate func ending<T>(when isCancelled: () -> Bool, _ body: () throws -> T) throws -> T {
        try withoutActuallyEscaping(isCancelled) { isCancelled in
            let question = CancellationQuestion(isCancelled)
            sqlite3_progress_handler(
                handle, 10_000,
                { Unmanaged<CancellationQuestion>.fromOpaque($0!).takeUnretainedValue().isCancelled() ? 1 : 0 },
                Unmanaged.passUnretained(question).toOpaque())
            defer { withExtendedLifetime(question) { sqlite3_progress_handler(handle, 0, nil, nil) } }
            do {
                return try body()
            } catch let error as DatabaseError where error.code == .interrupt && isCancelled() {
                throw CancellationError()
            }
        }
    }
}

private final class CancellationQuestion {
    let isCancelled: () -> Bool
    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}
