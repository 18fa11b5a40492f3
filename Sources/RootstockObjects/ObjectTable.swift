// ObjectTable.swift - the objects of one entity in a context: found by id, filled, written.
//
// Invariant: an object stands here from its first fetch or its save until nobody refers to it; the table itself refers to none.

import Rootstock

final class ObjectTable<E: Entity> {
    unowned let context: ObjectContext
    let statements = EntityStatements(table: E.table)
    private var objects: [Int64: Unmanaged<Object<E>>] = [:]
    /// The last INSERT and its columns: as a rule all values of a type have the same.
    private var insert: (columns: [String], sql: String)?

    init(context: ObjectContext) { self.context = context }

    func known(_ id: Int64) -> Object<E>? { objects[id]?.takeUnretainedValue() }

    /// The object of a row, which is a fault if it was not known.
    func object(_ id: Int64) -> Object<E> {
        if let known = known(id) { return known }
        let made = Object<E>(id: id, state: .saved, home: self)
        learn(made, id)
        return made
    }

    /// The object of a row that was read. One that the application has changed stays as it is.
    func object(_ row: StoredRow<E>) -> Object<E> {
        let object = object(row.id)
        if object.state == .saved { object.take(row) }
        return object
    }

    func learn(_ object: Object<E>, _ id: Int64) { objects[id] = Unmanaged.passUnretained(object) }

    /// The object is gone, or its row is.
    func forget(_ id: Int64, of identity: ObjectIdentifier) {
        if let known = objects[id], ObjectIdentifier(known.takeUnretainedValue()) == identity { objects[id] = nil }
    }

    /// Those of the objects with these ids that are faults and that somebody refers to.
    func faults(of ids: [Int64]) -> [Object<E>] { ids.compactMap { known($0) }.filter(\.isFault) }

    /// Reads the values of faults, many with one statement.
    func fill(_ faults: [Object<E>]) throws {
        try context.read { connection in
            var rest = faults[...]
            while let first = rest.first {
                let chunk = rest.prefix(ObjectContext.batch)
                rest = rest.dropFirst(chunk.count)
                var sql = statements.one
                var ids = chunk.map { Value($0.id ?? 0) }
                if chunk.count > 1 {
                    // Few lengths make few statements; an id that comes twice asks for nothing more.
                    let count = chunk.count > 10 ? ObjectContext.batch : 10
                    sql = statements.several(count)
                    ids += Array(repeating: Value(first.id ?? 0), count: count - ids.count)
                }
                let rows = try connection.cursor(sql, Arguments(values: ids), as: StoredRow<E>.self)
                while let row = try rows.next() { known(row.id)?.take(row) }
            }
        }
    }

    // MARK: Writing

    /// Writes what the object is on its way to. What it is then is told by `finish`, once the transaction is committed.
    func write(_ object: Object<E>, on connection: Connection) throws {
        switch object.state {
        case .saved: break
        case .inserted:
            guard let values = object.held else { return }
            let columns = try ColumnEncoder.columns(of: values)
            let names = columns.map(\.name)
            let made = insert?.columns == names ? insert : nil
            let statement = made ?? (names, statements.insert(names))
            insert = statement
            try run(statement.sql, [.null] + columns.map(\.value) + [1], connection)
            object.written = connection.lastInsertRowid
        case .updated:
            guard let (id, version) = object.key, let values = object.held, let original = object.original else {
                return
            }
            let before = try ColumnEncoder.columns(of: original)
            let after = try ColumnEncoder.columns(of: values)
            let changed = after.indices.filter { !before.indices.contains($0) || before[$0] != after[$0] }
            guard !changed.isEmpty else { return }
            try run(
                statements.update(changed.map { after[$0].name }),
                changed.map { after[$0].value } + [Value(version + 1), Value(id), Value(version)], connection)
            if connection.changes == 0 { throw ObjectError.conflict(table: E.table, id: id) }
            object.written = version + 1
        case .deleted:
            guard let (id, version) = object.key else { return }
            try run(statements.delete, [Value(id), Value(version)], connection)
            if connection.changes == 0 { throw ObjectError.conflict(table: E.table, id: id) }
        }
    }

    private func run(_ sql: String, _ values: [Value], _ connection: Connection) throws {
        try connection.execute(sql, Arguments(values: values))
    }

    /// The transaction is committed: the object is what it was on its way to.
    func finish(_ object: Object<E>) {
        switch object.state {
        case .saved: break
        case .inserted:
            object.id = object.written
            object.version = 1
            if let id = object.id { learn(object, id) }
        case .updated: if let version = object.written { object.version = version }
        case .deleted:
            if let id = object.id { forget(id, of: ObjectIdentifier(object)) }
        }
        object.written = nil
        object.original = nil
        object.state = object.state == .deleted ? .deleted : .saved
    }
}
