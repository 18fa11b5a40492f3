// A program that knows SQLite alone, and links RootstockInterpose: `rootstock-drop-in FILE`. Tests/Clients/Command run it.
import CSQLite
import Foundation
import Rootstock
import RootstockInterpose

rootstock_interpose("lmdb")
var database: OpaquePointer?
let path = CommandLine.arguments[1]

func run(_ database: OpaquePointer?, _ sql: String) {
    let code = sqlite3_exec(
        database, sql,
        { _, count, values, _ in
            print((0..<Int(count)).map { values?[$0].map { String(cString: $0) } ?? "NULL" }.joined(separator: "|"))
            return 0
        }, nil, nil)
    if code != SQLITE_OK { print("error \(code): \(String(cString: sqlite3_errmsg(database)))") }
}

sqlite3_open(path, &database)
run(database, "CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT UNIQUE, seen INT DEFAULT 0)")
run(database, "INSERT INTO note(title) VALUES('a'), ('b'); UPDATE note SET seen=5 WHERE id=2")
run(database, "INSERT INTO note(title) VALUES('a') ON CONFLICT(title) DO UPDATE SET seen=seen+1 RETURNING id, seen")
run(database, "SELECT * FROM note ORDER BY title DESC")
run(database, "SELECT missing FROM note")
print("close", sqlite3_close(database))
// Beside it, Rootstock's own API on the same store.
print(try Connection(path: path).query("SELECT count(*) FROM note").map { try $0[0, as: Int.self] })
// And a native database.
rootstock_interpose(nil)
sqlite3_open(path + ".native", &database)
run(database, "CREATE TABLE t(a); INSERT INTO t VALUES(1); SELECT a FROM t")
print("close", sqlite3_close(database))
