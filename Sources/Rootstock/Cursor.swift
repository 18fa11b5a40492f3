// Cursor.swift - the rows of a query, one at a time.

/// The rows of a query, made as they are asked for: what a result of any length takes is one row.
///
/// ```swift
/// let books = try connection.cursor("SELECT * FROM book ORDER BY title", as: Book.self)
/// while let book = try books.next() { print(book.title) }
/// ```
///
/// A cursor belongs to the thread, or the closure, of its connection. Between two rows it holds a snapshot: finish it, or let go of it.
public final class Cursor<Element> {
    private let statement: Statement
    private let make: (Statement) -> () throws -> Element
    private var read: (() throws -> Element)?
    private var isDone = false

    /// `make` is called after the first step, for what is the same for all rows.
    init(_ statement: Statement, _ make: @escaping (Statement) -> () throws -> Element) {
        self.statement = statement
        self.make = make
    }

    /// The next row, or `nil` after the last one, and ever after.
    ///
    /// - Throws: What the statement met, or ``ResultCode/mismatch`` for a row that stands for no `Element`. The cursor has ended then.
    public func next() throws -> Element? {
        guard !isDone else { return nil }
        do {
            guard try statement.step() else {
                isDone = true
                return nil
            }
            let read = self.read ?? make(statement)
            self.read = read
            return try read()
        } catch {
            close()
            throw error
        }
    }

    /// Calls `body` with each row that is left.
    public func forEach(_ body: (Element) throws -> Void) throws {
        defer { close() }
        while let element = try next() { try body(element) }
    }

    /// All rows that are left.
    public func collect() throws -> [Element] {
        var elements: [Element] = []
        while let element = try next() { elements.append(element) }
        return elements
    }

    /// Gives up the rest of the rows, and with them the snapshot.
    public func close() {
        if !isDone { statement.reset() }
        isDone = true
        read = nil
    }
}

extension Cursor where Element == Row {
    convenience init(rowsOf statement: Statement) {
        self.init(statement) { statement in
            let columns = statement.columns
            return { statement.row(under: columns) }
        }
    }
}

extension Cursor where Element: Decodable {
    convenience init(decoding statement: Statement) {
        self.init(statement) { statement in
            let row = RowDecoding(statement)
            // Date and others tell more by their SQL value than by their coding.
            if Element.self is any ValueConvertible.Type { return { try row.decode(Element.self, at: 0, path: []) } }
            return { try row.decode(Element.self) }
        }
    }
}
