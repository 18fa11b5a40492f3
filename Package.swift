// swift-tools-version: 6.1
import PackageDescription

// What only the command and the comparison runner need. SwiftPM fetches every package that a manifest names, but not one whose trait is off:
// a program that wants the library alone says `traits: []` (Tests/Clients/Library).
let commandOnly = TargetDependencyCondition.when(traits: ["Command"])
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: commandOnly)
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift", condition: commandOnly)
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache", condition: commandOnly)

// SQLite's functions by a table, as in a loadable extension: CShims/RootstockSQLite has it.
let throughTable = CSetting.define("ROOTSTOCK_LOADABLE", .when(platforms: [.linux]))

// Engines on libraries that not everybody has: a trait compiles one in. Without it its sources are empty.
let engineTraits = [("RocksDB", "rocksdb"), ("WiredTiger", "wiredtiger"), ("Postgres", "pq")]
let engineDefines = engineTraits.map { trait, _ in ("ROOTSTOCK_TRAIT_\(trait.uppercased())", trait) }

let package = Package(
    name: "Rootstock",
    platforms: [.macOS(.v13)],
    products: [
        .library(name: "Rootstock", targets: ["Rootstock"]),
        // Objects over rows: fetched, filled when they are touched, saved together.
        .library(name: "RootstockObjects", targets: ["RootstockObjects"]),
        // The protocols of an engine written in Swift; `Rootstock` exports them, too.
        .library(name: "RootstockPlug", targets: ["RootstockPlug"]),
        // The C interface, for C programs and engine authors.
        .library(name: "RootstockTable", targets: ["RootstockEngine", "RootstockTable"]),
        // The contract as a test, for an engine's own program: an engine in Swift is in no library that the command could load.
        .library(name: "RootstockEngineTest", targets: ["RootstockEngineTest", "RootstockEngine"]),
        // An executable that links it has its own SQLite calls, and those of every package in it, on stores.
        .library(name: "RootstockInterpose", targets: ["RootstockInterpose"]),
        .executable(name: "rootstock", targets: ["RootstockCommand"]),
        // Soak, torture and sqllogictest: for the project and for engine authors.
        .executable(name: "rootstock-lab", targets: ["RootstockLab"]),
    ],
    traits: [
        .default(enabledTraits: ["Command"]),
        .trait(name: "Command", description: "The command `rootstock` and its comparison runner"),
        .trait(name: "Logging", description: "`LogHook` takes a `Logger` of swift-log"),
        .trait(name: "RocksDB", description: "`Engine.rocksdb`, on librocksdb"),
        .trait(name: "WiredTiger", description: "`Engine.wiredtiger`, on libwiredtiger"),
        .trait(name: "Postgres", description: "`Engine.postgres`, on libpq: stores on a PostgreSQL server"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        // The system's libraries.
        .systemLibrary(
            name: "CSQLite", path: "CShims/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(
            name: "CLMDB", path: "CShims/CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),

        // On Linux SQLite is called through a table of its functions, so that RootstockInterpose can stand in front of them.
        .target(name: "RootstockSQLite", dependencies: ["CSQLite"], path: "CShims/RootstockSQLite"),

        // The engines' plug, and the table layer on it.
        .target(name: "RootstockEngine", path: "CShims/RootstockEngine"),
        // The contract of the plug, as a test for any engine.
        .target(
            name: "RootstockEngineTest", dependencies: ["RootstockEngine"], path: "CShims/EngineTest",
            cSettings: [.headerSearchPath(".")]),
        .target(
            name: "RootstockLMDB", dependencies: ["CLMDB", "RootstockEngine"], path: "CShims/Engines/LMDB",
            cSettings: [.headerSearchPath(".")]),
        .target(
            name: "RootstockSQLiteBTree", dependencies: ["CSQLite", "RootstockEngine", "RootstockSQLite"],
            path: "CShims/Engines/SQLiteBTree", cSettings: [throughTable]),
        // What an engine author copies: no product has it in it, the engine tests hold it to the contract.
        .target(
            name: "RootstockReference", dependencies: ["CLMDB", "RootstockEngine"], path: "CShims/Engines/Reference",
            exclude: ["Makefile"]),
        .target(
            name: "RootstockEngineTraits", dependencies: ["RootstockEngine"], path: "CShims/EngineTraits",
            cSettings: engineDefines.map { .define($0, .when(traits: [$1])) },
            cxxSettings: engineDefines.map { .define($0, .when(traits: [$1])) },
            linkerSettings: engineTraits.map { .linkedLibrary($1, .when(traits: [$0])) }),
        // Module kv lies over the table layer's lower folders and below its interface, which registers it.
        .target(
            name: "RootstockKV", dependencies: ["CSQLite", "RootstockEngine", "RootstockLMDB", "RootstockSQLite"],
            path: "CShims/RootstockKV",
            cSettings: [
                throughTable, .headerSearchPath("../RootstockTable"), .headerSearchPath("../RootstockTable/include"),
            ]),
        .target(
            name: "RootstockTable",
            dependencies: [
                "CSQLite", "RootstockEngine", "RootstockLMDB", "RootstockSQLiteBTree", "RootstockKV", "RootstockSQLite",
            ],
            path: "CShims/RootstockTable", cSettings: [throughTable, .headerSearchPath(".")]),
        // SQLite's functions in front of libsqlite3: an executable that links it has its databases on stores (Linux).
        .target(
            name: "RootstockInterpose", dependencies: ["CSQLite", "RootstockTable", "RootstockSQLite"],
            path: "CShims/RootstockInterpose",
            cSettings: [
                throughTable, .define("ROOTSTOCK_LINKED"), .headerSearchPath("../RootstockTable"),
                .headerSearchPath("../RootstockSQLite"),
                .headerSearchPath("."),
            ]),

        // The plug in Swift, and the engine in memory, which needs nothing else: what an engine author imports, and reads.
        .target(name: "RootstockPlug", path: "Sources/RootstockPlug"),
        .target(name: "RootstockMemory", dependencies: ["RootstockPlug"], path: "Sources/RootstockMemory"),

        // The Swift API and what is built on it.
        .target(
            name: "Rootstock",
            dependencies: [
                "CSQLite", "RootstockEngine", "RootstockTable", "RootstockPlug", "RootstockMemory",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
                .target(
                    name: "RootstockEngineTraits", condition: .when(traits: ["RocksDB", "WiredTiger", "Postgres"])),
            ],
            path: "Sources/Rootstock"),
        .target(name: "RootstockObjects", dependencies: ["Rootstock"], path: "Sources/RootstockObjects"),
        .target(
            name: "Workloads", dependencies: ["Rootstock", "RootstockObjects", "RootstockEngine", "CSQLite", "CLMDB"],
            path: "Sources/Workloads"),
        .target(name: "OwnData", dependencies: ["Workloads", "Rootstock", "CSQLite"], path: "Sources/OwnData"),
        .target(name: "SyncCounter", path: "CShims/SyncCounter"),
        .target(
            name: "Comparison",
            dependencies: ["Workloads", "OwnData", "Rootstock", "CSQLite", "CLMDB", "SyncCounter", histogram],
            path: "Sources/Comparison"),
        .target(name: "Report", dependencies: ["Comparison", "Workloads", mustache], path: "Sources/Report"),
        .target(name: "Soak", dependencies: ["Rootstock"], path: "Sources/Lab/Soak"),
        .target(name: "History", dependencies: ["Comparison", "Rootstock"], path: "Sources/History"),
        .target(name: "Torture", dependencies: ["Rootstock"], path: "Sources/Lab/Torture"),
        .target(name: "Conformance", dependencies: ["Rootstock", "CSQLite"], path: "Sources/Lab/Conformance"),
        // What a statement means on plain SQLite and on a store, compared: `rootstock engine-test` and ParityTests.
        .target(name: "Parity", dependencies: ["Rootstock", "RootstockEngine", "CSQLite"], path: "Sources/Parity"),
        .target(name: "CommandSupport", dependencies: ["Rootstock", argumentParser], path: "Sources/CommandSupport"),
        .executableTarget(
            name: "RootstockLab",
            dependencies: [
                "Rootstock", "Comparison", "Conformance", "Soak", "Torture", "CommandSupport", argumentParser,
            ],
            path: "Sources/Lab/Command"),
        .executableTarget(
            name: "RootstockCommand",
            dependencies: [
                "Rootstock", "RootstockEngine", "RootstockEngineTest", "Parity", "Conformance", "Workloads", "OwnData",
                "Comparison", "Report", "History", "CommandSupport", "CSQLite", argumentParser,
            ],
            path: "Sources/RootstockCommand"),

        // Tests: what they need of the C side beyond its public headers comes through modules of their own.
        .target(
            name: "RootstockEngineProbe", dependencies: ["CSQLite", "CLMDB", "RootstockEngine", "RootstockLMDB"],
            path: "Tests/Unit/EngineProbe", cSettings: [.headerSearchPath("../../../CShims/Engines/LMDB")]),
        .testTarget(
            name: "RootstockEngineTests",
            dependencies: [
                "Rootstock", "RootstockEngine", "RootstockEngineTest", "RootstockReference", "RootstockTable",
                "RootstockEngineProbe", "TestSupport",
            ],
            path: "Tests/Unit/Engine"),
        .target(name: "TestSupport", path: "Tests/Support"),
        .target(
            name: "RootstockTableInternals", dependencies: ["RootstockTable"], path: "Tests/Unit/TableInternals",
            cSettings: [.headerSearchPath("../../../CShims/RootstockTable")]),
        .testTarget(
            name: "RootstockTableTests", dependencies: ["RootstockTableInternals", "TestSupport", "CSQLite"],
            path: "Tests/Unit/Table"),
        // A program on the library, which has a package of its own, too; RootstockTests run it.
        .executableTarget(
            name: "rootstock-sample-app", dependencies: ["Rootstock"],
            path: "Tests/Fixtures/SampleApp/Sources/SampleApp"),
        // A process of its own on a store; RootstockTests run it.
        .executableTarget(
            name: "rootstock-process", dependencies: ["Rootstock"], path: "Tests/Unit/RootstockProcess"),
        .testTarget(
            name: "RootstockTests",
            dependencies: ["Rootstock", "RootstockMemory", "RootstockTable", "TestSupport", "CSQLite"],
            path: "Tests/Unit/Rootstock"),
        .testTarget(
            name: "RootstockObjectsTests", dependencies: ["Rootstock", "RootstockObjects"], path: "Tests/Unit/Objects"),
        .testTarget(
            name: "ComparisonTests", dependencies: ["Workloads", "Comparison", "Report", "RootstockCommand"],
            path: "Tests/Unit/Comparison"),
        .testTarget(
            name: "HistoryTests", dependencies: ["History", "Comparison", "Rootstock"], path: "Tests/Unit/History"),
        .testTarget(
            name: "OwnDataTests", dependencies: ["OwnData", "Comparison", "Report", "Rootstock", "RootstockCommand"],
            path: "Tests/Unit/OwnData"),
        .testTarget(
            name: "RootstockCommandTests", dependencies: ["RootstockCommand"], path: "Tests/Clients/Command"),
        .testTarget(
            name: "CheckTests", dependencies: ["Rootstock", "RootstockCommand", "TestSupport", "CLMDB"],
            path: "Tests/Unit/Check"),
        .testTarget(
            name: "ParityTests",
            dependencies: ["Parity", "Rootstock", "RootstockTableInternals", "TestSupport", "CSQLite"],
            path: "Tests/Parity", exclude: ["Scripts"]),
        .testTarget(
            name: "KeyValueTests", dependencies: ["RootstockTable", "TestSupport", "CSQLite", "CLMDB"],
            path: "Tests/Unit/KeyValue"),
        // A program that uses SQLite and links RootstockInterpose; RootstockCommandTests run it.
        .executableTarget(
            name: "rootstock-drop-in", dependencies: ["CSQLite", "Rootstock", "RootstockInterpose"],
            path: "Tests/Clients/DropInProgram"),
        // What happens when memory, files, the process or the power fail: a program of its own, because it takes the place of
        // the C library's functions; CrashTests run it.
        .executableTarget(
            name: "rootstock-fault-harness",
            dependencies: ["RootstockEngine", "RootstockLMDB", "RootstockTable", "CSQLite"],
            path: "Tests/Crash/FaultHarness", cSettings: [.headerSearchPath("../../../CShims/RootstockTable")]),
        .testTarget(name: "CrashTests", dependencies: ["TestSupport", "Torture"], path: "Tests/Crash/Tests"),
        .testTarget(
            name: "HostileTests", dependencies: ["RootstockTable", "TestSupport", "CSQLite", "CLMDB"],
            path: "Tests/Hostile/Tests"),
        // A connection in a process of its own; IsolationTests run it.
        .executableTarget(
            name: "rootstock-session", dependencies: ["RootstockTable", "CSQLite"],
            path: "Tests/Concurrency/SessionProgram"),
        .testTarget(
            name: "IsolationTests", dependencies: ["Rootstock", "RootstockTable", "TestSupport", "CSQLite"],
            path: "Tests/Concurrency/Isolation"),
        .testTarget(
            name: "ConformanceTests", dependencies: ["Conformance", "Rootstock"], path: "Tests/Unit/Conformance"),
    ],
    cLanguageStandard: .c11
)
