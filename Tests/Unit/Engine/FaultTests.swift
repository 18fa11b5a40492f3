// The operating system fails: full disks, failed writes. Nothing is lost, nothing crashes, the code says what it was.
//
// A write is made to fail by putting /dev/full in the place of one of the store's descriptors.

#if os(Linux)
    import Foundation
    import RootstockEngine
    import Testing

    /// Descriptors of this process that are open on the file, with or without O_DSYNC.
    private func descriptors(of path: String, synchronous: Bool) -> [Int32] {
        (3..<1024).filter { descriptor in
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, flags & O_ACCMODE != O_RDONLY, (flags & O_DSYNC != 0) == synchronous else { return false }
            var ours = stat()
            var theirs = stat()
            return fstat(descriptor, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev
                && ours.st_ino == theirs.st_ino
        }
    }

    /// Runs the body with every write to the descriptors failing for want of space.
    private func failingWrites(to descriptors: [Int32], _ body: () throws -> Void) rethrows {
        let full = Glibc.open("/dev/full", O_RDWR)
        let saved = descriptors.map { dup($0) }
        for descriptor in descriptors { dup2(full, descriptor) }
        defer {
            for (descriptor, copy) in zip(descriptors, saved) {
                dup2(copy, descriptor)
                close(copy)
            }
            close(full)
        }
        try body()
    }

    private func canMount() -> Bool {
        let scratch = Scratch()
        guard geteuid() == 0, mount("tmpfs", scratch.directory, "tmpfs", 0, "size=1m") == 0 else { return false }
        umount(scratch.directory)
        return true
    }

    @Suite(.serialized) struct FaultTests {
        @Test func aPageThatCannotBeWritten() throws {
            let scratch = Scratch()
            let environment = try Environment(engine: "lmdb", path: scratch.path())
            let tree = try environment.write { try $0.tree("t", create: true) }
            try environment.write { try $0.put(tree, [1], [1]) }
            let writer = try environment.begin(write: true)
            try writer.put(tree, [1], [2])
            let data = descriptors(of: scratch.path(), synchronous: false)
            try #require(!data.isEmpty)
            failingWrites(to: data) {
                #expect(throws: ROOTSTOCK_FULL.fault) { try writer.commit() }
            }
            try environment.read { try #expect($0.get(tree, [1]) == [1], "the last commit is untouched") }
            try environment.write { try $0.put(tree, [1], [3]) }
            try environment.read { try #expect($0.get(tree, [1]) == [3], "and the next one works") }
        }

        @Test func aMetaPageThatCannotBeWritten() throws {
            let scratch = Scratch()
            let path = scratch.path()
            let environment = try Environment(engine: "lmdb", path: path)
            let tree = try environment.write { try $0.tree("t", create: true) }
            let other = try environment.write { try $0.tree("other", create: true) }
            try environment.write { try $0.put(tree, [1], [1]) }
            try environment.write { try $0.put(other, [7], [7]) }
            let pooled = try environment.begin()
            pooled.reset()
            let live = try environment.begin()
            let writer = try environment.begin(write: true)
            try writer.put(tree, [1], [2])
            // As many as need both flushes: then the meta page has a descriptor of its own.
            for i in 0..<200 { try writer.put(tree, EngineContract.key(i), [2]) }
            let meta = descriptors(of: path, synchronous: true)
            try #require(meta.count == 1)
            failingWrites(to: meta) {
                #expect(throws: ROOTSTOCK_FULL.fault) { try writer.commit() }
            }
            // A snapshot that is still live reads on, and keeps the environment from being opened anew.
            try #expect(live.get(tree, [1]) == [1])
            #expect(throws: ROOTSTOCK_MUST_REOPEN.fault) { try environment.begin() }
            #expect(throws: ROOTSTOCK_MUST_REOPEN.fault) { try environment.begin(write: true) }
            #expect(throws: ROOTSTOCK_MUST_REOPEN.fault) { try pooled.renew() }
            live.abort()
            // Then the next begin opens it: handles, and snapshots that were reset before, go on.
            try environment.write { transaction in
                try #expect(transaction.get(tree, [1]) == [1])
                try #expect(transaction.get(other, [7]) == [7])
                try transaction.put(tree, [1], [3])
            }
            try pooled.renew()
            try #expect(pooled.get(tree, [1]) == [3])
            try #expect(pooled.get(other, [7]) == [7])
            pooled.reset()
            pooled.abort()
            try #expect(environment.statistics().readers == 0)
        }

        /// Also where the file is written through the map: LMDB by itself would end the process there (SIGBUS).
        @Test(
            .enabled("needs the right to mount a small file system", canMount),
            arguments: [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_OFF])
        func aFullDisk(durability: rootstock_durability) throws {
            let scratch = Scratch()
            try #require(mount("tmpfs", scratch.directory, "tmpfs", 0, "size=4m") == 0)
            defer { umount2(scratch.directory, Int32(MNT_DETACH)) }
            let environment = try Environment(engine: "lmdb", path: scratch.path(), .init(durability: durability))
            let tree = try environment.write { try $0.tree("t", create: true) }
            try environment.write { try $0.put(tree, [1], [1]) }
            var fault: Fault?
            var kept = 0
            for i in 0..<100 where fault == nil {
                do {
                    try environment.write {
                        try $0.put(tree, EngineContract.key(i), Bytes(repeating: 1, count: 100_000))
                    }
                    kept += 1
                } catch let error as Fault {
                    fault = error
                }
            }
            #expect(fault?.code == ROOTSTOCK_FULL.code)
            #expect(kept > 10)
            try environment.read { transaction in
                try #expect(transaction.statistics(tree).entries == UInt64(kept + 1), "what was committed is there")
            }
            // Room again: by clearing the tree where the disk still has some, or by whoever makes room.
            #expect(mount("tmpfs", scratch.directory, "tmpfs", UInt(MS_REMOUNT), "size=16m") == 0)
            try environment.write { try $0.put(tree, [2], Bytes(repeating: 2, count: 100_000)) }
        }

        /// LMDB fills its lock file in through a map: a page without room ended the process (SIGBUS).
        @Test(.enabled("needs the right to mount a small file system", canMount))
        func openingOnAFullDisk() throws {
            let scratch = Scratch()
            try #require(mount("tmpfs", scratch.directory, "tmpfs", 0, "size=1m") == 0)
            defer { umount2(scratch.directory, Int32(MNT_DETACH)) }
            let filler = scratch.directory + "/filler"
            let descriptor = Glibc.open(filler, O_WRONLY | O_CREAT, 0o600)
            let page = Bytes(repeating: 1, count: 4096)
            while write(descriptor, page, page.count) > 0 {}
            close(descriptor)
            // The second time over what the first one left.
            for _ in 0..<2 {
                #expect(throws: ROOTSTOCK_FULL.fault) { _ = try Environment(engine: "lmdb", path: scratch.path()) }
            }
            unlink(filler)
            let environment = try Environment(engine: "lmdb", path: scratch.path())
            let tree = try environment.write { try $0.tree("t", create: true) }
            try environment.write { try $0.put(tree, [1], [1]) }
        }

        @Test func aDirectoryThatCannotBeWritten() throws {
            // Root may write anywhere; the kernel's own files are the exception.
            do {
                _ = try Environment(engine: "lmdb", path: "/proc/rootstock.store")
                Issue.record("a store in /proc")
            } catch {
                #expect([ROOTSTOCK_CANNOT_OPEN.code, ROOTSTOCK_PERMISSION.code].contains(error.code), "\(error)")
            }
        }
    }
#endif
