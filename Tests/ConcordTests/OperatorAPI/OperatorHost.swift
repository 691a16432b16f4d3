import Contract
import ContractClient
import ContractServer
import CoreMetrics
import Foundation
import HTTPTypes
import Identity
import Logging
import MessengerClient
import MessengerService
import MonicaService
import MonicaTestHost
import NIOConcurrencyHelpers
import NIOPosix
import PrometheusMetrics
import Testbed
import Testing

@testable import Backend
@testable import concord

/// A server of Messenger and Monica within the test, with the API of the operator's page.
struct OperatorHost: TestHost {
    let baseURL: URL
    let transport: any Transport
    let router: ContractServer.Router<OperatorAPI>
    let desk: OperatorDesk
    /// The URL of Messenger, which always listens on a port: people are made with the SDK.
    let messenger: URL
    /// The place of the backups.
    let backups: String

    /// Makes the token of a link.
    func link(_ role: OperatorRole, for name: String) -> String { desk.sessions.makeLink(for: name, role) }
}

// What the server knows beside what it answers.
extension OperatorHost {
    var folder: String { desk.settings.folder }

    /// The number of the newest line of the log.
    var newestLine: Int64 { Int64(desk.settings.recentLines().last?.number ?? 0) }
    /// The number of warnings and errors among the lines of the log.
    var warnings: Int { desk.settings.recentLines().count { $0.level >= .warning } }

    /// Returns the text of a line of the log without its line end.
    func line(_ number: Int64) -> String? {
        desk.settings.recentLines().first { Int64($0.number) == number }.map { String($0.text.dropLast()) }
    }

    /// Returns the space that uploads leave free, in bytes.
    func reserve() throws -> Int64 {
        try desk.settings.reserve.bytes(of: desk.settings.reserve.space(of: folder))
    }

    func backupNames() throws -> Set<String> {
        let folder = backups + "/backups"
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder))
    }

    /// Whether the page's backup is being made.
    var isMakingBackup: Bool { get async { await desk.backup.look().isRunning } }

    /// Returns the numbers of an actor's entries in Messenger's audit.
    func auditIDs(of actor: String) async throws -> [Int64] {
        guard let database = desk.commands.running.first?.database else { return [] }
        return try await database.read { db in
            try db.all("SELECT id FROM audit WHERE actor = \(actor) ORDER BY id") { try $0.get(0) }
        }
    }
}

/// Runs a test with a server of its own.
func withOperator(on stack: Stack, _ body: @escaping (OperatorHost) async throws -> Void) async throws {
    try await withTestDatabase(on: stack.engine) { place in
        let server = try await ServerOfTheTest(at: place)
        do {
            try await server.serve(stack.wire, body)
        } catch {
            try? await server.close()
            throw error
        }
        try await server.close()
    }
}

/// The parts of the server, as ``Server`` composes them.
private struct ServerOfTheTest {
    private let folder: DataFolder
    private let settings: ServerSettings
    private let builder: AppBuilder
    private let running: [RunningAPI]
    private let desk: OperatorDesk

    init(at place: TestDatabase) async throws {
        folder = try DataFolder(place.folder + "/data")
        settings = try await Self.settings(at: place)
        builder = AppBuilder(settings)
        let apis: [any HostedAPI] = [HostedMessenger(), HostedMonica()]
        var running: [RunningAPI] = []
        for api in apis {
            running.append(try await builder.build(api))
            _ = try await running.last?.check.run()
            try await running.last?.service.prepare()
        }
        self.running = running
        let sessions = OperatorSessions()
        let commands = CommandRunner(settings, known: apis, running: running, builder: builder, sessions: sessions)
        let registry = PrometheusRegistry(ServerMetrics.descriptions)
        desk = OperatorDesk(commands: commands, sessions: sessions, registry: registry, backups: builder.backups)
        try Self.fill(registry, desk.traffic)
    }

    private static func settings(at place: TestDatabase) async throws -> ServerSettings {
        let lines = NIOLockedValueBox(RecentLines())
        var settings = ServerSettings(
            folder: place.folder + "/data", environment: [:], logger: Logger(label: "test") { _ in KeptLines(lines) })
        settings.database = place.url.map { .postgreSQL(url: $0) } ?? .sqlite
        settings.recentLines = { lines.withLockedValue { $0 }.all }
        settings.passwords = Passwords(cost: .testing, queueLimit: 1024)
        settings.ports = ["messenger": try await reservePort(), "monica": try await reservePort()]
        settings.publicURLs = ["messenger": "https://messenger.example", "monica": "https://monica.example"]
        settings.version = "1.2.3"
        settings.backups = BackupSettings(
            location: try BackupLocation(place.folder + "/backups"),
            schedule: try #require(BackupSchedule("daily@03:00")),
            keep: 1000)
        settings.sendTestEmail = { address in
            if address.hasSuffix("@refused.example") { throw OperatorError("This server has no mail server") }
            return "The mail server has taken the e-mail to \(address)"
        }
        return settings
    }

    /// Fills an hour of requests of Messenger: a hundred of 2 ms and a failure in one minute, and none in the next.
    private static func fill(_ registry: PrometheusRegistry, _ traffic: Traffic) throws {
        func timer(_ status: String) -> any TimerHandler {
            registry.makeTimer(
                label: "concord_http_request_duration_seconds",
                dimensions: [("api", "messenger"), ("route", "/a"), ("status", status)])
        }
        traffic.note()
        for _ in 0..<100 { timer("200").recordNanoseconds(2_000_000) }
        timer("503").recordNanoseconds(2_000_000)
        traffic.note()
    }

    func close() async throws { for api in running { try await api.close() } }

    func serve(_ wire: Stack.Wire, _ body: (OperatorHost) async throws -> Void) async throws {
        let backups = Task { try await desk.backup.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await listen(wire, body)) } catch { result = .failure(error) }
        backups.cancel()
        try? await backups.value
        try result.get()
    }

    private func listen(_ wire: Stack.Wire, _ body: (OperatorHost) async throws -> Void) async throws {
        guard let port = settings.ports["messenger"], let messenger = running.first else { return }
        let listening = Task { await messenger.service.listen {} }
        defer { listening.cancel() }
        try await serving(messenger.listener, port: port) {
            let url = URL(string: "http://127.0.0.1:\(port)")!
            func host(_ base: String, _ transport: any Transport) -> OperatorHost {
                OperatorHost(
                    baseURL: URL(string: base + OperatorAPI.basePath)!, transport: transport, router: router,
                    desk: desk, messenger: url, backups: settings.backups.map { "\($0.location.text)" } ?? "")
            }
            guard wire == .live else { return try await body(host("http://test", InProcessTransport(router))) }
            let sampler = MetricsSampler(settings, memory: builder.memory, apis: running)
            let operators = OperatorListener(desk, sampler: sampler, group: MultiThreadedEventLoopGroup.ofTests)
            let free = try await reservePort()
            try await serving(operators.listener, port: free) {
                try await body(host("http://127.0.0.1:\(free)", URLSessionTransport.patient))
            }
        }
    }

    private var router: ContractServer.Router<OperatorAPI> {
        ContractServer.Router(desk.routes(), options: .init(logger: .silent))
    }
}

/// Keeps lines as the program's own handler writes them.
private struct KeptLines: LogHandler {
    let lines: NIOLockedValueBox<RecentLines>
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(_ lines: NIOLockedValueBox<RecentLines>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let line = LogOutput.line(event.level, "\(event.message)", fields, .text)
        lines.withLockedValue { $0.add(line, event.level, of: LogOutput.person(fields)) }
    }
}
