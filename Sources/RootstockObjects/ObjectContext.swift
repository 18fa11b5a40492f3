// ObjectContext.swift - objects over the rows of a store: fetched, followed, changed, saved together.
//
// Invariant: a save is one transaction, and after it the objects are what the database is; a save that fails changes neither.

import Rootstock

/// The objects that a part of a program works with, and what it has changed in them.
///
/// ```swift
/// let context = ObjectContext(store)
/// let books = try context.fetch(Book.self, where: "title LIKE \("S%")", orderBy: "title", limit: 20)
/// try context.prefetch(books, \.author)
/// for book in books { print(try book.values.title, try context.related(book, \.author)?.values.name ?? "") }
/// try books.first?.change { $0.title = "Sea" }
/// try context.save()
/// ```
///
/// There is one object a row: whatever fetch or relationship leads to it. The context keeps no object alive but those that wait for a save.
/// It belongs to one thread, task or actor at a time. Each fetch reads the last commit; values that were read stay as they are until
/// ``refresh(_:)``.
public final class ObjectContext {
    /// Faults that one statement fills.
    static let batch = 100

    private let reader: ((Connection) throws -> Void) throws -> Void
    private let writer: ((Connection) throws -> Void) throws -> Void
    private var tables: [ObjectIdentifier: AnyObject] = [:]
    private var waiting: [any PendingObject] = []

    /// A context over a store: each fetch is a ``Store/read(_:)-4mrkd``, each save a ``Store/write(_:)-6fr01``.
    public init(_ store: Store) {
        reader = { try store.read($0) }
        writer = { try store.write($0) }
    }

    /// A context over one connection, for as long as that can be used: a closure of a store, or a script.
    ///
    /// Inside a transaction a save is a savepoint of it.
    public init(_ connection: Connection) {
        reader = { try $0(connection) }
        writer = { body in
            if connection.isInTransaction { return try connection.withSavepoint { try body(connection) } }
            try connection.withTransaction(.immediate) { try body(connection) }
        }
    }

    func read<T>(_ body: (Connection) throws -> T) throws -> T {
        var result: T?
        try reader { result = try body($0) }
        guard let result else { throw DatabaseError(.misuse, "the store read nothing") }
        return result
    }

    private func table<E: Entity>(_ type: E.Type) -> ObjectTable<E> {
        if let known = tables[ObjectIdentifier(type)] as? ObjectTable<E> { return known }
        let made = ObjectTable<E>(context: self)
        tables[ObjectIdentifier(type)] = made
        return made
    }

    // MARK: Fetching

