// `Library ENGINE FILE`: GRDB on a new database of that engine. It prints the same on `lmdb` as on `sqlite` (run.sh).
import Foundation
import GRDB
import RootstockInterpose

let (engine, path) = (CommandLine.arguments[1], CommandLine.arguments[2])
rootstock_interpose(engine)
let pool = try DatabasePool(path: path)
try migrator.migrate(pool)
print("migrations:", try pool.read(migrator.appliedMigrations))

// Records.
let author = try pool.write { database in
    let author = try Author(name: "Ursula K. Le Guin").insertAndFetch(database)
    for title in ["The Dispossessed", "The Lathe of Heaven"] {
        var book = Book(authorId: author.id!, title: title)
        try book.insert(database)
        print("inserted:", book.id!, book.title)
    }
    return author
}

// Upsert: a book that is there already has another copy.
try pool.write { database in
    var book = Book(authorId: author.id!, title: "The Dispossessed")
    let stored = try book.upsertAndFetch(database, onConflict: ["authorId", "title"]) { _ in
        [Column("copies").set(to: Column("copies") + 1)]
    }
    print("upserted:", stored.id!, stored.title, stored.copies)
}

// Requests and associations.
try pool.read { database in
    for info in try Book.including(required: Book.author).order(Column("title")).asRequest(of: BookInfo.self)
        .fetchAll(database)
    {
        print("joined:", info.book.title, "by", info.author.name)
    }
    for shelf in try Author.including(all: Author.books).asRequest(of: Shelf.self).fetchAll(database) {
        print("shelf:", shelf.author.name, shelf.books.map(\.title).sorted())
    }
    print("by key:", try Book.fetchOne(database, key: 2)?.title ?? "none")
    print("by unique key:", try Author.fetchOne(database, key: ["name": author.name])?.id ?? 0)
}

// An observation hears of each commit that changes its books.
let observation = ValueObservation.tracking { try Book.order(Column("title")).fetchAll($0) }
var commits = 0
for try await books in observation.removeDuplicates().values(in: pool) {
    print("observed:", books.map { "\($0.title) (\($0.copies))" })
    commits += 1
    switch commits {
    case 1:
        try await pool.write { database in
            var book = try Book.find(database, key: 2)
            try book.updateChanges(database) { $0.copies = 7 }
        }
    case 2: _ = try await pool.write { try Book.deleteOne($0, key: 1) }
    default: break
    }
    if commits == 3 { break }
}

// What the schema says holds, and errors are SQLite's.
do {
    try pool.write { database in
        var book = Book(authorId: 99, title: "Nobody's")
        try book.insert(database)
    }
} catch let error as DatabaseError {
    print("refused:", error.extendedResultCode, error.message ?? "")
}
do {
    try pool.write { try $0.execute(sql: "UPDATE book SET copies = -1") }
} catch let error as DatabaseError {
    print("refused:", error.extendedResultCode, error.message ?? "")
}
_ = try pool.write { try author.delete($0) }
print("books left:", try pool.read(Book.fetchCount))
try pool.close()

// A queue on the same file.
let queue = try DatabaseQueue(path: path)
try queue.write { database in
    var author = Author(name: "Italo Calvino")
    try author.save(database)
    print("saved:", author.id!, author.name)
}
print("authors:", try queue.read { try String.fetchAll($0, Author.select(Column("name"))) })
try queue.close()
