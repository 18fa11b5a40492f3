// swift-tools-version: 6.1
// A program on GRDB, as users have it, with its database on a store: GRDB is unmodified, RootstockInterpose is linked beside it.
import PackageDescription

let package = Package(
    name: "Library",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(name: "Rootstock", path: "../../..", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Library",
            dependencies: [
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "RootstockInterpose", package: "Rootstock"),
            ])
    ]
)
