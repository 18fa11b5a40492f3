// FileTests.swift - the files that a store makes: their modes, and what stands in their place.

import Foundation
import Testing

@Suite(.serialized) struct FileTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    private func mode(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as! Int
    }

    /// The umask belongs to the whole process: other suites make files of their own meanwhile, and nothing here depends on theirs.
    @Test func modesAreThoseThatSQLiteGives() throws {
        let before = umask(0o022)
        defer { umask(before) }
        try Session(store: folder.path("a")).run("CREATE TABLE t(a)")
        try Session(folder.path("native")).run("CREATE TABLE t(a)")
        #expect(try mode(folder.path("a")) == 0o644)
        #expect(try mode(folder.path("a")) == mode(folder.path("native")))
        #expect(try mode(folder.path("a-lock")) == 0o644)
    }

    /// As a write-ahead log has its database's permissions, whatever the umask: else another user of the data could not lock it.
    @Test(arguments: [0o600, 0o640, 0o664, 0o666]) func theLockFileHasTheDataFilesMode(_ wanted: Int) throws {
        do { try Session(store: folder.path("a")).run("CREATE TABLE t(a)") }
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: folder.path("a"))
        try FileManager.default.removeItem(atPath: folder.path("a-lock"))
        try Session(store: folder.path("a")).run("INSERT INTO t VALUES (1)")
        #expect(try mode(folder.path("a-lock")) == wanted)
    }

    @Test func aLockFileThatIsALinkIsRefused() throws {
        let treasure = folder.path("treasure")
        try Data("gold".utf8).write(to: URL(fileURLWithPath: treasure))
        for target in [treasure, folder.path("nowhere")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path("a-lock"), withDestinationPath: target)
            let failure = #expect(throws: Refused.self) { try Session(store: folder.path("a")) }
            #expect(failure?.message.contains("lock file is a symbolic link") == true, "\(failure?.description ?? "")")
            try FileManager.default.removeItem(atPath: folder.path("a-lock"))
        }
        #expect(try String(contentsOfFile: treasure, encoding: .utf8) == "gold")
        #expect(!folder.names.contains("nowhere"))
        try Session(store: folder.path("a")).run("CREATE TABLE t(a)")
    }

    @Test func aLockFileThatIsADirectoryIsRefused() throws {
        try FileManager.default.createDirectory(atPath: folder.path("a-lock"), withIntermediateDirectories: false)
        let failure = #expect(throws: Refused.self) { try Session(store: folder.path("a")) }
        #expect(failure?.message.contains("not a regular file") == true, "\(failure?.description ?? "")")
    }

    /// One lock file however the store is named: beside the real file.
    @Test func theLockFileStandsBesideTheRealFile() throws {
        try FileManager.default.createDirectory(atPath: folder.path("real"), withIntermediateDirectories: false)
        do { try Session(store: folder.path("real/a")).run("CREATE TABLE t(a)") }
        try FileManager.default.removeItem(atPath: folder.path("real/a-lock"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("real/a"))
        try Session(store: folder.path("link")).run("INSERT INTO t VALUES (1)")
        #expect(folder.names == ["link", "real"])
        #expect(FileManager.default.fileExists(atPath: folder.path("real/a-lock")))
    }
}
