import Contract
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends the items one after the other.
extension DurableOutbox {
    /// The number of answers with 5xx after which an item lets those behind it pass.
    private static var patience: Int { 3 }

    /// A wait before the next attempt.
    private enum Pause {
        /// It ends early when something changes.
        case wait(Duration)
        /// The server has asked for it.
        case hold(Duration)
    }

    private enum Outcome {
        /// The item is sent, or will not be.
        case done
        /// It is to be sent later.
        case later(retryAfter: Int?, letsOthersPass: Bool)
    }

    /// Sends what waits, at once.
    func send() {
        waker.wake()
        guard sender == nil, !isClosed, entries.contains(where: \.isWaiting) else { return }
        sender = Task { [weak self, waker, pacing] in
            while !Task.isCancelled {
                let known = waker.count
                // The outbox is not held while nothing happens: an app may let it go.
                guard let pause = await self?.sendWaiting() else { return }
                await Self.wait(pause, waker, beyond: known, pacing)
            }
        }
    }

    private static func wait(_ pause: Pause, _ waker: Waker, beyond known: Int, _ pacing: LiveConnection.Pacing) async {
        switch pause {
        case .hold(let time): try? await pacing.sleep(time)
        case .wait(let time):
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await pacing.sleep(time) }
                group.addTask { try? await waker.wake(beyond: known) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// Sends the items in their order.
    ///
    /// - Returns: The wait before the next attempt; nil when nothing waits any more.
    private func sendWaiting() async -> Pause? {
        var passed: Set<OutboxItemID> = []
        while !isClosed, !Task.isCancelled {
            guard let id = entries.first(where: { $0.isWaiting && !passed.contains($0.id) })?.id else {
                if passed.isEmpty {
                    sender = nil
                    return nil
                }
                return nextPause()
            }
            switch await deliver(id) {
            case .done: failures = 0
            case .later(let retryAfter?, _):
                failures += 1
                return .hold(.seconds(max(1, retryAfter)))
            case .later(nil, letsOthersPass: true): passed.insert(id)
            case .later(nil, letsOthersPass: false): return nextPause()
            }
        }
        return nil
    }

    private func nextPause() -> Pause {
        failures += 1
        return .wait(pacing.delay(afterFailures: failures - 1))
    }

    // MARK: One item

    private func deliver(_ id: OutboxItemID) async -> Outcome {
        guard let entry = index(of: id).map({ entries[$0] }) else { return .done }
        guard folder.exists(id.name) else {
            forget(id)
            return .done
        }
        let now = Self.milliseconds(settings.now())
        if let first = entry.attempt.firstAt, let lifetime = settings.keyLifetime(entry.record.content),
            now - first > lifetime.components.seconds * 1000
        {
            return fail(id, .uncertain)
        }
        do {
            // Before anything is sent it is on the disk that it may have been.
            if entry.attempt.firstAt == nil { try change(id) { $0.firstAt = now } }
            guard entry.files.allSatisfy({ FileManager.default.fileExists(atPath: $0.location.path) }) else {
                return fail(id, .fileIsGone)
            }
            show(id, .sending(progress: nil))
            try await settings.deliver(delivery(of: entry))
        } catch {
            return failed(id, error, isFirst: entry.attempt.firstAt == nil)
        }
        return sent(id)
    }

    private func delivery(of entry: OutboxEntry<Content>) -> OutboxDelivery<Content> {
        let id = entry.id
        return OutboxDelivery(
            content: entry.record.content, key: entry.key,
            files: entry.files.map { Upload(.file($0.location), filename: $0.filename, contentType: $0.contentType) },
            createdAt: entry.createdAt,
            progress: { [weak self] sent, total in
                guard total > 0 else { return }
                Task { await self?.progressed(id, Double(sent) / Double(total)) }
            }, remembered: entry.attempt.memory,
            store: { [weak self] memory in
                guard let self else { throw CancellationError() }
                try await change(id) { $0.memory = memory }
            })
    }

    private func sent(_ id: OutboxItemID) -> Outcome {
        // It may have been wiped meanwhile.
        guard let index = index(of: id) else { return .done }
        let entry = entries.remove(at: index)
        // If this fails, the item is sent again in the next launch, under the same key.
        try? folder.remove(id.name)
        announce(.changed(entry.item(.sent)))
        return .done
    }

    private func failed(_ id: OutboxItemID, _ error: any Error, isFirst: Bool) -> Outcome {
        guard let index = index(of: id) else { return .done }
        entries[index].sending = nil
        if let failure = error as? OutboxFailure { return fail(id, failure) }
        if let error = error as? APIError, error.isFinal {
            return fail(id, OutboxFailure(status: error.status.code, error))
        }
        // What has certainly not reached the server does not make a later failure uncertain.
        if isFirst, error.wasNeverReceived { try? change(id) { $0.firstAt = nil } }
        announce(.changed(entries[index].item()))
        let status = (error as? APIError)?.status.code ?? (error as? UnreadableAnswer)?.status.code
        guard let status, status >= 500 else {
            entries[index].serverErrors = 0
            return .later(retryAfter: (error as? APIError)?.retryAfter, letsOthersPass: false)
        }
        entries[index].serverErrors += 1
        let retryAfter = (error as? APIError)?.retryAfter
        return .later(retryAfter: retryAfter, letsOthersPass: entries[index].serverErrors >= Self.patience)
    }

    private func fail(_ id: OutboxItemID, _ failure: OutboxFailure) -> Outcome {
        guard let index = index(of: id) else { return .done }
        entries[index].sending = nil
        do {
            try change(id) { $0.failure = failure }
        } catch {
            // In this launch it counts as failed nevertheless.
            entries[index].attempt.failure = failure
        }
        announce(.changed(entries[index].item()))
        return .done
    }

    /// Changes what is stored of the attempts to send an item.
    ///
    /// - Throws: `CancellationError` for an item that has been wiped, the disk's error.
    private func change(_ id: OutboxItemID, _ change: (inout OutboxEntry<Content>.Attempt) -> Void) throws {
        guard let index = index(of: id) else { throw CancellationError() }
        var attempt = entries[index].attempt
        change(&attempt)
        try store(attempt, at: index)
    }

    private func show(_ id: OutboxItemID, _ state: OutboxState) {
        guard let index = index(of: id) else { return }
        entries[index].sending = state
        announce(.changed(entries[index].item()))
    }

    private func progressed(_ id: OutboxItemID, _ progress: Double) {
        guard let index = index(of: id), case .sending(let shown)? = entries[index].sending,
            progress >= 1 || progress - (shown ?? 0) >= 0.01
        else { return }
        show(id, .sending(progress: progress))
    }
}

extension APIError {
    /// Whether a repeat would be refused, too.
    fileprivate var isFinal: Bool {
        isFromAPI && status.kind == .clientError && ![401, 408, 425, 429].contains(status.code)
    }
}

extension Error {
    /// Whether the server has certainly not acted on the request.
    fileprivate var wasNeverReceived: Bool {
        switch self {
        case is SignedOut: return true
        case let error as APIError: return error.isFromAPI && [401, 429].contains(error.status.code)
        case let error as URLError:
            return [
                .notConnectedToInternet, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .dataNotAllowed,
                .internationalRoamingOff,
            ].contains(error.code)
        default: return false
        }
    }
}
