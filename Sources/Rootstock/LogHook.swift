// LogHook.swift - telling the application what its store does, for a log.
//
// Invariant: an entry holds statement texts and messages, never arguments: what users typed stays out of logs.

/// What a store tells its log.
public struct LogEntry: Hashable, Sendable {
    /// How much an entry matters.
    public enum Level: String, CaseIterable, Hashable, Sendable {
        /// What happens at every start and end.
        case debug
        /// What changes the database as a whole: a migration's step, a copy, a backup.
        case info
        /// A statement that failed: often what the application expects, such as a row that is there already.
        case warning
        /// A damaged file, a full disk, a file that cannot be read.
        case error
    }

    /// How much the entry matters.
    public var level: Level

    /// What happened, the same words for the same thing: `statement failed`.
    public var message: String

    /// What it happened to, by name: `path`, `engine`, `sql`, `code`, `reason`, `migration`, `target`.
    public var metadata: [String: String]
}

/// Who is told what a store does.
///
/// ```swift
/// options.log = LogHook { entry in print(entry.level, entry.message, entry.metadata) }
/// ```
///
/// The closure is called on the thread that does the work, inside of it: it must be quick, and must not use the store. With the package trait
/// `Logging`, `LogHook(logger)` takes a swift-log `Logger`. Statements that take long are ``StoreOptions/slowStatement``'s.
public struct LogHook: Sendable {
    private let report: @Sendable (LogEntry) -> Void
    private let identity = Identity()

    /// A hook that calls `report` for each entry.
    public init(_ report: @escaping @Sendable (LogEntry) -> Void) { self.report = report }

    func callAsFunction(_ level: LogEntry.Level, _ message: String, _ metadata: [String: String]) {
        report(LogEntry(level: level, message: message, metadata: metadata))
    }

    /// Tells of a statement, or of a call without one, that failed.
    func failed(_ error: DatabaseError, path: String) {
        let level: LogEntry.Level =
            switch error.code {
            case .corrupt, .notADatabase, .full, .io, .cannotOpen: .error
            default: .warning
            }
        var metadata = ["path": path, "code": "\(error.extendedCode)", "reason": error.message]
        metadata["sql"] = error.sql
        self(level, "statement failed", metadata)
    }
}

extension LogHook: Hashable {
    public static func == (first: LogHook, second: LogHook) -> Bool { first.identity === second.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

#if Logging
    import Logging

    extension LogHook {
        /// A hook that writes to `logger`, each entry at its level.
        public init(_ logger: Logger) {
            self.init { entry in
                let level: Logger.Level =
                    switch entry.level {
                    case .debug: .debug
                    case .info: .info
                    case .warning: .warning
                    case .error: .error
                    }
                logger.log(
                    level: level, "\(entry.message)", metadata: entry.metadata.mapValues { .string($0) },
                    source: "Rootstock")
            }
        }
    }
#endif
