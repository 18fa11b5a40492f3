// BufferTests.swift - the byte buffer grows, and leaves itself alone when it cannot.

import CSQLite
import RootstockTableInternals
import Testing

@Suite struct BufferTests {
    @Test func appendsKeepEveryByte() {
        var buffer = rootstock_buffer()
        defer { rootstock_buffer_free(&buffer) }
        var expected: [UInt8] = []
        for i in 0..<1000 {
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: i), count: i % 37)
            #expect(rootstock_buffer_append(&buffer, bytes, bytes.count) == SQLITE_OK)
            expected += bytes
        }
        #expect(Array(UnsafeBufferPointer(start: buffer.data, count: buffer.size)) == expected)
        #expect(buffer.capacity >= buffer.size)
    }

    @Test(arguments: [Int.max, Int.max / 2, 1 << 40])
    func aGrowthBeyondMemoryChangesNothing(more: Int) {
        var buffer = rootstock_buffer()
        defer { rootstock_buffer_free(&buffer) }
        #expect(rootstock_buffer_append(&buffer, [1, 2, 3] as [UInt8], 3) == SQLITE_OK)
        #expect(rootstock_buffer_reserve(&buffer, more) == SQLITE_NOMEM)
        #expect(Array(UnsafeBufferPointer(start: buffer.data, count: buffer.size)) == [1, 2, 3])
    }

    @Test func freeingGivesAnEmptyBuffer() {
        var buffer = rootstock_buffer()
        #expect(rootstock_buffer_append(&buffer, [1] as [UInt8], 1) == SQLITE_OK)
        rootstock_buffer_free(&buffer)
        #expect(buffer.data == nil && buffer.size == 0 && buffer.capacity == 0)
        rootstock_buffer_free(&buffer)
    }
}
