import CoreMetrics
import Cores
import Database
import Foundation
import Logging
import ServiceLifecycle

/// Serves APIs in one process, until SIGTERM or Ctrl-C stops it.
///
/// ```swift
/// try await Server([HostedGuestbook()], settings: ServerSettings(folder: "./data")).run()
/// ```
///
/// The server locks the data folder, makes the keys that are missing, opens each API's database and object store, and
/// checks that they belong together. Then it prints a line for each API with its base URL, and `ready`. When it is
/// asked to stop, requests in flight are finished and live sockets are closed with code 1001. The process ends within
/// 30 seconds after the drain delay.
public struct Server: Sendable {
    private let apis: [any HostedAPI]
    private let known: [any HostedAPI]
    private let settings: ServerSettings

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - apis: The APIs to serve.
    ///   - known: All APIs that an operator's command may be for. By default those that are served.
    public init(_ apis: [any HostedAPI], known: [any HostedAPI]? = nil, settings: ServerSettings) {
        self.apis = apis
        self.known = known ?? apis
        self.settings = settings
    }

    /// Serves until the process is asked to stop.
    ///
    /// - Throws: ``AddressTaken``, ``StoreMismatch``, ``KeyMismatch`` and other errors whose descriptions are for the
    ///   operator.
    public func run() async throws {
        let logger = settings.logger
        PrivateFiles.keepPrivate()
        MemoryTrimmer.begin()
        // Nothing is made where a start cannot succeed. A server that has the folder also has the ports, and is named first.
        let existing = FileManager.default.fileExists(atPath: settings.folder) ? try DataFolder(settings.folder) : nil
        if let moved = settings.movedDatabases(of: apis).first { throw moved }
        let operatorAddress = try await settings.freePorts(of: apis)
        logger.info(
            "threads for the cores that the process may use",
            metadata: [
                "count": .stringConvertible(UsableCores.current.count), "reason": "\(UsableCores.current.reason)",
            ])
        let folder = try existing ?? DataFolder(settings.folder)
        defer { folder.giveToOwner() }
        for path in folder.exposed {
            logger.warning(
                "other users of this machine had access to this path; their access has been removed",
                metadata: ["path": "\(path)"])
        }
        warnOfLocalURLs()
        let certificate = try settings.certificate.map { try ServerCertificate($0, logger: logger) }
        let builder = AppBuilder(settings, tls: try certificate?.configuration())
        let (running, waiting) = try await start(builder)
        let deadline = ShutdownDeadline(apis: running, logger: logger)
        let services: [any Service]
        do {
            services = try self.services(of: running, waiting, builder, deadline, certificate, operatorAddress)
        } catch {
            for api in running { try? await api.close() }
            throw error
        }
        let outcome = await serve(services)
        do {
            for api in running { try await api.close() }
            try outcome.get()
        } catch  where deadline.hasBegun {
            logger.warning("some work had to be cancelled at the end", metadata: ["error": "\(error)"])
        }
        logger.info("stopped")
    }

    /// Composes all APIs or none: those that are open are closed when another cannot be composed, or when its database,
    /// files and keys do not belong together.
    ///
    /// - Returns: The APIs, and those among them whose files could not be checked yet.
    private func start(_ builder: AppBuilder) async throws -> (running: [RunningAPI], waiting: [RunningAPI]) {
        let built = await results(of: apis) { try await builder.build($0) }
        let running = built.compactMap { try? $0.get() }
        do {
            for result in built { _ = try result.get() }
            let checked = try await results(of: running) { try await $0.check.run() }.map { try $0.get() }
            let prepared = await results(of: running) { api in
                try await QueueLimits.withoutLimit { try await api.service.prepare() }
            }
            for result in prepared { try result.get() }
            return (running, zip(running, checked).filter { !$0.1 }.map(\.0))
        } catch {
            for api in running { try? await api.close() }
            throw error
        }
    }

