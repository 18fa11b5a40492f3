// Forms of engine lmdb: how far it goes into LMDB's pages by itself, and how it commits.

import Rootstock
import RootstockEngine
import Testing

@Suite struct FormTests {
    static let forms = ["lmdb:plain", "lmdb:sealed", "lmdb:read", "lmdb:read,sealed", "lmdb:write", "lmdb"]

    private func form(_ environment: Environment) -> String? {
        environment.shared.pointee.engine.pointee.form.map { String(cString: $0) }
    }

    /// Values that lie in leaves and beside them, some replaced and removed since.
    private func change(_ transaction: Transaction, _ round: UInt8) throws -> [Bytes: Bytes] {
        let tree = try transaction.tree("t", create: true)
        for i in UInt8(0)...200 where i % 6 == round {
            try transaction.put(tree, [i, round], Bytes(repeating: i, count: Int(i) * (round == 2 ? 40 : 3)))
        }
        for i in UInt8(0)...200 where i % 12 == round && round > 0 {
            _ = try? transaction.remove(tree, [i - 1, round - 1])
        }
        return Dictionary(uniqueKeysWithValues: try transaction.all(tree).map { ($0.key, $0.value) })
    }

    @Test(arguments: [ROOTSTOCK_DURABILITY_FULL, ROOTSTOCK_DURABILITY_NORMAL, ROOTSTOCK_DURABILITY_OFF])
    func eachGoesOnWhereAnyOtherEnded(durability: rootstock_durability) throws {
        let scratch = Scratch()
        var expected: [Bytes: Bytes] = [:]
        // Every form follows every other one.
        for before in Self.forms {
            for (round, name) in ([before, before, "lmdb", "lmdb:plain"] + Self.forms).enumerated() {
                let environment = try Environment(
                    engine: name, path: scratch.path(before), .init(durability: durability))
                if round > 0 || !expected.isEmpty {
                    try environment.read { transaction in
                        guard let tree = try? transaction.tree("t") else { return }
                        let found = Dictionary(
                            uniqueKeysWithValues: try transaction.all(tree).map { ($0.key, $0.value) })
                        #expect(found == expected, "\(name) reads what others wrote")
                    }
                }
                expected = try environment.write { try change($0, UInt8(round % 6)) }
                #expect(try environment.statistics().page_bytes > 0)
            }
            expected = [:]
        }
    }

    @Test func theOptionsChoose() throws {
        let scratch = Scratch()
        for (access, commit, name) in [
            (ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_PLAIN, "plain"),
            (ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_AUTOMATIC, "sealed"),
            (ROOTSTOCK_PAGE_ACCESS_READ, ROOTSTOCK_COMMIT_PLAIN, "read"),
            (ROOTSTOCK_PAGE_ACCESS_AUTOMATIC, ROOTSTOCK_COMMIT_PLAIN, "write"),
            (ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_SEALED, nil),
            (ROOTSTOCK_PAGE_ACCESS_AUTOMATIC, ROOTSTOCK_COMMIT_AUTOMATIC, nil),
        ] as [(rootstock_page_access, rootstock_commit_form, String?)] {
            var options = rootstock_options()
            options.page_access = access
            options.commit = commit
            let environment = try Environment(engine: "lmdb", path: scratch.path(), options)
            #expect(form(environment) == name)
            #expect(environment.shared.pointee.notice == nil, "this liblmdb is one that is known")
        }
    }

    @Test func whoComesSecondSharesOrIsRefused() throws {
        let scratch = Scratch()
        var options = rootstock_options()
        options.page_access = ROOTSTOCK_PAGE_ACCESS_NONE
        let first = try Environment(engine: "lmdb", path: scratch.path(), options)
        let second = try Environment(engine: "lmdb", path: scratch.path())
        #expect(second.shared == first.shared, "who asks for nothing shares")
        options.page_access = ROOTSTOCK_PAGE_ACCESS_WRITE
        #expect(throws: ROOTSTOCK_MISUSE.fault) { try Environment(engine: "lmdb", path: scratch.path(), options) }
        #expect(throws: ROOTSTOCK_MISUSE.fault) { try Environment(engine: "lmdb:read", path: scratch.path()) }
    }

    @Test func whatAnEngineHasNotIsRefused() throws {
        let scratch = Scratch()
        var options = rootstock_options()
        options.commit = ROOTSTOCK_COMMIT_PLAIN
        for engine in ["memory", "sqlite-btree"] {
            #expect(throws: ROOTSTOCK_MISUSE.fault) { try Environment(engine: engine, path: scratch.path(), options) }
        }
        options.write_map = ROOTSTOCK_WRITE_MAP_ALWAYS
        options.page_access = ROOTSTOCK_PAGE_ACCESS_READ
        #expect(throws: ROOTSTOCK_MISUSE.fault) { try Environment(engine: "lmdb", path: scratch.path(), options) }
        #expect(rootstock_engine_find("lmdb:granite") == nil)
    }

    @Test func theSwiftOptionsChoose() throws {
        let scratch = Scratch()
        var options = StoreOptions(durability: .normal)
        options.pageAccess = StoreOptions.PageAccess.none
        options.commit = .plain
        let connection = try Connection(path: scratch.path(), options: options)
        try connection.execute("CREATE TABLE t(a)")
        #expect(try connection.storeInfo().form == "plain")
        #expect(try connection.storeInfo().engine == "lmdb")
        #expect(throws: DatabaseError.self) { try Connection(path: ":memory:", engine: .sqlite, options: options) }
        #expect(Engine(name: "lmdb:plain").isKnown && !Engine(name: "lmdb:granite").isKnown)
        let named = try Connection(path: scratch.path("named"), engine: "lmdb:read")
        #expect(try named.storeInfo().form == "read")
    }
}
