// A process of its own on a store, which RootstockTests run beside themselves.
//
// Usage: rootstock-process ENGINE PATH migrate | write TITLE | hold
// `migrate` runs MigratorTests' steps; `hold` takes the write lock, prints `held`, and keeps it until its input ends.

import Foundation
import Rootstock

let arguments = CommandLine.arguments
guard arguments.count > 3 else { fatalError("usage: rootstock-process ENGINE PATH migrate | write TITLE | hold") }
let store = try Store(
    path: arguments[2], engine: Engine(name: arguments[1]), options: StoreOptions(durability: .off, native: .wal))

switch arguments[3] {
case "migrate":
    var migrator = Migrator()
    for number in 1...8 {
        migrator.register("step \(number)") { connection in
            try connection.execute("CREATE TABLE t\(number) (a INTEGER)")
            try connection.execute("INSERT INTO t\(number) VALUES (\(number))")
        }
    }
    try migrator.migrate(store)
case "write":
    try store.write { try $0.execute("INSERT INTO book (title) VALUES (?)", [arguments[4]]) }
case "hold":
    try store.write { _ in
        FileHandle.standardOutput.write(Data("held\n".utf8))
        while readLine() != nil {}
    }
default: fatalError("no command \(arguments[3])")
}
