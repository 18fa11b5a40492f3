// SoakGrowth.swift - samples of what must stay flat, and the judgement.
//
// Tolerances: the smallest value of the run's last quarter against the largest of its second quarter; the first is for warming up.
// The smallest, because what the other threads have open when a sample is taken comes and goes, and a leak stays. File 1.5 times and
// 4 MB (which a write map reserves ahead), memory 1.25 times and 24 MB, descriptors 4. Growth without end passes them in a run of
// some minutes.

import Foundation
import Rootstock

extension Soak {
    func takeSample() throws {
        // Right after a VACUUM, so that the size tells what cannot be given back.
        try vacuum()
        report.samples.append(
            SoakSample(
                seconds: elapsed, fileBytes: StoreSize.bytes(at: path), memoryBytes: Self.anonymousMemory(),
                descriptors: Self.openDescriptors()))
    }

    private static func anonymousMemory() -> Int {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    private static func openDescriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    func judgeGrowth() throws {
        let samples = report.samples
        guard samples.count >= 8 else { return }
        let quarter = samples.count / 4
        let judged: [(String, (SoakSample) -> Int, Double, Int)] = [
            ("file", \.fileBytes, 1.5, 4 << 20), ("memory", \.memoryBytes, 1.25, 24 << 20),
            ("descriptors", \.descriptors, 1, 4),
        ]
        for (name, member, factor, more) in judged {
            let early = samples[quarter..<2 * quarter].map(member).max() ?? 0
            let late = samples.suffix(quarter).map(member).min() ?? 0
            if Double(late) > Double(early) * factor + Double(more) {
                throw failure("\(name) grew from \(early) to \(late)")
            }
        }
    }
}
