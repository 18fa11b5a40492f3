import CSQLite
import Foundation

/// SQLite's statement with what the cache knows of it.
///
/// The invariant: a statement has at most one user, and without one it is reset and has no bindings. It has one owner, who finalizes it by
/// letting go: the cache while `isCached`, else its user.
final class CompiledStatement {
    let handle: OpaquePointer
    let sql: String

    /// Whether the statement may be used again: not if it is bound to a moment's schema.
    let isReusable: Bool

    /// Whether its columns are no result: the front door made a query of a statement that returns nothing.
    let hidesColumns: Bool

    /// Whether SQLite's statement has columns.
    let hasColumns: Bool

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
    fileprivate let hasParameters: Bool

    /// Whether SQLite's own functions may have stepped the statement and left it so.
    @exclusivity(unchecked) var isInOtherHands = false

    /// The next in the cache's list of those with like hashes.
    @exclusivity(unchecked) fileprivate var next: Unmanaged<CompiledStatement>?
    @exclusivity(unchecked) fileprivate var isCached = false
    @exclusivity(unchecked) fileprivate var isInUse = true
    @exclusivity(unchecked) fileprivate var lastUse: UInt64 = 0

    init(
        handle: OpaquePointer, sql: String, isReusable: Bool, hidesColumns: Bool = false, writesUnseen: Bool = false,
        changesSchema: Bool = false, isPlainQuery: Bool = false, schemaState: UInt64 = 0
    ) {
        self.handle = handle
        var sql = sql
        sql.makeContiguousUTF8()
        self.sql = sql
        hash = withUTF8(of: sql, hashOf)
        hasParameters = sqlite3_bind_parameter_count(handle) > 0
        self.isReusable = isReusable
        self.hidesColumns = hidesColumns
        hasColumns = sqlite3_column_count(handle) > 0
        self.writesUnseen = writesUnseen
        self.changesSchema = changesSchema
        self.isPlainQuery = isPlainQuery
        self.schemaState = schemaState
    }

    deinit { sqlite3_finalize(handle) }

    private var named = ColumnNames([])
    private var namedAtPreparation: Int32 = -1

    /// The columns' names, read again only when SQLite had to prepare the statement anew.
    var columns: ColumnNames {
        let preparation = sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if preparation != namedAtPreparation {
            named = ColumnNames(
                (0..<(hidesColumns ? 0 : sqlite3_column_count(handle))).map { column in
                    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
                })
            namedAtPreparation = preparation
        }
        return named
    }

    /// Binds the values by position and runs the statement to its end, passing over rows.
    ///
    /// - Returns: SQLITE_DONE, or the code of what went wrong. The statement is not reset.
    func run(_ values: [Value]) -> Int32 {
        for index in values.indices {
            let code = bind(values[index], to: handle, at: Int32(truncatingIfNeeded: index + 1))
            if code != SQLITE_OK { return code }
        }
        while true {
            let code = sqlite3_step(handle)
            if code != SQLITE_ROW { return code }
        }
    }
}

/// Prepared statements of one connection, found again by the bytes of their SQL text.
///
/// Preparing costs about ten times a point read. Two users of one text at the same time get two statements, so that they never
/// share bindings. Above the capacity, the statement unused for longest leaves.
///
/// The bytes, not the string: to Swift, strings of other code points are equal that mean the same letter, which to SQL are not. And a text is
/// looked up for each call, so that its hash is a few instructions a word; what has the same one costs a comparison.
final class StatementCache {
    /// Statements by the low bits of their hash, each the first of a list. A reference that stands here or in a list is counted.
    private let buckets: UnsafeMutablePointer<Unmanaged<CompiledStatement>?>
    private let mask: UInt64
    private let capacity: Int
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var clock: UInt64 = 0

    init(capacity: Int) {
        self.capacity = capacity
        var size = 1
        while size < capacity, size < 1024 { size *= 2 }
        buckets = .allocate(capacity: size)
        buckets.initialize(repeating: nil, count: size)
        mask = UInt64(size - 1)
    }

    deinit {
        removeAll()
        buckets.deallocate()
    }

    @inline(__always)
    private func bucket(_ hash: UInt64) -> UnsafeMutablePointer<Unmanaged<CompiledStatement>?> {
        buckets + Int(truncatingIfNeeded: hash & mask)
    }

    @inline(__always)
    private func find(_ sql: String, hash: UInt64) -> Unmanaged<CompiledStatement>? {
        var candidate = bucket(hash).pointee
        while let reference = candidate {
            let isMeant = reference._withUnsafeGuaranteedRef { statement in
                candidate = statement.next
                return statement.hash == hash && (isOne(statement.sql, sql) || isSame(statement.sql, sql))
            }
            if isMeant { return reference }
        }
        return nil
    }

