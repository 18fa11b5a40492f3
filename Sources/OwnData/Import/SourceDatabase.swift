// The database that a user brings: opened read-only, in one snapshot, and left as it was to the last byte.
//
// Invariant: nothing is written into the original, nor beside it but for the lock file that every reader of an LMDB store
// needs. A write-ahead log that no process has open is read from a copy,
// since SQLite would build its shared-memory file beside the original. A database without a log is opened as immutable, and a
// change underneath is noticed when it is closed (`checkUnchanged`).

import CSQLite
import Foundation
import Rootstock
import Workloads

/// What cannot be done with the user's data, in words for the user.
public struct OwnDataError: Error, CustomStringConvertible, Sendable {
    public var description: String
    public init(_ description: String) { self.description = description }
}

public final class SourceDatabase {
    public let path: String
    /// In a read transaction. A SQLite file is opened by a URI of its own, a store as any store.
    package let connection: Connection
    private let copy: String?
    /// Null of a store on a server, which is read in its snapshot.
    private let fingerprint: Fingerprint?

    private struct Fingerprint: Equatable {
        var size: Int64
        var modifiedSeconds: Int
        var modifiedNanoseconds: Int
        var hasLog: Bool

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            size = Int64(status.st_size)
            #if os(Linux)
                modifiedSeconds = status.st_mtim.tv_sec
                modifiedNanoseconds = status.st_mtim.tv_nsec
            #else
                modifiedSeconds = status.st_mtimespec.tv_sec
                modifiedNanoseconds = status.st_mtimespec.tv_nsec
            #endif
            hasLog = FileManager.default.fileExists(atPath: path + "-wal")
        }
    }

    /// - Parameters:
    ///   - engine: whose file it is, or `nil` where its first bytes are to decide between `sqlite` and `lmdb`.
    ///   - scratch: a directory for a copy, where reading in place would leave files beside the original.
    public init(path: String, engine: Engine? = nil, scratch: URL) throws {
        let fingerprint = Fingerprint(path)
        guard Engine.isSomething(at: path) else { throw OwnDataError("there is no file \(path)") }
        // Whose file it is cannot be told then.
        guard fingerprint == nil || access(path, R_OK) == 0 else {
            throw OwnDataError("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        self.path = path
        self.fingerprint = fingerprint
        // An empty file is an empty database.
        let kept = engine ?? Engine.recognized(at: path) ?? (fingerprint?.size == 0 ? .sqlite : .lmdb)
        guard kept.isNative, let fingerprint else {
            var options = StoreOptions()
            options.readOnly = true
            do {
                connection = try Connection(path: path, engine: kept, options: options)
                copy = nil
            } catch {
                if engine == nil, error.message.contains("not an LMDB file") {
                    throw OwnDataError("\(path) is neither a SQLite database nor a store of engine lmdb")
                }
                throw OwnDataError("\(path) cannot be read as a store of engine \(kept): \(error.message)")
            }
            try begin()
            return
        }
        let files = FileManager.default
        if files.fileExists(atPath: path + "-journal"), Fingerprint(path + "-journal")?.size ?? 0 > 0 {
            throw OwnDataError(
                "\(path) has a rollback journal: a program writes it now, or one ended without finishing. Close that program, "
                    + "or open and close the database with it once, and run this again")
        }
        var copy: String?
        if fingerprint.hasLog, !files.fileExists(atPath: path + "-shm") {
            try files.createDirectory(at: scratch, withIntermediateDirectories: true)
            let place = scratch.appendingPathComponent("original-\(UUID().uuidString).sqlite").path
            try files.copyItem(atPath: path, toPath: place)
            try files.copyItem(atPath: path + "-wal", toPath: place + "-wal")
            copy = place
        }
        self.copy = copy
        let opened = copy ?? path
        // The path is percent-encoded: in a URI, '?' and '#' mean something else.
        let allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")
        let full = URL(fileURLWithPath: opened).path.addingPercentEncoding(withAllowedCharacters: allowed) ?? opened
        let uri = "file:\(full)?mode=ro" + (fingerprint.hasLog ? "" : "&immutable=1")
        do {
            connection = try Connection(readingURI: uri, path: path)
        } catch {
            throw OwnDataError("\(path) cannot be opened: \(error.message)")
        }
        try begin()
    }

    /// One snapshot for everything that is read, and no checkpoint of a log that belongs to others.
    private func begin() throws {
        do {
            try run("BEGIN")
            _ = try integer("SELECT count(*) FROM sqlite_schema")
        } catch {
            let reason = (error as? DatabaseError)?.message ?? "\(error)"
            throw OwnDataError(
                "\(path) cannot be read as a \(connection.engine.isNative ? "SQLite database" : "store"): \(reason)")
        }
    }

    deinit {
        connection.close()
        if let copy {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) }
        }
    }

    /// Throws if another program changed the file while it was read without a lock.
    public func checkUnchanged() throws {
        // A store's snapshot stands still whatever others do.
        if !connection.engine.isNative || fingerprint?.hasLog == true && copy == nil { return }
        if Fingerprint(path) != fingerprint {
            throw OwnDataError("\(path) was changed by another program while it was read: run this again")
        }
    }

    // MARK: Statements

    /// Prepares one statement and hands it to `body`.
    func withStatement<T>(_ sql: String, _ body: (RawStatement) throws -> T) throws -> T {
        let statement = try connection.prepare(sql)
        return try withExtendedLifetime(statement) { try body(RawStatement(handle: statement.handle)) }
    }

    func run(_ sql: String) throws { try withStatement(sql) { try $0.run() } }

    func integer(_ sql: String) throws -> Int {
        try withStatement(sql) { try $0.step() ? $0.integer(0) : 0 }
    }
}
