// Engines from shared libraries, and what is there to choose from.

import Foundation
import RootstockEngine

extension Engine {
    /// Loads an engine from a shared library and makes it known under its name, for every connection of this process.
    ///
    /// The library defines `rootstock_engine_init` (`rootstock_engine.h`). It stays loaded until the process ends. Whoever chooses
    /// the path runs code in this process.
    ///
    /// - Returns: The engine to open stores with.
    /// - Throws: ``EngineError`` that names what is wrong with the library.
    @discardableResult
    public static func load(path: String) throws(EngineError) -> Engine {
        _ = registered
        var engine: UnsafePointer<rootstock_engine>?
        var message: UnsafeMutablePointer<CChar>?
        let code = rootstock_engine_load(path, &engine, &message)
        defer { free(message) }
        guard code == 0, let engine else {
            throw EngineError(
                EngineError.Code(rawValue: code) ?? .misuse,
                message.map { String(cString: $0) } ?? String(cString: rootstock_code_name(code)))
        }
        return Engine(name: String(cString: engine.pointee.name))
    }

    /// What an engine says of itself.
    public struct Description: Hashable, Sendable {
        /// The engine.
        public let engine: Engine
        /// The version of the library underneath, as it reports itself.
        public let version: String
        /// What a store is at its path.
        public let place: Place
        /// Whether a commit can survive the process.
        public let isDurable: Bool
        /// Whether a store can be copied while it is in use.
        public let copies: Bool
        /// Whether `VACUUM` gives space back.
        public let compacts: Bool
        /// Whether several processes can have a store open.
        public let sharesProcesses: Bool
        /// Whether write transactions go on at once. One that another was in the way of is refused with ``ResultCode/busySnapshot``, at the
        /// latest at its commit.
        public let hasManyWriters: Bool

        /// Where an engine keeps a store.
        public enum Place: String, Sendable {
            case file, directory
            /// In this process's memory.
            case memory
            /// In a server, or elsewhere behind the engine: what is at the path names a store at most.
            case server
        }

        /// Whether the store's bytes are at its path.
        package var keepsFiles: Bool { place == .file || place == .directory }
    }

    /// What the engine can do, of one that is registered.
    var capabilities: EngineCapabilities {
        EngineCapabilities(rawValue: rootstock_engine_find(name)?.pointee.capabilities ?? 0)
    }

    /// Every engine that stores can be opened with, ``sqlite`` first, in the order in which they were made known.
    public static var descriptions: [Description] {
        var result = [
            Description(
                engine: .sqlite, version: Version.sqlite, place: .file, isDurable: true, copies: true, compacts: true,
                sharesProcesses: true, hasManyWriters: false)
        ]
        for engine in registered {
            guard let table = rootstock_engine_find(engine.name)?.pointee else { continue }
            let can = EngineCapabilities(rawValue: table.capabilities)
            result.append(
                Description(
                    engine: engine, version: String(cString: table.version),
                    place: can.contains(.file)
                        ? .file : can.contains(.directory) ? .directory : can.contains(.durable) ? .server : .memory,
                    isDurable: can.contains(.durable), copies: table.copy != nil, compacts: table.compact != nil,
                    sharesProcesses: !can.isDisjoint(with: [.file, .directory, .durable]) && !can.contains(.oneProcess),
                    hasManyWriters: can.contains(.manyWriters))
            )
        }
        return result
    }
}
