// CommandSupport.swift - what the commands `rootstock` and `rootstock-lab` share: failures, and options that name engines.

import ArgumentParser
import Rootstock

/// A failure that ends the command with status 1, told on standard error behind the word `Error:`.
package struct CommandFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    package init(_ error: any Error) {
        description = (error as? DatabaseError)?.message ?? String(describing: error)
    }
}

/// An argument as it is to be typed.
package func shellWord(_ argument: String) -> String {
    let plain = "0123456789_@%+=:,./-".unicodeScalars
    let isPlain = argument.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || plain.contains($0) }
    return isPlain && !argument.isEmpty ? argument : "'" + argument.replacing("'", with: #"'\''"#) + "'"
}

/// `1 row`, `2 rows`.
package func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

extension Engine: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}

extension StoreOptions.Durability: ExpressibleByArgument {}
