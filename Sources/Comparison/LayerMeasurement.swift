// One turn of a workload at a layer that is not a session of SQL: GRDB, UserDefaults.
//
// Invariant: as in Measurement.swift, what is timed lies between `begin` and `end` of the meter, and the same answers are
// hashed: the rows that were read, or after a write the content, which for a database is read through SQL.

import Foundation
import Rootstock
import Workloads

/// Whether this build has GRDB.
public enum GRDBLayer {
    public static var isBuilt: Bool {
        #if GRDB
            true
        #else
            false
        #endif
    }
}

extension Turn {
    static func measureLayer(_ workload: Workload, _ request: TurnRequest) throws -> TurnReport {
        let isDatabase = request.contender.layer.isGRDB
        let workloads = [
            Layer.grdb: workload.runInGRDB, .grdbSQL: workload.runInGRDBWithSQL,
            .userDefaults: workload.runInUserDefaults,
        ]
        guard let run = workloads[request.contender.layer].flatMap({ $0 }) else {
            throw WorkloadError("case \(workload.name) is not written for layer \(request.contender.layer.rawValue)")
        }
        let options = isDatabase ? try options(request, durability: request.durability).options : StoreOptions()
        func session(_ path: String, size: Int) -> LayerSession {
            LayerSession(
                path: path, engine: Engine(name: request.contender.engine), options: options,
                parameters: Parameters(size: size, seed: request.parameters.seed))
        }
        /// A database of its own is given its schema by SQL, as every layer has it.
        func setUp(_ path: String, size: Int) throws {
            guard isDatabase else { return }
            let plain = try open(request, path: path, durability: request.durability, size: size)
            defer { plain.close() }
            try workload.setUp(plain)
        }
        let size = request.parameters.size
        switch workload.starting {
        case .fresh:
            let warmPath = request.path + ".warm-up"
            let small = TurnRequest.warmUpSize(size)
            try StoreFiles.remove(warmPath)
            try setUp(warmPath, size: small)
            try run(session(warmPath, size: small), Meter(operations: 1))
            try StoreFiles.remove(warmPath)
            try StoreFiles.remove(request.path)
            try setUp(request.path, size: size)
        case .copy where isPrepared(request):
            guard let from = request.fixturePath else { throw WorkloadError("no prepared store was named") }
            try StoreFiles.copy(from, to: request.path)
        case .copy, .shared:
            break
        }
        let layer = session(request.path, size: size)
        var checksum = AnswerHash()
        if !workload.writes {
            layer.isChecking = true
            try run(layer, Meter(operations: 1, lapOperations: workload.lapOperations))
            checksum = layer.answers
            layer.isChecking = false
        }
        layer.answers = AnswerHash()
        let stretch = MeasuredStretch(workload, operations: workload.operations(size))
        try run(layer, stretch.meter)
        let touched = layer.answers
        layer.resource = nil
        if workload.writes && isDatabase {
            let plain = try open(request, path: request.path, durability: request.durability, size: size)
            defer { plain.close() }
            for query in workload.contentQueries { try plain.hashRows(query) }
            checksum = plain.answers
        } else if workload.writes {
            // What is written without SQL, its workload hashes itself when it is asked to check.
            layer.answers = AnswerHash()
            layer.isChecking = true
            try run(layer, Meter(operations: 1))
            checksum = layer.answers
        }
        return stretch.report(
            touched: isDatabase || !workload.writes ? touched : AnswerHash(), checksum: checksum.hexadecimal,
            storeBytes: StoreFiles.bytes(request.path))
    }
}
