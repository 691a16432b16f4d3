// swift-tools-version: 6.2
import PackageDescription

let checks: [SwiftSetting] = [
    .unsafeFlags(["-sanitize=fuzzer", "-enable-testing", "-assert-config", "Debug"])
]

let package = Package(
    name: "concord-fuzz",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
    ],
    targets: [
        .target(
            name: "ContractServer",
            dependencies: [
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], swiftSettings: checks),
        .executableTarget(
            name: "RequestFuzzer",
            dependencies: [
                "ContractServer",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ], swiftSettings: checks, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
    ]
)
