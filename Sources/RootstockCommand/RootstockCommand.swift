import ArgumentParser
import CommandSupport
import Rootstock

@main
struct RootstockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rootstock",
        abstract: "SQL over a storage engine you choose.",
        version: Version.summary,
        subcommands: [
            SQLCommand.self, Run.self, Check.self, Info.self, Backup.self, Trees.self, Compare.self,
            ReportCommand.self, Suggest.self, Import.self,
            MeasureTurn.self,
        ]
    )
}
