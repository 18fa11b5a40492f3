import ArgumentParser
import CommandSupport
import Rootstock

/// `rootstock check`: holds a store against itself.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a store for damage.",
        discussion: """
            Reads every row, computes every index entry again and compares both ways. Checks rows against their constraints and \
            the catalog against the trees. Prints 'ok', or each fault on a line of its own and ends with status 1. Writes nothing.

            If the store keeps checksums, a line says how many entries were checked. If a commit was undone after a power loss, the \
            last line says which and when.
            """)

    @OptionGroup var engineOption: EngineOption

    @Flag(help: "Leave the index entries out.")
    var quick = false

    @Flag(help: "Report rows whose foreign keys have no parent, too.")
    var foreignKeys = false

    @Option(help: ArgumentHelp("Faults to stop at.", valueName: "count"))
    var limit = 10_000

    @Argument(help: "The store's file.", completion: .file())
    var path: String

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() throws {
        var options = StoreOptions()
        options.readOnly = true
        let output = StandardOutput()
        var faults: [String]
        do {
            let connection = try Connection(path: path, engine: engineOption.storeEngine(for: path), options: options)
            faults = try connection.integrityFaults(quick: quick, limit: limit)
            if foreignKeys {
                faults += try connection.foreignKeyViolations().map(\.description)
            }
            for fault in faults.isEmpty ? ["ok"] : faults { try output.write("\(fault)\n".utf8) }
            let info = try? connection.storeInfo()  // none of a store too damaged for that
            if let info, info.checksum { try output.write("\(info.verified) checksums verified\n".utf8) }
            if let undone = info?.undone { try output.write("\(undone)\n".utf8) }
            try output.flush()
        } catch {
            throw CommandFailure(error)
        }
        if !faults.isEmpty { throw ExitCode.failure }
    }
}
