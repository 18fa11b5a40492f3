// `--load-engine LIBRARY`, which every command takes: engines from shared libraries.
//
// Invariant: the processes that a command starts have the engines that it has, by way of ROOTSTOCK_LOAD_ENGINE.

import Foundation
import Rootstock

package enum EngineLibraries {
    private static let option = "--load-engine"
    private static let variable = "ROOTSTOCK_LOAD_ENGINE"

    /// Loads what `--load-engine` names, anywhere before `--`, and what the variable names, separated by colons.
    ///
    /// - Returns: The arguments without the option.
    package static func load(from arguments: some Sequence<String>) throws -> [String] {
        var libraries =
            ProcessInfo.processInfo.environment[variable]?.split(separator: ":").map(String.init) ?? []
        var rest: [String] = []
        var isName = false
        var isOver = false
        for argument in arguments {
            if isName {
                libraries.append(argument)
                isName = false
            } else if !isOver, argument == option {
                isName = true
            } else if !isOver, argument.hasPrefix(option + "=") {
                libraries.append(String(argument.dropFirst(option.count + 1)))
            } else {
                isOver = isOver || argument == "--"
                rest.append(argument)
            }
        }
        if isName { throw CommandFailure("\(option) takes the path of a library") }
        for (index, library) in libraries.enumerated() where library != "" && !libraries[..<index].contains(library) {
            do {
                // Without a slash the system would look in its own folders.
                try Engine.load(path: library.contains("/") ? library : "./\(library)")
            } catch {
                throw CommandFailure(error.description)
            }
        }
        if !libraries.isEmpty { setenv(variable, libraries.joined(separator: ":"), 1) }
        return rest
    }

    /// Runs `command` after that; ends the process.
    package static func run(_ command: ([String]) -> Void) {
        do {
            command(try load(from: CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
            exit(1)
        }
    }
}
