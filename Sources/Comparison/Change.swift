// What changed since an earlier comparison, beyond noise.
//
// Invariant: ratios are held against ratios, never times against times: the machine may have been slower that day, for both
// engines alike. A change is called one only where the two intervals do not touch.

import Foundation
import Workloads

public struct Change: Codable, Sendable {
    public enum Verdict: String, Codable, Sendable {
        case better, worse, same
        /// One of the two has too few turns for an interval.
        case undecided
    }

    public var suite: String
    public var `case`: String
    public var baseline: Baseline
    public var engine: String
    public var before: Double
    public var now: Double
    public var verdict: Verdict
}

extension ComparisonReport {
    private static func words(_ shape: EngineShape?) -> String { shape?.text ?? "db_bench's keys and values" }

    /// The changes of every ratio that both reports have. Throws if the two were not taken alike.
    public func changes(since earlier: ComparisonReport) throws -> [Change] {
        for (suite, size) in environment.sizes {
            if let other = earlier.environment.sizes[suite], other != size {
                throw PlanError(
                    "suite \(suite) was run at size \(other) then and at \(size) now: no comparison of the two")
            }
        }
        if environment.shape != earlier.environment.shape {
            throw PlanError(
                "suite engine had \(Self.words(earlier.environment.shape)) then and has \(Self.words(environment.shape)) now: "
                    + "no comparison of the two")
        }
        if environment.seed != earlier.environment.seed {
            throw PlanError("the seed was \(earlier.environment.seed) then and is \(environment.seed) now")
        }
        return ratios.compactMap { ratio in
            let known = earlier.ratios.first {
                $0.suite == ratio.suite && $0.case == ratio.case && $0.durability == ratio.durability
                    && $0.baseline == ratio.baseline && $0.engine == ratio.engine
                    && $0.configuration == ratio.configuration
            }
            guard let known else { return nil }
            let verdict: Change.Verdict =
                if let new = ratio.interval, let old = known.interval {
                    new.lowerBound > old.upperBound ? .better : new.upperBound < old.lowerBound ? .worse : .same
                } else {
                    .undecided
                }
            return Change(
                suite: ratio.suite, case: ratio.case, baseline: ratio.baseline, engine: ratio.engine,
                before: known.ratio,
                now: ratio.ratio, verdict: verdict)
        }
    }

    public static func read(_ path: String) throws -> ComparisonReport {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let why = isFolder.boolValue ? "is a directory" : exists ? "cannot be read" : "does not exist"
            throw PlanError("\(path) \(why); name a file that 'rootstock compare --json FILE' wrote")
        }
        do {
            return try JSONDecoder().decode(ComparisonReport.self, from: data)
        } catch {
            throw PlanError(
                "\(path) is not a comparison's JSON; name a file that 'rootstock compare --json FILE' wrote")
        }
    }
}
