// The floor of suite `engine`: the same keys and values by LMDB's own calls.
//
// Invariant: transactions begin and end where the SQL row beside it has them. Read transactions are renewed rather than
// begun anew and ascending keys are appended, because that is the best LMDB can do and a floor is to be the limit.

import CLMDB

enum FloorEngine {
    static func fill(_ store: FloorStore, _ parameters: Parameters, order: [Int32], _ valueBytes: Int) throws {
        let key = KeyBuffer(count: parameters.shape.keyBytes)
        let pool = ValuePool()
        var row = 0
        while row < order.count {
            let transaction = try store.begin(readOnly: false)
            let batchEnd = min(row + EngineSuite.batch, order.count)
            while row < batchEnd {
                key.set(Int(order[row]))
                try put(store, transaction, key, pool.slice(valueBytes, for: row), append: false)
                row += 1
            }
            try FloorStore.check(mdb_txn_commit(transaction), "mdb_txn_commit")
        }
    }

    @inline(__always)
    private static func put(
        _ store: FloorStore, _ transaction: OpaquePointer, _ key: KeyBuffer, _ bytes: UnsafeRawBufferPointer,
        append: Bool
    ) throws {
        var slice = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(key.bytes))
        var value = MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
        let flags = append ? UInt32(MDB_APPEND) : 0
        let code = mdb_put(transaction, store.tree, &slice, &value, flags)
        if code != MDB_SUCCESS {
            mdb_txn_abort(transaction)
            throw FloorStore.error(code, "mdb_put")
        }
    }

    static func write(
        _ store: FloorStore, _ parameters: Parameters, _ meter: Meter, _ shape: EngineSuite.WriteShape, rows: Int
    ) throws {
        let key = KeyBuffer(count: parameters.shape.keyBytes)
        let pool = ValuePool()
        let valueBytes = shape.valueBytes(parameters)
        var random = ParkMiller(seed: parameters.seed)
        var row = 0
        meter.begin()
        while row < rows {
            let batchEnd = min(row + shape.batch, rows)
            let transaction = try store.begin(readOnly: false)
            while row < batchEnd {
                key.set(shape.order == .sequential ? row : random.next(below: parameters.size))
                try put(store, transaction, key, pool.next(valueBytes), append: shape.order == .sequential)
                row += 1
                if row == batchEnd { try FloorStore.check(mdb_txn_commit(transaction), "mdb_txn_commit") }
                meter.lap()
            }
        }
        meter.end()
    }

    static func read(
        _ store: FloorStore, _ parameters: Parameters, _ meter: Meter, rows: Int, keys: EngineSuite.Keys,
        inTransaction: Bool, isWhole: Bool
    ) throws {
        let key = KeyBuffer(count: parameters.shape.keyBytes)
        var chooser = EngineSuite.KeyChooser(keys, rows: rows, seed: parameters.seed)
        let transaction = try store.begin(readOnly: true)
        defer { mdb_txn_abort(transaction) }
        meter.begin()
        for _ in 0..<rows {
            key.set(chooser.next())
            if !inTransaction {
                mdb_txn_reset(transaction)
                try FloorStore.check(mdb_txn_renew(transaction), "mdb_txn_renew")
            }
            var slice = MDB_val(mv_size: key.count, mv_data: UnsafeMutableRawPointer(key.bytes))
            var value = MDB_val()
            let code = mdb_get(transaction, store.tree, &slice, &value)
            if code == MDB_SUCCESS {
                if isWhole { store.takeWhole(slice, value) } else { store.take(slice, value) }
            } else if code != MDB_NOTFOUND {
                throw FloorStore.error(code, "mdb_get")
            }
            meter.lap()
        }
        meter.end()
    }

    static func scan(_ store: FloorStore, _ meter: Meter, backward: Bool) throws {
        let transaction = try store.begin(readOnly: true)
        defer { mdb_txn_abort(transaction) }
        var cursor: OpaquePointer?
        try FloorStore.check(mdb_cursor_open(transaction, store.tree, &cursor), "mdb_cursor_open")
        defer { mdb_cursor_close(cursor) }
        let move = backward ? MDB_PREV : MDB_NEXT
        var key = MDB_val()
        var value = MDB_val()
        var laps = RowLaps(meter)
        meter.begin()
        var code = mdb_cursor_get(cursor, &key, &value, backward ? MDB_LAST : MDB_FIRST)
        while code == MDB_SUCCESS {
            store.take(key, value)
            laps.row()
            code = mdb_cursor_get(cursor, &key, &value, move)
        }
        meter.end()
        if code != MDB_NOTFOUND { throw FloorStore.error(code, "mdb_cursor_get") }
    }
}
