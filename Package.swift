// swift-tools-version: 6.2
import PackageDescription

// Server packages sit behind a trait that is on by default: an app that takes only an SDK asks for
// `traits: []` and resolves nothing but swift-http-types. `NIO` alone adds the WebSocket transport for Linux.
let server: TargetDependencyCondition? = .when(traits: ["Server"])
let nio: TargetDependencyCondition? = .when(traits: ["NIO"])

func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: server)
}

// What finds libvips's headers. Its own list of flags would do, but has some that SwiftPM warns about in every build;
// where headers are in /usr/include, those of GLib are all that is needed.
#if os(Linux)
let vips = "gobject-2.0"
#else
let vips = "vips"
#endif

// MARK: Platform targets

let platform: [Target] = [
    .target(name: "Contract", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")]),
    .target(name: "ContractClient", dependencies: ["Contract"]),
    .target(name: "ContractCheck", dependencies: ["ContractClient"]),
    .target(name: "ContractMocks", dependencies: ["ContractClient"]),
    .target(
        name: "NIOSockets",
        dependencies: [
            "ContractClient",
            .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio", condition: nio),
            .product(name: "NIOPosix", package: "swift-nio", condition: nio),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: nio),
            .product(name: "NIOWebSocket", package: "swift-nio", condition: nio),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: nio),
        ]
    ),
    .target(
        name: "ContractServer",
        dependencies: [
            "Contract",
            product("Hummingbird", "hummingbird"),
            product("NIOConcurrencyHelpers", "swift-nio"),
            product("NIOCore", "swift-nio"),
            product("NIOPosix", "swift-nio"),
            product("NIOHTTP1", "swift-nio"),
            product("NIOHTTPTypes", "swift-nio-extras"),
            product("NIOHTTPTypesHTTP1", "swift-nio-extras"),
            product("Logging", "swift-log"),
            product("Crypto", "swift-crypto"),
            .target(name: "CZlib", condition: server),
        ]
    ),
    .target(
        name: "WebSockets",
        dependencies: [
            product("HummingbirdCore", "hummingbird"),
            product("NIOCore", "swift-nio"),
            product("NIOHTTP1", "swift-nio"),
            product("NIOWebSocket", "swift-nio"),
            product("NIOHTTPTypes", "swift-nio-extras"),
            product("NIOHTTPTypesHTTP1", "swift-nio-extras"),
            product("HTTPTypes", "swift-http-types"),
        ]
    ),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .target(
        name: "Database",
        dependencies: [
            .target(name: "CLibPQ", condition: server),
            product("Crypto", "swift-crypto"), product("GRDB", "GRDB.swift"),
            product("NIOConcurrencyHelpers", "swift-nio"), product("NIOPosix", "swift-nio"),
        ]
    ),
    .target(
        name: "ObjectStore",
        dependencies: [
            product("AsyncHTTPClient", "async-http-client"), product("Crypto", "swift-crypto"),
            product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio"),
            product("NIOPosix", "swift-nio"),
        ]
    ),
    .target(
        name: "Realtime",
        dependencies: [product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio")]
    ),
    .target(
        name: "Identity",
        dependencies: [
            product("AsyncHTTPClient", "async-http-client"), product("Crypto", "swift-crypto"),
            product("CryptoExtras", "swift-crypto"), product("JWTKit", "jwt-kit"),
            product("NIOConcurrencyHelpers", "swift-nio"),
            product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
        ]
    ),
    .systemLibrary(name: "CLibVips", pkgConfig: vips, providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
    .target(
        name: "CVips", dependencies: [.target(name: "CLibVips", condition: server)],
        linkerSettings: [.linkedLibrary("vips", .when(traits: ["Server"]))]),
    .target(name: "CSpawn"),
    .target(
        name: "Images",
        dependencies: ["CSpawn", product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio")]
    ),
    .target(name: "Videos"),
    .target(
        name: "Mail",
        dependencies: [
            product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"), product("NIOSSL", "swift-nio-ssl"),
        ]
    ),
    .target(
        name: "Backend",
        dependencies: [
            "ContractServer", "Database", "ObjectStore", "Realtime", "Identity", "Mail", "WebSockets",
            product("Hummingbird", "hummingbird"), product("ServiceLifecycle", "swift-service-lifecycle"),
            product("Crypto", "swift-crypto"), product("NIOConcurrencyHelpers", "swift-nio"),
        ]
    ),
]

// MARK: Services

/// A service is exactly these five targets, in these five folders.
func service(_ name: String) -> [Target] {
    [
        .target(name: "\(name)API", dependencies: ["Contract"], path: "Sources/\(name)/API"),
        .target(
            name: "\(name)Client", dependencies: [.byName(name: "\(name)API"), "ContractClient"],
            path: "Sources/\(name)/Client"),
        .target(
            name: "\(name)Mocks", dependencies: [.byName(name: "\(name)Client"), "ContractMocks"],
            path: "Sources/\(name)/Mocks"),
        .target(
            name: "\(name)Service",
            dependencies: [
                .byName(name: "\(name)API"), "Backend", "ContractServer", "Database", "ObjectStore", "Realtime",
                "Identity", "Images", "Mail", "Videos", "WebSockets",
            ],
            path: "Sources/\(name)/Service"),
        .target(
            name: "\(name)Check", dependencies: [.byName(name: "\(name)Client"), "ContractCheck"],
            path: "Sources/\(name)/Check"),
    ]
}

let services = ["Messenger", "DeuceDiary", "GTSD", "Dunbar", "Monica"]

let command: Target = .executableTarget(
    name: "concord",
    dependencies: services.flatMap { [.byName(name: "\($0)Service"), .byName(name: "\($0)Check")] } + [
        "Backend", "Images", "NIOSockets", product("ArgumentParser", "swift-argument-parser"),
        product("ServiceLifecycle", "swift-service-lifecycle"), product("UnixSignals", "swift-service-lifecycle"),
    ])

let chatExample: Target = .executableTarget(
    name: "chat-example", dependencies: ["MessengerClient", "NIOSockets"], path: "Examples/Chat")

/// Decodes images under resource limits, in a process of its own.
let thumbnail: Target = .executableTarget(name: "thumbnail", dependencies: [.target(name: "CVips", condition: server)])

// MARK: Tests

let testbed: Target = .target(
    name: "Testbed",
    dependencies: services.map { .byName(name: "\($0)Service") } + ["Backend", "ContractCheck", "Mail", "NIOSockets"],
    path: "Tests/Testbed")

func tests(_ target: String, _ more: Target.Dependency...) -> Target {
    .testTarget(name: "\(target)Tests", dependencies: ["Testbed", .byName(name: target)] + more)
}

let package = Package(
    name: "concord",
    platforms: [.macOS(.v14), .iOS(.v16)],
    products: [
        .executable(name: "concord", targets: ["concord"]),
        .executable(name: "thumbnail", targets: ["thumbnail"]),
        .library(name: "Contract", targets: ["Contract"]),
        .library(name: "ContractClient", targets: ["ContractClient"]),
        .library(name: "NIOSockets", targets: ["NIOSockets"]),
    ]
        + services.flatMap { name -> [Product] in
            [
                .library(name: "\(name)Client", targets: ["\(name)API", "\(name)Client"]),
                .library(name: "\(name)Mocks", targets: ["\(name)Mocks"]),
                .library(name: "\(name)Service", targets: ["\(name)Service"]),
            ]
        }
        + [.library(name: "Backend", targets: ["Backend"])],
    traits: [
        .default(enabledTraits: ["Server"]),
        .trait(name: "Server", description: "The backends and the `concord` command.", enabledTraits: ["NIO"]),
        .trait(name: "NIO", description: "WebSockets for the SDKs where URLSession has none (Linux)."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.0"),
    ],
    targets: platform + services.flatMap(service) + [
        command, chatExample, thumbnail, testbed,
        tests("Contract"),
        tests(
            "ContractServer", "Backend", .target(name: "CZlib", condition: server),
            product("NIOEmbedded", "swift-nio")),
        tests("ContractClient", "ContractMocks"),
        tests("ContractCheck"),
        tests("Database"),
        tests("Identity", product("Crypto", "swift-crypto"), product("CryptoExtras", "swift-crypto")),
        tests("Images"),
        tests("Mail", product("NIOPosix", "swift-nio")),
        tests("ObjectStore", product("Crypto", "swift-crypto")),
        tests("Realtime", product("NIOEmbedded", "swift-nio")),
        tests("Backend", "Mail", product("NIOEmbedded", "swift-nio")),
        tests("Videos"),
        tests("WebSockets", product("NIOEmbedded", "swift-nio")),
        .testTarget(name: "MessengerTests", dependencies: ["MessengerCheck", "MessengerMocks", "Testbed"]),
        .testTarget(name: "DeuceDiaryTests", dependencies: ["DeuceDiaryCheck", "DeuceDiaryMocks", "Testbed"]),
        .testTarget(name: "DunbarTests", dependencies: ["DunbarCheck", "DunbarMocks", "Testbed"]),
        .testTarget(name: "MonicaTests", dependencies: ["MonicaCheck", "MonicaMocks", "Testbed"]),
        .testTarget(
            name: "GTSDTests", dependencies: ["GTSDCheck", "GTSDMocks", "GTSDService", "Testbed"]),
        .testTarget(
            name: "ConcordTests", dependencies: ["concord", "chat-example", "Testbed"], exclude: ["Databases"]),
    ]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [.enableUpcomingFeature("ExistentialAny")]
}

// A part of the tests, for a quick turn: CONCORD_TEST_TARGETS=Backend,Messenger leaves the others out.
if let names = Context.environment["CONCORD_TEST_TARGETS"], !names.isEmpty {
    let kept = Set(names.split(separator: ",").map { "\($0)Tests" })
    package.targets.removeAll { $0.type == .test && !kept.contains($0.name) }
}
