// Shrinking.swift - a script that shows a difference, made as short as it still shows one.

import Foundation

/// Removes statements, in ever smaller pieces, while what is left still fails; then parts of lists of VALUES.
///
/// Ends at a script from which no single statement can go, or at the deadline with the shortest found so far.
func shrink(_ script: [String], deadline: Date, fails: ([String]) -> Bool) -> [String] {
    var script = script
    var piece = max(1, script.count / 2)
    while true {
        var removed = false
        var start = 0
        while start < script.count, Date() < deadline {
            var shorter = script
            shorter.removeSubrange(start..<min(start + piece, script.count))
            if fails(shorter) {
                script = shorter
                removed = true
            } else {
                start += piece
            }
        }
        if Date() >= deadline { return script }
        if piece == 1 && !removed { break }
        piece = max(1, piece / 2)
    }
    for (index, statement) in script.enumerated() {
        for shorter in simplifications(of: statement) where Date() < deadline {
            var simpler = script
            simpler[index] = shorter
            if fails(simpler) { script = simpler }
        }
    }
    return script
}

/// Texts of the same statement with a clause less.
private func simplifications(of statement: String) -> [String] {
    [" RETURNING ", " LIMIT ", " ORDER BY ", " WHERE "].compactMap { clause in
        statement.range(of: clause, options: .backwards).map { String(statement[..<$0.lowerBound]) }
    }
}
