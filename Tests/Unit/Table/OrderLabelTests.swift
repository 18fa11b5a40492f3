// OrderLabelTests.swift - labels between labels: always room, always in order, and short where they come in order.

import CSQLite
import RootstockTableInternals
import TestSupport
import Testing

private func between(
    _ low: [UInt8]?, _ high: [UInt8]?, _ place: rootstock_label_place = LABEL_MIDDLE
) -> (code: Int32, label: [UInt8]) {
    var buffers = [rootstock_buffer(), rootstock_buffer(), rootstock_buffer()]
    defer { for i in buffers.indices { rootstock_buffer_free(&buffers[i]) } }
    for (i, bytes) in [low, high].enumerated() {
        guard let bytes else { continue }
        _ = bytes.withUnsafeBytes { rootstock_buffer_append(&buffers[i], $0.baseAddress, $0.count) }
    }
    return buffers.withUnsafeMutableBufferPointer { buffers in
        let first = buffers.baseAddress!
        let code = rootstock_label_between(low == nil ? nil : first, high == nil ? nil : first + 1, place, first + 2)
        return (code, Array(UnsafeBufferPointer(start: first[2].data, count: first[2].size)))
    }
}

@Suite struct OrderLabelTests {
    private let places = [LABEL_SHORT, LABEL_MIDDLE, LABEL_NEAR_LOW, LABEL_NEAR_HIGH]

    @Test func labelsAtRandomPlacesRise() {
        var random = SeededGenerator(seed: 8191)
        var labels: [[UInt8]] = []
        for _ in 0..<2_000 {
            let at = Int.random(in: 0...labels.count, using: &random)
            let low = at == 0 ? nil : labels[at - 1]
            let high = at == labels.count ? nil : labels[at]
            let (code, label) = between(low, high, places.randomElement(using: &random)!)
            #expect(code == SQLITE_OK && !label.isEmpty && !label.contains(0) && label.last != 1)
            if let low { #expect(low.lexicographicallyPrecedes(label)) }
            if let high { #expect(label.lexicographicallyPrecedes(high)) }
            labels.insert(label, at: at)
        }
    }

    @Test func labelsThatComeInOrderStayShort() {
        var rising: [UInt8] = between(nil, nil).label
        var falling = rising
        let end = between(rising, nil).label
        for _ in 0..<100_000 {
            rising = between(rising, end, LABEL_NEAR_LOW).label
            falling = between(nil, falling, LABEL_NEAR_HIGH).label
        }
        #expect(rising.count <= 10 && falling.count <= 10, "\(rising.count) and \(falling.count)")
    }

    @Test func labelsThatDoNotRiseAreRefused() {
        let label = between(nil, nil).label
        for place in places {
            #expect(between(label, label, place).code == SQLITE_CORRUPT)
            #expect(between(label + [7], label, place).code == SQLITE_CORRUPT)
        }
    }
}
