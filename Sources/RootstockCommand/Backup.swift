import ArgumentParser
import CommandSupport
import Rootstock

/// `rootstock backup`: copies a store that may be in use.
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a store that may be in use.",
        discussion: """
            Writes the last commit to a new file, whole, without free pages, and synced. Writers and readers go on meanwhile. \
            A file that exists is never overwritten, and a backup that is interrupted leaves none.
            """)

    @OptionGroup var engineOption: EngineOption

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    @Argument(help: "The file to make.", completion: .file())
    var to: String

    func run() throws {
        var options = StoreOptions()
        options.readOnly = true
        do {
            let connection = try Connection(
                path: path, engine: engineOption.engine(forExisting: path), options: options)
            try PartialFile.checkNew(to)
            let file = PartialFile(for: to)
            try Interruption.takingBack(file.remove) { try connection.backup(to: file) }
        } catch {
            throw CommandFailure(error)
        }
    }
}
