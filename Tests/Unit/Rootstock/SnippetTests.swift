// SnippetTests.swift - every block of Swift in the articles, in the README and in the comments of the API is code that compiles:
// Snippets.swift and its like have it, and the programs that the articles are about. And every public name has a comment.

import Foundation
import Testing

@Suite struct SnippetTests {
    private static let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    /// What is compiled, by this package or by that of a client.
    private static let sources = [
        "Tests/Unit/Rootstock/Snippets.swift", "Tests/Unit/Rootstock/ArticleSnippets.swift",
        "Tests/Unit/Rootstock/CommentSnippets.swift", "Tests/Clients/DropInProgram/main.swift",
        "Tests/Clients/Library/Package.swift", "Tests/Clients/GRDBProgram/Package.swift",
        "Tests/Clients/GRDBProgram/Sources/Library/main.swift",
        "Tests/Clients/GRDBProgram/Sources/Library/Records.swift",
    ]

    /// The README, the articles, and the sources whose comments the documentation shows.
    private static let documents: [String] =
        ["README.md"]
        + ["Sources/Rootstock", "Sources/RootstockPlug"].flatMap { folder in
            let found = FileManager.default.enumerator(atPath: top.appendingPathComponent(folder).path)
            return (found?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
                .map { "\(folder)/\($0)" }.sorted()
        }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: top.appendingPathComponent(path), encoding: .utf8)
    }

    /// The blocks of Swift in an article, or in the documentation comments of a source.
    private static func blocks(_ path: String) throws -> [String] {
        var document = try text(path)
        if path.hasSuffix(".swift") {
            document = document.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("///") }.map { String($0.dropFirst(3)) }.joined(separator: "\n")
        }
        return try document.components(separatedBy: "```swift\n").dropFirst().map {
            try #require($0.components(separatedBy: "```").first)
        }
    }

    /// Without indentation, empty lines and comments, which the documents and the sources have their own of.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            let code = line.range(of: "  //").map { line[..<$0.lowerBound] } ?? line
            return code.trimmingCharacters(in: .whitespaces)
        }.filter { !$0.isEmpty && !$0.hasPrefix("//") }
    }

    @Test func everyBlockIsCompiled() throws {
        let source = try Self.sources.flatMap { Self.lines(try Self.text($0)) }
        var found: Set<String> = []
        for document in Self.documents {
            for block in try Self.blocks(document) {
                found.insert(document)
                let code = Self.lines(block)
                // A file's imports stand at its head.
                for line in code where line.hasPrefix("import ") {
                    #expect(source.contains(line), "\(document): \(line)")
                }
                let rest = code.filter { !$0.hasPrefix("import ") }.joined(separator: "\n")
                #expect(source.joined(separator: "\n").contains(rest), "\(document): \(block)")
            }
        }
        // It has looked where there is something.
        #expect(found.count > 20 && found.contains("README.md") && found.contains("Sources/Rootstock/Store.swift"))
    }

    /// What a protocol of the standard library's says of a name is not said again.
    private static let known = [
        "databaseValue", "description:", "init(from ", "func encode(to ", "Literal", "hash(into ", "static func ==",
        "makeAsync",
        "startIndex", "endIndex", "stringInterpolation", "init(literalCapacity", "lastCommit: UInt64 { 0 }",
    ]

    @Test func everyPublicNameIsDescribed() throws {
        let declaration = #/^ *public (?:[a-z()]+ )*(?:var|let|func|struct|class|enum|protocol|init|subscript)\b/#
        let member = #/^    (?:case|var|func|init)\b/#
        var described = 0
        for folder in ["Sources/Rootstock", "Sources/RootstockObjects", "Sources/RootstockPlug"] {
            let found = FileManager.default.enumerator(atPath: Self.top.appendingPathComponent(folder).path)
            for path in (found?.compactMap { $0 as? String } ?? []).filter({ $0.hasSuffix(".swift") }).sorted() {
                let lines = try Self.text("\(folder)/\(path)").split(
                    separator: "\n", omittingEmptySubsequences: false
                ).map(String.init)
                // Requirements of a public protocol, and cases of a public enum, are public without the word.
                var isOpen = false
                for (index, line) in lines.enumerated() {
                    if line.hasPrefix("public protocol") || line.hasPrefix("public enum") { isOpen = true }
                    if line == "}" { isOpen = false }
                    guard
                        try declaration.firstMatch(in: line) != nil
                            || isOpen && member.firstMatch(in: line) != nil,
                        !Self.known.contains(where: { line.contains($0) })
                    else { continue }
                    let above = lines[..<index].last { !$0.trimmingCharacters(in: .whitespaces).hasPrefix("@") } ?? ""
                    let hasComment = above.trimmingCharacters(in: .whitespaces).hasPrefix("///")
                    #expect(hasComment, "\(folder)/\(path):\(index + 1): \(line)")
                    described += 1
                }
            }
        }
        #expect(described > 300)
    }
}
