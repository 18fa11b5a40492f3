// swift-tools-version: 6.1
// A program on Rootstock as an application would be, in a package of its own: `swift run SampleApp lmdb /tmp/library.store`.
import PackageDescription

let package = Package(
    name: "SampleApp",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Rootstock", path: "../../..", traits: [])],
    targets: [
        .executableTarget(name: "SampleApp", dependencies: [.product(name: "Rootstock", package: "Rootstock")])
    ]
)
