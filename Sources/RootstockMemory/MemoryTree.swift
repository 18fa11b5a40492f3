// The memory engine's tree: a persistent B-tree. Copying one costs a reference; changing a copy leaves the other as
// it was.
//
// Invariant: a node that two trees can reach is never changed. Every node below a shared one is shared with it. So it is enough
// to copy, on the way down, each node that is not uniquely referenced. What was copied once in a write transaction is changed in
// place from then on. Records are immutable, so bytes handed out stay where they are while their tree lives.

import Foundation
import RootstockPlug

/// One entry: key and value in one piece of memory that never moves.
final class MemoryRecord: ManagedBuffer<MemoryRecord.Sizes, UInt8> {
    struct Sizes {
        var key: Int
        var value: Int
    }

    static func make(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) -> MemoryRecord {
        let buffer = MemoryRecord.create(minimumCapacity: key.count + value.count) { _ in
            Sizes(key: key.count, value: value.count)
        }
        buffer.withUnsafeMutablePointerToElements { bytes in
            if let from = key.baseAddress { memcpy(bytes, from, key.count) }
            if let from = value.baseAddress, !value.isEmpty { memcpy(bytes + key.count, from, value.count) }
        }
        return unsafeDowncast(buffer, to: MemoryRecord.self)
    }

    var key: UnsafeRawBufferPointer {
        withUnsafeMutablePointers { UnsafeRawBufferPointer(start: $1, count: $0.pointee.key) }
    }

    var value: UnsafeRawBufferPointer {
        withUnsafeMutablePointers { UnsafeRawBufferPointer(start: $1 + $0.pointee.key, count: $0.pointee.value) }
    }

    var entry: KeyValueEntry { KeyValueEntry(key: key, value: value) }

    /// Negative, zero or positive as memcmp, a proper prefix first.
    func compare(to other: UnsafeRawBufferPointer) -> Int {
        let own = key
        let common = min(own.count, other.count)
        let order = common == 0 ? 0 : Int(memcmp(own.baseAddress!, other.baseAddress!, common))
        return order != 0 ? order : own.count - other.count
    }
}

/// A node: a leaf holds records; a branch holds children, and for each the record that bounds it from below.
final class MemoryNode {
    static let maximum = 64
    static let minimum = maximum / 4

    /// In a branch, children[i] holds the keys >= records[i]; records[0] is there to keep count and is not looked at.
    var records: [MemoryRecord]
    /// Empty in a leaf.
    var children: [MemoryNode]

    init(records: [MemoryRecord] = [], children: [MemoryNode] = []) {
        self.records = records
        self.children = children
    }

    var isLeaf: Bool { children.isEmpty }

