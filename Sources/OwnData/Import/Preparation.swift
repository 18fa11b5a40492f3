// From a database and a workload file to a suite that can be run: everything is checked and chosen here, before anything is
// measured.
//
// Invariant: a statement that native SQLite cannot run is the user's to correct and ends the preparation with its line. One that
// only a store refuses is a result, and is left to the comparison to report.

import CSQLite
import Foundation
import Rootstock
import Workloads

/// What was compared, for the report.
public struct OwnDataPlan: Sendable {
    public var suite: Suite
    public var database: String
    public var databaseBytes: Int
    public var tables: Int
    public var rows: Int
    /// What was not imported, and operations left out because of it.
    public var skipped: [String]
    public var operations: [(name: String, weight: Int, executions: Int)]
}

extension OwnData {
    /// - Parameters:
    ///   - size: executions of each operation and of the mix; null: calibrated on native SQLite.
    ///   - directory: where the definition, the pools and the calibration's copy are kept; the caller removes it.
    public static func plan(
        database: String, workload: String, size: Int?, seed: UInt32, durability: DurabilityClass, directory: URL,
        progress: (String) -> Void = { _ in }
    ) throws -> OwnDataPlan {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let text: String
        do {
            text = try String(contentsOfFile: workload, encoding: .utf8)
        } catch {
            let isThere = FileManager.default.fileExists(atPath: workload)
            throw OwnDataError(
                (isThere ? "\(workload) cannot be read as UTF-8 text" : "there is no file \(workload)")
                    + "; 'rootstock suggest' writes a workload")
        }
        let file = try WorkloadFile(text: text, name: URL(fileURLWithPath: workload).lastPathComponent)
        let source = try SourceDatabase(path: database, scratch: directory)
        let schema = try SourceSchema(of: source.connection)
        guard !schema.tables.isEmpty else { throw OwnDataError("\(database) has no table that can be imported") }
        var skipped = schema.skipped
        var left: [String] = []
        for operation in file.operations {
            let needed = schema.skippedTables.first { name in
                operation.statements.contains { SQLTokens.mentions($0.sql, name) }
            }
            guard let needed else { continue }
            left.append(operation.name)
            skipped.append("operation '\(operation.name)' of line \(operation.line): it uses table \(needed)")
        }
        guard left.count < file.operations.count else {
            throw OwnDataError("no operation is left: \(skipped.joined(separator: "; "))")
        }
        progress("taking parameters from \(database)")
        let poolsPath = directory.appendingPathComponent("parameters.sqlite").path
        try ParameterPools.write(file, leaving: left, from: source, schema, seed: seed, to: poolsPath)
        let calibration = try calibrate(
            file, left, StoreCopier(source: source.connection, schema: schema), pools: poolsPath, seed: seed,
            size: size,
            durability: durability, directory: directory, progress: progress)
        try source.checkUnchanged()
        let full = URL(fileURLWithPath: database).standardizedFileURL.path
        let definition = OwnDataDefinition(
            name: URL(fileURLWithPath: database).lastPathComponent, database: full, workload: text,
            workloadName: file.name, pools: poolsPath, scratch: directory.path, repeats: calibration.repeats,
            mixExecutions: calibration.mix, left: left, schema: schema)
        let path = directory.appendingPathComponent("own-data.json").path
        try JSONEncoder().encode(definition).write(to: URL(fileURLWithPath: path))
        var status = stat()
        let bytes = stat(database, &status) == 0 ? Int(status.st_size) : 0
        return OwnDataPlan(
            suite: try suite(definition, path: path), database: definition.name, databaseBytes: bytes,
            tables: schema.tables.count, rows: schema.tables.reduce(0) { $0 + $1.rows }, skipped: skipped,
            operations: zip(file.operations, calibration.repeats).filter { !left.contains($0.0.name) }.map {
                ($0.name, $0.weight, $1)
            })
    }

    /// Seconds that a turn of one operation, and of the mix, should take on native SQLite.
    private static let turnSeconds = 0.25
    private static let mixSeconds = 1.0
    private static let mostExecutions = 100_000

    /// Runs every operation on a native copy: whether it can be run at all, and how long one execution takes.
    private static func calibrate(
        _ file: WorkloadFile, _ left: [String], _ copier: StoreCopier, pools poolsPath: String, seed: UInt32,
        size: Int?,
        durability: DurabilityClass, directory: URL, progress: (String) -> Void
    ) throws -> (repeats: [Int], mix: Int) {
        let path = directory.appendingPathComponent("calibration.sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let filling = try Connection(path: path, engine: .sqlite, options: StoreOptions(durability: .off, native: .wal))
        _ = try copier.run(into: filling, showing: progress)
        filling.close()
        var options = StoreOptions(durability: durability, native: .wal)
        options.statementCacheCapacity = 0
        let session = try Session(
            parameters: Parameters(size: 1, seed: seed),
            connect: { [options] in try Connection(path: path, engine: .sqlite, options: options) })
        defer { session.close() }
        for pragma in file.pragmas { try session.execute("PRAGMA \(pragma)") }
        let pools = try ParameterPools(path: poolsPath)
        let drawing = Drawing(file, pools, seed: seed)
        var seconds: [Double] = []
        for (number, operation) in file.operations.enumerated() {
            guard !left.contains(operation.name) else {
                seconds.append(0)
                continue
            }
            progress("trying \(operation.name)")
            seconds.append(try trial(operation, number, drawing, session, file))
        }
        func fitting(_ each: Double, _ whole: Double) -> Int {
            roundedDown(Int(min(Double(mostExecutions), max(1, whole / max(each, 1e-7)))))
        }
        let repeats = zip(file.operations, seconds).map { $0.repeats ?? size ?? fitting($1, turnSeconds) }
        let weights = file.operations.map { left.contains($0.name) ? 0 : $0.weight }
        let mean = zip(weights, seconds).reduce(0) { $0 + Double($1.0) * $1.1 } / Double(weights.reduce(0, +))
        return (repeats, size ?? fitting(mean, mixSeconds))
    }

    /// Seconds of one execution; a failure becomes one of the workload file's line.
    private static func trial(
        _ operation: WorkloadFile.Operation, _ number: Int, _ drawing: Drawing, _ session: Session, _ file: WorkloadFile
    ) throws -> Double {
        do {
            let most = 1024
            let runner = try OperationRunner(
                operation, session, values: try drawing.values(operation: number, count: most),
                enforcesForeignKeys: file.enforcesForeignKeys)
            let started = Meter.now()
            var done = 0
            while done < most, done == 0 || Meter.now() - started < 20_000_000 {
                try runner.execute(session)
                done += 1
            }
            return Double(Meter.now() - started) / 1e9 / Double(done)
        } catch {
            let message = (error as? DatabaseError)?.message ?? (error as? WorkloadError)?.message ?? "\(error)"
            throw WorkloadFileError(
                file: file.name, line: operation.line, message: "native SQLite says of '\(operation.name)': \(message)")
        }
    }

    /// The next number below of the form 1, 2 or 5 and zeros: the same from one day to the next.
    static func roundedDown(_ count: Int) -> Int {
        var unit = 1
        while unit * 10 <= count { unit *= 10 }
        return [5, 2, 1].map { $0 * unit }.first { $0 <= count } ?? 1
    }
}
