// SQLFunction.swift - functions and collations of a program's own, as Swift closures.
//
// Invariant: what a closure throws ends the statement with that error's text and code.

/// A function that SQL calls by its name: a scalar, an aggregate or a window function.
///
/// Given to ``StoreOptions/functions``, it is there on every connection of a store.
///
/// ```swift
/// var options = StoreOptions()
/// options.functions = [SQLFunction("distance") { (x: Double, y: Double) in (x * x + y * y).squareRoot() }]
/// let store = try Store(path: "places.store", options: options)
/// let near = try store.read { try $0.query("SELECT name FROM place WHERE distance(x, y) < ?", [2.5]) }
/// ```
///
/// Arguments are converted exactly, as ``ValueConvertible`` has it; one that does not fit is ``ResultCode/mismatch``. An optional parameter takes
/// NULL. A deterministic function gives the same result for the same arguments, always, and only such a one may stand in an index, a generated
/// column or a CHECK. A database whose schema calls a function can be used by connections that have it only.
public struct SQLFunction: Sendable {
    /// The name by which SQL calls the function.
    public let name: String

    /// How many arguments it takes; `nil` for any number.
    public let argumentCount: Int?

    /// Whether the same arguments always give the same result.
    public let isDeterministic: Bool

    enum Body: Sendable {
        case scalar(@Sendable ([Value]) throws -> Value)
        case aggregate(@Sendable () -> any SQLAggregation)
    }

    let body: Body

    let identity = Identity()

    init(name: String, argumentCount: Int?, isDeterministic: Bool, body: Body) {
        self.name = name
        self.argumentCount = argumentCount
        self.isDeterministic = isDeterministic
        self.body = body
    }

    /// A scalar function with typed arguments.
    public init<each Argument: ValueConvertible & Sendable, Result: ValueConvertible & Sendable>(
        _ name: String, isDeterministic: Bool = false,
        _ body: @escaping @Sendable (repeat each Argument) throws -> Result
    ) {
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        self.init(
            name: name, argumentCount: count, isDeterministic: isDeterministic,
            body: .scalar { values in
                var index = 0
                func next<T: ValueConvertible>(_ type: T.Type) throws(DatabaseError) -> T {
                    defer { index += 1 }
                    if let converted = T(databaseValue: values[index]) { return converted }
                    throw DatabaseError(
                        .mismatch, "argument \(index + 1) of \(name)() is \(values[index].storageClass), not \(T.self)")
                }
                return try body(repeat try next((each Argument).self)).databaseValue
            })
    }

    /// A scalar function of any number of arguments.
    public init<Result: ValueConvertible & Sendable>(
        variadic name: String, isDeterministic: Bool = false, _ body: @escaping @Sendable ([Value]) throws -> Result
    ) {
        self.init(
            name: name, argumentCount: nil, isDeterministic: isDeterministic,
            body: .scalar { try body($0).databaseValue })
    }

    /// An aggregate, or with `remove` a window function.
    ///
    /// ```swift
    /// SQLFunction(aggregate: "product", arguments: 1, initial: 1.0) { product, row in
    ///     product *= Double(databaseValue: row[0]) ?? 1
    /// } result: {
    ///     $0
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name by which SQL calls the function.
    ///   - arguments: How many arguments it takes; `nil` for any number.
    ///   - isDeterministic: Whether the same rows always give the same result.
    ///   - initial: The state of a group before its first row.
    ///   - add: Takes a row's arguments in.
    ///   - remove: Takes a row out again that has left the window. Without it SQL refuses the function with `OVER`.
    ///   - result: The value of the state; of a window, for each row.
    public init<State: Sendable, Result: ValueConvertible & Sendable>(
        aggregate name: String, arguments: Int?, isDeterministic: Bool = true, initial: State,
        add: @escaping @Sendable (inout State, [Value]) throws -> Void,
        remove: (@Sendable (inout State, [Value]) throws -> Void)? = nil,
        result: @escaping @Sendable (State) throws -> Result
    ) {
        self.init(
            name: name, argumentCount: arguments, isDeterministic: isDeterministic,
            body: .aggregate { Aggregation(state: initial, add: add, remove: remove, result: result) })
    }
}

/// An order of texts that SQL names after COLLATE.
///
/// ```swift
/// options.collations = [SQLCollation("german") { $0.localizedStandardCompare($1).rawValue }]
/// let people = try connection.query("SELECT name FROM person ORDER BY name COLLATE german")
/// ```
///
/// On engines other than ``Engine/sqlite`` it serves queries and is refused in keys and indexes.
public struct SQLCollation: Sendable {
    /// The name by which SQL calls the order.
    public let name: String

    let compare: @Sendable (String, String) -> Int32
    let identity = Identity()

    /// An order. `compare` gives a number below, at or above 0, and must be one order for all texts.
    public init(_ name: String, _ compare: @escaping @Sendable (String, String) -> Int) {
        self.name = name
        self.compare = { Int32(compare($0, $1).signum()) }
    }
}

/// What tells one closure from another.
final class Identity: Sendable {}

extension SQLFunction: Hashable {
    public static func == (first: SQLFunction, second: SQLFunction) -> Bool { first.identity === second.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

extension SQLCollation: Hashable {
    public static func == (first: SQLCollation, second: SQLCollation) -> Bool { first.identity === second.identity }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}

/// A group's, or a window's, state.
protocol SQLAggregation: AnyObject {
    var canRemove: Bool { get }
    func add(_ row: [Value]) throws
    func remove(_ row: [Value]) throws
    func result() throws -> Value
}

private final class Aggregation<State, Result: ValueConvertible>: SQLAggregation {
    private var state: State
    private let adding: (inout State, [Value]) throws -> Void
    private let removing: ((inout State, [Value]) throws -> Void)?
    private let value: (State) throws -> Result

    init(
        state: State, add: @escaping (inout State, [Value]) throws -> Void,
        remove: ((inout State, [Value]) throws -> Void)?, result: @escaping (State) throws -> Result
    ) {
        self.state = state
        adding = add
        removing = remove
        value = result
    }

    var canRemove: Bool { removing != nil }
    func add(_ row: [Value]) throws { try adding(&state, row) }
    func remove(_ row: [Value]) throws { try removing?(&state, row) }
    func result() throws -> Value { try value(state).databaseValue }
}
