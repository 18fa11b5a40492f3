// FreePagesTests.swift - LMDB's list of free pages, damaged: it names a page in use, or one twice, or forgets one.

import Foundation
import Rootstock
import Testing

/// What the file of a store that nobody has open says of free pages. Their list is a tree of LMDB's, here of one leaf: under each commit's number the
/// count of the pages that it freed and their numbers, the highest first.
private struct FreeList {
    private(set) var bytes: [UInt8]
    /// Where each count stands, and the pages behind it.
    private(set) var lists: [(place: Int, pages: [Int])] = []
    let lastPage: Int

    private static func number(_ bytes: [UInt8], _ place: Int, _ size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    init(_ path: String) throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let pageBytes = Self.number(bytes, 40, 4)
        // Commits take turns at the two meta pages.
        let meta = Self.number(bytes, 144, 8) > Self.number(bytes, pageBytes + 144, 8) ? 0 : pageBytes
        lastPage = Self.number(bytes, meta + 136, 8)
        let leaf = Self.number(bytes, meta + 80, 8) * pageBytes
        try #require(Self.number(bytes, leaf + 10, 2) & 2 != 0, "the list has grown beyond a leaf")
        for entry in 0..<(Self.number(bytes, leaf + 12, 2) - 16) / 2 {
            let start = leaf + Self.number(bytes, leaf + 16 + 2 * entry, 2)
            var place = start + 16  // behind sizes, flags and a key of eight bytes
            if Self.number(bytes, start + 4, 2) & 1 != 0 { place = Self.number(bytes, place, 8) * pageBytes + 16 }
            let count = Self.number(bytes, place, 8)
            lists.append((place, (1...max(count, 1)).prefix(count).map { Self.number(bytes, place + 8 * $0, 8) }))
        }
        self.bytes = bytes
    }

    mutating func put(_ value: Int, at place: Int) {
        for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }

    /// A place of some list, and a page in use that fits there.
    func pageInUse() -> (place: Int, page: Int)? {
        let free = Set(lists.flatMap(\.pages))
        for list in lists {
            for (index, page) in list.pages.enumerated() {
                let above = index > 0 ? list.pages[index - 1] : lastPage + 1
                let below = index + 1 < list.pages.count ? list.pages[index + 1] : 1
                for other in below + 1..<above where other != page && !free.contains(other) {
                    return (list.place + 8 * (index + 1), other)
                }
            }
        }
        return nil
    }
}

@Suite struct FreePagesTests {
    static let script = """
        CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
        CREATE INDEX i ON t(b);
        INSERT INTO t WITH RECURSIVE k(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM k WHERE n < 3000)
            SELECT n, printf('%.*c%d', 100, 'x', n) FROM k;
        DELETE FROM t WHERE a % 3 > 0;
        UPDATE t SET b = b || 'y' WHERE a < 900;
        """

    /// The faults after `body` has changed the list.
    private func faults(_ body: (inout FreeList) throws -> Void) throws -> [String] {
        let store = try BrokenStore(Self.script)
        try #expect(store.faults() == [])
        var list = try FreeList(store.path)
        try #require(list.lists.filter { $0.pages.count > 1 }.count > 1, "two commits have freed pages")
        try body(&list)
        try Data(list.bytes).write(to: URL(fileURLWithPath: store.path))
        let faults = try store.faults()
        try #expect(store.faults(quick: true) == faults)
        return faults
    }

    @Test func aPageInUseIsFree() throws {
        var page = 0
        let faults = try faults { list in
            let found = try #require(list.pageInUse())
            page = found.page
            list.put(found.page, at: found.place)
        }
        #expect(faults == ["tree of free pages: page \(page) is in use"])
    }

    @Test func aPageIsFreeTwice() throws {
        var page = 0
        let faults = try faults { list in
            let lists = list.lists.filter { $0.pages.count > 1 }
            page = lists[1].pages[0]
            list.put(1, at: lists[0].place)
            list.put(page, at: lists[0].place + 8)
        }
        #expect(faults == ["tree of free pages: page \(page) is free twice"])
    }

    @Test func aPageIsForgotten() throws {
        var page = 0
        let faults = try faults { list in
            let first = try #require(list.lists.first { $0.pages.count > 1 })
            page = first.pages.last!
            list.put(first.pages.count - 1, at: first.place)
        }
        #expect(faults == ["tree of free pages: pages neither in use nor free: 1, the first is \(page)"])
    }

    @Test func aPageThatThereIsNot() throws {
        var page = 0
        let faults = try faults { list in
            page = list.lastPage + 1
            list.put(page, at: try #require(list.lists.first { $0.pages.count > 1 }).place + 8)
        }
        #expect(faults == ["tree of free pages: page \(page) stands where it cannot"])
    }

    @Test(arguments: [1 << 20, 1 << 40, Int.max]) func aListThatIsLongerThanItsRoom(count: Int) throws {
        let faults = try faults { list in list.put(count, at: list.lists[0].place) }
        #expect(faults.count == 1 && faults[0].hasPrefix("tree of free pages: what commit "), "\(faults)")
    }
}
