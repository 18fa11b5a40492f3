// SampleAppTests.swift - the sample application does the same on every engine, with one changed argument.

import Foundation
import Rootstock
import Testing

@Suite struct SampleAppTests {
    static let transcript = """
        migrated: books, isbn
        observed: 0
        observed: 300
        refused: UNIQUE constraint failed: book.isbn
        streamed to: Book 300
        found: Book 29, Book 59, Book 89
        shelf: essay 100 25747200
        shelf: novel 100 25920000
        shelf: poem 100 25833600
        initials: B
        cancelled
        observed: 301
        copied: The first, Last

        """

    @Test(arguments: apiEngines) func theApplicationPrintsTheSame(engine: Engine) throws {
        let folder = try TemporaryFolder()
        let process = program("rootstock-sample-app", [engine.name, folder.path()])
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(printed == Self.transcript)
    }
}
