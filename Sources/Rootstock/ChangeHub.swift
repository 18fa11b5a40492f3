// ChangeHub.swift - who is told of a store's commits, and of which tables.
//
// Invariant: whoever subscribed before a commit is told after it, once or more. Where it is not known which tables a commit changed,
// everybody is told.

import CSQLite
import RootstockTable

final class ChangeHub: Sendable {
    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var lastNumber = 0
        var poller: Task<Void, Never>?
        /// What ``Connection/commitMark()`` was when everybody had been told.
        var lastMark: Int64?
        /// Somebody has read without a mark to compare with: the next look tells everybody.
        var hasUnmarked = false
        /// The store is closed: whoever joins hears nothing more.
        var isOver = false
    }

    private struct Subscriber {
        /// Names in lower case; `nil` for any table.
        var tables: Set<String>?
        var elements: AsyncStream<Void>.Continuation
    }

    private let state = Monitor(State())

    var isActive: Bool { state.withState { !$0.subscribers.isEmpty } }

    /// A subscription, which ends with ``leave(_:)``. The first one starts `poll`, which the last one's end cancels.
    func join(
        tables: Set<String>?, poll: @escaping @Sendable () async -> Void, _ elements: AsyncStream<Void>.Continuation
    ) -> Int {
        let number = state.withState { state -> Int? in
            guard !state.isOver else { return nil }
            state.lastNumber += 1
            state.subscribers[state.lastNumber] = Subscriber(tables: tables, elements: elements)
            if state.poller == nil { state.poller = Task.detached { await poll() } }
            return state.lastNumber
        }
        if number == nil { elements.finish() }
        return number ?? 0
    }

    /// Ends every subscription: the store is closed.
    func end() {
        let (subscribers, poller) = state.withState { state in
            state.isOver = true
            defer { (state.subscribers, state.poller) = ([:], nil) }
            return (state.subscribers.values.map(\.elements), state.poller)
        }
        poller?.cancel()
        for elements in subscribers { elements.finish() }
    }

    /// Makes a subscription one for these tables.
    func narrow(_ number: Int, to tables: Set<String>?) {
        state.withState { $0.subscribers[number]?.tables = tables }
    }

    func leave(_ number: Int) {
        let poller = state.withState { state -> Task<Void, Never>? in
            state.subscribers[number] = nil
            guard state.subscribers.isEmpty else { return nil }
            defer { (state.poller, state.lastMark, state.hasUnmarked) = (nil, nil, false) }
            return state.poller
        }
        poller?.cancel()
    }

    /// Tells those who are to hear of `tables`, or of any table.
    func tell(of tables: Set<String>?) {
        if tables?.isEmpty == true { return }
        let told = state.withState { state in
            state.subscribers.values.filter { subscriber in
                guard let tables, let wanted = subscriber.tables else { return true }
                return !wanted.isDisjoint(with: tables)
            }
        }
        for subscriber in told { subscriber.elements.yield() }
    }

    /// Whether somebody else has committed, or may have, as `mark` is the last commit's number.
    func hasOthers(upTo mark: Int64) -> Bool {
        state.withState { state in state.hasUnmarked || state.lastMark.map { $0 != mark } ?? false }
    }

    /// `mark` is where the looking for others begins, unless it has begun; `nil` if it is not known.
    func begin(at mark: Int64?) {
        state.withState { state in
            state.lastMark = state.lastMark ?? mark
            if state.lastMark == nil { state.hasUnmarked = true }
        }
    }

    /// Everybody has been told up to `mark`.
    func told(upTo mark: Int64) { state.withState { ($0.lastMark, $0.hasUnmarked) = (mark, false) } }

    /// Runs `body`, which writes through `connection`, and tells of what was committed.
    func watching<T>(_ connection: Connection, _ body: () throws -> T) throws -> T {
        guard isActive else {
            // Whoever has subscribed meanwhile may have read before the commit.
            defer { if isActive { tell(of: nil) } }
            return try body()
        }
        let recorder = ChangeRecorder(connection)
        let result: T
        do {
            result = try body()
        } catch {
            // A closure without a transaction around it has committed what came before the error.
            tell(of: recorder.finish())
            throw error
        }
        tell(of: recorder.finish())
        return result
    }
}

