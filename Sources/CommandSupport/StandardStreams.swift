#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A call of the operating system that failed.
package struct SystemFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ action: String) {
        description = "\(action): \(String(cString: strerror(errno)))"
    }
}

/// Standard output or a new file, written in large pieces.
package final class StandardOutput {
    private let descriptor: Int32

    package init() { descriptor = STDOUT_FILENO }

    /// Makes a file, which `close` puts on the disk.
    package init(path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor < 0 { throw SystemFailure("cannot make \(path)") }
    }

    /// Makes a file anew, or empties the one that is there.
    package init(rewriting path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        if descriptor < 0 { throw SystemFailure("cannot write \(path)") }
    }

    deinit {
        if descriptor != STDOUT_FILENO { _ = posixClose(descriptor) }
    }

    package func close() throws {
        try flush()
        guard fsync(descriptor) == 0 else { throw SystemFailure("cannot write the output") }
    }

    private static let pieceSize = 1 << 16
    private var buffer: [UInt8] = []

    package func write(_ bytes: some Sequence<UInt8>) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.pieceSize { try flush() }
    }

    package func write(_ text: StaticString) throws {
        try write(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = posixWrite(descriptor, bytes[written...])
                if count < 0 && errno != EINTR { throw SystemFailure("cannot write the output") }
                written += max(0, count)
            }
        }
    }
}

/// `write` and `close`, whose names the methods above hide.
private func posixWrite(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: bytes)
    return write(descriptor, rest.baseAddress!, rest.count)
}

private func posixClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

/// Standard input.
package enum StandardInput {
    package static func readAll() throws -> String {
        var bytes: [UInt8] = []
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { piece.deallocate() }
        while true {
            let count = read(STDIN_FILENO, piece.baseAddress!, piece.count)
            if count < 0 && errno != EINTR { throw SystemFailure("cannot read standard input") }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(contentsOf: piece.prefix(max(0, count)))
        }
    }
}
