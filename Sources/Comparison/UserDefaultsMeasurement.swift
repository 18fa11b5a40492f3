// One turn of a workload on UserDefaults, which is no database.
//
// Invariant: as in Measurement.swift, what is timed lies between `begin` and `end` of the meter, and the same answers are hashed.
// They are the rows that were read, or after a write the content, which the workload hashes itself when it is asked to check.

import Rootstock
import Workloads

extension Turn {
    static func measureUserDefaults(_ workload: Workload, _ request: TurnRequest) throws -> TurnReport {
        guard let run = workload.runInUserDefaults else {
            throw WorkloadError("case \(workload.name) is not written for layer \(request.contender.layer.rawValue)")
        }
        func session(_ path: String, size: Int) -> LayerSession {
            LayerSession(path: path, parameters: request.parameters.resized(size))
        }
        let size = request.parameters.size
        if case .fresh = workload.starting {
            let warmPath = request.path + ".warm-up"
            try StoreFiles.remove(warmPath)
            try run(session(warmPath, size: TurnRequest.warmUpSize(size)), Meter(operations: 1))
            try StoreFiles.remove(warmPath)
            try StoreFiles.remove(request.path)
        }
        let layer = session(request.path, size: size)
        func check() throws -> AnswerHash {
            layer.answers = AnswerHash()
            layer.isChecking = true
            try run(layer, Meter(operations: 1, lapOperations: workload.lapOperations))
            layer.isChecking = false
            return layer.answers
        }
        let read = workload.writes ? nil : try check()
        layer.answers = AnswerHash()
        let stretch = MeasuredStretch(workload, operations: workload.operations(size))
        try run(layer, stretch.meter)
        let touched = layer.answers
        layer.resource = nil
        let checksum = try read ?? check()
        return stretch.report(
            touched: workload.writes ? AnswerHash() : touched, checksum: checksum.hexadecimal,
            storeBytes: StoreFiles.bytes(request.path))
    }
}
