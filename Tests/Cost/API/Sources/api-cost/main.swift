// `api-cost FILE fill ROWS`, `api-cost FILE CASE COUNT`, `api-cost FILE time TURNS`: run.sh counts its instructions.
//
// Two counts of one case differ by nothing but the repetitions, so start-up cancels out. The engine is the file's: by its suffix.
import Foundation
import Rootstock

let path = CommandLine.arguments[1]
let work = CommandLine.arguments[2]
guard let count = Int(CommandLine.arguments[3]) else { fatalError("no number: \(CommandLine.arguments[3])") }

switch work {
case "fill": try Fixture.fill(path, rows: count)
case "time": try DecodingTimes.print(path, turns: count)
default:
    if let decoding = Decoding.cases[work] {
        for _ in 0..<count { try decoding(path) }
    } else if let layer = Layers.cases[work] {
        try layer(Fixture.open(path), count)
    } else if let read = Layers.reads[work] {
        let store = try Store(path: path, options: Fixture.options(path))
        for index in 0..<count { try store.read { try read($0, index) } }
    } else {
        let cases = Array(Layers.cases.keys) + Array(Layers.reads.keys) + Array(Decoding.cases.keys)
        fatalError("no case \(work): \(cases)")
    }
}
