// Connection+Functions.swift - Swift closures behind SQLite's function pointers.
//
// Invariant: SQLite owns one reference to each function's box and gives it back when the function goes.

import CSQLite

extension Connection {
    /// Makes `function` known to the connection, in place of an earlier one of its name and number of arguments.
    ///
    /// Of a ``Store``, ``StoreOptions/functions`` reach every connection.
    ///
    /// - Throws: ``ResultCode/misuse`` for a number of arguments that SQLite does not take; ``ResultCode/busy`` while statements run.
    public func add(_ function: SQLFunction) throws(DatabaseError) {
        guard let database else { throw closedError }
        let flags = SQLITE_UTF8 | (function.isDeterministic ? SQLITE_DETERMINISTIC : 0)
        let count = Int32(clamping: function.argumentCount ?? -1)
        let code: Int32
        switch function.body {
        case .scalar(let body):
            code = sqlite3_create_function_v2(
                database, function.name, count, flags, box(ScalarBox(body)), callScalar, nil, nil, releaseBox)
        case .aggregate(let make):
            let canRemove = make().canRemove
            code = sqlite3_create_window_function(
                database, function.name, count, flags, box(AggregateBox(make)), addRow, finishGroup,
                canRemove ? currentValue : nil, canRemove ? removeRow : nil, releaseBox)
        }
        if code == SQLITE_MISUSE {
            throw DatabaseError(
                .misuse,
                "SQLite takes no function \(function.name) of \(count) arguments: at most 127, and a name of 255 bytes")
        }
        if code != SQLITE_OK { throw DatabaseError(code, database: database) }
    }

    /// Makes `collation` known to the connection, in place of an earlier one of its name.
    ///
    /// - Throws: ``ResultCode/busy`` while statements run.
    public func add(_ collation: SQLCollation) throws(DatabaseError) {
        guard let database else { throw closedError }
        let made = box(CollationBox(collation.compare))
        let code = sqlite3_create_collation_v2(
            database, collation.name, SQLITE_UTF8, made, compareTexts, releaseBox)
        if code != SQLITE_OK {
            releaseBox(made)  // unlike a function's, SQLite leaves it alone
            throw DatabaseError(code, database: database)
        }
    }
}

private final class ScalarBox {
    let body: ([Value]) throws -> Value
    init(_ body: @escaping ([Value]) throws -> Value) { self.body = body }
}

private final class AggregateBox {
    let make: () -> any SQLAggregation
    init(_ make: @escaping () -> any SQLAggregation) { self.make = make }
}

private final class CollationBox {
    let compare: (String, String) -> Int32
    init(_ compare: @escaping (String, String) -> Int32) { self.compare = compare }
}

/// The state of one group, from its first row to its end.
private final class GroupBox {
    let aggregation: any SQLAggregation
    init(_ aggregation: any SQLAggregation) { self.aggregation = aggregation }
}

private func box(_ object: AnyObject) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

private func releaseBox(_ pointer: UnsafeMutableRawPointer?) {
    if let pointer { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
}

private func userBox<Box: AnyObject>(_ context: OpaquePointer?, as type: Box.Type) -> Box {
    Unmanaged<Box>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
}

private typealias Cells = UnsafeMutablePointer<OpaquePointer?>

private func values(_ count: Int32, _ arguments: Cells?) -> [Value] {
    (0..<Int(count)).map { index in
        let value = arguments?[index]
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let text = sqlite3_value_text(value)
            let bytes = UnsafeBufferPointer(start: text, count: text == nil ? 0 : Int(sqlite3_value_bytes(value)))
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let blob = sqlite3_value_blob(value)
            return .blob(
                Array(UnsafeRawBufferPointer(start: blob, count: blob == nil ? 0 : Int(sqlite3_value_bytes(value)))))
        default: return .null
        }
    }
}

/// SQLITE_TRANSIENT: SQLite copies.
private let copyBytes = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Hands what `body` gives, or throws, to SQLite.
private func answer(_ context: OpaquePointer?, _ body: () throws -> Value) {
    do {
        switch try body() {
        case .null: sqlite3_result_null(context)
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .real(let real): sqlite3_result_double(context, real)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(
                        context, $0.baseAddress, UInt64($0.count), copyBytes, UInt8(SQLITE_UTF8))
                    if $0.isEmpty { sqlite3_result_text(context, "", 0, copyBytes) }
                }
            }
        case .blob(let bytes):
            if bytes.isEmpty {
                sqlite3_result_zeroblob(context, 0)
            } else {
                sqlite3_result_blob64(context, bytes, UInt64(bytes.count), copyBytes)
            }
        }
    } catch let error as DatabaseError {
        sqlite3_result_error(context, error.message, -1)
        // Keeps the text.
        sqlite3_result_error_code(context, error.extendedCode.rawValue)
    } catch {
        sqlite3_result_error(context, String(describing: error), -1)
    }
}

private func callScalar(_ context: OpaquePointer?, _ count: Int32, _ arguments: Cells?) {
    answer(context) { try userBox(context, as: ScalarBox.self).body(values(count, arguments)) }
}

/// The group's state: made at its first row.
private func group(_ context: OpaquePointer?) -> (any SQLAggregation)? {
    let size = Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
    guard let place = sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    else { return nil }
    if place.pointee == nil { place.pointee = box(GroupBox(userBox(context, as: AggregateBox.self).make())) }
    return place.pointee.map { Unmanaged<GroupBox>.fromOpaque($0).takeUnretainedValue().aggregation }
}

/// Runs `body` and tells SQLite of an error only.
private func passing(_ context: OpaquePointer?, _ body: () throws -> Void) {
    do {
        try body()
    } catch {
        answer(context) { throw error }
    }
}

private func addRow(_ context: OpaquePointer?, _ count: Int32, _ arguments: Cells?) {
    passing(context) { try group(context)?.add(values(count, arguments)) }
}

private func removeRow(_ context: OpaquePointer?, _ count: Int32, _ arguments: Cells?) {
    passing(context) { try group(context)?.remove(values(count, arguments)) }
}

private func currentValue(_ context: OpaquePointer?) {
    answer(context) { try group(context)?.result() ?? .null }
}

private func finishGroup(_ context: OpaquePointer?) {
    // Without a row there is no state yet: the result is that of none. After an error the state is released here, too.
    let place = sqlite3_aggregate_context(context, 0)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    guard let place, let pointer = place.pointee else {
        return answer(context) { try userBox(context, as: AggregateBox.self).make().result() }
    }
    place.pointee = nil
    let box = Unmanaged<GroupBox>.fromOpaque(pointer).takeRetainedValue()
    answer(context) { try box.aggregation.result() }
}

private func compareTexts(
    _ context: UnsafeMutableRawPointer?, _ firstCount: Int32, _ first: UnsafeRawPointer?, _ secondCount: Int32,
    _ second: UnsafeRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    func text(_ start: UnsafeRawPointer?, _ count: Int32) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }
    return Unmanaged<CollationBox>.fromOpaque(context).takeUnretainedValue()
        .compare(text(first, firstCount), text(second, secondCount))
}