    /// The statement with this text, if it has no user. It has one now, who gives it back.
    func take(_ sql: String) -> Unmanaged<CompiledStatement>? {
        guard let reference = find(sql, hash: withUTF8(of: sql, hashOf)) else { return nil }
        return reference._withUnsafeGuaranteedRef { statement in
            guard !statement.isInUse else { return nil }
            statement.isInUse = true
            return reference
        }
    }

    /// Forgets a statement, if it is one of the cache's. It ends then, or with its user.
    func remove(_ reference: Unmanaged<CompiledStatement>) {
        let isEnd = reference._withUnsafeGuaranteedRef { statement in
            guard statement.isCached else { return false }
            let bucket = bucket(statement.hash)
            if bucket.pointee?.toOpaque() == reference.toOpaque() {
                bucket.pointee = statement.next
            } else {
                var previous = bucket.pointee
                while let other = previous {
                    previous = other._withUnsafeGuaranteedRef { other in
                        guard other.next?.toOpaque() == reference.toOpaque() else { return other.next }
                        other.next = statement.next
                        return nil
                    }
                }
            }
            statement.next = nil
            statement.isCached = false
            count -= 1
            return !statement.isInUse
        }
        if isEnd { reference.release() }
    }

    /// Takes back a statement whose user let go of it, and keeps it if it can be used again.
    func giveBack(_ reference: Unmanaged<CompiledStatement>) {
        let isEnd = reference._withUnsafeGuaranteedRef { statement in
            guard statement.isReusable, capacity > 0 else { return true }
            if statement.isInOtherHands || sqlite3_stmt_busy(statement.handle) != 0 { sqlite3_reset(statement.handle) }
            if statement.hasParameters { sqlite3_clear_bindings(statement.handle) }
            clock += 1
            statement.lastUse = clock
            statement.isInUse = false
            return !statement.isCached && !insert(reference, statement)
        }
        if isEnd { reference.release() }
    }

    /// Forgets every statement; those that have users end with them.
    func removeAll() {
        for reference in cached() { remove(reference) }
    }

    private func cached() -> [Unmanaged<CompiledStatement>] {
        var all: [Unmanaged<CompiledStatement>] = []
        for index in 0...Int(mask) {
            var next = buckets[index]
            while let reference = next {
                all.append(reference)
                next = reference._withUnsafeGuaranteedRef { $0.next }
            }
        }
        return all
    }

    /// - Returns: Whether the statement is the cache's now.
    private func insert(_ reference: Unmanaged<CompiledStatement>, _ statement: CompiledStatement) -> Bool {
        if let other = find(statement.sql, hash: statement.hash) {
            // Of two with the same text the free one is worth more.
            guard other._withUnsafeGuaranteedRef({ $0.isInUse }) else { return false }
            remove(other)
        }
        let bucket = bucket(statement.hash)
        statement.next = bucket.pointee
        bucket.pointee = reference
        statement.isCached = true
        count += 1
        if count > capacity {
            let oldest = cached().min {
                $0._withUnsafeGuaranteedRef { $0.lastUse } < $1._withUnsafeGuaranteedRef { $0.lastUse }
            }
            if let oldest { remove(oldest) }
        }
        return true
    }
}

/// The bytes of `text` where they lie, which every string of Swift's own has together.
@inline(__always)
func withUTF8<T>(of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    var copy = text
    return copy.withUTF8(body)
}

/// Whether both are the same text in the same place of memory, as a literal is wherever it is passed to.
@inline(__always)
private func isOne(_ first: String, _ second: String) -> Bool {
    // A string's own two words. Where it has others, the texts are compared.
    guard MemoryLayout<String>.size == MemoryLayout<(UInt64, UInt64)>.size else { return false }
    return unsafeBitCast(first, to: (UInt64, UInt64).self) == unsafeBitCast(second, to: (UInt64, UInt64).self)
}

@inline(never)
private func isSame(_ first: String, _ second: String) -> Bool {
    withUTF8(of: first) { first in
        withUTF8(of: second) { second in
            guard let start = first.baseAddress, let other = second.baseAddress, first.count == second.count else {
                return first.count == second.count
            }
            return memcmp(start, other, first.count) == 0
        }
    }
}

/// Sixteen bytes at a time, the last sixteen once more: what is left over has been in them.
@inline(__always)
private func hashOf(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash = UInt64(truncatingIfNeeded: text.count)
    guard var place = UnsafeRawPointer(text.baseAddress), text.count >= 16 else {
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x9e37_79b9_7f4a_7c15 }
        return hash ^ hash >> 32
    }
    let last = place + (text.count &- 16)
    while true {
        let (first, second) = (place.loadUnaligned(as: UInt64.self), (place + 8).loadUnaligned(as: UInt64.self))
        let product = (hash ^ first).multipliedFullWidth(by: second ^ 0x9e37_79b9_7f4a_7c15)
        hash = product.low ^ product.high ^ hash &<< 1
        if place == last { return hash }
        place = min(place + 16, last)
    }
}
