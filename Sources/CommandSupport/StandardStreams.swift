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

/// Standard output, written in large pieces.
package final class StandardOutput {
    package init() {}

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
                let count = posixWrite(bytes[written...])
                if count < 0 && errno != EINTR { throw SystemFailure("cannot write the output") }
                written += max(0, count)
            }
        }
    }
}

/// `write`, whose name the methods above hide.
private func posixWrite(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let rest = UnsafeRawBufferPointer(rebasing: bytes)
    return write(STDOUT_FILENO, rest.baseAddress!, rest.count)
}

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
