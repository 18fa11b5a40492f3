// Usage: App ENGINE PATH. Without arguments it prints the engines; else it makes a store, closes it, and reads it.
import Rootstock

var engines: [String: Engine] = [:]
#if RocksDB
    engines["rocksdb"] = .rocksdb
#endif
#if WiredTiger
    engines["wiredtiger"] = .wiredtiger
#endif
#if Postgres
    engines["postgres"] = .postgres
#endif

if CommandLine.arguments.count == 3, let engine = engines[CommandLine.arguments[1]] {
    let path = CommandLine.arguments[2]
    try Store(path: path, engine: engine).write { connection in
        try connection.execute("CREATE TABLE book (title TEXT PRIMARY KEY, lent INT)")
        try connection.execute("INSERT INTO book VALUES ('Solaris', 1), ('Eden', 2)")
    }
    let lent = try Store(path: path, engine: engine).read { connection in
        try connection.query("SELECT sum(lent) FROM book").map { row in try row[0, as: Int.self] }
    }
    print(lent)
} else {
    for description in Engine.descriptions { print(description.engine, description.version, description.place) }
}
