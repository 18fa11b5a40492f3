// DatabaseCopy.swift - a database or store of any engine into a new one of any engine: what `import` and `export` have in common.
//
// Invariant: the new file has its name only when it is whole and every row has been compared; interrupted, nothing is left.

import CommandSupport
import Foundation
import OwnData
import Rootstock

struct DatabaseCopy {
    var from: String
    var fromEngine: Engine?
    var to: String
    var engine: Engine
    var options: StoreOptions

    /// Makes the copy and prints what was brought over, and by name what was not.
    func run() throws {
        let files = FileManager.default
        try PartialFile.checkNew(to)
        let scratch = files.temporaryDirectory.appendingPathComponent("rootstock-import-\(UUID().uuidString)")
        let progress = Progress()
        defer {
            progress.clear()
            try? files.removeItem(at: scratch)
        }
        do {
            let report = try copied(scratch: scratch, progress: progress.show)
            progress.clear()
            let output = StandardOutput()
            for line in report.skipped { try output.write("not copied: \(line)\n".utf8) }
            let (rows, tables) = (counted(report.rows, "row"), counted(report.tables.count, "table"))
            try output.write("\(rows) in \(tables), equal to the original's\n".utf8)
            try output.flush()
            PartialFile.tellLeftovers(of: to)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func copied(scratch: URL, progress: (String) -> Void) throws -> CopyReport {
        let source = try SourceDatabase(path: from, engine: fromEngine, scratch: scratch)
        let schema = try SourceSchema(of: source.connection)
        let file = PartialFile(for: to)
        let takeBack: @Sendable () -> Void = {
            file.remove()
            try? FileManager.default.removeItem(at: scratch)
        }
        return try Interruption.takingBack(takeBack) {
            var lines = CopyLines(engine: engine, rows: schema.rows)
            let copier = StoreCopier(source: source.connection, schema: schema)
            return try copier.run(to: file, engine: engine, options: options) { step in
                if let line = lines.line(for: step) { progress(line) }
            } checking: {
                try source.checkUnchanged()
            }
        }
    }
}

extension PartialFile {
    /// Says what to do where something has the name: before the work begins, since nothing is overwritten at its end.
    static func checkNew(_ target: String) throws {
        var status = stat()
        guard lstat(target, &status) != 0 else {
            throw CommandFailure("\(target) exists: a copy is a new file. Remove it, or give another name")
        }
    }

    /// Names what killed commands have left beside the file: nobody else may know that it can go.
    static func tellLeftovers(of target: String) {
        for path in leftovers(of: target) {
            FileHandle.standardError.write(
                Data("note: \(path) is a part that an earlier command has left; remove it if none is at work\n".utf8))
        }
    }
}
