/// A result code of SQLite, primary (`SQLITE_CONSTRAINT`) or extended (`SQLITE_CONSTRAINT_UNIQUE`).
///
/// An extended code carries its primary code in its low eight bits.
public struct ResultCode: RawRepresentable, Hashable, Sendable {
    /// SQLite's number.
    public let rawValue: Int32

    /// The code with SQLite's number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code: the same for every extended code of one family.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }
}

extension ResultCode {
    /// An error without a code of its own: a text that SQL does not take, a thing that is not there (`SQLITE_ERROR`).
    public static let error = ResultCode(rawValue: 1)
    /// The operating system refused access (`SQLITE_PERM`).
    public static let permission = ResultCode(rawValue: 3)
    /// A callback, or a rollback beside the statement, ended it (`SQLITE_ABORT`).
    public static let abort = ResultCode(rawValue: 4)
    /// Another connection or process holds the lock, and the busy timeout is over (`SQLITE_BUSY`).
    public static let busy = ResultCode(rawValue: 5)
    /// The same connection, or one that shares its cache, is in the way (`SQLITE_LOCKED`).
    public static let locked = ResultCode(rawValue: 6)
    /// There is no memory (`SQLITE_NOMEM`).
    public static let outOfMemory = ResultCode(rawValue: 7)
    /// A write where only reading was asked for (`SQLITE_READONLY`).
    public static let readOnly = ResultCode(rawValue: 8)
    /// ``Connection/interrupt()``, or the end of a task, ended the statement (`SQLITE_INTERRUPT`).
    public static let interrupt = ResultCode(rawValue: 9)
    /// The operating system failed a read, a write or a sync (`SQLITE_IOERR`).
    public static let io = ResultCode(rawValue: 10)
    /// The file contradicts itself (`SQLITE_CORRUPT`).
    public static let corrupt = ResultCode(rawValue: 11)
    /// The disk is full (`SQLITE_FULL`).
    public static let full = ResultCode(rawValue: 13)
    /// The file cannot be opened or made (`SQLITE_CANTOPEN`).
    public static let cannotOpen = ResultCode(rawValue: 14)
    /// The schema has changed under the statement too often (`SQLITE_SCHEMA`).
    public static let schema = ResultCode(rawValue: 17)
    /// A text, a blob or a row is too long (`SQLITE_TOOBIG`).
    public static let tooBig = ResultCode(rawValue: 18)
    /// A row breaks a constraint: the extended codes tell which (`SQLITE_CONSTRAINT`).
    public static let constraint = ResultCode(rawValue: 19)
    /// A value stands for none of the type that was asked for (`SQLITE_MISMATCH`).
    public static let mismatch = ResultCode(rawValue: 20)
    /// A call that makes no sense: a closed store, a connection outside its closure, two statements in one text (`SQLITE_MISUSE`).
    public static let misuse = ResultCode(rawValue: 21)
    /// A parameter or a column that is not there (`SQLITE_RANGE`).
    public static let range = ResultCode(rawValue: 25)
    /// The file is no database of the engine (`SQLITE_NOTADB`).
    public static let notADatabase = ResultCode(rawValue: 26)
}

extension ResultCode {
    /// Another connection has committed what this transaction has read, or another writer was in its way: begin it again
    /// (`SQLITE_BUSY_SNAPSHOT`).
    public static let busySnapshot = busy.extended(2)
    /// A CHECK is not met (`SQLITE_CONSTRAINT_CHECK`).
    public static let checkConstraint = constraint.extended(1)
    /// A foreign key leads nowhere (`SQLITE_CONSTRAINT_FOREIGNKEY`).
    public static let foreignKeyConstraint = constraint.extended(3)
    /// NULL in a NOT NULL column (`SQLITE_CONSTRAINT_NOTNULL`).
    public static let notNullConstraint = constraint.extended(5)
    /// A primary key that another row has (`SQLITE_CONSTRAINT_PRIMARYKEY`).
    public static let primaryKeyConstraint = constraint.extended(6)
    /// A trigger has called `RAISE()` (`SQLITE_CONSTRAINT_TRIGGER`).
    public static let triggerConstraint = constraint.extended(7)
    /// Values of a UNIQUE index that another row has (`SQLITE_CONSTRAINT_UNIQUE`).
    public static let uniqueConstraint = constraint.extended(8)
    /// A rowid that another row has (`SQLITE_CONSTRAINT_ROWID`).
    public static let rowidConstraint = constraint.extended(10)
    /// A value of another type than a STRICT table's column (`SQLITE_CONSTRAINT_DATATYPE`).
    public static let datatypeConstraint = constraint.extended(12)

    private func extended(_ number: Int32) -> ResultCode {
        ResultCode(rawValue: rawValue | number << 8)
    }
}

extension ResultCode: CustomStringConvertible {
    public var description: String { String(rawValue) }
}
