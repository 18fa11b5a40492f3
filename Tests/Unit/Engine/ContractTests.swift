// Every registered engine against the contract of rootstock_engine.h, by the rules of the engine test.

import Foundation
import RootstockEngine
import RootstockEngineTest
import TestSupport
import Testing

@Suite(.serialized) struct ContractTests {
    static let engines = EngineUnderTest.all
    static let rules: [String] = {
        var names: [String] = []
        while let name = rootstock_engine_test_rule(names.count, nil) { names.append(String(cString: name)) }
        return names
    }()

    /// What the engine broke, a line each.
    private func failures(_ engine: EngineUnderTest, _ rule: String, seed: UInt64 = 1, rounds: Int = 1) -> [String] {
        var failures: [String] = []
        let code = withUnsafeMutablePointer(to: &failures) { failures in
            rule.withCString { rule in
                var options = rootstock_engine_test_options()
                options.only = rule
                options.seed = seed
                options.rounds = UInt32(rounds)
                if engine.withoutMap { options.store.write_map = ROOTSTOCK_WRITE_MAP_NEVER }
                options.context = UnsafeMutableRawPointer(failures)
                options.report = { context, result in
                    guard let result = result?.pointee, result.outcome == ROOTSTOCK_ENGINE_TEST_FAILED else { return }
                    let words = [result.rule, result.sentence, result.words].map { String(cString: $0!) }
                    context!.assumingMemoryBound(to: [String].self).pointee
                        .append("\(words[0]): \(words[1]): expected \(words[2])")
                }
                return rootstock_engine_test(rootstock_engine_find(engine.name), &options)
            }
        }
        return code < 0 ? ["the test could not run: errno \(errno)"] : failures
    }

    @Test(arguments: engines, rules) func keeps(_ engine: EngineUnderTest, _ rule: String) {
        #expect(failures(engine, rule, rounds: 3) == [])
    }

    /// New seeds each time, a few seconds' worth or as long as ROOTSTOCK_TEST_SECONDS says.
    @Test(arguments: engines) func anyOrderForAWhile(_ engine: EngineUnderTest) {
        let end = Date(timeIntervalSinceNow: environmentSeconds(default: 2) / Double(Self.engines.count))
        let first = SeededGenerator.environmentSeed()
        var seed = first
        repeat {
            #expect(failures(engine, "random.", seed: max(seed, 1)) == [])
            seed += 1
        } while Date() < end && seed - first < environmentPrograms()
    }

    /// Each sentence that a failure may name stands in the header.
    @Test func theSentencesAreTheContracts() throws {
        func words(_ text: Substring) -> String {
            text.split(whereSeparator: { $0.isWhitespace || $0 == "*" || $0 == "/" }).joined(separator: " ")
        }
        let header = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../CShims/RootstockEngine/include/rootstock_engine.h").standardizedFileURL
        let contract = words(try String(contentsOf: header, encoding: .utf8)[...])
        var count = 0
        while let sentence = rootstock_engine_test_sentence(count) {
            count += 1
            let text = String(cString: sentence)
            #expect(contract.contains(words(text[...])), "not in rootstock_engine.h: \(text)")
        }
        #expect(count > 30)
    }
}
