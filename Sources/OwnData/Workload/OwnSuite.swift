// The suite that a database and a workload file make: a fixture that is the import, a case for each operation, and the mix.
//
// Invariant: one definition file holds what the parent decided: the workload's text, the pools, how often each operation runs.
// Every measuring process makes the same suite from it.

import Foundation
import Rootstock
import Workloads

/// What a measuring process needs to make the suite again.
public struct OwnDataDefinition: Codable, Sendable {
    var name: String
    var database: String
    var workload: String
    var workloadName: String
    var pools: String
    var scratch: String
    var repeats: [Int]
    var mixExecutions: Int
    /// Operations that cannot run because what they need is not imported.
    var left: [String]
    var schema: SourceSchema
}

public enum OwnData {
    /// The suite of a definition file, in a measuring process.
    public static func suite(definedBy path: String) throws -> Suite {
        let definition = try JSONDecoder().decode(
            OwnDataDefinition.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        return try suite(definition, path: path)
    }

    static let fixtureName = "imported"

    static func suite(_ definition: OwnDataDefinition, path: String) throws -> Suite {
        let schema = definition.schema
        let file = try WorkloadFile(text: definition.workload, name: definition.workloadName)
        let contents = schema.tables.map { table in
            let names = (table.rowidName.map { [$0] } ?? []) + table.columns.map { SQL.quoted($0.name) }
            return "SELECT \(names.joined(separator: ", ")) FROM \(SQL.quoted(table.name)) ORDER BY \(table.order)"
        }
        let fixture = Fixture(name: fixtureName) { session in
            let source = try SourceDatabase(
                path: definition.database, scratch: URL(fileURLWithPath: definition.scratch))
            _ = try StoreCopier(source: source.connection, schema: schema).run(into: session.connection)
            try source.checkUnchanged()
        }
        let chosen = file.operations.indices.filter { !definition.left.contains(file.operations[$0].name) }
        var workloads = chosen.map { number in
            let operation = file.operations[number]
            let count = definition.repeats[number]
            return workload(
                operation.name, summary(operation), definition, file, writes: operation.writes, contents: contents,
                executions: count, isHeadline: false, [(number, count)],
                order: { _ in (0..<count).map { _ in 0 } })
        }
        let weights = chosen.map { file.operations[$0].weight }
        let mix = definition.mixExecutions
        let plan: @Sendable (UInt32) -> [Int] = { seed in
            let total = weights.reduce(0, +)
            var random = DrawGenerator(seed: UInt64(seed) &+ 0x6d69_78)
            return (0..<mix).map { _ in
                var ticket = Int.random(in: 0..<total, using: &random)
                for (place, weight) in weights.enumerated() {
                    if ticket < weight { return place }
                    ticket -= weight
                }
                return weights.count - 1
            }
        }
        // The mix is the answer that was asked for: where the time is short, it has it.
        workloads.insert(
            workload(
                WorkloadFile.mixName, "all operations, drawn by their weights", definition, file,
                writes: chosen.contains { file.operations[$0].writes }, contents: contents, executions: mix,
                isHeadline: true, chosen.map { ($0, nil) }, order: plan), at: 0)
        return Suite(
            name: definition.name, title: "Your own data and statements", source: definition.workloadName,
            unit: "operations of the mix", defaultSize: mix, smallestSize: mix, fixtures: [fixture],
            workloads: workloads, definition: path)
    }

    private static func summary(_ operation: WorkloadFile.Operation) -> String {
        let texts = operation.statements.map { statement in
            let line = statement.sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let short = line.count > 160 ? line.prefix(157) + "..." : line[...]
            return statement.times > 1 ? "\(statement.times) times \(short)" : String(short)
        }
        return (operation.isTransaction ? "one transaction: " : "") + texts.joined(separator: "; ")
    }

    /// A case that executes some of the operations in an order.
    private static func workload(
        _ name: String, _ summary: String, _ definition: OwnDataDefinition, _ file: WorkloadFile, writes: Bool,
        contents: [String], executions: Int, isHeadline: Bool, _ parts: [(number: Int, count: Int?)],
        order: @escaping @Sendable (UInt32) -> [Int]
    ) -> Workload {
        let enforcesForeignKeys = file.enforcesForeignKeys
        return Workload(
            name: name, summary: summary, starting: writes ? .copy(of: fixtureName) : .shared(fixtureName),
            writes: writes, isHeadline: isHeadline, operations: { _ in executions },
            setUp: { session in for pragma in file.pragmas { try session.execute("PRAGMA \(pragma)") } },
            contentQueries: contents,
            run: { session, meter in
                let pools = try ParameterPools(path: definition.pools)
                let drawing = Drawing(file, pools, seed: session.parameters.seed)
                let order = order(session.parameters.seed)
                let runners = try parts.enumerated().map { place, part in
                    let count = part.count ?? order.count { $0 == place }
                    return try OperationRunner(
                        file.operations[part.number], session,
                        values: try drawing.values(operation: part.number, count: count),
                        enforcesForeignKeys: enforcesForeignKeys)
                }
                try session.prepareToSettle()
                try withExtendedLifetime(pools) {
                    meter.begin()
                    for place in order {
                        try runners[place].execute(session)
                        meter.lap()
                    }
                    if writes { try session.settle() }
                    meter.end()
                }
            })
    }
}

extension WorkloadFile {
    var enforcesForeignKeys: Bool {
        pragmas.last { $0.hasPrefix("foreign_keys") }.map {
            ["on", "1", "true"].contains($0.split(separator: " ").last)
        }
            ?? false
    }
}
