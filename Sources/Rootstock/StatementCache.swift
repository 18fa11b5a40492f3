import CSQLite
import Foundation

/// SQLite's statement with what the cache knows of it.
///
/// The invariant: a statement has at most one user, and without one it is reset and has no bindings. The last reference finalizes it.
final class CompiledStatement {
    let handle: OpaquePointer
    let sql: String

    /// Whether the statement may be used again: not if it is bound to a moment's schema.
    let isReusable: Bool

    /// Whether its columns are no result: the front door made a query of a statement that returns nothing.
    let hidesColumns: Bool

    /// Whether it writes by way of the front door, unseen by SQLite.
    let writesUnseen: Bool

    /// Whether running it can change what other texts mean: tables come, go and hide others.
    let changesSchema: Bool

    /// Whether it is a query as the user wrote it: SQLite prepares it anew by itself when the schema has changed.
    let isPlainQuery: Bool

    /// The state of the schema for which the front door judged the text.
    let schemaState: UInt64
    /// That of the text's bytes.
    fileprivate let hash: UInt64

    /// The next in the cache's list of those with like hashes.
    fileprivate var next: CompiledStatement?
    fileprivate var isCached = false
    fileprivate var isInUse = true
    fileprivate var lastUse: UInt64 = 0

    init(
        handle: OpaquePointer, sql: String, isReusable: Bool, hidesColumns: Bool = false, writesUnseen: Bool = false,
        changesSchema: Bool = false, isPlainQuery: Bool = false, schemaState: UInt64 = 0
    ) {
        self.handle = handle
        var sql = sql
        sql.makeContiguousUTF8()
        self.sql = sql
        hash = withUTF8(of: sql, hashOf)
        self.isReusable = isReusable
        self.hidesColumns = hidesColumns
        self.writesUnseen = writesUnseen
        self.changesSchema = changesSchema
        self.isPlainQuery = isPlainQuery
        self.schemaState = schemaState
    }

    deinit { sqlite3_finalize(handle) }

    private var names: [String] = []
    private var namedAtPreparation: Int32 = -1

    /// The columns' names, read again only when SQLite had to prepare the statement anew.
    var columnNames: [String] {
        let preparation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if preparation != namedAtPreparation {
            names = (0..<(hidesColumns ? 0 : sqlite3_column_count(handle))).map { column in
                sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
            }
            namedAtPreparation = preparation
        }
        return names
    }
}

/// Prepared statements of one connection, found again by the bytes of their SQL text.
///
/// Preparing costs about ten times a point read. Two users of one text at the same time get two statements, so that they never
/// share bindings. Above the capacity, the statement unused for longest leaves.
///
/// The bytes, not the string: to Swift, strings of other code points are equal that mean the same letter, which to SQL are not. And a text is
/// looked up for each call, so that its hash is a few instructions a word; what has the same one costs a comparison.
struct StatementCache {
    /// Statements by the low bits of their hash, each the first of a list.
    private var buckets: [CompiledStatement?]
    private var count = 0
    private var clock: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        var size = 1
        while size < capacity, size < 1024 { size *= 2 }
        buckets = Array(repeating: nil, count: size)
    }

    private func bucket(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (buckets.count - 1) }

    private func find(_ text: UnsafeBufferPointer<UInt8>, hash: UInt64) -> CompiledStatement? {
        var candidate = buckets[bucket(hash)]
        while let statement = candidate {
            if statement.hash == hash, withUTF8(of: statement.sql, { isSame($0, text) }) {
                return statement
            }
            candidate = statement.next
        }
        return nil
    }

    /// The statement with this text, if it has no user. It has one now.
    func take(_ sql: String) -> CompiledStatement? {
        withUTF8(of: sql) { text in
            guard let statement = find(text, hash: hashOf(text)), !statement.isInUse else { return nil }
            statement.isInUse = true
            return statement
        }
    }

    /// Forgets a statement, if it is one of the cache's.
    mutating func remove(_ statement: CompiledStatement) {
        guard statement.isCached else { return }
        let bucket = bucket(statement.hash)
        if buckets[bucket] === statement {
            buckets[bucket] = statement.next
        } else {
            var previous = buckets[bucket]
            while let other = previous, other.next !== statement { previous = other.next }
            previous?.next = statement.next
        }
        statement.next = nil
        statement.isCached = false
        count -= 1
    }

    /// Takes back a statement whose user let go of it, and keeps it if it can be used again.
    mutating func giveBack(_ statement: CompiledStatement) {
        guard statement.isReusable, capacity > 0 else { return }
        sqlite3_reset(statement.handle)
        sqlite3_clear_bindings(statement.handle)
        statement.isInUse = false
        clock += 1
        statement.lastUse = clock
        if !statement.isCached { insert(statement) }
    }

    /// Forgets every statement; those that have users end with them.
    mutating func removeAll() {
        for statement in cached() { remove(statement) }
    }

    private func cached() -> [CompiledStatement] {
        buckets.flatMap { first in
            var list: [CompiledStatement] = []
            while let statement = list.last?.next ?? (list.isEmpty ? first : nil) { list.append(statement) }
            return list
        }
    }

    private mutating func insert(_ statement: CompiledStatement) {
        if let other = withUTF8(of: statement.sql, { find($0, hash: statement.hash) }) {
            // Of two with the same text the free one is worth more.
            guard other.isInUse else { return }
            remove(other)
        }
        let bucket = bucket(statement.hash)
        statement.next = buckets[bucket]
        buckets[bucket] = statement
        statement.isCached = true
        count += 1
        if count > capacity, let oldest = cached().min(by: { $0.lastUse < $1.lastUse }) { remove(oldest) }
    }
}

/// The bytes of `text` where they lie, which every string of Swift's own has together.
private func withUTF8<T>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = text
    return copy.withUTF8(body)
}

private func isSame(_ first: UnsafeBufferPointer<UInt8>, _ second: UnsafeBufferPointer<UInt8>) -> Bool {
    guard first.count == second.count, let start = first.baseAddress, let other = second.baseAddress else {
        return first.count == second.count
    }
    // A literal is one place in memory, wherever it is passed to.
    return start == other || memcmp(start, other, first.count) == 0
}

/// Eight bytes at a time, the last eight once more: what is left over has been in them.
private func hashOf(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let bytes = UnsafeRawBufferPointer(text)
    var hash = UInt64(bytes.count)
    func take(_ word: UInt64) {
        hash = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        hash ^= hash >> 32
    }
    guard bytes.count >= 8 else {
        for byte in bytes { take(UInt64(byte)) }
        return hash
    }
    for offset in stride(from: 0, through: bytes.count - 8, by: 8) {
        take(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    take(bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
    return hash
}
