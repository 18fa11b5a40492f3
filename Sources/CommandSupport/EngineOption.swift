import ArgumentParser
import Foundation
import Rootstock

/// `--engine`, of a command that opens one file: an existing file tells its engine by itself.
package struct EngineOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The engine under the store. An existing file tells it by its first bytes. A new one is sqlite's if its name ends in "
                + ".sqlite, .sqlite3 or .db, and else lmdb's."))
    package var engine: Engine?

    package init() {}

    /// The engine to open `path` with.
    ///
    /// Throws where the file is another engine's than `--engine` names: what opened it would only say that it is damaged.
    package func engine(for path: String) throws -> Engine {
        if let engine, !engine.isKnown {
            let names = Engine.descriptions.map { "\($0.engine)" }.joined(separator: ", ")
            throw CommandFailure("there is no engine \(engine): there are \(names); --load-engine FILE adds others")
        }
        let found = Engine.recognized(at: path)
        // Of engines from libraries a file says nothing: theirs may look like a built-in one's.
        let known: [Engine] = [.sqlite, .lmdb, "sqlite-btree"]
        if let engine, let found, engine != found, known.contains(engine) {
            throw CommandFailure(Self.mismatch(path, found, wanted: engine))
        }
        return Engine.chosen(engine, for: path)
    }

    /// The engine of a file that has to be there.
    package func engine(forExisting path: String) throws -> Engine {
        let engine = try engine(for: path)
        guard Engine.isSomething(at: path) else { throw CommandFailure("there is no file \(path)") }
        return engine
    }

    /// The engine of a file that has to be a store, made by Rootstock.
    package func storeEngine(for path: String) throws -> Engine {
        let engine = try engine(forExisting: path)
        guard !engine.isNative || self.engine != nil else {
            throw CommandFailure(Self.mismatch(path, engine, wanted: nil))
        }
        return engine
    }

    private static func mismatch(_ path: String, _ found: Engine, wanted: Engine?) -> String {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? path
        let stem = name.split(separator: ".").dropLast(name.contains(".") ? 1 : 0).joined(separator: ".")
        if found.isNative {
            let cure = "rootstock import \(shellWord(path)) \(shellWord(stem + ".lmdb"))"
            return "\(path) is a SQLite database and no store; this makes one of it: \(cure)"
        }
        return "\(path) is a store of engine \(found)"
            + (wanted.map { " and not of \($0): leave --engine out, or copy it with 'rootstock import'" } ?? "")
    }
}
