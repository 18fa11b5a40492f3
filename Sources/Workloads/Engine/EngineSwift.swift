// Suite `engine` in Rootstock's Swift API: what a program pays that is written the way the documentation shows.
//
// Invariant: the same statements on the same rows as the C layer. A statement is asked for by its text each time, as a program
// does, and comes from the connection's cache; a value arrives as an array of bytes.

import Rootstock

enum EngineSwift {
    static func write(_ session: Session, _ meter: Meter, _ shape: EngineSuite.WriteShape, rows: Int) throws {
        let connection = session.connection
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        let pool = ValuePool()
        let valueBytes = shape.valueBytes(session.parameters)
        var random = ParkMiller(seed: session.parameters.seed)
        var row = 0
        try session.prepareToSettle()
        meter.begin()
        while row < rows {
            let batchEnd = min(row + shape.batch, rows)
            if shape.batch > 1 { try connection.execute("BEGIN") }
            while row < batchEnd {
                key.set(shape.order == .sequential ? row : random.next(below: session.parameters.size))
                let statement = try connection.prepare(EngineSuite.insert)
                try statement.bind(UnsafeRawBufferPointer(start: key.bytes, count: key.count), at: 1)
                try statement.bind(pool.next(valueBytes), at: 2)
                try statement.run()
                row += 1
                if shape.batch > 1 && row == batchEnd { try connection.execute("END") }
                meter.lap()
            }
        }
        try session.settle()
        meter.end()
    }

    static func read(_ session: Session, _ meter: Meter, rows: Int, keys: EngineSuite.Keys) throws {
        let connection = session.connection
        let key = KeyBuffer(count: session.parameters.shape.keyBytes)
        var chooser = EngineSuite.KeyChooser(keys, rows: rows, seed: session.parameters.seed)
        meter.begin()
        for _ in 0..<rows {
            key.set(chooser.next())
            let statement = try connection.prepare(EngineSuite.pointRead)
            try statement.bind(UnsafeRawBufferPointer(start: key.bytes, count: key.count), at: 1)
            while try statement.step() { take(statement, session) }
            meter.lap()
        }
        meter.end()
    }

    static func scan(_ session: Session, _ meter: Meter, _ sql: String) throws {
        let statement = try session.connection.prepare(sql)
        var laps = RowLaps(meter)
        meter.begin()
        while try statement.step() {
            take(statement, session)
            laps.row()
        }
        meter.end()
    }

    @inline(__always)
    private static func take(_ statement: Statement, _ session: Session) {
        let key = statement.blob(at: 0)
        let value = statement.blob(at: 1)
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                if session.isChecking {
                    session.answers.addRow(key, value)
                } else {
                    session.answers.touch(key)
                    session.answers.touch(value)
                }
            }
        }
    }
}
