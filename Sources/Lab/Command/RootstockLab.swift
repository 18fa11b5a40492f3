// RootstockLab.swift - `rootstock-lab`: what the project and engine authors hold a store to. Users of a store need none of it.

import ArgumentParser
import CommandSupport
import Rootstock

@main
struct RootstockLab: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rootstock-lab",
        abstract: "Long tests of stores and engines: soak, torture, sqllogictest.",
        version: Version.summary,
        subcommands: [SoakCommand.self, TortureCommand.self, Slt.self, TortureTaskCommand.self]
    )

    static func main() { EngineLibraries.run { main($0) } }
}
