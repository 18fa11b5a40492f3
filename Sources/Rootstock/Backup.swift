// Backup.swift - a copy of a store that is in use.

import CSQLite
import Foundation
import RootstockTable

extension Store {
    /// Writes a copy of the store to a new file at `path`: the last commit, whole, without free pages, synced.
    ///
    /// Reads and writes go on meanwhile, of this process and of others. The copy is a store of the same engine, or on engine
    /// `sqlite` a database, with nothing left to recover. It takes one snapshot, so that for its time the store's file
    /// grows as under any long read.
    ///
    /// Until it is whole it has another name beside `path`.
    ///
    /// - Throws: ``ResultCode/error`` if something is at `path` already, which is left alone, and on engine `memory`;
    ///   ``ResultCode/cannotOpen``, ``ResultCode/full`` and the like. What was written of the copy is gone then.
    public func backup(to path: String) throws {
        try withReader { try $0.backup(to: path) }
    }

    /// The same for a task: cancelled, or with `progress` cancelled, it leaves no file.
    ///
    /// - Parameters:
    ///   - path: The file to make.
    ///   - progress: Gets the bytes to write as its total, which is an estimate, and the bytes written. A few times a second.
    /// - Throws: As the synchronous ``backup(to:)-(String)``; `CancellationError`.
    public func backup(to path: String, reporting progress: Progress? = nil) async throws {
        let file = PartialFile(for: path)
        let work = Task {
            try await readers.withConnection { connection in
                if let progress {
                    if progress.isCancelled { throw CancellationError() }
                    let info = try connection.storeInfo()
                    progress.totalUnitCount = Int64(max(1, info.usedPages * info.pageBytes))
                }
                try connection.checkCancellation()
                try connection.backup(to: file)
            }
        }
        let watch = Task {
            guard let progress else { return }
            while (try? await Task.sleep(for: .milliseconds(50))) != nil {
                if progress.isCancelled { return work.cancel() }
                progress.completedUnitCount = min(Int64(StoreSize.bytes(at: file.path)), progress.totalUnitCount)
            }
        }
        defer { watch.cancel() }
        try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            work.cancel()
        }
        if let progress { progress.completedUnitCount = progress.totalUnitCount }
    }
}

extension Connection {
    /// Writes a copy of the store's last commit to a new file at `path`: see ``Store/backup(to:)``.
    ///
    /// Changes of a transaction that is under way are not in it. On engine `sqlite` there must be none (`VACUUM INTO`).
    public func backup(to path: String) throws(DatabaseError) { try backup(to: PartialFile(for: path)) }

    /// The same under a name that the caller knows of.
    package func backup(to file: PartialFile) throws(DatabaseError) {
        try file.checkTarget()
        do {
            try write(to: file.path)
            try file.publish()
            log?(.info, "backup made", ["path": path, "target": file.target])
        } catch {
            file.remove()
            throw file.named(error)
        }
    }

    private func write(to path: String) throws(DatabaseError) {
        guard let database else { throw closedError }
        if isNative { return try nativeBackup(of: database, to: path) }
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_backup(database, path, &message)
        defer { sqlite3_free(message) }
        if code != SQLITE_OK {
            throw DatabaseError(ResultCode(rawValue: code), message.map { String(cString: $0) })
        }
    }

    private func nativeBackup(of database: OpaquePointer, to path: String) throws(DatabaseError) {
        // Not by prepare(_:), and not under query_only, which refuse whatever writes to any file.
        if isReadOnly { sqlite3_exec(database, "PRAGMA query_only = OFF", nil, nil, nil) }
        defer { if isReadOnly { sqlite3_exec(database, "PRAGMA query_only = ON", nil, nil, nil) } }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, "VACUUM INTO ?1", -1, &statement, nil) == SQLITE_OK,
            sqlite3_bind_text(statement, 1, path, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self)) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_DONE
        else { throw DatabaseError(sqlite3_extended_errcode(database), database: database) }
    }
}
