import Contract
import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

/// The backups as the operator's page shows them, and those that it begins.
///
/// It is a service, because a backup reads the databases: the server closes them only after the backup has ended. A backup
/// that is being made when the server stops is cancelled.
final class PageBackup: Service {
    private enum State {
        /// No backup of the page's is being made; the last one may have failed, and why.
        case idle(failure: String?)
        /// A backup was asked for, and has read some of its files.
        case running(done: Int, of: Int)
        /// The server stops.
        case stopped
    }

    private let state = NIOLockedValueBox(State.idle(failure: nil))
    /// The newest backup's name and size: a manifest is long, and never changes.
    private let known = NIOLockedValueBox<(name: String, bytes: Int64)?>(nil)
    private let commands: CommandRunner
    private let scheduled: BackupState
    /// The operators who asked for a backup. A backup that is being made refuses the next, so at most one waits.
    private let (asked, asking) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingOldest(1))

    init(commands: CommandRunner, scheduled: BackupState) {
        self.commands = commands
        self.scheduled = scheduled
    }

    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            for await actor in asked { await make(for: actor) }
        }
        state.withLockedValue { $0 = .stopped }
        try? await gracefulShutdown()
    }

    /// Begins a backup, which goes on without the request that has asked for it.
    ///
    /// - Throws: A `Problem` with 409 when a backup is being made or there is no place for one, and with 503 when the server
    ///   stops.
    func begin(for actor: String) throws {
        guard commands.settings.backups != nil else {
            throw Problem(.conflict, "The server has no place for backups: start it with --backup-to")
        }
        try state.withLockedValue { state in
            switch state {
            case .running: throw Problem(.conflict, "A backup is being made")
            case .stopped: throw Problem(.serviceUnavailable, "The server is stopping")
            case .idle: state = .running(done: 0, of: 0)
            }
        }
        asking.yield(actor)
    }

    private func make(for actor: String) async {
        guard let backups = commands.settings.backups else { return }
        var failure: String?
        do {
            let command = MakeBackup(to: backups.location, keep: backups.keep, environment: [:])
            let request = OperatorRequest(
                operation: MakeBackup.name, api: nil, arguments: try JSONEncoder().encode(command), database: nil,
                actor: actor)
            try await commands.perform(
                request,
                on: ProgressConsole { [state] done, total in
                    state.withLockedValue { $0 = .running(done: done, of: total) }
                })
            scheduled.set(nil)
        } catch { failure = "\(error)" }
        state.withLockedValue { $0 = .idle(failure: failure) }
    }

    /// Returns what the page shows of the backups.
    func look() async -> OperatorAPI.Backup {
        guard let backups = commands.settings.backups else { return shown(nil, newest: nil, size: nil, problem: nil) }
        let place = String(backups.location.withoutQuery)
        do {
            let newest = try await newest(at: backups.location)
            return shown(place, newest: newest?.name, size: newest?.size, problem: scheduled.note)
        } catch {
            return shown(place, newest: nil, size: nil, problem: "\(error)")
        }
    }

    private func shown(_ place: String?, newest: String?, size: Int64?, problem: String?) -> OperatorAPI.Backup {
        var (isRunning, done, total): (Bool, Int, Int) = (false, 0, 0)
        var failure: String?
        switch state.withLockedValue({ $0 }) {
        case .idle(let reason): failure = reason
        case .running(let read, let all): (isRunning, done, total) = (true, read, all)
        case .stopped: break
        }
        let time = newest.flatMap { BackupNames.newest(of: [$0], at: .distantFuture) }
        return OperatorAPI.Backup(
            place: place, newestAt: time.map { .init(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) },
            size: size,
            problem: failure ?? problem, isRunning: isRunning, done: done, total: total)
    }

    private func newest(at location: BackupLocation) async throws -> (name: String, size: Int64)? {
        let settings = commands.settings
        if !location.isBucket, !FileManager.default.fileExists(atPath: location.text) { return nil }
        let place = try location.open(
            environment: settings.environment, scratch: "\(settings.folder)/uploads/.backups", makes: false)
        let found: Result<(name: String, size: Int64)?, any Error>
        do { found = .success(try await newest(in: place)) } catch { found = .failure(error) }
        try? await place.close()
        return try found.get()
    }

    private func newest(in place: any BackupPlace) async throws -> (name: String, size: Int64)? {
        guard let name = try await place.names().last else { return nil }
        if let known = known.withLockedValue({ $0 }), known.name == name { return (name, known.bytes) }
        let size = try await place.manifest(of: name).size
        known.withLockedValue { $0 = (name, size) }
        return (name, size)
    }
}

/// A console that shows the progress of a command alone.
private struct ProgressConsole: OperatorConsole {
    let note: @Sendable (_ done: Int, _ total: Int) -> Void

    func write(_ bytes: [UInt8]) async throws {}
    func show(_ done: Int, of total: Int) async throws { note(done, total) }
    func read() async throws -> [UInt8]? { nil }
}
