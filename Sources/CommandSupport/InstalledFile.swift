// InstalledFile.swift - where the command finds what was built or installed with it.

import Foundation

package enum InstalledFile {
    /// The first that is there: `installed`, from the command's folder on; or `built`, in a folder above the command, as in
    /// the package that it was built in.
    package static func find(installed: [String], built: String) -> String? {
        var folder = URL(fileURLWithPath: realPath("/proc/self/exe") ?? CommandLine.arguments[0])
            .deletingLastPathComponent()
        var candidates = installed.map { folder.appendingPathComponent($0) }
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            candidates.append(folder.appendingPathComponent(built))
        }
        for candidate in candidates {
            if let path = realPath(candidate.path) { return path }
        }
        return nil
    }

    package static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
