import ArgumentParser
import Rootstock

@main
struct RootstockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rootstock",
        abstract: "SQL over a storage engine you choose.",
        version: Version.summary,
        subcommands: [
            SQLCommand.self, Run.self, Check.self, Info.self, Backup.self, SoakCommand.self, Trees.self, Compare.self,
            ReportCommand.self, Suggest.self, Import.self, Slt.self,
            TortureCommand.self, TortureTaskCommand.self, MeasureTurn.self,
        ]
    )
}

/// A failure that ends the command with status 1, told on standard error behind the word `Error:`.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ error: any Error) {
        description = (error as? DatabaseError)?.message ?? String(describing: error)
    }
}

extension Engine: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(name: argument)
    }
}

extension StoreOptions.Durability: ExpressibleByArgument {}
