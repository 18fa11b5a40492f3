// RemoteSession.swift - a connection in a process of its own (Tests/Concurrency/SessionProgram), with the same calls as one in this process.

import CSQLite
import Foundation

/// What a test does with a connection, wherever that is.
protocol Connecting: AnyObject {
    func run(_ sql: String) -> Outcome
    func open(_ slot: Int, _ sql: String) -> Outcome
    func step(_ slot: Int, _ count: Int) -> Outcome
    func close(_ slot: Int) -> Outcome
    func close()
    var hasOpenStatement: Bool { get }
    var inTransaction: Bool { get }
}

extension Session: Connecting {}

final class RemoteSession: Connecting {
    private let process = Process()
    private let requests = Pipe()
    private let answers = Pipe()
    private var unread: [UInt8] = []
    private var openSlots: Set<Int> = []
    private(set) var inTransaction = false

    init(path: String, engine: String?) throws {
        signal(SIGPIPE, SIG_IGN)
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("rootstock-session")
        process.arguments = [path, engine ?? "wal"]
        process.standardInput = requests
        process.standardOutput = answers
        try process.run()
        let opened = answer()
        guard opened.code == SQLITE_OK else { throw Failure(description: "\(path): \(opened)") }
    }

    deinit { close() }

    var hasOpenStatement: Bool { !openSlots.isEmpty }

    /// The process ends by itself, without a word to SQLite.
    func close() {
        try? requests.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// SIGKILL, at once.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Sends the statement, and does not wait: `answer` does.
    func send(_ sql: String) { request("r \(sql)") }

    func run(_ sql: String) -> Outcome {
        send(sql)
        return answer()
    }

    func open(_ slot: Int, _ sql: String) -> Outcome {
        request("o \(slot) \(sql)")
        let outcome = answer()
        if outcome.code == SQLITE_OK { openSlots.insert(slot) } else { openSlots.remove(slot) }
        return outcome
    }

    func step(_ slot: Int, _ count: Int) -> Outcome {
        request("s \(slot) \(count)")
        let outcome = answer()
        if outcome.code != SQLITE_ROW { openSlots.remove(slot) }
        return outcome
    }

    func close(_ slot: Int) -> Outcome {
        openSlots.remove(slot)
        request("c \(slot)")
        return answer()
    }

    private func request(_ line: String) {
        let line = line.split(whereSeparator: \.isNewline).joined(separator: " ")
        try? requests.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Null at the end of what the process says.
    private func line() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = answers.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread += more
        }
    }

    func answer() -> Outcome {
        var rows: [String] = []
        while let line = line() {
            if line.hasPrefix("R") {
                rows.append(String(line.dropFirst()))
                continue
            }
            let parts = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0] == "=", let code = Int32(parts[1]) else { break }
            inTransaction = parts[2] == "1"
            return Outcome(code: code, rows: rows, inTransaction: inTransaction, message: String(parts[3]))
        }
        return Outcome(code: -1, message: "the process has ended")
    }
}
