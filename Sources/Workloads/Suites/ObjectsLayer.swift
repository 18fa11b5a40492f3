// Suite `objects` through RootstockObjects: the same objects in the same order as the statements below it.
//
// Invariant: every case leaves the content, and takes the values, that its statements do.

import Rootstock
import RootstockObjects

extension ObjectsSuite {
    struct TestEntity: Entity {
        static let table = "TestEntity"
        var age: Int
        var birthDate: Double
        var city: String
        var country: String
        var email: String
        var income: Double
        var name: String

        init(_ index: Int, seed: UInt32, _ samples: Samples) {
            let random = mixed(index, seed)
            age = Int(18 + random % 70)
            birthDate = Double(random % 2_000_000_000) - 1_000_000_000
            city = samples.cities.pick(random >> 3)
            country = samples.countries.pick(random >> 7)
            email = samples.emails.pick(random >> 11)
            income = Double(random % 10_000_000) / 100
            name = samples.fullNames.pick(random >> 11)
        }
    }

    static func insertObjects(_ session: Session, _ meter: Meter, batch: Int?) throws {
        let context = ObjectContext(session.connection)
        let count = session.parameters.size
        let samples = Samples(seed: session.parameters.seed)
        try session.prepareToSettle()
        meter.begin()
        try saving(count, of: batch, context, meter) { index in
            context.insert(TestEntity(index, seed: session.parameters.seed, samples))
        }
        try session.settle()
        meter.end()
    }

    /// - Parameter batch: How many faults are filled together.
    static func fetchObjects(_ session: Session, _ meter: Meter, batch: Int) throws {
        let context = ObjectContext(session.connection)
        meter.begin()
        let objects = try context.faults(TestEntity.self, orderBy: "id", batch: batch)
        for (index, object) in objects.enumerated() {
            try take(object, session)
            if (index + 1) % meter.lapOperations == 0 { meter.lap() }
        }
        meter.end()
    }

    static func fetchObjectsJoined(_ session: Session, _ meter: Meter) throws {
        let context = ObjectContext(session.connection)
        meter.begin()
        let objects = try context.fetch(TestEntity.self, orderBy: "id")
        for (index, object) in objects.enumerated() {
            try take(object, session)
            if (index + 1) % meter.lapOperations == 0 { meter.lap() }
        }
        meter.end()
    }

    static func changeObjects(_ session: Session, _ meter: Meter, batch: Int?) throws {
        let context = ObjectContext(session.connection)
        try session.prepareToSettle()
        meter.begin()
        let objects = try context.faults(TestEntity.self, orderBy: "id", batch: 1)
        try saving(objects.count, of: batch, context, meter) { index in
            try take(objects[index], session)
            try objects[index].change { values in
                values.age += 1
                values.income *= 1.5
            }
        }
        try session.settle()
        meter.end()
        session.answers.add(0)
    }

    static func removeObjects(_ session: Session, _ meter: Meter, batch: Int?) throws {
        let context = ObjectContext(session.connection)
        try session.prepareToSettle()
        meter.begin()
        let objects = try context.faults(TestEntity.self, orderBy: "id", batch: 1)
        try saving(objects.count, of: batch, context, meter) { index in
            try take(objects[index], session)
            try context.delete(objects[index])
        }
        try session.settle()
        meter.end()
    }

    /// Runs `body` for each index and saves after each batch.
    private static func saving(
        _ count: Int, of batch: Int?, _ context: ObjectContext, _ meter: Meter, _ body: (Int) throws -> Void
    ) throws {
        let batch = batch ?? count
        for index in 0..<count {
            try body(index)
            if (index + 1) % batch == 0 || index + 1 == count { try context.save() }
            meter.lap()
        }
    }

    /// An object's columns as an answer, in the table's order.
    private static func take(_ object: Object<TestEntity>, _ session: Session) throws {
        let values = try object.values
        if session.isChecking { session.answers.add(9) }
        session.take(Value(object.id ?? 0))
        session.take(Value(values.age))
        session.take(.real(values.birthDate))
        session.take(.text(values.city))
        session.take(.text(values.country))
        session.take(.text(values.email))
        session.take(.real(values.income))
        session.take(.text(values.name))
        session.take(Value(object.version ?? 0))
    }
}
