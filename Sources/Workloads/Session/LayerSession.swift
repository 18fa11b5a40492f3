// What a workload is given that runs beside SQL: the place, the parameters and the hash of its answers.
//
// Invariant: answers hash as those of `Session` do, row by row and column by column, so that a property list is held to the
// same answers as SQL.

import CSQLite

public final class LayerSession {
    public let path: String
    public let parameters: Parameters
    public var answers = AnswerHash()
    public var isChecking = false
    /// What a workload keeps open from one of its runs to the next.
    public var resource: AnyObject?

    public init(path: String, parameters: Parameters) {
        self.path = path
        self.parameters = parameters
    }

    /// A column of a row, by SQLite's storage classes.
    enum Column {
        case integer(Int)
        case real(Double)
        case text(String)
        case null
    }

    /// Takes a row as an answer: cheaply while the clock runs, whole when checking.
    func take(_ row: [Column]) {
        if isChecking { answers.add(UInt64(row.count)) }
        for column in row { take(column) }
    }

    private func take(_ column: Column) {
        switch column {
        case .integer(let number): take(word: UInt64(bitPattern: Int64(number)), SQLITE_INTEGER)
        case .real(let number): take(word: number.bitPattern, SQLITE_FLOAT)
        case .text(let text):
            var copy = text
            copy.withUTF8 { utf8 in
                let bytes = UnsafeRawBufferPointer(utf8)
                if isChecking { answers.add(bytes) } else { answers.touch(bytes) }
            }
            if isChecking { answers.add(UInt64(SQLITE_TEXT)) }
        case .null:
            answers.touch(0)
            if isChecking { answers.add(UInt64(SQLITE_NULL)) }
        }
    }

    private func take(word: UInt64, _ type: Int32) {
        if isChecking {
            answers.add(word)
            answers.add(UInt64(type))
        } else {
            answers.touch(word)
        }
    }
}
