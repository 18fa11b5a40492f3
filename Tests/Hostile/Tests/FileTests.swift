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

    /// A store whose file was moved, with a link left in its place, while it was open: the link is neither followed nor replaced.
    @Test func aStoreThatALinkTookThePlaceOfIsNotVacuumed() throws {
        let session = try Session(store: folder.path("a"))
        try session.run("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE a = 2")
        try Session(store: folder.path("other")).run("CREATE TABLE u(a)")
        try FileManager.default.moveItem(atPath: folder.path("a"), toPath: folder.path("moved"))
        for target in ["moved", "other", "nowhere"] {
            try? FileManager.default.removeItem(atPath: folder.path("a"))
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("a"), withDestinationPath: folder.path(target))
            let refusal = session.refusal("VACUUM")
            #expect(refusal.contains("its path names another file by now"), "\(target): \(refusal)")
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("a")) == folder.path(target))
            #expect(!folder.names.contains { $0.hasSuffix("-vacuum") || $0.hasPrefix("nowhere") })
            try session.run("INSERT INTO t VALUES (3)")
        }
        #expect(try session.run("SELECT count(*) FROM t; PRAGMA integrity_check") == ["4", "ok"])
        #expect(try Session(store: folder.path("moved")).run("SELECT count(*) FROM t") == ["4"])
        #expect(try Session(store: folder.path("other")).run("SELECT count(*) FROM u") == ["0"])
    }

    /// In a process of its own, since the umask is the process's. VACUUM keeps what the file had.
    @Test(arguments: ["000", "022", "027", "077"]) func theUmaskCountsAsForSQLite(_ umask: String) throws {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("rootstock-session").path
        for (engine, name) in [("lmdb", "store"), ("sqlite-btree", "btree"), ("wal", "native")] {
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c",
                "umask \(umask); printf 'r CREATE TABLE t(a)\\nr VACUUM\\nr VACUUM INTO \"\(folder.path(name)).copy\"\\n' | "
                    + "'\(program)' '\(folder.path(name))' \(engine)",
            ]
            let output = Pipe()
            shell.standardOutput = output
            try shell.run()
            let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            shell.waitUntilExit()
            #expect(said.split(separator: "\n").allSatisfy { $0.hasPrefix("= 0 ") } && !said.isEmpty, "\(said)")
            let wanted = 0o644 & ~Int(umask, radix: 8)!
            for file in [name, "\(name).copy"] { #expect(try mode(folder.path(file)) == wanted, "\(engine), \(file)") }
            if engine == "lmdb" { #expect(try mode(folder.path("store-lock")) == wanted) }
        }
    }
}
