import Database
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

// The services of a server's group. One that ends would end the others, so each waits for the shutdown.

/// Serves one API on its port.
struct ListenerService: Service {
    let listener: Listener
    /// The path that stands before the API's paths.
    var basePath = ""
    let address: Listener.Address
    /// `http` or `https`.
    var scheme = "http"
    let logger: Logger
    let announcement: StartAnnouncement
    /// Receives the URL once connections are accepted.
    var listens: @Sendable (_ url: String) -> Void = { _ in }

    func run() async throws {
        try await listener.serve(on: address, logger: logger) { port in
            let url = "\(scheme)://\(address.host):\(port)\(basePath)"
            listens(url)
            await announcement.started(listener.name, url)
        }
    }
}

/// Prints the URL of each API, in the order in which the APIs were named, and `ready`, once all of them listen.
actor StartAnnouncement {
    private let names: [String]
    /// The line below the URLs; nil for none.
    private let hint: String?
    private let manager: ServiceManager?
    private var urls: [String: String] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isMade: Bool { urls.count == names.count }

    init(of names: [String], hint: String? = nil, manager: ServiceManager?) {
        self.names = names
        self.hint = hint
        self.manager = manager
    }

    func started(_ name: String, _ url: String) {
        urls[name] = url
        guard isMade else { return }
        let width = names.map(\.count).reduce(12, max)
        for name in names { print(name.padding(toLength: width, withPad: " ", startingAt: 0), urls[name] ?? "") }
        if let hint { print(String(repeating: " ", count: width), hint) }
        print("ready")
        fflush(nil)
        manager?.report(.ready)
        release()
    }

    /// Waits until the announcement has been made, or the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if isMade || Task.isCancelled { continuation.resume() } else { waiting.append(continuation) }
            }
        } onCancel: {
            Task { await release() }
        }
    }

    private func release() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

/// Reads the certificate, and what the settings name, again when the operator sends SIGHUP, which would end a process that
/// does not handle it.
struct Reload: Service {
    let certificate: ServerCertificate?
    let settings: @Sendable () -> Logger.Metadata
    let manager: ServiceManager?
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            manager?.report(.reloading)
            let isRead = certificate?.reload()
            var outcome = settings()
            outcome["certificate"] = isRead.map { $0 ? "read again" : "the former one" } ?? "none"
            // An operator who asked for fewer lines still sees that it was done.
            logger.log(level: max(.notice, logger.logLevel), "reloaded", metadata: outcome)
            manager?.report(.ready)
        }
    }
}

/// Logs what will not work on this machine. It waits until all APIs answer, because finding out takes some tenths of a
/// second and as much CPU as the start: the image helper is run for each format.
struct StartWarnings: Service {
    let apis: [RunningAPI]
    let settings: ServerSettings
    let announcement: StartAnnouncement

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await announcement.wait()
            // An error is for the operator who asks.
            _ = try? settings.inForce()
            for api in apis where !Task.isCancelled { await api.logStartupWarnings() }
        }
        try await gracefulShutdown()
    }
}

/// Runs an API's work in the background: it receives events of other nodes, sends e-mails and makes archives.
struct BackgroundWork: Service {
    let api: RunningAPI
    let logger: Logger

    func run() async throws {
        var logger = logger
        logger[metadataKey: "api"] = "\(api.name)"
        await cancelWhenGracefulShutdown { [logger] in
            await QueueLimits.withoutLimit {
                async let archives: Void? = api.service.peopleDesk?.makeArchives(logger: logger)
                await api.service.listen {}
                _ = await archives
            }
        }
        try await gracefulShutdown()
    }
}

/// Repeats the checks of APIs whose buckets did not answer at the start. A bucket that belongs to another database ends
/// the process.
struct StartCheckRepeater: Service {
    let waiting: [RunningAPI]

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            var waiting = waiting
            while !waiting.isEmpty {
                do { try await Task.sleep(for: .seconds(5)) } catch { return }
                var still: [RunningAPI] = []
                for api in waiting where try await !api.check.run() { still.append(api) }
                waiting = still
            }
        }
        try await gracefulShutdown()
    }
}

/// Deletes what has expired, every hour. The first time is an hour after the start: an operator who has started with a
/// wrong setting has that long before anything is removed.
struct Sweeper: Service {
    let apis: [RunningAPI]
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                do { try await Task.sleep(for: .seconds(3600)) } catch { return }
                for api in apis {
                    var logger = logger
                    logger[metadataKey: "api"] = "\(api.name)"
                    do {
                        let report = try await QueueLimits.withoutLimit {
                            try await api.service.peopleDesk?.sweepArchives()
                            return try await api.service.sweep(limits: api.sweepLimits)
                        }
                        Self.log(report, of: api.name, logger)
                    } catch is CancellationError {
                        return
                    } catch {
                        logger.warning("sweep failed", metadata: ["error": "\(error)"])
                    }
                }
            }
        }
    }

    private static func log(_ report: SweepReport, of api: String, _ logger: Logger) {
        let counts: Logger.Metadata = [
            "examined": .stringConvertible(report.examined), "unreferenced": .stringConvertible(report.unreferenced),
            "trashed": .stringConvertible(report.trashed), "removed": .stringConvertible(report.removed),
        ]
        if report.isRefused {
            logger.error(
                """
                sweep refused: the database names too few of the files. Is it the right one, and not an old copy? If \
                so, start with --allow-sweep \(api)
                """, metadata: counts)
        } else if report.trashed + report.removed > 0 {
            logger.notice("files that no row names were moved to the trash", metadata: counts)
        }
    }
}

/// Withdraws readiness when the server is asked to stop, and lets load balancers notice it before the listeners stop.
struct Drain: Service {
    let healths: [Health]
    let deadline: ShutdownDeadline
    /// The time during which requests are still accepted.
    let delay: Duration
    let manager: ServiceManager?

    func run() async throws {
        try await gracefulShutdown()
        manager?.report(.stopping)
        deadline.begin(after: delay)
        for health in healths { health.drain() }
        try? await Task.sleep(for: delay)
    }
}
