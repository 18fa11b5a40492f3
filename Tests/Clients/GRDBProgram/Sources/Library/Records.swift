// The records of a library, and the migrations that make their tables: GRDB alone, nothing of Rootstock.
import GRDB

struct Author: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
    static let books = hasMany(Book.self)
    var id: Int64?
    var name: String
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Book: Codable, Equatable, FetchableRecord, MutablePersistableRecord {
    static let author = belongsTo(Author.self)
    var id: Int64?
    var authorId: Int64
    var title: String
    var copies = 1
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct BookInfo: Decodable, FetchableRecord {
    var book: Book
    var author: Author
}

struct Shelf: Decodable, FetchableRecord {
    var author: Author
    var books: [Book]
}

var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("library") { database in
        try database.create(table: "author") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("name", .text).notNull().unique()
        }
        try database.create(table: "book") { table in
            table.autoIncrementedPrimaryKey("id")
            table.belongsTo("author", onDelete: .cascade).notNull()
            table.column("title", .text).notNull()
            table.uniqueKey(["authorId", "title"])
        }
    }
    migrator.registerMigration("copies") { database in
        try database.alter(table: "book") { table in
            table.add(column: "copies", .integer).notNull().defaults(to: 1).check { $0 >= 0 }
        }
    }
    return migrator
}
