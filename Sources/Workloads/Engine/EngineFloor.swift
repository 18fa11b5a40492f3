// The floor of suite `engine`: the same keys and values by the plug's own calls.
//
// Invariant: transactions begin and end where the SQL row beside it has them. Read transactions are renewed rather than
// begun anew and ascending keys are appended, because that is the best an engine can do and a floor is to be the limit.

import RootstockEngine

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
            _ = try store.check(store.engine.commit(transaction), "commit")
        }
    }

    @inline(__always)
    private static func put(
        _ store: FloorStore, _ transaction: FloorStore.Transaction, _ key: KeyBuffer, _ bytes: UnsafeRawBufferPointer,
        append: Bool
    ) throws {
        var slice = rootstock_slice(size: key.count, data: key.bytes)
        var value = rootstock_slice(size: bytes.count, data: bytes.baseAddress)
        do {
            _ = try store.check(
                store.engine.put(transaction, store.tree, &slice, &value, append ? ROOTSTOCK_PUT_APPEND : 0), "put")
        } catch {
            store.engine.abort(transaction)
            throw error
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
                if row == batchEnd { _ = try store.check(store.engine.commit(transaction), "commit") }
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
        let engine = store.engine
        let transaction = try store.begin(readOnly: true)
        defer { engine.abort(transaction) }
        meter.begin()
        for _ in 0..<rows {
            key.set(chooser.next())
            if !inTransaction {
                engine.reset(transaction)
                _ = try store.check(engine.renew(transaction), "renew")
            }
            var slice = rootstock_slice(size: key.count, data: key.bytes)
            var value = rootstock_slice()
            if try store.check(engine.get(transaction, store.tree, &slice, &value), "get") {
                if isWhole { store.takeWhole(slice, value) } else { store.take(slice, value) }
            }
            meter.lap()
        }
        meter.end()
    }

    static func scan(_ store: FloorStore, _ meter: Meter, backward: Bool) throws {
        var laps = RowLaps(meter)
        try store.walk(backward: backward, began: meter.begin) { key, value in
            store.take(key, value)
            laps.row()
        }
        meter.end()
    }
}
