// ScriptGenerator.swift - a whole random script from a seed: schema, data, statements, queries.
//
// The script is a function of the seed and the features alone; it is written before any of it runs, so that a crash of the
// tested engine leaves it at hand.

import TestSupport

struct ScriptGenerator {
    var random: SeededGenerator
    let features: Set<Feature>
    var schema = GeneratedSchema()
    var triggers = 0
    var renames = 0
    private(set) var statements: [String] = []

    init(seed: UInt64, features: Set<Feature>) {
        random = SeededGenerator(seed: seed)
        self.features = features
    }

    func has(_ feature: Feature) -> Bool { features.contains(feature) }

    mutating func emit(_ statement: String) { statements.append(statement) }

    /// A script of about `count` statements and queries.
    mutating func script(count: Int) -> [String] {
        makeSchema()
        if has(.recursion), triggers > 0, random.once(in: 3) { makeRecursiveTrigger() }
        for _ in 0..<random.number(5...20) { emit(insert(random.pick(schema.tables))) }
        for _ in 0..<count {
            switch random.number(0...19) {
            case 0...5: emit(insert(random.pick(schema.tables)))
            case 6...8: emit(update(random.pick(schema.tables)))
            case 9, 10: emit(delete(random.pick(schema.tables)))
            case 11: emit(has(.nested) && random.once(in: 5) ? failingInSavepoints() : transaction())
            case 12 where has(.doors) && random.once(in: 2): emit(throughDoor() ?? query())
            case 12 where random.once(in: 3): emit(schemaChange())
            case 12 where has(.renames) && schema.views.isEmpty && schema.doors.isEmpty && random.once(in: 3):
                emit(alteration())
            case 13 where has(.pragmas) && random.once(in: 3): emit(pragma())
            case 14 where has(.long): emit(longQuery())
            case 15 where has(.commonTables) && random.once(in: 4): emit(changeWithCommonTable())
            case 15 where has(.others) && random.once(in: 5): emit(throughOther())
            default: emit(query())
            }
        }
        // The same questions with every index and with none.
        emit(random.pick(["COMMIT", "ROLLBACK"]))
        let queries = (0..<10).map { _ in query() }
        for query in queries { emit(query) }
        for index in schema.indexes { emit("DROP INDEX IF EXISTS \(index)") }
        for query in queries { emit(query) }
        if has(.pragmas) { emit(ScriptGenerator.checking) }
        return statements
    }
}
