// swift-tools-version: 6.1
// A program whose store writes to swift-log: the trait `Logging`, and no other.
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [
        .package(name: "Rootstock", path: "../../..", traits: ["Logging"]),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Rootstock", package: "Rootstock"), .product(name: "Logging", package: "swift-log"),
            ])
    ]
)