/// The tables whose rows change through a connection.
private final class ChangeRecorder {
    private let connection: Connection
    private let totalBefore: Int
    private let schemaBefore: Value?
    fileprivate var tables: Set<String> = []
    fileprivate var rows = 0

    init(_ connection: Connection) {
        self.connection = connection
        totalBefore = connection.totalChanges
        schemaBefore = try? connection.queryValue("PRAGMA schema_version")
        let context = Unmanaged.passUnretained(self).toOpaque()
        if connection.isNative {
            sqlite3_update_hook(
                connection.database, { context, _, _, table, _ in note(context, table) }, context)
        } else {
            _ = rootstock_observe_rows(
                connection.database, { context, _, table, _, _ in note(context, table) }, context, 1)
        }
    }

    /// The tables, none of them if nothing changed; `nil` if it is not known: the schema changed, or rows did of which no observer hears.
    func finish() -> Set<String>? {
        guard let database = connection.database else { return nil }
        if connection.isNative {
            sqlite3_update_hook(database, nil, nil)
        } else {
            _ = rootstock_observe_rows(database, nil, nil, 0)
        }
        let schema = connection.uncancelled { try? connection.queryValue("PRAGMA schema_version") }
        guard schema == schemaBefore, connection.totalChanges - totalBefore == rows else { return nil }
        return tables
    }
}

private func note(_ context: UnsafeMutableRawPointer?, _ table: UnsafePointer<CChar>?) {
    guard let context, let table else { return }
    let recorder = Unmanaged<ChangeRecorder>.fromOpaque(context).takeUnretainedValue()
    recorder.rows += 1
    recorder.tables.insert(String(cString: table).lowercased())
}

extension Connection {
    /// A number that is another one after a commit of another connection.
    func commitMark() throws -> Int64 { try queryOne("PRAGMA data_version", as: Int64.self) ?? 0 }

    /// Runs `body` and tells which tables its statements read, in lower case. `nil` if that is not known: a statement calls a function of
    /// Rootstock's own, as a `count(*)` of a store's table does, or joins by `USING` or `NATURAL`.
    ///
    /// SQLite prepares kept statements anew under an authorizer, which hears of each table that a statement names, by a view or a trigger, too.
    /// It does not hear of a table of which only the columns of a `USING` are read.
    func readingTables<T>(_ body: () throws -> T) throws -> (T, Set<String>?) {
        let names = NameBox()
        withExtendedLifetime(names) {
            let context = Unmanaged.passUnretained(names).toOpaque()
            sqlite3_set_authorizer(
                handle,
                { context, action, table, function, _, view in
                    guard let context else { return SQLITE_OK }
                    let names = Unmanaged<NameBox>.fromOpaque(context).takeUnretainedValue()
                    if action == SQLITE_READ, let table { names.names.insert(String(cString: table).lowercased()) }
                    if let view { names.views.insert(String(cString: view).lowercased()) }
                    if action == SQLITE_FUNCTION, let function, String(cString: function).hasPrefix("rootstock_") {
                        names.areAll = false
                    }
                    return SQLITE_OK
                }, context)
        }
        namesRead = names
        defer {
            namesRead = nil
            if let database { sqlite3_set_authorizer(database, nil, nil) }
        }
        let result = try withExtendedLifetime(names) { try body() }
        if names.areAll, !names.views.isEmpty {
            for row in try query("SELECT name, sql FROM sqlite_schema WHERE type = 'view'") {
                guard case .text(let name) = row[0], case .text(let sql) = row[1] else { continue }
                if names.views.contains(name.lowercased()) { names.willRun(sql) }
            }
        }
        return (result, names.areAll ? names.names : nil)
    }
}

/// What ``Connection/readingTables(_:)`` hears of.
final class NameBox {
    fileprivate var names: Set<String> = []
    /// Views, and what a WITH names, that statements read from.
    fileprivate var views: Set<String> = []
    fileprivate var areAll = true

    func willRun(_ sql: String) {
        if SQLTokens.words(sql).contains(where: { $0 == "USING" || $0 == "NATURAL" }) { areAll = false }
    }
}
