import ArgumentParser
import CommandSupport
import Foundation
import Rootstock

#if canImport(Glibc)
    import Glibc
#endif

/// `rootstock run`: an unmodified program whose SQLite databases are stores.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a program with its SQLite databases on stores.",
        discussion: """
            Preloads librootstock_interpose.so, which puts SQLite's functions in front of libsqlite3. A database that exists is \
            recognised by its bytes and stays what it is. A new one is made on the engine that its URI names \
            (file:app.db?engine=lmdb&durability=normal), or else on --engine.

            The program takes the place of this command, with its exit status and signals. The system ignores the library in a \
            program with the set-user-ID bit.
            """)

    @Option(help: "The engine of new databases; sqlite leaves them native.")
    var engine: Engine = .lmdb

    @Option(help: "What a commit to a new store survives: off, normal or full.")
    var durability: StoreOptions.Durability?

    @Flag(help: "Make stores of `:memory:` databases, too. They go with their last connection.")
    var memory = false

    @Flag(help: "Say on standard error which database went where.")
    var verbose = false

    @Option(help: "The interposer, where it is not beside this command.", completion: .file())
    var library: String?

    @Argument(parsing: .captureForPassthrough, help: "The program and its arguments.")
    var program: [String] = []

    private var words: ArraySlice<String> { program.first == "--" ? program.dropFirst() : program[...] }

    func validate() throws {
        if ["-h", "--help"].contains(program.first) { throw CleanExit.helpRequest(self) }
        // Without `--` it is no program's name.
        if let option = program.first, option != "--", option.hasPrefix("-") {
            throw ValidationError("run has no option \(option); a program of that name stands behind --")
        }
        if words.isEmpty { throw ValidationError("name a program: rootstock run -- PROGRAM ARGS...") }
    }

    func run() throws {
        let name = words.first!
        let path = try interposer()
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { $0.isEmpty ? "" : ":" + $0 } ?? ""
        setenv("LD_PRELOAD", path + others, 1)
        setenv("ROOTSTOCK_ENGINE", engine.name, 1)
        set("ROOTSTOCK_DURABILITY", durability?.rawValue)
        set("ROOTSTOCK_MEMORY", memory ? "1" : nil)
        set("ROOTSTOCK_VERBOSE", verbose ? "1" : nil)
        var arguments = words.map { strdup($0) } + [nil]
        execvp(name, &arguments)
        throw CommandFailure("\(name): \(String(cString: strerror(errno)))")
    }

    private func set(_ variable: String, _ value: String?) {
        if let value { setenv(variable, value, 1) } else { unsetenv(variable) }
    }

    /// Named, beside the command, in ../lib, or in the build folder of the package that the command was built in.
    private func interposer() throws -> String {
        let file = "librootstock_interpose.so"
        if let library {
            guard let path = InstalledFile.realPath(library) else { throw CommandFailure("there is no \(library)") }
            return path
        }
        guard let path = InstalledFile.find(installed: [file, "../lib/\(file)"], built: "build/\(file)") else {
            throw CommandFailure(
                "\(file) is neither beside this command nor in ../lib: `make interpose` builds it, --library names it")
        }
        return path
    }
}
