// What each case costs besides its time, as a table of texts: every contender of every case, a row each.
//
// Invariant: figures are medians over the turns; what the system does not count reads "-", never 0.

import Comparison

extension ComparisonReport {
    /// The costs of a suite's cases: processor time and bytes of one turn, the memory that it held at most, the store's size.
    public func costTable(suite: String) -> Table {
        let results = results.filter { $0.suite == suite }
        let hasRoundTrips = results.contains { $0.cost.roundTrips != nil }
        let titles =
            [
                "case", "contender", "CPU s", "peak memory", "bytes written", "write amplification", "sync calls",
                "store",
            ] + (hasRoundTrips ? ["round trips"] : [])
        func bytes(_ value: Int?) -> String { value.map(Format.bytes) ?? "-" }
        return Table(
            columns: titles.enumerated().map { .init(title: $1, alignment: $0 < 2 ? .left : .right) },
            rows: results.map { result in
                let cost = result.cost
                return [
                    result.case, result.contender.description, Format.significant(cost.processorSeconds),
                    bytes(cost.peakResidentBytes), bytes(cost.storageBytesWritten ?? cost.bytesWritten),
                    result.writeAmplification.map { Format.figure($0) } ?? "-",
                    cost.syncCalls.map(String.init) ?? "-", bytes(cost.storeBytes),
                ] + (hasRoundTrips ? [cost.roundTrips.map(String.init) ?? "-"] : [])
            })
    }

    static let costLegend =
        "CPU s: user and system time of one turn. Bytes written: on their way to the device, or of write calls where the "
        + "system counts no others; write amplification: those for each byte of keys and values that the case wrote. A turn "
        + "whose pages are still with the system when its clock stops has written less than it will. Round trips: answers of a "
        + "server that one turn waited for."
}
