// SnippetTests.swift - every block of Swift in the articles of the API is code that compiles: Snippets.swift has it.

import Foundation
import Testing

@Suite struct SnippetTests {
    /// Without indentation and empty lines, which the articles and the source have their own of.
    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    @Test(arguments: ["GettingStarted", "ChoosingAnEngine", "Concurrency", "Observing", "Migrations"])
    func theArticlesCodeIsCompiled(article: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let source = lines(try String(contentsOf: tests.appendingPathComponent("Snippets.swift"), encoding: .utf8))
            .joined(separator: "\n")
        let path = tests.appendingPathComponent("../../../Sources/Rootstock/Rootstock.docc/\(article).md")
        let blocks = try String(contentsOf: path, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
        #expect(!blocks.isEmpty)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(source.contains(lines(code).joined(separator: "\n")), "\(article): \(code)")
        }
    }
}
