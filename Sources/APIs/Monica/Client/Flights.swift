import ContractClient
import Foundation

/// Requests that are in flight or were just answered: identical requests share one answer for five seconds.
actor Flights {
    /// The time for which an answer is shared, in seconds.
    static let freshness = 5.0

    private struct Flight {
        let task: Task<TransportResponse, any Error>
        /// The time of the successful answer; nil while the request is in flight.
        var landedAt: Date?
        let number: Int
    }

    private let now: @Sendable () -> Date
    private var flights: [String: Flight] = [:]
    private var count = 0

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// Returns the answer to a request: of one in flight or of the last five seconds, else of a new one.
    func answer(
        _ key: String, _ send: @escaping @Sendable () async throws -> TransportResponse
    ) async throws -> TransportResponse {
        let time = now()
        flights = flights.filter {
            !($0.value.landedAt.map { abs(time.timeIntervalSince($0)) >= Self.freshness } ?? false)
        }
        if let flight = flights[key] { return try await flight.task.value }
        count += 1
        let flight = Flight(task: Task { try await send() }, landedAt: nil, number: count)
        flights[key] = flight
        do {
            let response = try await flight.task.value
            land(key, flight, isGood: response.status.kind == .successful)
            return response
        } catch {
            land(key, flight, isGood: false)
            throw error
        }
    }

    /// Stores the time of an answer. A request that was cleared meanwhile stays cleared, because its answer may be
    /// older than a write.
    private func land(_ key: String, _ flight: Flight, isGood: Bool) {
        guard flights[key]?.number == flight.number else { return }
        flights[key] = isGood ? Flight(task: flight.task, landedAt: now(), number: flight.number) : nil
    }

    /// Forgets all requests. It is called before and after a write, because earlier answers are outdated.
    func clear() { flights = [:] }
}
