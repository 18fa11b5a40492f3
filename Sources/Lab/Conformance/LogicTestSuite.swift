import Foundation
import Rootstock

/// Many sqllogictest files, each on a fresh store of one engine.
public struct LogicTestSuite: Sendable {
    public var engine: Engine
    /// The name that `skipif` and `onlyif` are about.
    public var database = "sqlite"
    public var stopsAtFailure = false

    public init(engine: Engine) { self.engine = engine }

    /// The `.test` files at the paths, folders searched, in order of their paths.
    public static func files(at paths: [String]) throws -> [String] {
        var files: [String] = []
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: path])
            }
            if isFolder.boolValue {
                let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
                files += names.filter { $0.hasSuffix(".test") }.map { path + (path.hasSuffix("/") ? "" : "/") + $0 }
            } else {
                files.append(path)
            }
        }
        return files.sorted()
    }

    /// Runs one file, its store in a folder of its own that goes afterwards.
    public func run(file: String) throws -> LogicTestRunner.Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rootstock-slt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try run(file: file, in: folder)
    }

    /// Runs one file, its store in that folder. `beginning` is told of each statement before it runs.
    public func run(
        file: String, in folder: URL, beginning: @escaping (String) -> Void = { _ in }
    ) throws -> LogicTestRunner.Result {
        let test = try LogicTest([UInt8](Data(contentsOf: URL(fileURLWithPath: file))))
        // The store is thrown away: nothing has to survive a power loss.
        let connection = try Connection(
            path: folder.appendingPathComponent("\(engine.name).store").path, engine: engine,
            options: StoreOptions(durability: .off))
        defer { connection.close() }
        var runner = LogicTestRunner(
            connection: connection, database: database, stopsAtFailure: stopsAtFailure, beginning: beginning)
        return runner.run(test)
    }
}
