// Target.swift - where a script runs: plain SQLite (NativeTarget), or a store on one of the engines (StoreTarget).

import Foundation

/// One open database that runs one statement at a time.
package protocol Target: AnyObject {
    var name: String { get }
    /// Whether VACUUM has to give space back: what an engine without `compact` keeps free is its own affair.
    var givesSpaceBack: Bool { get }
    /// Runs one statement to its end. A failure is part of the outcome, not an error of the harness.
    func run(_ sql: String) -> Outcome
    /// Runs it on a second connection to the same database.
    func runOnOther(_ sql: String) throws -> Outcome
    /// Closes the database and opens it again from its file.
    func reopen() throws
    func close()
}

extension Target {
    package var givesSpaceBack: Bool { true }

    package func runOnOther(_ sql: String) throws -> Outcome {
        throw HarnessError(description: "\(name) has one connection")
    }
}

package struct HarnessError: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

/// What a statement's parameters are bound to, in turn: one of each type, so that a script may hold parameters.
let boundValues: [Cell] = [
    .integer(7), .text(Array("7".utf8)), .real((2.5).bitPattern), .blob(Array("seven".utf8)),
    .text(Array("seven".utf8)),
    .null,
]

/// A fresh folder for one database.
func temporaryFolder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-parity-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
}
