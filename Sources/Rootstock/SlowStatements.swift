// SlowStatements.swift - telling the application of statements that take long.

import CSQLite

/// Who is told of statements that take long.
///
/// ```swift
/// options.slowStatement = SlowStatementHook(over: .milliseconds(50)) { sql, time in log.warning("\(time): \(sql)") }
/// ```
///
/// The closure is called at the statement's end, on its thread, with the text as the application wrote it. A statement that a store runs inside of
/// another one is told with its own text. The time is from the first step to the end, so that it includes what the
/// application does between two rows. The closure must not use the connection. A store without a hook measures nothing.
public struct SlowStatementHook: Sendable {
    /// The time that is still quick.
    public let threshold: Duration

    let report: @Sendable (String, Duration) -> Void
    private let identity = Identity()

    /// A hook for statements that take longer than `threshold`.
    public init(over threshold: Duration, _ report: @escaping @Sendable (_ sql: String, _ time: Duration) -> Void) {
        self.threshold = threshold
        self.report = report
    }
}

extension SlowStatementHook: Hashable {
    public static func == (first: SlowStatementHook, second: SlowStatementHook) -> Bool {
        first.identity === second.identity
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

final class SlowStatementBox {
    let hook: SlowStatementHook
    weak var connection: Connection?

    init(_ hook: SlowStatementHook, _ connection: Connection) {
        self.hook = hook
        self.connection = connection
    }
}

extension Connection {
    /// Has SQLite measure each statement, and tells `hook` of the slow ones.
    func report(_ hook: SlowStatementHook) {
        let box = SlowStatementBox(hook, self)
        slowStatements = box  // SQLite holds no reference
        sqlite3_trace_v2(
            database, UInt32(SQLITE_TRACE_PROFILE),
            { _, context, statement, nanoseconds in
                guard let context, let statement, let nanoseconds else { return 0 }
                let box = Unmanaged<SlowStatementBox>.fromOpaque(context).takeUnretainedValue()
                let time = Duration.nanoseconds(nanoseconds.load(as: Int64.self))
                guard time > box.hook.threshold else { return 0 }
                let handle = OpaquePointer(statement)
                if let sql = box.connection?.text(of: handle) ?? sqlite3_sql(handle).map({ String(cString: $0) }) {
                    box.hook.report(sql, time)
                }
                return 0
            }, Unmanaged.passUnretained(box).toOpaque())
    }
}
