import ArgumentParser
import CommandSupport
import Rootstock

/// `rootstock engines`: what stores can be opened with.
struct Engines: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "engines",
        abstract: "List the engines that stores can be opened with.",
        discussion: """
            A line is an engine: its name, the version of the library underneath, where a store is kept, and its abilities.

            durable: a commit can survive the process. backup: a store can be copied while it is in use. vacuum: VACUUM gives space \
            back. several processes: they can have a store open at once. many writers: they write at once.

            Every command takes --load-engine LIBRARY, which loads an engine from a shared library.
            """)

    func run() throws {
        let output = StandardOutput()
        var rows = [["engine", "version", "store", "can"]]
        for engine in Engine.descriptions {
            let abilities = [
                (engine.isDurable, "durable"), (engine.copies, "backup"), (engine.compacts, "vacuum"),
                (engine.sharesProcesses, "several processes"), (engine.hasManyWriters, "many writers"),
            ]
            rows.append([
                engine.engine.name, engine.version, engine.place.rawValue,
                abilities.filter(\.0).map(\.1).joined(separator: ", "),
            ])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            var line = ""
            for (column, cell) in row.enumerated() {
                line +=
                    column == row.count - 1
                    ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            try output.write("\(line)\n".utf8)
        }
        try output.flush()
    }
}