    /// Index of the first record >= key, and whether it is the key.
    func lowerBound(_ key: UnsafeRawBufferPointer) -> (index: Int, isEqual: Bool) {
        var low = 0
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            let order = records[middle].compare(to: key)
            if order == 0 { return (middle, true) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    /// Index of the child that the key belongs to.
    func child(for key: UnsafeRawBufferPointer) -> Int {
        var low = 1
        var high = records.count
        while low < high {
            let middle = (low + high) / 2
            if records[middle].compare(to: key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low - 1
    }

    /// Moves the upper half into a node of its own.
    func splitOff(from index: Int) -> MemoryNode {
        let right = MemoryNode(records: Array(records[index...]), children: isLeaf ? [] : Array(children[index...]))
        records.removeSubrange(index...)
        if !isLeaf { children.removeSubrange(index...) }
        return right
    }
}

/// A tree as a value.
struct MemoryTree {
    private(set) var root = MemoryNode()
    private(set) var count = 0
    private(set) var depth = 1

    // MARK: Reading

    func find(_ key: UnsafeRawBufferPointer) -> MemoryRecord? {
        var node = root
        while !node.isLeaf { node = node.children[node.child(for: key)] }
        let (index, isEqual) = node.lowerBound(key)
        return isEqual ? node.records[index] : nil
    }

    var last: MemoryRecord? {
        var node = root
        while !node.isLeaf { node = node.children[node.children.count - 1] }
        return node.records.last
    }

    // MARK: Changing

    mutating func put(_ record: MemoryRecord) {
        let isNew = Self.insert(record, into: &root)
        if isNew { count += 1 }
        if root.records.count > MemoryNode.maximum {
            let right = root.splitOff(from: root.records.count / 2)
            root = MemoryNode(records: [root.records[0], right.records[0]], children: [root, right])
            depth += 1
        }
    }

    /// False if the key is not there.
    mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
        guard Self.remove(key, from: &root) else { return false }
        count -= 1
        if root.children.count == 1 {
            root = root.children[0]
            depth -= 1
        }
        return true
    }

    private static func makeOwn(_ node: inout MemoryNode) {
        if !isKnownUniquelyReferenced(&node) {
            node = MemoryNode(records: node.records, children: node.children)
        }
    }

    /// True if the key is new. The node may end up one over its maximum, for the caller to split.
    private static func insert(_ record: MemoryRecord, into node: inout MemoryNode) -> Bool {
        makeOwn(&node)
        if node.isLeaf {
            let (index, isEqual) = node.lowerBound(record.key)
            if isEqual {
                node.records[index] = record
            } else {
                node.records.insert(record, at: index)
            }
            return !isEqual
        }
        let index = node.child(for: record.key)
        let isNew = insert(record, into: &node.children[index])
        let child = node.children[index]
        if child.records.count > MemoryNode.maximum {
            // Ascending inserts leave full leaves behind, as a bulk load should. (Not full branches: one child is too
            // few.)
            let appends = child.isLeaf && index == node.children.count - 1 && child.records.last === record
            let right = child.splitOff(from: appends ? MemoryNode.maximum : child.records.count / 2)
            node.records.insert(right.records[0], at: index + 1)
            node.children.insert(right, at: index + 1)
        }
        return isNew
    }

    private static func remove(_ key: UnsafeRawBufferPointer, from node: inout MemoryNode) -> Bool {
        if node.isLeaf {
            let (index, isEqual) = node.lowerBound(key)
            guard isEqual else { return false }
            makeOwn(&node)
            node.records.remove(at: index)
            return true
        }
        makeOwn(&node)
        let index = node.child(for: key)
        guard remove(key, from: &node.children[index]) else { return false }
        if node.children[index].records.count < MemoryNode.minimum { refill(index, of: node) }
        return true
    }

    /// Puts a child that has become small together with a neighbour; splits what is then too large evenly.
    private static func refill(_ index: Int, of parent: MemoryNode) {
        guard parent.children.count > 1 else { return }
        let left = index > 0 ? index - 1 : index
        makeOwn(&parent.children[left])
        let small = parent.children[left]
        let taken = parent.children.remove(at: left + 1)
        let bound = parent.records.remove(at: left + 1)
        // What bounds a branch's first child stands in the branch's parent.
        if !taken.isLeaf { small.records.append(bound) }
        small.records.append(contentsOf: taken.isLeaf ? taken.records[...] : taken.records[1...])
        small.children.append(contentsOf: taken.children)
        if small.records.count > MemoryNode.maximum {
            let right = small.splitOff(from: small.records.count / 2)
            parent.records.insert(right.records[0], at: left + 1)
            parent.children.insert(right, at: left + 1)
        }
    }
}

/// A path from the root to a record.
///
/// Invariant: the path holds its nodes without counting references, because a counted one would make them look shared. So it is
/// good only while the tree it was sought in is alive and unchanged.
struct MemoryPath {
    private var steps: [(node: Unmanaged<MemoryNode>, index: Int)] = []

    init() { steps.reserveCapacity(8) }

    /// The record at the path's end, or nil for none.
    var record: MemoryRecord? {
        guard let (node, index) = steps.last else { return nil }
        let records = node._withUnsafeGuaranteedRef { $0.records }
        return index < records.count ? records[index] : nil
    }

    private mutating func push(_ node: MemoryNode, _ index: Int) {
        steps.append((Unmanaged.passUnretained(node), index))
    }

    private mutating func descend(from start: MemoryNode, toLast: Bool) {
        var node = start
        while true {
            let index = toLast ? max(node.records.count - 1, 0) : 0
            push(node, index)
            if node.isLeaf { return }
            node = node.children[index]
        }
    }

    mutating func first(of tree: MemoryTree) {
        steps.removeAll(keepingCapacity: true)
        descend(from: tree.root, toLast: false)
    }

    mutating func last(of tree: MemoryTree) {
        steps.removeAll(keepingCapacity: true)
        descend(from: tree.root, toLast: true)
    }

    /// To the first record >= key. True if it is the key.
    mutating func seek(_ key: UnsafeRawBufferPointer, in tree: MemoryTree) -> Bool {
        steps.removeAll(keepingCapacity: true)
        var node = tree.root
        while !node.isLeaf {
            let index = node.child(for: key)
            push(node, index)
            node = node.children[index]
        }
        let (index, isEqual) = node.lowerBound(key)
        push(node, index)
        if index == node.records.count && index > 0 {
            // Above all of its leaf: the next leaf's first, if there is one.
            steps[steps.count - 1].index -= 1
            next()
        }
        return isEqual
    }

    mutating func next() { step(forward: true) }
    mutating func previous() { step(forward: false) }

    /// One record on; past either end the path is empty.
    private mutating func step(forward: Bool) {
        while let (unmanaged, index) = steps.popLast() {
            let node = unmanaged.takeUnretainedValue()
            let moved = forward ? index + 1 : index - 1
            guard moved >= 0 && moved < node.records.count else { continue }
            push(node, moved)
            if !node.isLeaf { descend(from: node.children[moved], toLast: !forward) }
            return
        }
    }
}
