// Collected.swift - what came in, from any thread.

import Foundation

/// Elements that any thread adds.
public final class Collected<Element: Sendable>: @unchecked Sendable {  // its lock
    private let lock = NSLock()
    private var elements: [Element] = []

    public init() {}

    public func add(_ element: Element) { lock.withLock { elements.append(element) } }

    /// Everything so far, in the order in which it came.
    public var all: [Element] { lock.withLock { elements } }
}
