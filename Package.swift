// swift-tools-version: 6.2
import PackageDescription

// Server packages sit behind a trait that is on by default: an app that takes only an SDK asks for
// `traits: []` and resolves nothing but swift-http-types. `NIO` alone adds the WebSocket transport for Linux, `Store`
// alone Messenger's state on the device, which needs GRDB.
let server: TargetDependencyCondition? = .when(traits: ["Server"])
let nio: TargetDependencyCondition? = .when(traits: ["NIO"])
let store: TargetDependencyCondition? = .when(traits: ["Store"])

/// The packages of the modules that come from one, by the module's name.
let packages = [
    "ArgumentParser": "swift-argument-parser", "AsyncHTTPClient": "async-http-client", "Atomics": "swift-atomics",
    "CoreMetrics": "swift-metrics", "Crypto": "swift-crypto", "CryptoExtras": "swift-crypto", "GRDB": "GRDB.swift",
    "GRDBSQLite": "GRDB.swift", "HTTPTypes": "swift-http-types", "Hummingbird": "hummingbird",
    "HummingbirdCore": "hummingbird", "HummingbirdTLS": "hummingbird", "JWTKit": "jwt-kit", "Logging": "swift-log",
    "NIOConcurrencyHelpers": "swift-nio", "NIOCore": "swift-nio", "NIOEmbedded": "swift-nio", "NIOHTTP1": "swift-nio",
    "NIOCertificateReloading": "swift-nio-extras", "NIOHTTP2": "swift-nio-http2", "NIOPosix": "swift-nio",
    "NIOSSL": "swift-nio-ssl", "NIOWebSocket": "swift-nio", "ServiceLifecycle": "swift-service-lifecycle",
    "Tracing": "swift-distributed-tracing", "UnixSignals": "swift-service-lifecycle",
]

let cModules = ["CLibPQ", "CLibVips", "CSQLite", "CVips", "CZlib"]

/// Returns the modules that a target imports as its dependencies. A target names exactly those: `make lint` compares.
///
/// - Parameter condition: The trait without which modules of packages and of C are left out.
func modules(_ names: String, when condition: TargetDependencyCondition? = server) -> [Target.Dependency] {
    names.split(whereSeparator: \.isWhitespace).map(String.init).map { name in
        if name == "HTTPTypes" { return .product(name: name, package: "swift-http-types") }
        if let package = packages[name] { return .product(name: name, package: package, condition: condition) }
        if cModules.contains(name) { return .target(name: name, condition: condition) }
        return .byName(name: name)
    }
}

/// Returns a target with the modules that it imports.
func target(
    _ name: String, at path: String, imports: String, when condition: TargetDependencyCondition? = server,
    packageAccess: Bool = true
) -> Target {
    .target(name: name, dependencies: modules(imports, when: condition), path: path, packageAccess: packageAccess)
}

// This name finds libvips's headers. SwiftPM warns about some of libvips's own flags, and GLib's are enough on Linux.
#if os(Linux)
let vips = "gobject-2.0"
#else
let vips = "vips"
#endif

// The SDKs' privacy manifest, which the App Store asks for. Elsewhere a target with resources would bring a bundle along.
#if os(macOS)
let privacy: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
#else
let privacy: [Resource] = []
#endif

// MARK: The contract's core, and what both sides make of it

let contracts: [Target] = [
    target("Contract", at: "Sources/Contract/Core", imports: "HTTPTypes"),
    .target(
        name: "ContractClient", dependencies: modules("Contract HTTPTypes"), path: "Sources/Contract/Client",
        exclude: privacy.isEmpty ? ["PrivacyInfo.xcprivacy"] : [], resources: privacy),
    target("ContractExamples", at: "Sources/Contract/Examples", imports: ""),
    target("ContractDescribe", at: "Sources/Contract/Describe", imports: "Contract ContractExamples HTTPTypes"),
    target(
        "ContractCheck", at: "Sources/Contract/Check", imports: "Contract ContractClient ContractExamples HTTPTypes"),
    target("CheckedLists", at: "Sources/Contract/CheckedLists", imports: ""),
    // Resources in the code: the program is one file, without a bundle beside it.
    .target(name: "ContractReference", path: "Sources/Contract/Reference", resources: [.embedInCode("Page")]),
    target(
        "ContractMocks", at: "Sources/Contract/Mocks", imports: "Contract ContractClient ContractExamples HTTPTypes"),
    // The SDKs' WebSocket transport for Linux.
    target(
        "NIOSockets", at: "Sources/Contract/NIOSockets",
        imports: "ContractClient HTTPTypes NIOCore NIOHTTP1 NIOPosix NIOSSL NIOWebSocket", when: nio),
    target(
        "ContractServer", at: "Sources/Contract/Server",
        imports: """
            CZlib Contract CoreMetrics Cores Crypto EventLoops HTTPTypes Hummingbird HummingbirdCore Logging
            NIOConcurrencyHelpers NIOCore NIOHTTP1 Tracing
            """),
]