    /// Does something with each of several APIs at the same time, since a start spends its time computing.
    ///
    /// - Returns: The results, in the order of the APIs.
    private func results<Each: Sendable, Value: Sendable>(
        of apis: [Each], _ body: @escaping @Sendable (Each) async throws -> Value
    ) async -> [Result<Value, any Error>] {
        await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            for (index, api) in apis.enumerated() {
                group.addTask {
                    do { return (index, .success(try await body(api))) } catch { return (index, .failure(error)) }
                }
            }
            var results: [(Int, Result<Value, any Error>)] = []
            for await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Returns all services of the group, which run concurrently. They are shut down from the last to the first.
    private func services(
        of running: [RunningAPI], _ waiting: [RunningAPI], _ builder: AppBuilder, _ deadline: ShutdownDeadline,
        _ certificate: ServerCertificate?, _ freeAddress: Listener.Address?
    ) throws -> [any Service] {
        let manager = ServiceManager(environment: settings.environment)
        let sampler = MetricsSampler(settings, memory: builder.memory, apis: running)
        let operatorAddress = settings.metrics == nil ? nil : freeAddress
        let sessions = operatorAddress.map { _ in OperatorSessions() }
        let commands = CommandRunner(settings, known: known, running: running, builder: builder, sessions: sessions)
        let desk = settings.metrics.flatMap { registry in
            sessions.map {
                OperatorDesk(commands: commands, sessions: $0, registry: registry, backups: builder.backups)
            }
        }
        let operatorListener = desk.map { OperatorListener($0, sampler: sampler, group: builder.group) }
        let hint = settings.operatorDocuments.isEmpty ? nil : "sign in there with a link: concord operator link"
        let announcement = StartAnnouncement(
            of: apis.map(\.name) + (desk == nil ? [] : [OperatorAPI.name]), hint: desk == nil ? nil : hint,
            manager: manager)
        // It stops last, so that it sends the spans of the last requests.
        var services: [any Service] = settings.tracer.map { [SpanExporter($0, logger: settings.logger)] } ?? []
        services += zip(apis, running).map { hosted, api in
            ListenerService(
                listener: api.listener, basePath: api.basePath,
                address: .init(host: settings.host, port: settings.port(of: hosted)), scheme: settings.scheme,
                logger: settings.logger, announcement: announcement)
        }
        if let operatorListener, let operatorAddress, let desk {
            services.append(desk.backup)
            services.append(
                ListenerService(
                    listener: operatorListener.listener, address: operatorAddress, logger: settings.logger,
                    announcement: announcement, listens: desk.sessions.listens))
            services.append(desk.traffic)
        }
        if !(MetricsSystem.factory is NOOPMetricsHandler) { services.append(sampler) }
        services.append(try OperatorServer(settings, commands: commands, group: builder.group))
        services.append(StartWarnings(apis: running, settings: settings, announcement: announcement))
        services.append(Sweeper(apis: running, logger: settings.logger))
        services += running.map { BackgroundWork(api: $0, logger: settings.logger) }
        if let backups = settings.backups {
            services.append(
                BackupScheduler(
                    settings: backups, source: BackupSource(settings: settings, known: known, running: running),
                    logger: settings.logger, state: builder.backups))
        }
        if let notices = settings.reportNotices {
            services.append(
                ReportNotices(
                    address: notices.address, mailer: notices.mailer, apis: running, logger: settings.logger))
        }
        if !waiting.isEmpty { services.append(StartCheckRepeater(waiting: waiting)) }
        services.append(MemoryTrimmer())
        if let certificate { services.append(certificate) }
        services.append(
            Reload(
                certificate: certificate, settings: settings.reload, manager: manager, logger: settings.logger))
        services.append(
            Drain(
                healths: running.map(\.health) + [operatorListener?.health].compactMap { $0 }, deadline: deadline,
                delay: settings.drainDelay, manager: manager))
        return services
    }

    private func serve(_ services: [any Service]) async -> Result<Void, any Error> {
        // The lifecycle library logs each of its steps at a level that operators read.
        var quiet = settings.logger
        quiet.logLevel = max(.warning, quiet.logLevel)
        // Without a name, the library describes each service with all that it contains, which takes milliseconds.
        let named = services.map {
            ServiceGroupConfiguration.ServiceConfiguration(service: $0, serviceName: "\(type(of: $0))")
        }
        var group = ServiceGroupConfiguration(
            services: named, gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
        // A service that has not ended by then is cancelled, and then ``ShutdownDeadline`` ends the process. The
        // library's own limit on cancellation would crash the process.
        group.maximumGracefulShutdownDuration = .seconds(24) + settings.drainDelay
        do {
            return .success(try await ServiceGroup(configuration: group).run())
        } catch {
            return .failure(error)
        }
    }

    private func warnOfLocalURLs() {
        let unnamed = apis.map(\.name).filter { settings.publicURLs[$0] == nil }
        guard !settings.isLocal, !unnamed.isEmpty else { return }
        settings.logger.warning(
            """
            no public URL is set: links in answers begin with the host that a client asks, and links in e-mails with \
            localhost, which phones cannot reach; set --public-url NAME=URL
            """,
            metadata: ["apis": "\(unnamed.joined(separator: " "))", "host": "\(settings.host)"])
    }
}
