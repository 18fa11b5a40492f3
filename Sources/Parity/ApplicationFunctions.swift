// ApplicationFunctions.swift - functions and collations that an application registers, on every target of a script.
//
// They are registered after the database was opened, as a program does; a script that reopens finds them again.

import CSQLite

private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func text(_ value: OpaquePointer?) -> String? {
    sqlite3_value_text(value).map { String(cString: $0) }
}

func registerApplicationFunctions(on db: OpaquePointer?) {
    func add(
        _ name: String, _ count: Int32, _ flags: Int32,
        _ body: @escaping @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) {
        sqlite3_create_function_v2(db, name, count, SQLITE_UTF8 | flags, nil, body, nil, nil, nil)
    }
    add("app_double", 1, SQLITE_DETERMINISTIC) { context, _, values in
        switch sqlite3_value_type(values?[0]) {
        case SQLITE_INTEGER: sqlite3_result_int64(context, sqlite3_value_int64(values?[0]) &* 2)
        case SQLITE_FLOAT: sqlite3_result_double(context, sqlite3_value_double(values?[0]) * 2)
        default: sqlite3_result_value(context, values?[0])
        }
    }
    add("app_join", -1, SQLITE_DETERMINISTIC) { context, count, values in
        let joined = (0..<Int(count)).map { text(values?[$0]) ?? "-" }.joined(separator: "+")
        sqlite3_result_text(context, joined, -1, transient)
    }
    add("app_changing", 0, 0) { context, _, _ in sqlite3_result_int(context, 42) }
    add("app_direct", 1, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY) { context, _, values in
        sqlite3_result_value(context, values?[0])
    }
    add("app_picky", 1, SQLITE_DETERMINISTIC) { context, _, values in
        if sqlite3_value_int64(values?[0]) < 0 {
            sqlite3_result_error(context, "app_picky takes no negative numbers", -1)
        } else {
            sqlite3_result_value(context, values?[0])
        }
    }
    // Runs a statement of its own, through the front door where there is one, and gives its code.
    add("app_run", 1, 0) { context, _, values in
        let db = sqlite3_context_db_handle(context)
        var sql = text(values?[0]) ?? ""
        var rewriting: OpaquePointer?
        if sqlite3_prepare_v2(db, "SELECT rootstock_rewrite(?1)", -1, &rewriting, nil) == SQLITE_OK {
            sqlite3_bind_text(rewriting, 1, sql, -1, transient)
            if sqlite3_step(rewriting) == SQLITE_ROW, let rewritten = sqlite3_column_text(rewriting, 0) {
                sql = String(cString: rewritten)
            }
        }
        sqlite3_finalize(rewriting)
        sqlite3_result_int(context, sqlite3_exec(db, sql, nil, nil, nil))
    }
    // Sets the connection's SQLITE_LIMIT_LENGTH, and gives the one before.
    add("app_length_limit", 1, 0) { context, _, values in
        let db = sqlite3_context_db_handle(context)
        sqlite3_result_int(context, sqlite3_limit(db, SQLITE_LIMIT_LENGTH, sqlite3_value_int(values?[0])))
    }
    // One of SQLite's own, replaced.
    add("unicode", 1, SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS) { context, _, values in
        sqlite3_result_int64(context, 1000 + Int64(sqlite3_value_bytes(values?[0])))
    }
    sqlite3_create_function_v2(
        db, "app_total", 1, SQLITE_UTF8, nil, nil, { _, _, _ in }, { context in sqlite3_result_int(context, 7) }, nil)
    sqlite3_create_collation_v2(
        db, "app_backwards", SQLITE_UTF8, nil,
        { _, leftSize, left, rightSize, right in
            let one = UnsafeRawBufferPointer(start: left, count: Int(leftSize))
            let other = UnsafeRawBufferPointer(start: right, count: Int(rightSize))
            if one.elementsEqual(other) { return 0 }
            return one.lexicographicallyPrecedes(other) ? 1 : -1
        }, nil)
}
