// Suite `records` above the SQL layer: Rootstock's Swift API, and what objects are to the layers.
//
// Invariant: the same objects in the same order as the C layer saves and reads, in one transaction over all of them.

import Rootstock

extension RecordsSuite {
    /// An object with all that hangs on it.
    struct Object {
        var owner: (name: String, age: Int, profile: String)
        var name: String
        var books: [(name: String, price: Double)]

        init(_ index: Int, seed: UInt32, _ samples: Samples) {
            let random = mixed(index, seed)
            owner = (samples.fullNames.pick(random), Int(20 + random % 60), samples.titles.pick(random >> 8))
            name = samples.lastNames.pick(random >> 16)
            books = (0..<children).map { child in
                (samples.titles.pick(random >> UInt64(child)), Double((random >> UInt64(child)) % 10_000) / 100)
            }
        }
    }

    static func insertInSwift(_ session: Session, _ meter: Meter, _ shape: Shape) throws {
        let connection = session.connection
        let seed = session.parameters.seed
        let samples = Samples(seed: seed)
        try session.prepareToSettle()
        meter.begin()
        try connection.execute("BEGIN")
        for index in 0..<session.parameters.size {
            let object = Object(index, seed: seed, samples)
            let id = Int64(index + 1)
            if shape != .simple {
                try connection.execute(
                    "INSERT INTO owner VALUES (?, ?, ?, ?)",
                    [id, object.owner.name, object.owner.age, object.owner.profile])
            }
            try connection.execute(
                "INSERT INTO publisher VALUES (?, ?, ?)",
                [id, object.name, shape == .simple ? nil : id])
            if shape == .many {
                for (child, book) in object.books.enumerated() {
                    try connection.execute(
                        "INSERT INTO book VALUES (?, ?, ?, ?)",
                        [index * children + child + 1, book.name, book.price, id])
                }
            }
            meter.lap()
        }
        try connection.execute("COMMIT")
        try session.settle()
        meter.end()
    }

    static func readInSwift(_ session: Session, _ meter: Meter, _ sql: String) throws {
        var names: [String] = []
        var last = 0
        var laps = RowLaps(meter)
        meter.begin()
        let statement = try session.connection.prepare(sql)
        while try statement.step() {
            take(statement, session)
            let id = Int(statement.int64(at: 0))
            guard id != last else { continue }
            last = id
            names.append(statement.text(at: 1))
            laps.row()
        }
        meter.end()
        session.answers.add(UInt64(names.count))
    }

    /// A row's columns as an answer, by the Swift API.
    private static func take(_ statement: Statement, _ session: Session) {
        if session.isChecking { session.answers.add(UInt64(statement.columnCount)) }
        for column in 0..<statement.columnCount { session.take(statement.value(at: column)) }
    }
}
