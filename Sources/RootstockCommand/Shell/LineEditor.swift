import Foundation

/// Lines from a terminal, with editing, history and completion where libedit is there, which is loaded when it is needed.
///
/// Without libedit the terminal's own line is all the editing there is, and the shell says so.
final class LineEditor {
    /// Words that the text before the cursor may become. Unchecked, as what follows: the prompt's thread alone completes, from within libedit.
    nonisolated(unsafe) static var words: () -> [String] = { [] }
    nonisolated(unsafe) private static var matches: [String] = []

    private typealias ReadLine = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
    private typealias TakesText = @convention(c) (UnsafePointer<CChar>) -> Int32
    private typealias Generator = @convention(c) (UnsafePointer<CChar>?, Int32) -> UnsafeMutablePointer<CChar>?

    private let readLineFunction: ReadLine?
    private let addHistory: TakesText?
    private let writeHistory: TakesText?
    private let historyPath: String

    var hasEditing: Bool { readLineFunction != nil }

    init() {
        let library = dlopen("libedit.so.2", RTLD_NOW) ?? dlopen("libedit.so.0", RTLD_NOW)
        func symbol<T>(_ name: String, as type: T.Type) -> T? {
            guard let library, let address = dlsym(library, name) else { return nil }
            return unsafeBitCast(address, to: type)
        }
        readLineFunction = symbol("readline", as: ReadLine.self)
        addHistory = symbol("add_history", as: TakesText.self)
        writeHistory = symbol("write_history", as: TakesText.self)
        // libedit takes the characters that the locale has, and drops the bytes of others.
        if setlocale(LC_CTYPE, "") == nil || String(cString: nl_langinfo(Int32(CODESET))) != "UTF-8" {
            setlocale(LC_CTYPE, "C.UTF-8")
        }
        historyPath = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".rootstock_history").path
        _ = symbol("read_history", as: TakesText.self)?(historyPath)
        if let library, let variable = dlsym(library, "rl_completion_entry_function") {
            let generator: Generator = { text, state in
                if state == 0 {
                    let start = text.map { String(cString: $0) } ?? ""
                    LineEditor.matches = LineEditor.words().filter {
                        $0.count > start.count && $0.lowercased().hasPrefix(start.lowercased())
                    }.reversed()
                }
                return LineEditor.matches.popLast().flatMap { strdup($0) }
            }
            variable.assumingMemoryBound(to: Generator.self).pointee = generator
        }
    }

    /// The next line, or `nil` at the end of the input.
    func line(prompt: String) -> String? {
        guard let readLineFunction else {
            FileHandle.standardOutput.write(Data(prompt.utf8))
            return readLine()
        }
        guard let text = readLineFunction(prompt) else { return nil }
        defer { free(text) }
        if text.pointee != 0 { _ = addHistory?(text) }
        return String(cString: text)
    }

    func saveHistory() { _ = writeHistory?(historyPath) }
}
