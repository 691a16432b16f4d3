import ContractClient
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Runs the scenarios of a checklist against a server.
public struct Checker: Sendable {
    /// The progress of a run.
    public enum Progress: Sendable {
        /// A scenario has ended. Verdicts come in the order of the list, whatever order the scenarios end in.
        case finished(Verdict, number: Int, of: Int)
        /// The server asks all scenarios to wait.
        case waiting(seconds: Int)
        /// The run was interrupted. The report says what was found until then; cleaning up goes on for a short time.
        case interrupted(Report)
    }

    /// The time that cleaning up after a scenario may take once the run is interrupted.
    public static let graceAfterInterruption = Duration.seconds(5)

    let checklist: Checklist
    private let parallel: Int
    private let limit: Duration?
    private let failsFast: Bool
    private let sleep: @Sendable (ContinuousClock.Instant) async throws -> Void

    /// Creates a checker.
    ///
    /// - Parameters:
    ///   - parallel: The number of scenarios that run at the same time.
    ///   - limit: The time limit of each scenario, in place of its own.
    ///   - failsFast: Whether scenarios that have not begun are skipped after the first failure.
    ///   - sleep: Waits when the server asks for it. A test replaces it.
    public init(
        _ checklist: Checklist, parallel: Int = 4, limit: Duration? = nil, failsFast: Bool = false,
        sleep: @escaping @Sendable (_ until: ContinuousClock.Instant) async throws -> Void = {
            try await Task.sleep(until: $0, clock: .continuous)
        }
    ) {
        self.checklist = checklist
        self.parallel = max(1, parallel)
        self.limit = limit
        self.failsFast = failsFast
        self.sleep = sleep
    }

    // MARK: Reaching the server

    /// A text that is no base URL of a server.
    public struct BadBaseURL: Error, CustomStringConvertible {
        /// The mistake, in words for a person.
        public let description: String
    }

    /// Reads the base URL of a server as a person types it, with or without a slash at its end.
    ///
    /// - Throws: ``BadBaseURL``.
    public static func baseURL(_ text: String) throws -> URL {
        let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let url = URL(string: trimmed), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host?.isEmpty == false, url.query == nil, url.fragment == nil
        else { throw BadBaseURL(description: "'\(text)' is not a base URL such as http://localhost:8080") }
        return url
    }

    /// No server answers, or one that does not implement the API.
    public struct Unreachable: Error, CustomStringConvertible {
        public let description: String
    }

    /// Checks that there is a server of the API.
    ///
    /// - Throws: ``Unreachable``, with a description for people.
    public func reach(_ server: Server) async throws {
        let url = server.baseURL.absoluteString
        guard let path = URL(string: url + checklist.probe) else { throw Unreachable(description: "\(url) is no URL") }
        let request = TransportRequest(method: .get, url: path)
        let response: TransportResponse
        do {
            response = try await answer(to: request, from: server.transport)
        } catch {
            throw Unreachable(description: "No answer from \(url): \(Failure.words(for: error))")
        }
        let isJSON = response.headers[.contentType]?.hasPrefix("application/json") == true
        if response.status == .notFound || (response.status.code < 400 && !isJSON) {
            throw Unreachable(
                description: "\(url) answers, but not as \(checklist.api) does: GET \(checklist.probe) is"
                    + " \(response.status.code). Is it the base URL of the API?")
        }
        if [502, 503, 504].contains(response.status.code) {
            throw Unreachable(description: "\(url) is not ready: it answers \(response.status.code)")
        }
    }

