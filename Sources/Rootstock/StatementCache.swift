import CSQLite

/// Prepared statements of one connection that nobody uses at the moment, found again by their SQL text.
///
/// Preparing costs about ten times a point read. A statement is taken out of the cache while a ``Statement`` uses it and put
/// back when that is released, so two users of the same text never share bindings. Above the capacity, the one
/// unused for longest is finalized.
struct StatementCache {
    private struct Entry {
        let handle: OpaquePointer
        let lastUse: UInt64
    }

    private var entries: [String: Entry] = [:]
    private var clock: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Removes and returns the statement with this text.
    mutating func take(_ sql: String) -> OpaquePointer? {
        entries.removeValue(forKey: sql)?.handle
    }

    /// Keeps `handle`, which must be reset and without bindings, or finalizes it.
    mutating func put(_ handle: OpaquePointer, sql: String) {
        guard capacity > 0, entries[sql] == nil else {
            sqlite3_finalize(handle)
            return
        }
        clock += 1
        entries[sql] = Entry(handle: handle, lastUse: clock)
        if entries.count > capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            sqlite3_finalize(oldest.value.handle)
            entries.removeValue(forKey: oldest.key)
        }
    }

    /// Finalizes everything kept.
    mutating func removeAll() {
        for entry in entries.values { sqlite3_finalize(entry.handle) }
        entries.removeAll()
    }
}
