// Why an engine could not do what it was asked.
//
// Invariant: the codes are those of rootstock_engine.h, one for one; answers (not found, exists) are no errors and
// are missing here.

/// An engine's failure: a code from a closed set, and the engine's own words.
public struct EngineError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Code: Int32, Sendable {
        /// Another process writes, and the busy handler gave up.
        case busy = 3
        /// The disk, or the room set aside, is full; the write transaction can only be aborted.
        case full = 4
        /// The data contradicts itself.
        case corrupt = 5
        /// The file is not one of this engine's.
        case notAStore = 6
        /// The operating system failed a read, a write, a sync or a map.
        case inputOutput = 7
        /// A write where only reading was asked for.
        case readOnly = 8
        /// A key longer than the limit, or empty.
        case keyTooLong = 9
        /// No snapshot more can be taken.
        case readersFull = 10
        /// There is no memory.
        case noMemory = 11
        /// No such directory, a directory where a file should be, and the like.
        case cannotOpen = 12
        /// The operating system refused access.
        case permission = 13
        /// The environment is of no use until everybody has closed it and it is opened again.
        case mustReopen = 14
        /// A call against the contract.
        case misuse = 15
        /// Written by a version that this one cannot read.
        case version = 16
        /// No tree more can be made.
        case treesFull = 17
        /// An option that this engine does not have.
        case unsupported = 18
        /// An earlier failure left the transaction fit for abort only.
        case transactionBroken = 19
        /// Another writer was in the write transaction's way: it can only be aborted, and begun again.
        case conflict = 22
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was wrong, naming path and remedy where there are any.
    public let message: String

    /// A failure of an engine.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
