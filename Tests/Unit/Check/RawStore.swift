// RawStore.swift - a store's file as plain LMDB sees it, for the tests to break.

import CLMDB
import Foundation

struct RawFailure: Error, CustomStringConvertible {
    let description: String
}

private func check(_ code: Int32, _ call: String) throws {
    if code != 0 { throw RawFailure(description: "\(call): \(String(cString: mdb_strerror(code)))") }
}

typealias Bytes = [UInt8]

struct RawEntry: Equatable {
    var key: Bytes
    var value: Bytes
}

/// The trees of one store inside one write transaction.
struct RawStore {
    private let transaction: OpaquePointer

    /// Opens the file, which no connection may have open, and commits what `body` does to it.
    static func edit(_ path: String, _ body: (RawStore) throws -> Void) throws {
        var environment: OpaquePointer?
        try check(mdb_env_create(&environment), "mdb_env_create")
        defer { mdb_env_close(environment) }
        try check(mdb_env_set_maxdbs(environment, 100), "mdb_env_set_maxdbs")
        try check(mdb_env_set_mapsize(environment, 1 << 26), "mdb_env_set_mapsize")
        try check(mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR), 0o644), "mdb_env_open")
        var transaction: OpaquePointer?
        try check(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
        do {
            try body(RawStore(transaction: transaction!))
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try check(mdb_txn_commit(transaction), "mdb_txn_commit")
    }

    private func open(_ tree: String, create: Bool = false) throws -> MDB_dbi {
        var handle: MDB_dbi = 0
        try check(mdb_dbi_open(transaction, tree, create ? UInt32(MDB_CREATE) : 0, &handle), "mdb_dbi_open \(tree)")
        return handle
    }

    /// The names of the trees.
    func trees() throws -> [String] {
        var main: MDB_dbi = 0
        try check(mdb_dbi_open(transaction, nil, 0, &main), "mdb_dbi_open")
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(transaction, main, &cursor), "mdb_cursor_open")
        defer { mdb_cursor_close(cursor) }
        var names: [String] = []
        var (key, value) = (MDB_val(), MDB_val())
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
            names.append(String(decoding: Bytes(key), as: UTF8.self))
        }
        return names
    }

    /// Every entry, in key order.
    func entries(_ tree: String) throws -> [RawEntry] {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(transaction, try open(tree), &cursor), "mdb_cursor_open")
        defer { mdb_cursor_close(cursor) }
        var entries: [RawEntry] = []
        var key = MDB_val()
        var value = MDB_val()
        while true {
            let code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { return entries }
            try check(code, "mdb_cursor_get")
            entries.append(RawEntry(key: Bytes(key), value: Bytes(value)))
        }
    }

    func put(_ tree: String, _ entry: RawEntry) throws {
        var (keyBytes, valueBytes) = (entry.key, entry.value)
        let handle = try open(tree)
        try keyBytes.withUnsafeMutableBytes { keyBytes in
            try valueBytes.withUnsafeMutableBytes { valueBytes in
                var key = MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
                var value = MDB_val(mv_size: valueBytes.count, mv_data: valueBytes.baseAddress)
                try check(mdb_put(transaction, handle, &key, &value, 0), "mdb_put \(tree)")
            }
        }
    }

    func remove(_ tree: String, _ key: Bytes) throws {
        var keyBytes = key
        let handle = try open(tree)
        try keyBytes.withUnsafeMutableBytes { keyBytes in
            var key = MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
            try check(mdb_del(transaction, handle, &key, nil), "mdb_del \(tree)")
        }
    }

    /// Makes `tree` hold what `source` holds.
    func copy(_ source: String, to tree: String) throws {
        let copied = try entries(source)
        try check(mdb_drop(transaction, try open(tree), 0), "mdb_drop")
        for entry in copied { try put(tree, entry) }
    }

    /// Changes the value of the `number`-th entry, counted from 0.
    func change(_ tree: String, _ number: Int, _ body: (inout Bytes) -> Void) throws {
        var entry = try entries(tree)[number]
        body(&entry.value)
        try put(tree, entry)
    }
}

extension Bytes {
    fileprivate init(_ value: MDB_val) {
        self = Bytes(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    }
}
