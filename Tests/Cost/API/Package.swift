// swift-tools-version: 6.1
// What the Swift API costs above SQLite's C calls, and beside GRDB: a package of its own, because it needs GRDB.
import PackageDescription

let package = Package(
    name: "APICost",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(name: "Rootstock", path: "../../..", traits: []),
    ],
    targets: [
        .target(name: "CCalls", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "api-cost",
            dependencies: [
                "CCalls",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Rootstock", package: "Rootstock"),
            ]),
    ]
)
