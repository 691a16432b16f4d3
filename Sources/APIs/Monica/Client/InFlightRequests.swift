import ContractClient
import Foundation

/// Requests that are in flight or were just answered: identical requests share one answer for five seconds.
actor InFlightRequests {
    /// The time for which an answer is shared, in seconds.
    static let freshness = 5.0

    private struct SharedRequest {
        let task: Task<TransportResponse, any Error>
        /// The time of the successful answer; nil while the request is in flight.
        var answeredAt: Date?
        let number: Int
    }

    private let now: @Sendable () -> Date
    private var requests: [String: SharedRequest] = [:]
    private var count = 0

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// Returns the answer to a request: of one in flight or of the last five seconds, else of a new one.
    func answer(
        _ key: String, _ send: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let time = now()
        requests = requests.filter {
            !($0.value.answeredAt.map { abs(time.timeIntervalSince($0)) >= Self.freshness } ?? false)
        }
        if let request = requests[key] { return try await request.task.value }
        count += 1
        let request = SharedRequest(task: Task { try await send() }, answeredAt: nil, number: count)
        requests[key] = request
        do {
            let response = try await request.task.value
            finish(key, request, isSuccess: response.status.kind == .successful)
            return response
        } catch {
            finish(key, request, isSuccess: false)
            throw error
        }
    }

    /// Stores the time of an answer. A request that was cleared meanwhile stays cleared, because its answer may be
    /// older than a write.
    private func finish(_ key: String, _ request: SharedRequest, isSuccess: Bool) {
        guard requests[key]?.number == request.number else { return }
        requests[key] = isSuccess ? SharedRequest(task: request.task, answeredAt: now(), number: request.number) : nil
    }

    /// Forgets all requests. It is called before and after a write, because earlier answers are outdated.
    func clear() { requests = [:] }
}
