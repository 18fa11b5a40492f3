// PartialFile.swift - a database that is being made, under a name of its own beside the one that it is to have. It is a file, or
// with some engines a directory.
//
// Invariant: the name that was asked for never holds a part. It is given when the file is whole and synced, and is never taken from
// a file that exists.

import Foundation

package enum StoreSize {
    /// Bytes of a file, or of the files in a directory; 0 for none.
    package static func bytes(at path: String) -> Int {
        func size(_ path: String) -> Int {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return attributes?[.type] as? FileAttributeType == .typeRegular ? attributes?[.size] as? Int ?? 0 : 0
        }
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return size(path) + names.reduce(0) { $0 + size("\(path)/\($1)") }
    }
}

package struct PartialFile: Sendable {
    /// The name that the file is to have.
    package let target: String
    /// The name that it has until then.
    package let path: String

    /// Files that engines keep beside a store, and the store's own.
    private static let suffixes = ["", "-wal", "-shm", "-journal", "-lock"]

    package init(for target: String) {
        self.target = target
        path = "\(target).partial-\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: 0 ... .max))"
    }

    /// Parts for the same target that other processes are making, or were making when they were killed.
    package static func leftovers(of target: String) -> [String] {
        let url = URL(fileURLWithPath: target)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
        return names.filter { name in
            name.hasPrefix(url.lastPathComponent + ".partial-") && !suffixes.dropFirst().contains { name.hasSuffix($0) }
        }.sorted().map { target + $0.dropFirst(url.lastPathComponent.count) }
    }

    /// Fails where something has the name already, or nothing can have it.
    package func checkTarget() throws(DatabaseError) {
        var status = stat()
        if lstat(target, &status) == 0 { throw existing }
        let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
        if stat(folder, &status) != 0 {
            throw DatabaseError(.cannotOpen, "cannot make \(target): there is no directory \(folder); make it first")
        }
    }

    /// Gives the file, which nobody has open, its name.
    package func publish() throws(DatabaseError) {
        // A link fails where the name is taken; a rename would take it. A directory has no links.
        if link(path, target) != 0 {
            guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw failure() }
            // A file system without links.
            try checkTarget()
            guard rename(path, target) == 0 else { throw failure() }
        }
        remove()
        let folder = open(URL(fileURLWithPath: target).deletingLastPathComponent().path, O_RDONLY)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// Removes what has no name yet.
    package func remove() {
        for suffix in Self.suffixes { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// The error with the name that the caller knows.
    package func named(_ error: DatabaseError) -> DatabaseError {
        DatabaseError(error.extendedCode, error.message.replacingOccurrences(of: path, with: target), sql: error.sql)
    }

    private var existing: DatabaseError {
        DatabaseError(.error, "output file already exists: remove \(target), or give another name")
    }

    private func failure() -> DatabaseError {
        if errno == EEXIST { return existing }
        return DatabaseError(.cannotOpen, "\(target) cannot be made: \(String(cString: strerror(errno)))")
    }
}
