import ArgumentParser
import CommandSupport
import Rootstock

@main
struct RootstockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rootstock",
        abstract: "SQL over a storage engine you choose.",
        discussion: "Every command takes --load-engine LIBRARY: an engine from a shared library.",
        version: Version.summary,
        subcommands: [
            SQLCommand.self, Run.self, Check.self, Info.self, Backup.self, Trees.self, Engines.self, EngineTest.self,
            Import.self, Export.self, DumpCommand.self, Compare.self, ReportCommand.self, Suggest.self,
            MeasureTurn.self,
        ]
    )

    static func main() { EngineLibraries.run { main($0) } }
}
