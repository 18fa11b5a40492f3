// Prints what a store tells its log: run.sh compares it.

import Foundation
import Logging
import Rootstock

struct Printing: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
    func log(
        level: Logger.Level, message: Logger.Message, metadata: Logger.Metadata?, source: String, file: String,
        function: String, line: UInt
    ) {
        print("\(level) \(source): \(message)", metadata?["reason"].map { "(\($0))" } ?? "")
    }
}

var options = StoreOptions(durability: .off)
options.log = LogHook(Logger(label: "app") { _ in Printing() })
let store = try Store(path: CommandLine.arguments[1], options: options)
try? store.write { try $0.execute("INSERT INTO nowhere VALUES (1)") }
store.close()
