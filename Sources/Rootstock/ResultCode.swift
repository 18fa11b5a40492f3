/// A result code of SQLite, primary (`SQLITE_CONSTRAINT`) or extended (`SQLITE_CONSTRAINT_UNIQUE`).
///
/// An extended code carries its primary code in its low eight bits.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int32

    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code: the same for every extended code of one family.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }
}

extension ResultCode {
    public static let error = ResultCode(rawValue: 1)
    public static let permission = ResultCode(rawValue: 3)
    public static let abort = ResultCode(rawValue: 4)
    public static let busy = ResultCode(rawValue: 5)
    public static let locked = ResultCode(rawValue: 6)
    public static let outOfMemory = ResultCode(rawValue: 7)
    public static let readOnly = ResultCode(rawValue: 8)
    public static let interrupt = ResultCode(rawValue: 9)
    public static let io = ResultCode(rawValue: 10)
    public static let corrupt = ResultCode(rawValue: 11)
    public static let full = ResultCode(rawValue: 13)
    public static let cannotOpen = ResultCode(rawValue: 14)
    public static let schema = ResultCode(rawValue: 17)
    public static let tooBig = ResultCode(rawValue: 18)
    public static let constraint = ResultCode(rawValue: 19)
    public static let mismatch = ResultCode(rawValue: 20)
    public static let misuse = ResultCode(rawValue: 21)
    public static let range = ResultCode(rawValue: 25)
    public static let notADatabase = ResultCode(rawValue: 26)
}

extension ResultCode {
    public static let checkConstraint = constraint.extended(1)
    public static let foreignKeyConstraint = constraint.extended(3)
    public static let notNullConstraint = constraint.extended(5)
    public static let primaryKeyConstraint = constraint.extended(6)
    public static let triggerConstraint = constraint.extended(7)
    public static let uniqueConstraint = constraint.extended(8)
    public static let rowidConstraint = constraint.extended(10)
    public static let datatypeConstraint = constraint.extended(12)

    private func extended(_ number: Int32) -> ResultCode {
        ResultCode(rawValue: rawValue | number << 8)
    }
}

extension ResultCode: CustomStringConvertible {
    public var description: String { String(rawValue) }
}
