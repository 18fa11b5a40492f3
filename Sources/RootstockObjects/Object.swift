// Object.swift - one row of a table as an object: an id, and values that are read when they are first asked for.
//
// Invariant: in one context there is at most one object of a row. What it holds is as it was read, or as the application changed
// it, until it is saved, refreshed or rolled back.

import Rootstock

/// One row of an entity's table, in an ``ObjectContext``.
///
/// ```swift
/// let book = try context.fetch(Book.self, where: "title = \("Sea")").first
/// try book?.change { $0.title = "The Sea" }
/// try context.save()
/// ```
///
/// An object whose values have not been read is a fault: it knows its id, and reads the rest when ``values`` are asked for.
public final class Object<E: Entity> {
    /// The row's id; `nil` until an inserted object is saved.
    public internal(set) var id: Int64?

    /// The version of the row when it was read or saved; `nil` for a fault and an object that was not saved.
    public internal(set) var version: Int64?

    /// What the object is on its way to.
    public enum State: Hashable, Sendable {
        /// As it is in the database, or was when it was read.
        case saved
        /// To be inserted, updated, deleted by the next save.
        case inserted, updated, deleted
    }

    /// What the next save does with the object.
    public internal(set) var state: State

    var held: E?
    /// What was read, for an object that was changed: the next save writes what differs.
    var original: E?
    /// The id that the row was given, or its version, until the save is committed.
    var written: Int64?
    /// The objects that were fetched together, for faults that are filled in batches.
    var batch: FaultBatch<E>?
    /// Gone with the context.
    weak var home: ObjectTable<E>?

    init(id: Int64?, state: State, home: ObjectTable<E>) {
        self.id = id
        self.state = state
        self.home = home
    }

    deinit { if let id { home?.forget(id, of: ObjectIdentifier(self)) } }

    /// Whether the values have not been read yet.
    public var isFault: Bool { held == nil }

    /// The values, which are read now if the object is a fault: by itself, or with its batch.
    ///
    /// - Throws: ``ObjectError/gone(table:id:)`` if there is no such row any more; what reading it throws.
    public var values: E {
        get throws {
            if let held { return held }
            return try fill()
        }
    }

    /// A reference to the object, for a property of another one.
    ///
    /// - Throws: ``ObjectError/unsaved(table:)`` for an object that was inserted and not saved.
    public var reference: Reference<E> {
        get throws {
            guard let id else { throw ObjectError.unsaved(table: E.table) }
            return Reference(id)
        }
    }

    /// Changes the values; the next save writes the columns that differ.
    ///
    /// - Throws: ``ObjectError/gone(table:id:)`` if the object or its row is deleted. ``ObjectError/unsaved(table:)`` if the context is gone.
    ///   An error of `body`, which changes nothing.
    public func change(_ body: (inout E) throws -> Void) throws {
        if state == .deleted { throw ObjectError.gone(table: E.table, id: id ?? 0) }
        var values = try self.values
        let before = values
        try body(&values)
        held = values
        guard state == .saved else { return }
        guard let home else { throw ObjectError.unsaved(table: E.table) }
        original = before
        state = .updated
        home.context.keep(self)
    }

    private func fill() throws -> E {
        guard let home else { throw ObjectError.unsaved(table: E.table) }
        try home.fill(batch.map { home.faults(of: $0.ids) } ?? [self])
        guard let held else { throw ObjectError.gone(table: E.table, id: id ?? 0) }
        return held
    }

    func take(_ row: StoredRow<E>) {
        held = row.values
        version = row.version
        batch = nil
    }
}

/// The ids of faults that are filled together.
final class FaultBatch<E: Entity> {
    let ids: [Int64]
    init(_ ids: [Int64]) { self.ids = ids }
}