// MARK: The platform: no module of it knows a contract, an API or Backend, and few use one another

func module(_ name: String, imports: String, when condition: TargetDependencyCondition? = server) -> Target {
    target(name, at: "Sources/Platform/\(name)", imports: imports, when: condition)
}

func library(_ name: String, pkgConfig: String? = nil, providers: [SystemPackageProvider]) -> Target {
    .systemLibrary(name: name, path: "Sources/Platform/\(name)", pkgConfig: pkgConfig, providers: providers)
}

let platform: [Target] = [
    library("CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    library("CLibVips", pkgConfig: vips, providers: [.apt(["libvips-dev"]), .brew(["vips"])]),
    library("CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    library("CZlib", providers: [.apt(["zlib1g-dev"])]),
    module("CAllocator", imports: ""), module("CSpawn", imports: ""),
    .target(
        name: "CBuild", path: "Sources/Platform/CBuild",
        cSettings: [.define("CONCORD_COMMIT", to: "\"\(Context.environment["CONCORD_COMMIT"] ?? "development")\"")]),
    .target(
        name: "CVips", dependencies: modules("CLibVips"), path: "Sources/Platform/CVips",
        linkerSettings: [.linkedLibrary("vips", .when(traits: ["Server"]))]),
    module("CSignals", imports: ""), module("Cores", imports: "NIOConcurrencyHelpers"), module("Videos", imports: ""),
    module(
        "Database",
        imports: "CLibPQ CSQLite CoreMetrics Cores Crypto GRDB GRDBSQLite NIOConcurrencyHelpers NIOCore "
            + "NIOPosix Processes Redis Tracing"),
    module("EventBus", imports: "CoreMetrics NIOConcurrencyHelpers NIOCore"),
    module("EventLoops", imports: "NIOCore NIOPosix"),
    module(
        "Identity",
        imports: "AsyncHTTPClient CoreMetrics Cores Crypto CryptoExtras JWTKit NIOConcurrencyHelpers NIOCore NIOPosix"),
    module("Images", imports: "Cores Processes"),
    module("Mail", imports: "NIOCore NIOPosix NIOSSL"),
    module("ObjectStore", imports: "AsyncHTTPClient Crypto NIOConcurrencyHelpers NIOCore NIOPosix Tracing"),
    module("Push", imports: "AsyncHTTPClient CoreMetrics JWTKit NIOCore NIOHTTP1 NIOSSL"),
    module("PrometheusMetrics", imports: "Atomics CoreMetrics NIOConcurrencyHelpers"),
    module("Processes", imports: "CSpawn NIOConcurrencyHelpers"),
    module("Redis", imports: "NIOConcurrencyHelpers NIOCore NIOPosix NIOSSL"),
    module("TimeZones", imports: "NIOConcurrencyHelpers"),
    module(
        "WebSockets",
        imports: "CoreMetrics EventLoops HTTPTypes NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOWebSocket"),
    module("ZIPArchives", imports: "CZlib NIOCore"),
]

// MARK: Where contract and platform meet

let backend = target(
    "Backend", at: "Sources/Backend",
    imports: """
        AsyncHTTPClient CAllocator CSignals Contract ContractServer CoreMetrics Cores Crypto Database EventBus HTTPTypes Hummingbird
        HummingbirdCore HummingbirdTLS Identity Logging Mail NIOCertificateReloading NIOConcurrencyHelpers NIOCore NIOPosix NIOSSL
        ObjectStore PrometheusMetrics Redis ServiceLifecycle TimeZones Tracing UnixSignals WebSockets ZIPArchives
        """)

/// The operator's page, as code like the reference pages, with which it shares its style, and its API as text.
let operatorPage: Target = .target(
    name: "OperatorPage", dependencies: ["ContractExamples", "ContractReference"], path: "Sources/OperatorPage",
    resources: [.embedInCode("Page")])

// MARK: The APIs

/// Returns the six targets of an API, in six folders below `Sources/APIs`.
///
/// - Parameters:
///   - api: What the API's types import beside `Contract`, and so on: every part names what it imports beyond the usual.
func api(_ name: String, api: String = "", mocks: String = "", service: String) -> [Target] {
    func part(_ folder: String, _ imports: String) -> Target {
        target(name + folder, at: "Sources/APIs/\(name)/\(folder)", imports: imports)
    }
    return [
        part("API", "Contract \(api)"),
        part("Client", "\(name)API Contract ContractClient HTTPTypes"),
        // Text that knows no types, so that a wrong name on the wire cannot agree with itself.
        part("Examples", "ContractExamples"),
        part("Mocks", "\(name)API \(name)Client \(name)Examples Contract ContractClient ContractMocks \(mocks)"),
        part("Service", "\(name)API Backend Contract ContractServer Database HTTPTypes \(service)"),
        part("Check", "\(name)Client \(name)Examples CheckedLists Contract ContractCheck ContractClient HTTPTypes"),
    ]
}

let apis: [Target] =
    api(
        "Messenger", mocks: "HTTPTypes",
        service: "EventBus Identity Logging Mail NIOConcurrencyHelpers NIOCore ObjectStore Push WebSockets")
    + api(
        "DeuceDiary", mocks: "HTTPTypes",
        service: "EventBus Identity NIOConcurrencyHelpers NIOCore ObjectStore WebSockets")
    + api("Monica", api: "HTTPTypes", service: "Identity Logging Mail NIOCore ObjectStore TimeZones")
    + api("GTSD", api: "HTTPTypes", service: "Identity Mail ObjectStore TimeZones")
    + api("Dunbar", mocks: "HTTPTypes", service: "Identity Mail NIOConcurrencyHelpers NIOCore ObjectStore Videos")

/// Messenger's state on a device.
let messengerStore = target(
    "MessengerStore", at: "Sources/APIs/Messenger/Store",
    imports: "Contract ContractClient GRDB HTTPTypes MessengerAPI MessengerClient", when: store)

let services = ["Messenger", "DeuceDiary", "Monica", "GTSD", "Dunbar"]

// The allocator of release builds: glibc's locks the arena of the thread that allocated what another thread frees, as are the
// rows of a read. It comes as a shared library, so that what one library allocates another may free.
let allocator = LinkerSetting.linkedLibrary(
    "jemalloc", .when(platforms: [.linux], configuration: .release, traits: ["Server"]))

let command: Target = .executableTarget(
    name: "concord",
    dependencies: modules(
        """
        ArgumentParser Backend CBuild Contract ContractCheck ContractClient ContractDescribe ContractExamples ContractReference
        ContractServer CoreMetrics Cores Database DeuceDiaryAPI DeuceDiaryCheck DeuceDiaryExamples DeuceDiaryService DunbarAPI
        DunbarCheck DunbarExamples DunbarService GTSDAPI GTSDCheck GTSDExamples GTSDService Identity Images Logging Mail
        MessengerAPI MessengerCheck MessengerExamples MessengerService MonicaAPI MonicaCheck MonicaExamples MonicaService
        NIOConcurrencyHelpers NIOSockets ObjectStore OperatorPage PrometheusMetrics Push Redis TimeZones Tracing UnixSignals
        """),
    linkerSettings: [allocator])

let chatExample: Target = .executableTarget(
    name: "chat-example", dependencies: modules("MessengerClient NIOSockets"), path: "Examples/Chat")

/// Returns a target of the guestbook: an API on Concord's products alone, as another package would have it. It has no
/// access to what is `package`, and Tools/check-guestbook sees that it imports products.
func guestbook(_ folder: String, imports: String) -> Target {
    target("Guestbook\(folder)", at: "Examples/Guestbook/\(folder)", imports: imports, packageAccess: false)
}

let guestbookExample: [Target] = [
    guestbook("API", imports: "Contract"),
    guestbook("Examples", imports: "ContractExamples"),
    guestbook("Client", imports: "ContractClient GuestbookAPI"),
    guestbook("Mocks", imports: "ContractMocks GuestbookClient GuestbookExamples"),
    guestbook("Check", imports: "ContractCheck GuestbookClient GuestbookExamples"),
    guestbook("Service", imports: "Backend Contract ContractServer Database GuestbookAPI WebSockets"),
    .executableTarget(
        name: "guestbook",
        dependencies: modules(
            "ArgumentParser Backend ContractCheck ContractClient GuestbookCheck GuestbookService NIOSockets"),
        path: "Examples/Guestbook/Command", packageAccess: false),
]

/// Decodes images under resource limits, in a process of its own.
let thumbnail: Target = .executableTarget(name: "thumbnail", dependencies: modules("CVips"))

// MARK: Tests

/// The support that tests of every module share. It depends on no service.
let testbed = target(
    "Testbed", at: "Tests/Support",
    imports: """
        Backend CSpawn Contract ContractCheck ContractClient ContractDescribe ContractExamples ContractServer Crypto Database
        HTTPTypes Hummingbird Identity Logging Mail NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOHTTP2 NIOPosix NIOSSL NIOSockets
        ObjectStore Push ServiceLifecycle WebSockets
        """)

/// Returns the target that starts an API's server within a test.
func host(_ api: String, imports: String = "") -> Target {
    target(
        "\(api)TestHost", at: "Tests/Hosts/\(api)", imports: "\(api)Service Backend Testbed \(imports)")
}

let hosts = [
    host("Messenger"), host("DeuceDiary", imports: "ContractCheck DeuceDiaryAPI Identity"),
    host("Monica", imports: "Mail MonicaAPI"),
    host("GTSD"), host("Dunbar", imports: "Contract ContractClient Database"),
]

/// Returns the tests of a module.
///
/// - Parameter programs: The programs that the tests start.
func tests(_ name: String, imports: String, programs: [String] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: modules(imports) + programs.map { .byName(name: $0) }, exclude: exclude)
}

/// Returns the tests of an API.
func tests(api name: String, imports: String) -> Target {
    tests(
        name,
        imports: """
            \(name)API \(name)Check \(name)Client \(name)Examples \(name)Mocks \(name)Service \(name)TestHost Backend Contract
            ContractCheck ContractClient ContractServer Database HTTPTypes Testbed \(imports)
            """)
}

let suites: [Target] = [
    tests("Contract", imports: "CheckedLists Contract HTTPTypes Testbed"),
    tests(
        "ContractServer",
        imports: """
            Backend CZlib Contract ContractServer HTTPTypes Hummingbird HummingbirdCore Logging NIOConcurrencyHelpers NIOCore
            NIOEmbedded NIOHTTP1 NIOPosix ServiceLifecycle Testbed WebSockets
            """),
    tests(
        "ContractClient",
        imports: """
            Backend Contract ContractClient ContractMocks ContractServer HTTPTypes Logging NIOConcurrencyHelpers NIOCore NIOPosix
            Testbed
            """),
    tests("ContractCheck", imports: "Contract ContractCheck ContractClient HTTPTypes NIOConcurrencyHelpers Testbed"),
    tests("Cores", imports: "Cores Testbed"),
    tests("Database", imports: "CSQLite Database NIOConcurrencyHelpers NIOPosix Redis Testbed"),
    tests("Identity", imports: "Crypto CryptoExtras Identity NIOConcurrencyHelpers NIOCore NIOPosix Testbed"),
    tests("Images", imports: "Images Testbed"),
    tests("Mail", imports: "Mail NIOCore NIOPosix Testbed"),
    tests("ObjectStore", imports: "AsyncHTTPClient Crypto NIOConcurrencyHelpers NIOCore ObjectStore Testbed"),
    tests("EventBus", imports: "EventBus NIOCore NIOEmbedded NIOPosix Testbed"),
    tests("EventLoops", imports: "EventLoops NIOCore NIOEmbedded NIOPosix"),
    tests(
        "Backend",
        imports: """
            Backend Contract ContractCheck ContractServer CoreMetrics Database HTTPTypes Identity Logging Mail
            NIOConcurrencyHelpers NIOCore NIOPosix ObjectStore PrometheusMetrics Testbed TimeZones
            """),
    tests("Push", imports: "ContractCheck NIOConcurrencyHelpers Push Testbed"),
    tests("Redis", imports: "NIOCore NIOPosix Redis Testbed"), tests("Videos", imports: "ContractCheck Testbed Videos"),
    tests("PrometheusMetrics", imports: "CoreMetrics PrometheusMetrics"),
    tests("ZIPArchives", imports: "NIOCore Testbed ZIPArchives"),
    tests("TimeZones", imports: "NIOConcurrencyHelpers Testbed TimeZones"),
    tests(
        "WebSockets",
        imports: """
            Backend ContractClient ContractServer HTTPTypes HummingbirdCore Logging NIOCore NIOEmbedded NIOHTTP1 NIOPosix
            NIOSockets NIOWebSocket ServiceLifecycle Testbed WebSockets
            """),
    tests(
        api: "Messenger",
        imports: """
            Identity Logging NIOConcurrencyHelpers NIOCore NIOEmbedded NIOPosix NIOSockets ObjectStore WebSockets
            """),
    tests(
        "MessengerStore",
        imports: """
            Contract ContractClient GRDB HTTPTypes MessengerAPI MessengerCheck MessengerClient MessengerService MessengerStore
            MessengerTestHost Testbed
            """),
    tests(
        api: "DeuceDiary",
        imports: """
            Logging NIOConcurrencyHelpers NIOCore NIOEmbedded NIOPosix NIOSockets ObjectStore WebSockets
            """),
    tests(api: "Dunbar", imports: "Identity Logging NIOConcurrencyHelpers ObjectStore"),
    tests(api: "Monica", imports: "Identity Mail NIOSockets TimeZones"),
    tests(api: "GTSD", imports: "ContractMocks Identity Logging NIOConcurrencyHelpers ObjectStore TimeZones"),
    tests(
        "Guestbook",
        imports: """
            Backend Contract ContractCheck ContractClient ContractExamples ContractServer Database GuestbookCheck GuestbookClient
            GuestbookExamples GuestbookMocks GuestbookService HTTPTypes Testbed
            """),
    tests(
        "Concord",
        imports: """
            ArgumentParser AsyncHTTPClient Backend Contract ContractCheck ContractClient ContractDescribe ContractReference
            ContractServer CoreMetrics Database DeuceDiaryCheck DeuceDiaryClient DeuceDiaryService DeuceDiaryTestHost DunbarCheck DunbarClient
            DunbarService DunbarTestHost GTSDCheck GTSDClient GTSDService GTSDTestHost HTTPTypes Hummingbird Identity Logging
            MessengerCheck MessengerClient MessengerService MessengerTestHost MonicaCheck MonicaClient MonicaService
            MonicaTestHost NIOConcurrencyHelpers NIOCore NIOHTTP1 NIOPosix NIOSockets ObjectStore OperatorPage PrometheusMetrics
            ServiceLifecycle Testbed concord
            """, programs: ["chat-example"], exclude: ["Databases"]),
]

let package = Package(
    name: "concord",
    platforms: [.macOS(.v14), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .executable(name: "concord", targets: ["concord"]),
        .executable(name: "thumbnail", targets: ["thumbnail"]),
        .executable(name: "guestbook", targets: ["guestbook"]),
        .library(name: "Contract", targets: ["Contract"]),
        .library(name: "ContractClient", targets: ["ContractClient"]),
        .library(name: "NIOSockets", targets: ["NIOSockets"]),
        .library(name: "MessengerStore", targets: ["MessengerStore"]),
    ]
        + services.flatMap { name -> [Product] in
            [
                .library(name: "\(name)Client", targets: ["\(name)API", "\(name)Client"]),
                .library(name: "\(name)Mocks", targets: ["\(name)Mocks"]),
                .library(name: "\(name)Service", targets: ["\(name)Service"]),
            ]
        }
        // What an API of an app's own is made of.
        + [
            "Backend", "CheckedLists", "ContractCheck", "ContractExamples", "ContractMocks", "ContractServer",
            "Database", "EventBus", "Identity", "Mail", "ObjectStore", "Push", "WebSockets",
        ].map { .library(name: $0, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["Server"]),
        .trait(
            name: "Server", description: "The backends and the `concord` command.", enabledTraits: ["NIO", "Store"]),
        .trait(name: "Store", description: "Messenger's state on a device (`MessengerStore`), with GRDB."),
        .trait(name: "NIO", description: "WebSockets for the SDKs where URLSession has none (Linux)."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-atomics.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.0"),
    ],
    targets: contracts + platform + [backend, operatorPage] + apis + [messengerStore] + guestbookExample
        + [command, chatExample, thumbnail, testbed] + hosts + suites
)

// The server's asynchronous functions stay on their caller's executor, without asking at each call whether to change it.
let serverSide = ["Backend", "ContractServer", "Database", "Identity"]
for target in package.targets where target.type != .system {
    let isServer = serverSide.contains(target.name) || target.name.hasSuffix("Service")
    let features = ["ExistentialAny"] + (isServer ? ["NonisolatedNonsendingByDefault"] : [])
    target.swiftSettings = features.map { .enableUpcomingFeature($0) }
}

// A part of the tests, for a quick turn: CONCORD_TEST_TARGETS=Backend,Messenger leaves the others out.
if let names = Context.environment["CONCORD_TEST_TARGETS"], !names.isEmpty {
    package.targets.removeAll { $0.type == .test && !names.split(separator: ",").contains($0.name.dropLast(5)) }
}
