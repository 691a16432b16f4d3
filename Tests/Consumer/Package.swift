// swift-tools-version: 6.2
import PackageDescription

// An app that depends on the SDKs and their mocks, and on nothing of the server.
let package = Package(
    name: "consumer",
    platforms: [.macOS(.v14), .iOS(.v16)],
    dependencies: [.package(name: "concord", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: ["Messenger", "DeuceDiary", "Monica", "GTSD", "Dunbar"].flatMap {
                api -> [Target.Dependency] in
                ["Client", "Mocks"].map { .product(name: api + $0, package: "concord") }
            },
            // New Xcode projects have this setting: each file imports what it uses.
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")])
    ]
)