    /// The objects whose rows meet `predicate`, with their values.
    ///
    /// The predicate and the order are SQL, with the table's columns: `"age > \(18)"`, `"name, id DESC"`. What is interpolated is bound.
    public func fetch<E: Entity>(
        _ type: E.Type, where predicate: SQL? = nil, orderBy order: SQL? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> [Object<E>] {
        let table = table(type)
        let sql = table.statements.select("*", where: predicate, orderBy: order, limit: limit, offset: offset)
        return try read { connection in
            let rows = try connection.cursor(literal: sql, as: StoredRow<E>.self)
            var objects: [Object<E>] = []
            while let row = try rows.next() { objects.append(table.object(row)) }
            return objects
        }
    }

    /// The objects whose rows meet `predicate`, as faults: their ids alone are read.
    ///
    /// - Parameter batch: How many faults are filled when one of them is touched; 1 for that one alone.
    public func faults<E: Entity>(
        _ type: E.Type, where predicate: SQL? = nil, orderBy order: SQL? = nil, limit: Int? = nil, offset: Int = 0,
        batch: Int = 100
    ) throws -> [Object<E>] {
        let table = table(type)
        let sql = table.statements.select("id", where: predicate, orderBy: order, limit: limit, offset: offset)
        let objects = try read { connection in
            let statement = try connection.prepare(sql.text)
            try statement.bind(Arguments(values: sql.arguments))
            var objects: [Object<E>] = []
            while try statement.step() { objects.append(table.object(statement.int64(at: 0))) }
            return objects
        }
        guard batch > 1 else { return objects }
        for start in stride(from: 0, to: objects.count, by: batch) {
            let together = objects[start..<min(start + batch, objects.count)].filter(\.isFault)
            let shared = FaultBatch<E>(together.compactMap(\.id))
            for object in together { object.batch = shared }
        }
        return objects
    }

    /// How many rows meet `predicate`.
    public func count<E: Entity>(_ type: E.Type, where predicate: SQL? = nil) throws -> Int {
        let sql = table(type).statements.select("count(*)", where: predicate, orderBy: nil, limit: nil, offset: 0)
        return try read { try $0.queryOne(literal: sql, as: Int.self) ?? 0 }
    }

    /// The object of a row, which is not looked for before its values are asked for.
    public func object<E: Entity>(_ type: E.Type = E.self, _ reference: Reference<E>) -> Object<E> {
        table(type).object(reference.id)
    }

    // MARK: Relationships

    /// The object that a property refers to, as it is known, or as a fault.
    public func related<E: Entity, Target: Entity>(
        _ object: Object<E>, _ property: KeyPath<E, Reference<Target>?>
    ) throws -> Object<Target>? {
        try object.values[keyPath: property].map { self.object(Target.self, $0) }
    }

    /// The object that a property refers to, as it is known, or as a fault.
    public func related<E: Entity, Target: Entity>(
        _ object: Object<E>, _ property: KeyPath<E, Reference<Target>>
    ) throws -> Object<Target> {
        self.object(Target.self, try object.values[keyPath: property])
    }

    /// Reads what a property of `objects` refers to, a hundred at a time, so that following it reads nothing.
    ///
    /// - Returns: The objects that it refers to, each once. The context keeps none of them alive: hold on to them.
    @discardableResult
    public func prefetch<E: Entity, Target: Entity>(
        _ objects: [Object<E>], _ property: KeyPath<E, Reference<Target>?>
    ) throws -> [Object<Target>] {
        let references = try objects.compactMap { try $0.values[keyPath: property] }
        return try fill(references)
    }

    /// The same for a property that always refers to an object.
    @discardableResult
    public func prefetch<E: Entity, Target: Entity>(
        _ objects: [Object<E>], _ property: KeyPath<E, Reference<Target>>
    ) throws -> [Object<Target>] {
        try fill(objects.map { try $0.values[keyPath: property] })
    }

    private func fill<Target: Entity>(_ references: [Reference<Target>]) throws -> [Object<Target>] {
        var seen: Set<Int64> = []
        let table = table(Target.self)
        let targets = references.filter { seen.insert($0.id).inserted }.map { table.object($0.id) }
        try table.fill(targets.filter(\.isFault))
        return targets
    }

    /// The objects of another entity that refer to this one: `context.referring(to: author, by: "author", as: Book.self)`.
    public func referring<E: Entity, Source: Entity>(
        to object: Object<E>, by column: String, as type: Source.Type, orderBy order: SQL? = nil
    ) throws -> [Object<Source>] {
        let reference = try object.reference
        // With its table: SQLite takes a name in quotes that is no column's for a text.
        return try fetch(
            type, where: "\(identifier: Source.table).\(identifier: column) = \(reference)", orderBy: order)
    }

    // MARK: Changing

    /// A new object, which the next save inserts.
    @discardableResult
    public func insert<E: Entity>(_ values: E) -> Object<E> {
        let object = Object<E>(id: nil, state: .inserted, home: table(E.self))
        object.held = values
        keep(object)
        return object
    }

    /// Has the next save delete the object. One that was never saved is forgotten.
    ///
    /// - Throws: ``ObjectError/gone(table:id:)`` for a fault whose row is gone; what reading its version throws.
    public func delete<E: Entity>(_ object: Object<E>) throws {
        if object.state == .inserted {
            waiting.removeAll { $0 === object }
            object.state = .deleted
            return
        }
        _ = try object.values
        if object.state == .saved { keep(object) }
        object.state = .deleted
    }

    func keep(_ object: some PendingObject) { waiting.append(object) }

    /// Whether there is something to save.
    public var hasChanges: Bool { !waiting.isEmpty }

    /// Writes all that was inserted, changed and deleted in one transaction: inserts in their order, then updates, then deletes.
    ///
    /// Of a changed object the columns that differ are written.
    ///
    /// - Throws: ``ObjectError/conflict(table:id:)`` if the row of an object has another version by now, or is gone; what the database
    ///   refuses. Nothing is written then, and everything still waits: refresh or roll back, and save again.
    public func save() throws {
        guard !waiting.isEmpty else { return }
        try writer { connection in
            for order in 0..<3 {
                for object in waiting where object.order == order { try object.write(on: connection) }
            }
        }
        let saved = waiting
        waiting = []
        for object in saved { object.finish() }
    }

    /// Undoes all that was not saved. Inserted objects are forgotten.
    public func rollback() {
        let undone = waiting
        waiting = []
        for object in undone { object.undo() }
    }

    /// Forgets what was read of the object, and what was changed in it: its values are read anew when they are asked for.
    public func refresh<E: Entity>(_ object: Object<E>) {
        guard object.state != .inserted else { return }
        if object.state != .saved { waiting.removeAll { $0 === object } }
        object.undo()
        object.held = nil
        object.version = nil
    }
}

/// An object that waits for a save.
protocol PendingObject: AnyObject {
    /// Inserts come first, deletes last.
    var order: Int { get }
    func write(on connection: Connection) throws
    func finish()
    func undo()
}

extension Object: PendingObject {
    var order: Int {
        switch state {
        case .inserted: 0
        case .saved, .updated: 1
        case .deleted: 2
        }
    }

    func write(on connection: Connection) throws { try home?.write(self, on: connection) }
    func finish() { home?.finish(self) }

    /// As it was before it was changed.
    func undo() {
        if let original { held = original }
        original = nil
        written = nil
        state = state == .inserted ? .deleted : .saved
    }

    /// Which row of which version is meant.
    var key: (id: Int64, version: Int64)? {
        guard let id, let version else { return nil }
        return (id, version)
    }
}
