import ContractClient
import Foundation

/// Answers that are on their way or just came: identical requests share one for five seconds.
actor Flights {
    /// In seconds.
    static let freshness = 5.0

    private struct Flight {
        let task: Task<TransportResponse, any Error>
        /// When its good answer came; nil while it is under way.
        var landedAt: Date?
        let number: Int
    }

    private let now: @Sendable () -> Date
    private var flights: [String: Flight] = [:]
    private var count = 0

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// The answer to a request: one that is on its way or came within five seconds, else a new one.
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

    /// One that was cleared meanwhile is no longer there: what was asked before a write may be of before it.
    private func land(_ key: String, _ flight: Flight, isGood: Bool) {
        guard flights[key]?.number == flight.number else { return }
        flights[key] = isGood ? Flight(task: flight.task, landedAt: now(), number: flight.number) : nil
    }

    /// A write is about to be sent, or was: what was asked before is of no use to those who ask now.
    func clear() { flights = [:] }
}
