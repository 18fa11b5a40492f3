// The floor: LMDB by its own calls, no SQL and no plug above it. The limit that the SQL path is held against.
//
// Invariant: one environment, one unnamed tree, opened with the flags of the durability class that the SQL row beside it
// has; an operation is one transaction unless the workload batches, as it is in SQL.

import CLMDB

public final class FloorStore {
    public let environment: OpaquePointer
    public let tree: MDB_dbi
    public var answers = AnswerHash()
    public var isChecking = false

    public init(path: String, durability: DurabilityClass, mapBytes: Int = 64 << 30) throws {
        var created: OpaquePointer?
        try Self.check(mdb_env_create(&created), "mdb_env_create")
        guard let created else { throw WorkloadError("mdb_env_create gave no environment") }
        environment = created
        do {
            try Self.check(mdb_env_set_mapsize(created, mapBytes), "mdb_env_set_mapsize")
            var flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS)
            switch durability {
            case .off: flags |= UInt32(MDB_NOSYNC)
            case .normal: flags |= UInt32(MDB_NOMETASYNC)
            case .full: break
            }
            try Self.check(mdb_env_open(created, path, flags, 0o644), "mdb_env_open")
            var transaction: OpaquePointer?
            try Self.check(mdb_txn_begin(created, nil, 0, &transaction), "mdb_txn_begin")
            var handle: MDB_dbi = 0
            let opened = mdb_dbi_open(transaction, nil, 0, &handle)
            guard opened == MDB_SUCCESS else {
                mdb_txn_abort(transaction)
                throw Self.error(opened, "mdb_dbi_open")
            }
            try Self.check(mdb_txn_commit(transaction), "mdb_txn_commit")
            tree = handle
        } catch {
            mdb_env_close(created)
            throw error
        }
    }

    deinit { mdb_env_close(environment) }

    public func begin(readOnly: Bool) throws -> OpaquePointer {
        var transaction: OpaquePointer?
        try Self.check(
            mdb_txn_begin(environment, nil, readOnly ? UInt32(MDB_RDONLY) : 0, &transaction), "mdb_txn_begin")
        guard let transaction else { throw WorkloadError("mdb_txn_begin gave no transaction") }
        return transaction
    }

    /// Takes an entry as an answer, so that it hashes as a row of two blobs does in `Session.take`.
    @inline(__always)
    public func take(_ key: MDB_val, _ value: MDB_val) {
        let keyBytes = UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)
        let valueBytes = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        if isChecking {
            answers.addRow(keyBytes, valueBytes)
        } else {
            answers.touch(keyBytes)
            answers.touch(valueBytes)
        }
    }

    /// As `take`, with every byte of the value read while the clock runs.
    @inline(__always)
    func takeWhole(_ key: MDB_val, _ value: MDB_val) {
        if isChecking { return take(key, value) }
        answers.touchWhole(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size))
        answers.touchWhole(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }

    /// Hashes every entry in key order, as `Session.hashRows` does a table of two blobs.
    public func hashContent() throws {
        let wasChecking = isChecking
        isChecking = true
        defer { isChecking = wasChecking }
        let transaction = try begin(readOnly: true)
        defer { mdb_txn_abort(transaction) }
        var cursor: OpaquePointer?
        try Self.check(mdb_cursor_open(transaction, tree, &cursor), "mdb_cursor_open")
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
            take(key, value)
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if code != MDB_NOTFOUND { throw Self.error(code, "mdb_cursor_get") }
    }

    static func error(_ code: Int32, _ call: String) -> WorkloadError {
        WorkloadError("\(call): \(String(cString: mdb_strerror(code)))")
    }

    @inline(__always)
    public static func check(_ code: Int32, _ call: StaticString) throws {
        if code != MDB_SUCCESS { throw error(code, "\(call)") }
    }
}
