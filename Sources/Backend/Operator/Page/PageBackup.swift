import Contract
import Foundation
import Logging
import NIOConcurrencyHelpers

/// The backups as the operator's page shows them, and the one that it has begun.
final class PageBackup: Sendable {
    private struct State {
        var isRunning = false
        var done = 0
        var total = 0
        /// Why the backup that the page began last has failed.
        var failure: String?
        /// The size of a backup, by its name: a manifest is long, and never changes.
        var size: (name: String, bytes: Int64)?
    }

    private let state = NIOLockedValueBox(State())
    private let commands: CommandRunner
    private let scheduled: BackupState

    init(commands: CommandRunner, scheduled: BackupState) {
        self.commands = commands
        self.scheduled = scheduled
    }

    /// Begins a backup, which goes on without the request that has asked for it.
    ///
    /// - Throws: A `Problem` with 409 when a backup is being made, or there is no place for one.
    func begin(for actor: String) throws {
        guard let backups = commands.settings.backups else {
            throw Problem(.conflict, "The server has no place for backups: start it with --backup-to")
        }
        let command = MakeBackup(to: backups.location, keep: backups.keep, environment: [:])
        let request = OperatorRequest(
            operation: MakeBackup.name, api: nil, arguments: try JSONEncoder().encode(command), database: nil,
            actor: actor)
        let isFirst = state.withLockedValue { state in
            if state.isRunning { return false }
            state = State(isRunning: true, size: state.size)
            return true
        }
        guard isFirst else { throw Problem(.conflict, "A backup is being made") }
        Task {
            var failure: String?
            do throws(OperatorError) {
                try await commands.perform(request, on: ProgressConsole { [self] in note($0, of: $1) })
            } catch { failure = error.description }
            end(failure)
        }
    }

    private func note(_ done: Int, of total: Int) { state.withLockedValue { ($0.done, $0.total) = (done, total) } }

    private func end(_ failure: String?) {
        state.withLockedValue { ($0.isRunning, $0.failure) = (false, failure) }
        if failure == nil { scheduled.set(nil) }
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
        let state = state.withLockedValue { $0 }
        let time = newest.flatMap { BackupNames.newest(of: [$0], at: .distantFuture) }
        return OperatorAPI.Backup(
            place: place, newestAt: time.map { .init(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) },
            size: size,
            problem: state.failure ?? problem, isRunning: state.isRunning, done: state.done, total: state.total)
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
        if let known = state.withLockedValue({ $0.size }), known.name == name { return (name, known.bytes) }
        let size = try await place.manifest(of: name).size
        state.withLockedValue { $0.size = (name, size) }
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
