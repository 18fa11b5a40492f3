// swift-tools-version: 6.1
// A program that wants the library alone: with `traits: []` nothing of what the command needs is fetched or built.
import PackageDescription

let package = Package(
    name: "App",
    dependencies: [.package(name: "Rootstock", path: "../../..", traits: [])],
    targets: [.executableTarget(name: "App", dependencies: [.product(name: "Rootstock", package: "Rootstock")])]
)
