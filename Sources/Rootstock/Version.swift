import CSQLite

/// What this build is made of.
public enum Version {
    /// Rootstock itself.
    public static var rootstock: String { FrontDoor.version }

    /// The SQLite library that runs the SQL.
    public static var sqlite: String { String(cString: sqlite3_libversion()) }

    /// The engines under stores, with their libraries' versions.
    public static var engines: [(name: String, version: String)] { FrontDoor.engines }

    /// All of it, a line each.
    public static var summary: String {
        ([("Rootstock", rootstock), ("SQLite", sqlite)] + engines).map { "\($0.0) \($0.1)" }.joined(separator: "\n")
    }
}
