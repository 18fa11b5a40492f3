import CSQLite

extension Connection {
    /// Prepares the one statement of `sql`, or takes it from the cache of those prepared before.
    ///
    /// - Throws: What SQLite says of the text; ``ResultCode/misuse`` if it holds no statement or more than one.
    public func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        try checkCancellation()
        namesRead?.willRun(sql)
        if let cached = try takeCached(sql) { return Statement(connection: self, using: cached) }
        return try withBytes(of: sql) { (text) throws(DatabaseError) -> Statement in
            let compiled = try compile(text)
            guard let handle = compiled.handle else {
                throw DatabaseError(.misuse, "the text holds no statement", sql: sql)
            }
            // The front door is asked anew what to make of anything but queries and changes. A COMMIT depends on what was done in
            // the transaction, a pragma on more than the schema.
            let statement = compiled.statement(
                handle, sql: sql, isReusable: isNative || SQLTokens.isQueryOrChange(text))
            // What stands behind the statement would be dropped without a word.
            let rest = UnsafeBufferPointer(rebasing: text[compiled.consumed...])
            guard !rest.contains(0) else { throw nulFailure(sql) }
            guard SQLTokens.isBlank(rest) else {
                throw DatabaseError(.misuse, "the text holds more than one statement", sql: sql)
            }
            return Statement(connection: self, using: .passRetained(statement))
        }
    }

    /// Prepares each statement of `script` in turn and hands it to `body`, which runs it or not.
    ///
    /// A statement is prepared when those before it have run, so a script can use the tables it makes. The first error ends the
    /// script; what ran before keeps its effect.
    public func forEachStatement(in script: String, _ body: (Statement) throws -> Void) throws {
        var position = 0
        try forEachStatement(in: script, position: &position, body)
    }

    /// The same, with the place in `script` where the statement begins that is at work, in bytes of UTF-8: after an error, the
    /// one that failed.
    package func forEachStatement(
        in script: String, position: inout Int, _ body: (Statement) throws -> Void
    ) throws {
        namesRead?.willRun(script)
        try withBytes(of: script) { text in
            var rest = text
            while !rest.isEmpty {
                try checkCancellation()
                position = text.count - rest.count
                let compiled = try compile(rest)
                if let handle = compiled.handle {
                    let sql = SQLTokens.string(rest.prefix(compiled.consumed))
                    let statement = compiled.statement(handle, sql: sql, isReusable: false)
                    try body(Statement(connection: self, using: .passRetained(statement)))
                } else if compiled.consumed == 0 {
                    throw nulFailure(script)
                }
                rest = UnsafeBufferPointer(rebasing: rest[compiled.consumed...])
            }
        }
    }

    private func nulFailure(_ sql: String) -> DatabaseError {
        DatabaseError(.misuse, "the text holds a NUL, where SQLite ends it: bind the text, or write char(0)", sql: sql)
    }

    /// Takes back what a `Statement` has used. A closed connection keeps nothing.
    func giveBack(_ statement: Unmanaged<CompiledStatement>) {
        guard database != nil else { return statement.release() }
        if statement._withUnsafeGuaranteedRef({ $0.changesSchema }) { cache.removeAll() }
        cache.giveBack(statement)
    }

    /// Resets what the holder of a connection left unfinished, so that no forgotten row keeps a snapshot alive.
    func resetStatements() {
        guard lastStatement != nil else { return }
        var handle = sqlite3_next_stmt(database, nil)
        while let current = handle {
            if sqlite3_stmt_busy(current) != 0 { sqlite3_reset(current) }
            handle = sqlite3_next_stmt(database, current)
        }
    }

    /// The error behind `code`, which a call on this connection has just returned.
    @usableFromInline
    func failure(_ code: Int32, sql: String?) -> DatabaseError {
        if isSpent { return DatabaseError(.misuse, closedError.message, sql: sql) }
        var error = DatabaseError(code, database: database, sql: sql)
        if !isNative, let database {
            let finer = FrontDoor.lastError(database)
            if finer != 0 { error = DatabaseError(ResultCode(rawValue: finer), error.message, sql: sql) }
        }
        log?.failed(error, path: path)
        return error
    }
}

extension Connection {
    private struct Compiled {
        /// `nil` where there are only blanks and comments.
        var handle: OpaquePointer?
        /// Bytes up to behind the statement.
        var consumed: Int
        var hidesColumns: Bool
        var writesUnseen: Bool
        var changesSchema: Bool
        var isPlainQuery: Bool
        var schemaState: UInt64

        func statement(_ handle: OpaquePointer, sql: String, isReusable: Bool) -> CompiledStatement {
            CompiledStatement(
                handle: handle, sql: sql, isReusable: isReusable, hidesColumns: hidesColumns,
                writesUnseen: writesUnseen, changesSchema: changesSchema, isPlainQuery: isPlainQuery,
                schemaState: schemaState)
        }
    }

