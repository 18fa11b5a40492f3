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

    /// Starts a command that reads what is written; it has ended when the object is released.
    package init(command: String) throws {
        guard let stream = popen(command, "w") else { throw SystemFailure("cannot start \(command)") }
        self.stream = stream
        descriptor = fileno(stream)
        // It may end before it has read all: that is an error to tell, and no end of ours.
        handlerBefore = signal(SIGPIPE, SIG_IGN)
    }

    private var stream: UnsafeMutablePointer<FILE>?
    private var handlerBefore: (@convention(c) (Int32) -> Void)?

    deinit {
        if let stream {
            pclose(stream)
            signal(SIGPIPE, handlerBefore)
        } else if descriptor != STDOUT_FILENO {
            _ = posixClose(descriptor)
        }
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

/// Standard input, a file, or what a command prints, read in large pieces.
package final class CommandInput {
    private let descriptor: Int32
    private var stream: UnsafeMutablePointer<FILE>?
    private let name: String

    package init() { (descriptor, name) = (STDIN_FILENO, "standard input") }

    /// - Parameter path: a file, or `|COMMAND`.
    package init(path: String) throws {
        name = path
        if path.hasPrefix("|") {
            stream = popen(String(path.dropFirst()), "r")
            guard let stream else { throw SystemFailure("cannot start \(path.dropFirst())") }
            descriptor = fileno(stream)
        } else {
            descriptor = open(path, O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { throw SystemFailure("cannot read \(path)") }
        }
    }

    deinit {
        if let stream {
            pclose(stream)
        } else if descriptor != STDIN_FILENO {
            _ = posixClose(descriptor)
        }
    }

    /// The next bytes; none at the end. Of a command that failed the end is an error.
    package func read() throws -> [UInt8] {
        while true {
            let piece = try [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
                let got = posixRead(descriptor, buffer)
                if got < 0 && errno != EINTR { throw SystemFailure("cannot read \(name)") }
                count = max(0, got)
                isInterrupted = got < 0
            }
            if isInterrupted { continue }
            if piece.isEmpty, let ended = stream {
                stream = nil
                let status = pclose(ended)
                if status != 0 { throw CommandFailure("\(name.dropFirst()): ended with status \(status >> 8)") }
            }
            return piece
        }
    }

    private var isInterrupted = false
}

private func posixRead(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
