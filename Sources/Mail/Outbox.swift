import NIOConcurrencyHelpers

/// Sends letters beside whatever else is done: nobody waits for a mail server, and its refusal stops nothing.
public final class Outbox: Sendable {
    private struct State {
        var underWay: [Int: Task<Void, Never>] = [:]
        var next = 0
        var isClosed = false
    }

    private let mailer: any Mailer
    private let pauses: [Duration]
    private let limit: Int
    private let sleep: @Sendable (Duration) async throws -> Void
    private let report: @Sendable (MailError) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - pauses: Before each repeat of what may pass.
    ///   - limit: So many letters are under way at most; more are reported as not sent.
    ///   - report: Told of each letter that was given up.
    public init(
        _ mailer: any Mailer, pauses: [Duration] = [.seconds(2), .seconds(10), .seconds(60)], limit: Int = 1000,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
        report: @escaping @Sendable (MailError) -> Void
    ) {
        self.mailer = mailer
        self.pauses = pauses
        self.limit = limit
        self.sleep = sleep
        self.report = report
    }

    /// Returns at once.
    public func post(_ message: MailMessage) {
        let isTaken = state.withLockedValue { state in
            guard !state.isClosed, state.underWay.count < limit else { return false }
            let number = state.next
            state.next += 1
            state.underWay[number] = Task {
                await deliver(message)
                self.state.withLockedValue { $0.underWay[number] = nil }
            }
            return true
        }
        if !isTaken { report(MailError("too many letters are under way", mayPass: true)) }
    }

    /// Takes no more, and returns when those under way are sent or given up; repeats are not waited for.
    public func close() async {
        let tasks = state.withLockedValue { state in
            state.isClosed = true
            return Array(state.underWay.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Returns when what is under way now is sent or given up.
    public func settle() async {
        for task in state.withLockedValue({ Array($0.underWay.values) }) { await task.value }
    }

    private func deliver(_ message: MailMessage) async {
        var pauses = pauses[...]
        while true {
            do {
                // Not cancelled by closing: what the server may have taken already is not sent twice.
                return try await Task { [mailer] in try await mailer.send(message) }.value
            } catch {
                let failure = error as? MailError ?? MailError("\(error)", mayPass: true)
                guard failure.mayPass, let pause = pauses.popFirst() else { return report(failure) }
                do { try await sleep(pause) } catch { return report(failure) }
            }
        }
    }
}
