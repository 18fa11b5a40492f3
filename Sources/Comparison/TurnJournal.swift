// The turns of a comparison as they end, in a file: what lets one go on that was interrupted.
//
// Invariant: a line is one JSON object, written whole and with one call, after its turn has ended. A last line without its end
// was cut off and counts for nothing. The first line says what was compared, and a file is gone on with only for the same: turns
// of two different comparisons are never mixed.

import Foundation
import Workloads

public struct JournalError: Error, CustomStringConvertible, Sendable {
    public var description: String
}

public final class TurnJournal {
    /// Which turn.
    struct Place: Codable, Hashable {
        var suite: String
        var `case`: String
        var contender: Contender
        var round: Int
    }

    private struct Line: Codable {
        var plan: Fingerprint?
        var place: Place?
        var turn: TurnReport?
    }

    /// What two parts of one comparison have in common.
    private struct Fingerprint: Codable, Equatable {
        var contestants: [String]
        var layers: [String]
        var durability: String
        var seed: UInt32
        var version: String
        var cases: [String]
        var sizes: [String: Int]
        var shape: EngineShape?
    }

    private let path: String
    private var fingerprint: Fingerprint?
    private var turns: [Place: TurnReport] = [:]
    private var handle: FileHandle?

    /// Turns that the file held already.
    public var count: Int { turns.count }

    /// Sizes of the comparison that the file belongs to; null for a new file.
    var sizes: [String: Int]? { fingerprint?.sizes }

    /// Opens the file of an interrupted comparison, or begins a new one.
    public init(path: String) throws {
        self.path = path
        guard FileManager.default.fileExists(atPath: path) else { return }
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        // Any other file stays as it is: below, what is no whole line is cut off.
        guard data.starts(with: Data(#"{"plan":"#.utf8).prefix(data.count)) else {
            throw JournalError(description: "\(path) is not a comparison's journal: name another file")
        }
        let whole = data.lastIndex(of: UInt8(ascii: "\n")).map { data[...$0] } ?? data[..<data.startIndex]
        for (index, line) in whole.split(separator: UInt8(ascii: "\n")).enumerated() {
            let decoded: Line
            do {
                decoded = try JSONDecoder().decode(Line.self, from: Data(line))
            } catch {
                throw JournalError(
                    description: "\(path), line \(index + 1), is damaged: name another file, or remove it to begin anew"
                )
            }
            if index == 0 {
                guard let plan = decoded.plan else {
                    throw JournalError(description: "\(path) does not begin as a comparison's journal does")
                }
                fingerprint = plan
            } else if let place = decoded.place, let turn = decoded.turn {
                turns[place] = turn
            }
        }
        // What was cut off goes, so that the next line begins a line.
        if whole.count < data.count { try Data(whole).write(to: URL(fileURLWithPath: path)) }
    }

    /// Says what is compared now; refuses to go on with the turns of something else.
    func begin(_ plan: ComparisonPlan) throws {
        let now = Fingerprint(
            contestants: plan.contestants.map { "\($0.engine):\($0.configuration)" },
            layers: plan.layers.map(\.rawValue).sorted(), durability: plan.durability.rawValue, seed: plan.seed,
            version: plan.rootstockVersion,
            cases: plan.items.flatMap { item in item.workloads.map { "\(item.suite.name) \(item.caseName($0))" } },
            sizes: plan.items.reduce(into: [:]) { $0[$1.suite.name] = $1.size },
            shape: plan.shape == .standard ? nil : plan.shape)
        if let known = fingerprint {
            guard known == now else {
                throw JournalError(
                    description:
                        "\(path) holds the turns of another comparison (\(Self.difference(known, now))): name another "
                        + "file, or remove it to begin anew")
            }
        }
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw JournalError(description: "\(path) cannot be written")
            }
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        self.handle = handle
        if fingerprint == nil { try write(Line(plan: now)) }
        fingerprint = now
    }

    private static func difference(_ old: Fingerprint, _ new: Fingerprint) -> String {
        if old.sizes != new.sizes { return "sizes" }
        if old.shape != new.shape { return "sizes of keys and values, or the mix" }
        if old.cases != new.cases { return "cases" }
        if old.contestants != new.contestants { return "engines or configurations" }
        if old.layers != new.layers { return "layers" }
        if old.seed != new.seed { return "seed" }
        if old.durability != new.durability { return "durability" }
        return "version of Rootstock"
    }

    func known(_ place: Place) -> TurnReport? { turns[place] }

    func note(_ turn: TurnReport, at place: Place) throws {
        turns[place] = turn
        try write(Line(place: place, turn: turn))
    }

    private func write(_ line: Line) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = try encoder.encode(line)
        data.append(UInt8(ascii: "\n"))
        do {
            try handle?.write(contentsOf: data)
        } catch {
            throw JournalError(description: "\(path) cannot be written: \(error)")
        }
    }
}
