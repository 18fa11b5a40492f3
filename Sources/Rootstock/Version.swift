import CSQLite

/// What this build is made of.
public enum Version {
    /// Rootstock itself.
    public static var rootstock: String { FrontDoor.version }

    /// The SQLite library that runs the SQL.
    public static var sqlite: String { String(cString: sqlite3_libversion()) }

    /// Rootstock, SQLite, and the engines under stores with their libraries' versions, a line each.
    public static var summary: String {
        let engines = Engine.descriptions.filter { !$0.engine.isNative }.map { ($0.engine.name, $0.version) }
        return ([("Rootstock", rootstock), ("SQLite", sqlite)] + engines).map { "\($0.0) \($0.1)" }
            .joined(separator: "\n")
    }
}
