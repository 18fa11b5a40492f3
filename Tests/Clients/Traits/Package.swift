// swift-tools-version: 6.1
// A program whose engines are compiled in by package traits. TRAITS says which, separated by commas.
import PackageDescription

let traits = (Context.environment["TRAITS"] ?? "").split(separator: ",").map(String.init)

let package = Package(
    name: "App",
    dependencies: [
        .package(name: "Rootstock", path: "../../..", traits: Set(traits.map { .init(stringLiteral: $0) }))
    ],
    targets: [
        .executableTarget(
            name: "App", dependencies: [.product(name: "Rootstock", package: "Rootstock")],
            swiftSettings: traits.map { .define($0) })
    ]
)
