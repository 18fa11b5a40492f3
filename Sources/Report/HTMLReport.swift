import Comparison
extension ComparisonReport { public func html() throws -> String { "" } }
