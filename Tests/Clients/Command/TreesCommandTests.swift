import Foundation
import Testing

/// `rootstock trees` lists what an LMDB file holds.
@Suite struct TreesCommandTests {
    @Test func aStoresFileIsListed() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("rootstock-trees-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("s.store").path
        let made = try run(command, ["sql", path, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)"])
        #expect(made.status == 0, "\(made.error)")
        let listed = try run(command, ["trees", "--list", "--header", path])
        #expect(listed.status == 0, "\(listed.error)")
        let lines = listed.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "name|entries|flags|depth|pages")
        #expect(lines.contains { $0.hasPrefix("rootstock|") })
        #expect(lines.contains("t1|3||1|1"))
    }

    @Test func aMissingFileIsNamed() throws {
        let listed = try run(command, ["trees", "/no/such/file.mdb"])
        #expect(listed.status == 1)
        #expect(listed.error.contains("cannot open /no/such/file.mdb: No such file or directory"))
        #expect(listed.output.isEmpty)
    }
}
