// How the time given to a comparison is shared out.
//
// Invariant: the time given is kept. Suites have shares of it by the number of their cases, and what one leaves the next
// ones have. Where not even the least number of turns fits, cases get fewer, the expensive ones first. The suites still to come
// keep time for theirs. When the time is over by a twentieth, what is left is not run. All of it is said in the report.

import Foundation

struct Timetable {
    private let begun: Date
    private let seconds: Double?
    private let cases: Int
    /// What the first round of each case took, preparing included.
    private var firstRounds: [Double] = []
    /// What their next ones may be expected to take.
    private var nextRounds: [Double] = []

    init(begun: Date, seconds: Double?, cases: Int) {
        self.begun = begun
        self.seconds = seconds
        self.cases = cases
    }

    /// When the share is over of the suite that ends with the case of this number, counted from 1.
    func end(ofSuiteEndingWith number: Int) -> Date? {
        seconds.map { begun.addingTimeInterval($0 * Double(number) / Double(cases)) }
    }

    mutating func note(firstRound seconds: Double, next: Double? = nil) {
        firstRounds.append(seconds)
        nextRounds.append(next ?? seconds)
    }

    /// Whether a case that has a round may have another one, of its least number: each case still to come is to have so many.
    func hasTime(forRoundOf estimate: Double, casesToCome: Int, roundsToCome: Int = 1, now: Date) -> Bool {
        guard let seconds else { return true }
        let reserve =
            firstRounds.isEmpty
            ? 0 : (median(firstRounds) + median(nextRounds) * Double(roundsToCome - 1)) * Double(casesToCome)
        return now.timeIntervalSince(begun) + estimate + reserve <= seconds
    }

    /// Whether a case may begin at all.
    func hasTimeToBegin(now: Date) -> Bool {
        guard let seconds else { return true }
        return now.timeIntervalSince(begun) < seconds * 1.05
    }
}
