import ContractClient
import Foundation

/// Requests that are in flight or were just answered: identical requests share one answer for five seconds.
actor InFlightRequests {
    /// The time for which an answer is shared, in seconds.
    static let freshness = 5.0

    private struct SharedRequest {
        let task: Task<TransportResponse, any Error>
        let number: Int
        /// The number of callers that wait for the answer.
        var waiting = 0
        /// The time of the successful answer; nil while the request is in flight.
        var answeredAt: Date?
    }

    private let now: @Sendable () -> Date
    private var requests: [String: SharedRequest] = [:]
    private var count = 0

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// Returns the answer to a request: of one in flight or of the last five seconds, else of a new one.
    ///
    /// - Throws: The request's error; `CancellationError` as soon as the caller is cancelled. The request itself is
    ///   cancelled with its last caller.
    func answer(
        _ key: String, _ send: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        let time = now()
        requests = requests.filter {
            !($0.value.answeredAt.map { abs(time.timeIntervalSince($0)) >= Self.freshness } ?? false)
        }
        let request = requests[key] ?? begin(key, send)
        requests[key]?.waiting += 1
        defer { leave(key, request) }
        return try await request.task.sharedValue()
    }

    private func begin(
        _ key: String, _ send: @escaping @Sendable () async throws -> TransportResponse
    ) -> SharedRequest {
        count += 1
        let number = count
        let task = Task {
            do {
                let response = try await send()
                finish(key, number, isSuccess: response.status.kind == .successful)
                return response
            } catch {
                finish(key, number, isSuccess: false)
                throw error
            }
        }
        let request = SharedRequest(task: task, number: number)
        requests[key] = request
        return request
    }

    /// Stores the time of an answer. A request that was cleared meanwhile stays cleared, because its answer may be
    /// older than a write.
    private func finish(_ key: String, _ number: Int, isSuccess: Bool) {
        guard requests[key]?.number == number else { return }
        if isSuccess { requests[key]?.answeredAt = now() } else { requests[key] = nil }
    }

    private func leave(_ key: String, _ request: SharedRequest) {
        guard requests[key]?.number == request.number else { return }
        requests[key]?.waiting -= 1
        guard requests[key]?.waiting == 0, requests[key]?.answeredAt == nil else { return }
        request.task.cancel()
        requests[key] = nil
    }

    /// Forgets all requests. It is called before and after a write, because earlier answers are outdated.
    func clear() { requests = [:] }
}
