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

// MARK: The contract's core, and what both sides make of it

/// A target that lives in a folder of its own name below `Sources/Contract`.
func contract(_ folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: folder == "Core" ? "Contract" : "Contract\(folder)", dependencies: dependencies,
        path: "Sources/Contract/\(folder)")
}

let contracts: [Target] = [
    contract("Core", [.product(name: "HTTPTypes", package: "swift-http-types")]),
    contract("Client", ["Contract"]),
    contract("Check", ["ContractClient"]),
    contract("Mocks", ["ContractClient"]),
    contract(
        "Server",
        [
            "Contract", .target(name: "CZlib", condition: server), product("Crypto", "swift-crypto"),
            product("Hummingbird", "hummingbird"), product("Logging", "swift-log"),
            product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio"),
            product("NIOHTTP1", "swift-nio"), product("NIOHTTPTypes", "swift-nio-extras"),
            product("NIOHTTPTypesHTTP1", "swift-nio-extras"), product("NIOPosix", "swift-nio"),
        ]),
]

// MARK: The platform: each module alone, none knows a contract

func room(_ name: String, _ dependencies: [Target.Dependency], links: [LinkerSetting] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/Platform/\(name)", linkerSettings: links)
}

func library(_ name: String, pkgConfig: String? = nil, providers: [SystemPackageProvider]) -> Target {
    .systemLibrary(name: name, path: "Sources/Platform/\(name)", pkgConfig: pkgConfig, providers: providers)
}

let platform: [Target] = [
    library("CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    library("CLibVips", pkgConfig: vips, providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
    library("CZlib", providers: [.apt(["zlib1g-dev"])]),
    room("CSpawn", []),
    room(
        "CVips", [.target(name: "CLibVips", condition: server)],
        links: [.linkedLibrary("vips", .when(traits: ["Server"]))]),
    room(
        "Database",
        [
            .target(name: "CLibPQ", condition: server), product("Crypto", "swift-crypto"),
            product("GRDB", "GRDB.swift"), product("NIOConcurrencyHelpers", "swift-nio"),
            product("NIOPosix", "swift-nio"),
        ]),
    room("EventBus", [product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio")]),
    room(
        "Identity",
        [
            product("AsyncHTTPClient", "async-http-client"), product("Crypto", "swift-crypto"),
            product("CryptoExtras", "swift-crypto"), product("JWTKit", "jwt-kit"),
            product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio"),
            product("NIOPosix", "swift-nio"),
        ]),
    room("Images", ["CSpawn", product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio")]),
    room(
        "Mail",
        [product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"), product("NIOSSL", "swift-nio-ssl")]),
    room(
        "NIOSockets",
        [
            "ContractClient", .product(name: "HTTPTypes", package: "swift-http-types"),
            .product(name: "NIOCore", package: "swift-nio", condition: nio),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: nio),
            .product(name: "NIOPosix", package: "swift-nio", condition: nio),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: nio),
            .product(name: "NIOWebSocket", package: "swift-nio", condition: nio),
        ]),
    room(
        "ObjectStore",
        [
            product("AsyncHTTPClient", "async-http-client"), product("Crypto", "swift-crypto"),
            product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio"),
            product("NIOPosix", "swift-nio"),
        ]),
    room("Videos", []),
    room(
        "WebSockets",
        [
            product("HTTPTypes", "swift-http-types"), product("HummingbirdCore", "hummingbird"),
            product("NIOCore", "swift-nio"), product("NIOHTTP1", "swift-nio"),
            product("NIOHTTPTypes", "swift-nio-extras"), product("NIOHTTPTypesHTTP1", "swift-nio-extras"),
            product("NIOWebSocket", "swift-nio"),
        ]),
]

// MARK: Where contract and platform meet

let backend: Target = .target(
    name: "Backend",
    dependencies: [
        "Contract", "ContractServer", "Database", "Identity", "Mail", "ObjectStore", "WebSockets",
        product("Crypto", "swift-crypto"), product("Hummingbird", "hummingbird"), product("Logging", "swift-log"),
        product("NIOConcurrencyHelpers", "swift-nio"), product("NIOCore", "swift-nio"),
        product("NIOPosix", "swift-nio"), product("ServiceLifecycle", "swift-service-lifecycle"),
    ])

// MARK: The APIs

/// The five targets of an API, in five folders below `Sources/APIs`.
///
/// - Parameter imports: The modules of the platform that the service imports.
func api(_ name: String, serviceOn imports: [Target.Dependency]) -> [Target] {
    let shared: [Target.Dependency] = [
        .byName(name: "\(name)API"), "Backend", "Contract", "ContractServer", "Database",
        product("NIOConcurrencyHelpers", "swift-nio"),
    ]
    func part(_ folder: String, _ dependencies: [Target.Dependency]) -> Target {
        .target(name: name + folder, dependencies: dependencies, path: "Sources/APIs/\(name)/\(folder)")
    }
    return [
        part("API", ["Contract"]),
        part("Client", [.byName(name: "\(name)API"), "ContractClient"]),
        part("Mocks", [.byName(name: "\(name)Client"), "ContractMocks"]),
        part("Service", shared + imports),
        part("Check", [.byName(name: "\(name)Client"), "ContractCheck"]),
    ]
}

let apis: [Target] =
    api(
        "Messenger",
        serviceOn: [
            "EventBus", "Identity", "ObjectStore", "WebSockets", product("Logging", "swift-log"),
            product("NIOCore", "swift-nio"),
        ])
    + api(
        "DeuceDiary",
        serviceOn: ["EventBus", "Identity", "ObjectStore", "WebSockets", product("NIOCore", "swift-nio")])
    + api("Monica", serviceOn: ["Identity"])
    + api("GTSD", serviceOn: ["Identity", "ObjectStore"])
    + api("Dunbar", serviceOn: ["Identity", "Mail", "ObjectStore", "Videos", product("NIOCore", "swift-nio")])

let services = ["Messenger", "DeuceDiary", "Monica", "GTSD", "Dunbar"]

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
    targets: contracts + platform + [backend] + apis + [
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
        tests("EventBus", product("NIOEmbedded", "swift-nio")),
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