    func takeCached(_ sql: String) throws(DatabaseError) -> Unmanaged<CompiledStatement>? {
        guard let database, let reference = cache.take(sql) else { return nil }
        let (handle, isPlainQuery, writesUnseen, schemaState) = reference._withUnsafeGuaranteedRef {
            ($0.handle, $0.isPlainQuery, $0.writesUnseen, $0.schemaState)
        }
        do {
            // Outside a transaction a query's first cursor compares the schema in its own snapshot, for nothing.
            if !isNative, !isPlainQuery || sqlite3_get_autocommit(database) == 0 {
                let state = try FrontDoor.schemaState(database)
                if state != schemaState, !isPlainQuery {
                    cache.remove(reference)
                    reference.release()
                    return nil
                }
            }
            try refuseWrite(handle, unseen: writesUnseen, sql: sql)
        } catch {
            cache.giveBack(reference)
            throw error
        }
        return reference
    }

    /// Prepares the first statement of `text`, by way of the front door where the engine has one.
    private func compile(_ text: SQLTokens.Bytes) throws(DatabaseError) -> Compiled {
        guard let database else { throw closedError }
        var rewrite: FrontDoor.Rewrite?
        // Asked before the front door is: what it says then holds for this state or a later one, never for an older one. What is
        // wrong it says itself, in words; 0 is no state's number.
        var state: UInt64 = 0
        if !isNative {
            state = (try? FrontDoor.schemaState(database)) ?? 0
            do {
                rewrite = try FrontDoor.rewrite(database, text)
            } catch {
                let refused = DatabaseError(error.extendedCode, error.message, sql: SQLTokens.string(text))
                log?.failed(refused, path: path)
                throw refused
            }
        }
        let handle: OpaquePointer?
        var consumed: Int
        if let rewrite, let replacement = rewrite.replacement {
            handle = try withBytes(of: replacement) { (bytes) throws(DatabaseError) -> OpaquePointer? in
                let (handle, used) = try prepareBytes(bytes, of: text.prefix(rewrite.consumed), in: database)
                precondition(
                    SQLTokens.isBlank(UnsafeBufferPointer(rebasing: bytes[used...])),
                    "the front door gave more than one statement: \(replacement)")
                return handle
            }
            consumed = rewrite.consumed
        } else {
            // SQLite copies what it is given: of a long script the statement alone, where its end is known.
            let statement = rewrite.map { UnsafeBufferPointer(rebasing: text.prefix($0.consumed)) } ?? text
            (handle, consumed) = try prepareBytes(statement, of: statement[...], in: database)
            consumed = rewrite?.consumed ?? consumed
        }
        let source = UnsafeBufferPointer(rebasing: text.prefix(consumed))
        let writesUnseen = rewrite?.replacement.map(FrontDoor.writes) ?? false
        if knownBusyTimeout != nil, SQLTokens.keyword(source) == "PRAGMA",
            SQLTokens.string(source).uppercased().contains("BUSY_TIMEOUT")
        {
            knownBusyTimeout = nil
        }
        if let handle {
            do {
                try refuseWrite(handle, unseen: writesUnseen, sql: SQLTokens.string(source))
            } catch {
                sqlite3_finalize(handle)
                throw error
            }
        }
        return Compiled(
            handle: handle, consumed: consumed,
            hidesColumns: rewrite?.replacement != nil
                && (!SQLTokens.returnsRows(source) || handle.map(FrontDoor.hasColumns) == false),
            writesUnseen: writesUnseen,
            changesSchema: !isNative && SQLTokens.changesSchema(source),
            isPlainQuery: rewrite?.replacement == nil && SQLTokens.isQuery(source), schemaState: state)
    }

    /// Refuses a statement that writes while the connection is for reading.
    ///
    /// - Parameter unseen: Whether it writes by way of the front door: to SQLite, a query that calls a function or a table of ours.
    private func refuseWrite(
        _ handle: OpaquePointer, unseen: Bool, sql: @autoclosure () -> String
    ) throws(DatabaseError) {
        guard refusesWrites, unseen || sqlite3_stmt_readonly(handle) == 0 else { return }
        throw DatabaseError(.readOnly, "attempt to write a readonly database", sql: sql())
    }

    /// - Parameter written: the caller's text that `text` was made of: an error is told of it.
    private func prepareBytes(
        _ text: SQLTokens.Bytes, of written: Slice<SQLTokens.Bytes>, in database: OpaquePointer
    ) throws(DatabaseError) -> (handle: OpaquePointer?, consumed: Int) {
        var handle: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(
            database, text.baseAddress, Int32(clamping: text.count), UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
        guard code == SQLITE_OK else { throw failure(code, sql: SQLTokens.string(written)) }
        let consumed = tail.flatMap { tail in text.baseAddress.map { tail - $0 } } ?? text.count
        return (handle, consumed)
    }

    /// Calls `body` with the UTF-8 of `sql`, without the NUL that follows it in memory.
    private func withBytes<T, E: Error>(
        of sql: String, _ body: (SQLTokens.Bytes) throws(E) -> T
    ) throws(E) -> T {
        let bytes = sql.utf8CString
        return try bytes.withUnsafeBufferPointer { (buffer) throws(E) -> T in
            try body(UnsafeBufferPointer(rebasing: buffer.dropLast()))
        }
    }
}