    private func answer(
        to request: TransportRequest, from transport: any Transport
    ) async throws -> TransportResponse {
        try await withThrowingTaskGroup(of: TransportResponse.self) { group in
            group.addTask { try await transport.send(request, progress: nil) }
            group.addTask {
                try await Task.sleep(for: .seconds(10))
                throw TimedOut(limit: .seconds(10))
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    // MARK: Running

    /// Runs the scenarios, and cleans up after each.
    ///
    /// When the server goes away, scenarios that have not ended are skipped. When the task is cancelled, a report on the
    /// scenarios that have ended comes at once, as progress. Requests in flight are cancelled, and cleaning up ends after
    /// ``graceAfterInterruption``.
    public func run(
        _ items: [Checklist.Item], on server: Server,
        progress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async -> Report {
        let retryAfter = RetryAfterWait(sleep: sleep) { progress(.waiting(seconds: $0)) }
        let state = RunState(checklist.api, items, on: server)
        return await withTaskCancellationHandler {
            await withTaskGroup(of: (Int, Verdict).self) { group in
                var next = 0
                func begin() {
                    guard next < items.count else { return }
                    let (index, item) = (next, items[next])
                    group.addTask { (index, await verdict(on: item, of: server, retryAfter: retryAfter, state: state)) }
                    next += 1
                }
                for _ in 0..<parallel { begin() }
                while let (index, verdict) = await group.next() {
                    for (number, verdict) in await state.add(verdict, at: index) {
                        progress(.finished(verdict, number: number, of: items.count))
                    }
                    begin()
                }
            }
            await finishCleanUp(state, retryAfter)
            return await state.report
        } onCancel: {
            Task {
                await state.end("interrupted")
                progress(.interrupted(await state.report))
            }
        }
    }

    private func verdict(
        on item: Checklist.Item, of server: Server, retryAfter: RetryAfterWait, state: RunState
    ) async -> Verdict {
        var verdict = Verdict(name: item.name, clause: item.clause, level: item.level, outcome: .skipped)
        if item.level > server.level {
            verdict.reason = "not part of the contract itself"
            return verdict
        }
        if Task.isCancelled { await state.end("interrupted") }
        if let reason = await state.ended {
            verdict.reason = reason
            return verdict
        }
        if await state.isStopped {
            verdict.reason = "another scenario had failed"
            return verdict
        }
        let limit = TimeLimit(self.limit ?? item.limit)
        let recording = Recording()
        var recorded = server
        recorded.transport = RecordingTransport(
            base: RateLimitedTransport(
                base: server.transport, retryAfter: retryAfter, limit: limit, isLimited: checklist.isLimited),
            recording: recording)
        recorded.sockets = RecordingSockets(base: server.sockets, recording: recording)
        let attempt = item.begin(recorded)
        do {
            try await limit.hold(attempt.run)
            verdict.outcome = .passed
        } catch let error as Skipped {
            verdict.reason = error.reason
        } catch {
            if Task.isCancelled {
                await state.end("interrupted")
                verdict.reason = "interrupted"
            } else {
                verdict.outcome = .failed
                // The failure is described before cleaning up, which adds requests of its own.
                verdict.failure = await Failure(error, recording, checklist.tokens, at: server.baseURL)
                if failsFast { await state.stop() }
                await lookAgain(at: server, state)
            }
        }
        verdict.seconds = await limit.used.seconds
        let hasFailed = verdict.outcome == .failed
        let cleanUp: Checklist.CleanUp = { await attempt.cleanUp(hasFailed) }
        await state.add(await Self.limited(cleanUp), by: cleanUp)
        return verdict
    }

    /// Cleans up in a task of its own, so that it also happens after an interruption, which cancels the scenarios. It is
    /// then cancelled after a while: a server may limit the requests, which would take as long as the server says.
    private static func limited(_ cleanUp: @escaping Checklist.CleanUp) async -> Checklist.Remaining {
        let cleaning = Task { await cleanUp() }
        return await withTaskCancellationHandler {
            await cleaning.value
        } onCancel: {
            Task {
                try await Task.sleep(for: graceAfterInterruption)
                cleaning.cancel()
            }
        }
    }

    /// Removes what the server did not allow to be removed during the run: at once if it now does, or after the time
    /// that it gives. A run that ended early does not wait.
    private func finishCleanUp(_ state: RunState, _ retryAfter: RetryAfterWait) async {
        for (cleanUp, counts) in await state.takeUnfinished() {
            guard !Task.isCancelled, await state.ended == nil else {
                await state.add(counts)
                continue
            }
            var remaining = await cleanUp()
            if let seconds = remaining.retryAfter, 1...RetryAfterWait.longest ~= seconds {
                await retryAfter.hold(seconds: seconds)
                do {
                    try await retryAfter.wait()
                    remaining = await cleanUp()
                } catch {}
            }
            await state.add(remaining.counts)
        }
    }

    /// Checks after a failure whether the server has gone: all other scenarios would then fail for the same reason. It asks
    /// several times, because an answer that is not HTTP breaks the connection on which the next request is sent.
    private func lookAgain(at server: Server, _ state: RunState) async {
        var reason = ""
        for _ in 0..<3 {
            do { return try await reach(server) } catch { reason = "\(error)" }
        }
        await state.end(reason)
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}

extension Failure {
    /// - Parameter tokens: The tokens that the run was given.
    init(_ error: any Error, _ recording: Recording, _ tokens: [String], at base: URL) async {
        let failure = error as? CheckFailure
        let last = await recording.exchanges.last?.exchange
        let reproduction = Reproduction(
            failure?.exchange, exchanges: await recording.exchanges, sockets: await recording.sockets, given: tokens)
        self.init(
            message: failure?.message ?? Self.words(for: error), expected: failure?.expected, found: failure?.found,
            place: failure?.place,
            operation: (failure?.exchange ?? last).flatMap { Self.operation(of: $0.request, below: base) },
            reproduce: reproduction.lines)
    }

    /// Returns a description of the error for people.
    static func words(for error: any Error) -> String {
        switch error {
        case let error as APIError: "the server refused with \(error.status.code) \"\(error.message)\""
        case let error as UnreadableAnswer: "the SDK cannot read the answer: \(error.reason)"
        case is SignedOut: "the server ended the session"
        case let error as SocketClosed: "the socket closed with \(error.code) \"\(error.reason)\""
        case let error as SocketRefused: "the socket was refused with \(error.status)"
        case let error as URLError: error.words
        default: "\(error)"
        }
    }
}

extension URLError {
    fileprivate var words: String {
        switch code {
        case .cannotConnectToHost: "nothing listens there"
        case .cannotFindHost, .dnsLookupFailed: "there is no host of that name"
        case .timedOut: "it took too long"
        case .networkConnectionLost: "the connection was lost"
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            "its certificate is not trusted"
        default: localizedDescription
        }
    }
}
