// ScriptFile.swift - finds scripts: `.sql` for two targets to agree on, `.test` and `.slt` in the sqllogictest format.

import Foundation

package struct ScriptFile: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case sql, sqllogictest
    }

    package var path: String
    package var kind: Kind
    /// Its path in the folder that was searched, without the extension.
    package var name: String

    private static let kinds: [String: Kind] = ["sql": .sql, "test": .sqllogictest, "slt": .sqllogictest]

    /// The scripts at the paths, folders searched with what is in them, in the order of their names.
    package static func find(in paths: [String]) throws -> [ScriptFile] {
        var files: [ScriptFile] = []
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw HarnessError(description: "there is no \(path)")
            }
            let folder = isFolder.boolValue ? path : (path as NSString).deletingLastPathComponent
            let found =
                isFolder.boolValue
                ? FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
                : [(path as NSString).lastPathComponent]
            let scripts = found.compactMap { file in
                kinds[(file as NSString).pathExtension].map {
                    ScriptFile(
                        path: (folder as NSString).appendingPathComponent(file), kind: $0,
                        name: (file as NSString).deletingPathExtension)
                }
            }
            guard !scripts.isEmpty else {
                throw HarnessError(description: "\(path) has no script: they end in .sql, .test or .slt")
            }
            files += scripts
        }
        return files.sorted { $0.name == $1.name ? $0.path < $1.path : $0.name < $1.name }
    }
}
