// Commits of several writers that share flushes: what publish and settle promise, and what is told when a flush fails.
//
// A flush is made to fail by putting a descriptor that cannot be flushed in the place of the store's.

#if os(Linux)
    import Foundation
    import RootstockEngine
    import TestSupport
    import Testing

    /// Descriptors of this process that are open on the file for writing, without O_DSYNC, in the order of their numbers: the
    /// first is the engine's own, which flushes for those who wait, the second LMDB's, which commits flush.
    private func descriptors(of path: String) -> [Int32] {
        (3..<1024).filter { descriptor in
            let flags = fcntl(descriptor, F_GETFL)
            guard flags >= 0, flags & O_ACCMODE != O_RDONLY, flags & O_DSYNC == 0 else { return false }
            var ours = stat()
            var theirs = stat()
            return fstat(descriptor, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev
                && ours.st_ino == theirs.st_ino
        }
    }

    /// Runs the body while the descriptor is another file's, on which fdatasync fails and writes do too.
    @discardableResult
    private func failing<R>(_ descriptor: Int32, _ body: () throws -> R) rethrows -> R {
        let full = Glibc.open("/dev/full", O_RDWR)
        let saved = dup(descriptor)
        dup2(full, descriptor)
        defer {
            dup2(saved, descriptor)
            close(saved)
            close(full)
        }
        return try body()
    }

    extension Transaction {
        /// Commits by publish; the ticket.
        fileprivate func publish() throws(Fault) -> UInt64 {
            var ticket: UInt64 = 0
            let environment = self.environment
            try environment.check(environment.engine.pointee.publish(handOver(), &ticket))
            return ticket
        }
    }

    extension Environment {
        fileprivate func settle(_ ticket: UInt64) throws(Fault) {
            try check(engine.pointee.settle(pointer, ticket))
        }

        /// `also`: keys beside the one, for a commit that is too large to be sealed.
        fileprivate func put(_ tree: UInt32, _ value: UInt8, also keys: UInt8 = 0) throws -> UInt64 {
            let writer = try begin(write: true)
            try writer.put(tree, [1], [value])
            for key in 0..<keys { try writer.put(tree, [2, key], [value]) }
            return try writer.publish()
        }
    }

    @Suite(.serialized) struct FlushTests {
        private func withTree(
            _ options: rootstock_options = .init(), _ body: (Environment, UInt32, String) throws -> Void
        ) throws {
            let scratch = Scratch()
            let environment = try Environment(engine: "lmdb", path: scratch.path(), options)
            let tree = try environment.write { try $0.tree("t", create: true) }
            try environment.write { try $0.put(tree, [1], [0]) }
            try body(environment, tree, scratch.path())
        }

        @Test func aPublishedCommitIsSeenAndSettles() throws {
            try withTree { environment, tree, _ in
                let ticket = try environment.put(tree, 1)
                #expect(ticket != 0)
                try environment.read { try #expect($0.get(tree, [1]) == [1]) }
                // The next writer begins before it is settled, and commits for both.
                let next = try environment.put(tree, 2)
                #expect(next > ticket)
                try environment.settle(ticket)
                try environment.settle(next)
                try environment.write { try $0.put(tree, [1], [3]) }
                try environment.read { try #expect($0.get(tree, [1]) == [3]) }
            }
        }

        /// The first commit of an environment says nothing of what was written before it was opened: it makes both flushes.
        @Test func theFirstCommitOfAnEnvironmentLeavesNothingToSettle() throws {
            let scratch = Scratch()
            var tree: UInt32 = 0
            do {
                let environment = try Environment(engine: "lmdb", path: scratch.path())
                tree = try environment.write { try $0.tree("t", create: true) }
            }
            let environment = try Environment(engine: "lmdb", path: scratch.path())
            try environment.read { tree = try $0.tree("t") }
            #expect(try environment.put(tree, 1) == 0)
            #expect(try environment.put(tree, 2) != 0)
        }

        @Test(arguments: [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_NORMAL, ROOTSTOCK_DURABILITY_OFF])
        func everyClassPublishes(durability: rootstock_durability) throws {
            try withTree(.init(durability: durability)) { environment, tree, _ in
                for value in UInt8(1)...4 { try environment.settle(environment.put(tree, value)) }
                try environment.read { try #expect($0.get(tree, [1]) == [4]) }
            }
        }

        /// A transaction that changed nothing flushes nothing: nobody may take it for a flush.
        @Test func anEmptyCommitIsNoFlush() throws {
            try withTree { environment, tree, path in
                let ticket = try environment.put(tree, 1)
                try environment.begin(write: true).commit()
                let own = try #require(descriptors(of: path).first)
                failing(own) { #expect(throws: Fault.self) { try environment.settle(ticket) } }
            }
        }

        @Test func theNextCommitSettlesWhatWasPublished() throws {
            try withTree { environment, tree, path in
                let ticket = try environment.put(tree, 1)
                try environment.write { try $0.put(tree, [1], [2]) }
                let own = try #require(descriptors(of: path).first)
                try failing(own) { try environment.settle(ticket) }
            }
        }

        /// Everybody who waited is told, and what comes later is believed only once the meta pages were written anew.
        @Test func aFlushThatFailsIsToldToAllWhoWait() throws {
            try withTree { environment, tree, path in
                let own = try #require(descriptors(of: path).first)
                let first = try environment.put(tree, 1)
                let second = try environment.put(tree, 2)
                failing(own) {
                    // They were to share it.
                    #expect(throws: Fault.self) { try environment.settle(first) }
                    #expect(throws: Fault.self) { try environment.settle(second) }
                    #expect(throws: Fault.self) { try environment.settle(second) }
                    #expect(throws: Fault.self) {
                        try environment.check(environment.engine.pointee.sync(environment.pointer))
                    }
                }
                try environment.read { try #expect($0.get(tree, [1]) == [2], "it is there all the same") }
                // In doubt a commit makes both flushes itself.
                #expect(try environment.put(tree, 3) == 0)
                try environment.settle(first)
                try environment.settle(second)
                #expect(try environment.put(tree, 4) != 0)
            }
        }

        @Test func aLargeCommitFlushesWhatWasPublishedBefore() throws {
            try withTree { environment, tree, path in
                let own = try #require(descriptors(of: path).first)
                let first = try environment.put(tree, 1)
                let second = try environment.put(tree, 2, also: 200)
                #expect(second != 0)
                failing(own) {
                    #expect(throws: Never.self) { try environment.settle(first) }
                    #expect(throws: Fault.self) { try environment.settle(second) }
                }
                #expect(try environment.put(tree, 3) == 0)
                try environment.settle(second)
                try environment.read { try #expect($0.get(tree, [1]) == [3]) }
            }
        }

        @Test func afterACommitThatFailedThePublishedOneIsFlushedAnew() throws {
            try withTree { environment, tree, path in
                let ticket = try environment.put(tree, 1)
                let lmdb = try #require(descriptors(of: path).dropFirst().first)
                failing(lmdb) {
                    #expect(throws: Fault.self) { try environment.write { try $0.put(tree, [1], [2]) } }
                }
                try environment.settle(ticket)
                try environment.read { try #expect($0.get(tree, [1]) == [1]) }
                #expect(try environment.put(tree, 3) != 0, "the doubt is over")
            }
        }

        /// The file is exchanged while a commit in the old one waits.
        @Test func aCommitSettlesWhileTheFileIsExchanged() throws {
            try withTree { environment, tree, path in
                let ticket = try environment.put(tree, 1)
                try environment.compact()
                try environment.settle(ticket)
                let reader = try environment.beginFollowing()
                defer { reader.abort() }
                let found = try reader.tree("t")
                try #expect(reader.get(found, [1]) == [1])
            }
        }

        @Test func writersInLineTakeTurnsInTheOrderOfComing() throws {
            try withTree { environment, _, _ in
                #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code)
                #expect(rootstock_writer_lock_in_line(environment.shared, 1_000_000) == ROOTSTOCK_BUSY.code)
                #expect(rootstock_writers_in_line(environment.shared) == 0)
                let order = Collected<Int>()
                let group = DispatchGroup()
                for number in 1...3 {
                    DispatchQueue.global().async(group: group) {
                        #expect(
                            rootstock_writer_lock_in_line(environment.shared, 60_000_000_000) == ROOTSTOCK_OK.code)
                        order.add(number)
                        rootstock_writer_unlock(environment.shared)
                    }
                    // Each stands in line before the next comes.
                    let since = Date()
                    while waiting(environment) < number, Date().timeIntervalSince(since) < 30 { usleep(100) }
                }
                rootstock_writer_unlock(environment.shared)
                group.wait()
                #expect(order.all == [1, 2, 3])
                #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code)
                rootstock_writer_unlock(environment.shared)
            }
        }

        /// Where commits wait for no flush, who has the lock may take it again before one who has just come; but not for ever.
        @Test func whoHasJustComeIsPassedButNotForEver() throws {
            try withTree(.init(durability: ROOTSTOCK_DURABILITY_OFF)) { environment, _, _ in
                var passed = 0
                for _ in 0..<20 {
                    #expect(rootstock_writer_lock_soon(environment.shared) == ROOTSTOCK_OK.code)
                    #expect(rootstock_writer_lock_soon(environment.shared) == ROOTSTOCK_BUSY.code)
                    let order = Collected<Int>()
                    let group = DispatchGroup()
                    DispatchQueue.global().async(group: group) {
                        #expect(
                            rootstock_writer_lock_in_line(environment.shared, 60_000_000_000) == ROOTSTOCK_OK.code)
                        order.add(1)
                        rootstock_writer_unlock(environment.shared)
                    }
                    let since = Date()
                    while waiting(environment) == 0, Date().timeIntervalSince(since) < 30 { usleep(10) }
                    // The lock is never free for longer than it takes to ask for it again.
                    while order.all.isEmpty, Date().timeIntervalSince(since) < 30 {
                        rootstock_writer_unlock(environment.shared)
                        if rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code {
                            passed += waiting(environment)
                        } else {
                            group.wait()
                            #expect(rootstock_writer_lock(environment.shared, nil, nil) == ROOTSTOCK_OK.code)
                        }
                    }
                    #expect(order.all == [1])
                    rootstock_writer_unlock(environment.shared)
                    group.wait()
                }
                #expect(passed > 0)
            }
        }

        private func waiting(_ environment: Environment) -> Int { Int(rootstock_writers_in_line(environment.shared)) }

        /// Threads that write beside each other: none is lost, each sees its own, and the order of commits is kept.
        @Test func manyWritersShareFlushes() throws {
            try withTree { environment, tree, _ in
                let writers = 4
                let rows = 50
                DispatchQueue.concurrentPerform(iterations: writers) { writer in
                    do {
                        for row in 0..<rows {
                            let code = rootstock_writer_lock_in_line(environment.shared, 60_000_000_000)
                            #expect(code == ROOTSTOCK_OK.code)
                            let transaction = try environment.begin(write: true)
                            try transaction.put(tree, EngineContract.key(100 + row * writers + writer), [UInt8(writer)])
                            let ticket =
                                rootstock_writers_in_line(environment.shared) != 0
                                ? try transaction.publish()
                                : try {
                                    try transaction.commit()
                                    return 0
                                }()
                            rootstock_writer_unlock(environment.shared)
                            if ticket != 0 { try environment.settle(ticket) }
                            try environment.read { snapshot in
                                try #expect(
                                    snapshot.get(tree, EngineContract.key(100 + row * writers + writer))
                                        == [UInt8(writer)])
                            }
                        }
                    } catch {
                        Issue.record("\(error)")
                    }
                }
                try environment.read { snapshot in
                    try #expect(snapshot.statistics(tree).entries == UInt64(writers * rows + 1))
                }
            }
        }
    }
#endif
