// Opening.swift - what opening finds out by itself, and URLs.

import Foundation

extension Engine {
    /// The engine that was asked for, else the file's, else the usual one for a file of the name.
    package static func chosen(_ engine: Engine?, for path: String) -> Engine {
        if let engine { return engine }
        // SQLite's names for databases without a file.
        if path == ":memory:" || path.isEmpty { return .sqlite }
        return recognized(at: path) ?? usual(for: path)
    }
}

extension StoreOptions {
    /// With the journal mode of a SQLite file that a store is to make.
    func completed(for engine: Engine, path: String) -> StoreOptions {
        guard engine.isNative, !readOnly, native.journalMode == nil, path != ":memory:", !path.isEmpty,
            !path.hasPrefix("file:")
        else { return self }
        let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
        guard size ?? 0 == 0 else { return self }
        var options = self
        options.native.journalMode = .wal
        return options
    }
}

extension Store {
    /// Opens the store of a file URL, as ``init(path:engine:options:)`` does.
    ///
    /// - Throws: ``ResultCode/misuse`` if `url` is of no file; what opening the path throws.
    public convenience init(
        url: URL, engine: Engine? = nil, options: StoreOptions = StoreOptions()
    ) throws(DatabaseError) {
        try self.init(path: url.filePath, engine: engine, options: options)
    }
}

extension Connection {
    /// Opens the store of a file URL, as ``init(path:engine:options:)`` does.
    ///
    /// - Throws: ``ResultCode/misuse`` if `url` is of no file; what opening the path throws.
    public convenience init(
        url: URL, engine: Engine? = nil, options: StoreOptions = StoreOptions()
    ) throws(DatabaseError) {
        try self.init(path: url.filePath, engine: engine, options: options)
    }
}

extension URL {
    fileprivate var filePath: String {
        get throws(DatabaseError) {
            guard isFileURL else { throw DatabaseError(.misuse, "\(absoluteString) is no file URL") }
            return path
        }
    }
}
