import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// Makes backups at the times of a schedule. A failure is logged as an error, is a note of `/ready` until a backup
/// succeeds, and is followed by another attempt within an hour.
struct BackupScheduler: Service {
    let settings: BackupSettings
    let source: BackupSource
    let logger: Logger
    let state: BackupState

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // A backup that is overdue at the start waits for a moment, in which the server has enough to do.
            do { try await Task.sleep(for: .seconds(state.delay)) } catch { return }
            var turns = BackupTurns(settings.schedule, after: await names(), at: Date())
            while true {
                let wait = turns.wait(at: Date())
                if wait > 0 {
                    // The clock may be set meanwhile.
                    do { try await Task.sleep(for: .seconds(min(wait, 60))) } catch { return }
                    continue
                }
                let began = Date()
                do {
                    let (name, manifest) = try await make()
                    turns.succeed(began: began)
                    state.set(nil)
                    logger.notice(
                        "backup",
                        metadata: [
                            "name": "\(name)", "files": "\(manifest.fileCount)", "bytes": "\(manifest.size)",
                            "seconds": "\(manifest.seconds)",
                        ])
                    for api in manifest.apis where !api.missing.isEmpty {
                        logger.error(
                            "files that rows name are missing in the object store and in the backup",
                            metadata: ["api": "\(api.name)", "files": "\(api.missing.count)", "backup": "\(name)"])
                    }
                } catch is CancellationError {
                    return
                } catch {
                    turns.fail(at: Date())
                    state.set("the last backup failed")
                    logger.error("backup failed", metadata: ["to": "\(settings.location.text)", "error": "\(error)"])
                }
            }
        }
        try await gracefulShutdown()
    }

    private var scratch: String { "\(source.settings.folder)/uploads/.backups" }

    private func open() throws -> any BackupPlace {
        try settings.location.open(environment: source.settings.environment, scratch: scratch, makes: true)
    }

    /// Returns the names of the backups; none when the place cannot be read.
    private func names() async -> [String] {
        guard let place = try? open() else { return [] }
        let names = try? await place.names()
        try? await place.close()
        return names ?? []
    }

    private func make() async throws -> (name: String, manifest: BackupManifest) {
        let place = try open()
        let job = BackupJob(source: source, place: place, keep: settings.keep, report: { _ in }, show: { _, _ in })
        do {
            let made = try await job.run()
            try await place.close()
            return made
        } catch {
            try? await place.close()
            throw error
        }
    }
}

/// The outcome of the last scheduled backup, which every API's `/ready` shows.
final class BackupState: Sendable {
    /// The seconds between the start and a backup that is overdue.
    let delay: Double
    private let failure = NIOLockedValueBox<String?>(nil)

    init(delay: Double = 10) { self.delay = delay }

    var note: String? { failure.withLockedValue { $0 } }

    func set(_ failure: String?) { self.failure.withLockedValue { $0 = failure } }
}
