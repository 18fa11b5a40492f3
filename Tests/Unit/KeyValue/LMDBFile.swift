// LMDBFile.swift - LMDB files as another program writes and reads them: by LMDB's own calls, and by Debian's mdb_load.
//
// The library is closed again before Rootstock opens the file and the other way round: one process must not have an LMDB
// file open twice.

import CLMDB
import Foundation
import Testing

/// What `mdb_dbi_open` takes.
struct TreeFlags: OptionSet, Hashable, CustomTestStringConvertible {
    let rawValue: UInt32
    static let reverseKey = TreeFlags(rawValue: 0x02)
    static let dupSort = TreeFlags(rawValue: 0x04)
    static let integerKey = TreeFlags(rawValue: 0x08)
    static let dupFixed = TreeFlags(rawValue: 0x10)
    static let integerDup = TreeFlags(rawValue: 0x20)
    static let reverseDup = TreeFlags(rawValue: 0x40)

    var testDescription: String { "flags \(String(rawValue, radix: 16))" }
}

struct Entry: Equatable {
    var key: [UInt8]
    var value: [UInt8]

    init(_ key: [UInt8], _ value: [UInt8]) {
        self.key = key
        self.value = value
    }

    init(_ key: String, _ value: String) { self.init(Array(key.utf8), Array(value.utf8)) }
}

/// An integer as a C program puts it in a key.
func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

func require(_ code: Int32, _ call: StaticString) throws {
    guard code == MDB_SUCCESS else { throw LMDBFailure(call: "\(call)", code: code) }
}

struct LMDBFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32
    var description: String { "\(call): \(String(cString: mdb_strerror(code)))" }
}

/// A folder of its own for a test's files.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-kv-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// Runs `body` in one transaction of LMDB's own on the file (or, with `directory`, on the folder) at `path`.
func withLMDB<Result>(
    _ path: String, directory: Bool = false, mapSize: Int = 64 << 20,
    _ body: (_ transaction: OpaquePointer) throws -> Result
) throws -> Result {
    var environment: OpaquePointer?
    try require(mdb_env_create(&environment), "mdb_env_create")
    defer { mdb_env_close(environment) }
    try require(mdb_env_set_mapsize(environment, mapSize), "mdb_env_set_mapsize")
    try require(mdb_env_set_maxdbs(environment, 8), "mdb_env_set_maxdbs")
    let flags = UInt32(MDB_NOSYNC) | (directory ? 0 : UInt32(MDB_NOSUBDIR))
    try require(mdb_env_open(environment, path, flags, 0o644), "mdb_env_open")
    var transaction: OpaquePointer?
    try require(mdb_txn_begin(environment, nil, 0, &transaction), "mdb_txn_begin")
    let result: Result
    do {
        result = try body(transaction!)
    } catch {
        mdb_txn_abort(transaction)
        throw error
    }
    try require(mdb_txn_commit(transaction), "mdb_txn_commit")
    return result
}

/// Writes entries as another program does; `tree` nil for the unnamed tree.
func writeTree(
    _ path: String, _ tree: String? = nil, _ flags: TreeFlags = [], directory: Bool = false, mapSize: Int = 64 << 20,
    entries: [Entry]
) throws {
    try withLMDB(path, directory: directory, mapSize: mapSize) { transaction in
        var handle: MDB_dbi = 0
        try require(mdb_dbi_open(transaction, tree, flags.rawValue | UInt32(MDB_CREATE), &handle), "mdb_dbi_open")
        for entry in entries {
            var keyBytes = entry.key
            var valueBytes = entry.value
            try keyBytes.withUnsafeMutableBytes { keyBytes in
                try valueBytes.withUnsafeMutableBytes { valueBytes in
                    var key = MDB_val(mv_size: keyBytes.count, mv_data: keyBytes.baseAddress)
                    var value = MDB_val(mv_size: valueBytes.count, mv_data: valueBytes.baseAddress)
                    try require(mdb_put(transaction, handle, &key, &value, 0), "mdb_put")
                }
            }
        }
    }
}

/// Every entry, in the tree's own order.
func readTree(_ path: String, _ tree: String? = nil, directory: Bool = false) throws -> [Entry] {
    try withLMDB(path, directory: directory) { transaction in
        var handle: MDB_dbi = 0
        try require(mdb_dbi_open(transaction, tree, 0, &handle), "mdb_dbi_open")
        var cursor: OpaquePointer?
        try require(mdb_cursor_open(transaction, handle, &cursor), "mdb_cursor_open")
        defer { mdb_cursor_close(cursor) }
        var entries: [Entry] = []
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {
            entries.append(
                Entry(
                    Array(UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size)),
                    Array(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))))
        }
        return entries
    }
}

/// Debian's `mdb_load` and `mdb_dump`, of package lmdb-utils.
enum LMDBTools {
    static let load = URL(fileURLWithPath: "/usr/bin/mdb_load")
    static let dump = URL(fileURLWithPath: "/usr/bin/mdb_dump")
    static var arePresent: Bool { FileManager.default.isExecutableFile(atPath: load.path) }

    /// Feeds a dump in `mdb_dump`'s format to `mdb_load`, into one file (`-n`) or a folder.
    static func load(_ path: String, directory: Bool = false, _ dump: String) throws {
        _ = try run(load, (directory ? [] : ["-n"]) + [path], input: dump)
    }

    /// The lines of `mdb_dump -p`, keys and values only.
    static func dump(_ path: String, _ tree: String? = nil) throws -> [String] {
        let text = try run(dump, ["-n", "-p"] + (tree.map { ["-s", $0] } ?? []) + [path])
        return text.split(separator: "\n").filter { $0.hasPrefix(" ") }.map { String($0.dropFirst()) }
    }

    private static func run(_ program: URL, _ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program.lastPathComponent) \(arguments)")
        return String(decoding: output, as: UTF8.self)
    }
}
