import Foundation
import RootstockTable

extension Engine {
    /// The engine whose file `path` names, by its first page; `nil` where there is none yet or it is no engine's.
    ///
    /// ``sqlite``, ``lmdb`` and `sqlite-btree` are recognised, and `postgres`, which has to be loaded, by a URI `postgresql://`
    /// or by a file that holds one.
    public static func recognized(at path: String) -> Engine? {
        guard let name = rootstock_recognize(path), name.pointee != 0 else { return nil }
        return Engine(name: String(cString: name))
    }

    /// Whether there is something at the path to be read: a file, or a server's URI.
    package static func isSomething(at path: String) -> Bool {
        FileManager.default.fileExists(atPath: path) || recognized(at: path) != nil
    }

    /// The engine of a file that is to be made, by its name: ``sqlite`` for `.sqlite`, `.sqlite3`, `.db` and `.db3`, and
    /// ``lmdb`` for any other.
    public static func usual(for path: String) -> Engine {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
        return [".sqlite", ".sqlite3", ".db", ".db3"].contains { name.lowercased().hasSuffix($0) } ? .sqlite : .lmdb
    }
}
