import Backend
import Contract
import ContractServer
import DunbarAPI
import HTTPTypes

extension DunbarService {
    /// A part that has not answered by then is not well.
    static let patience = Duration.seconds(2)

    func health(_ routes: inout Routes<Dunbar, Caller>) {
        routes.open(answering: checkHealth)
    }

    func checkHealth(_ request: Dunbar.CheckHealth, _ info: RequestInfo) async throws -> Answer<Dunbar.HealthReport> {
        async let database = isWell { [database] in try await database.check() }
        async let storage = isWell { [objects] in try await objects.reach() }
        let (hasDatabase, hasStorage) = await (database, storage)
        func state(_ isWell: Bool) -> String { isWell ? "healthy" : "error" }
        let isHealthy = hasDatabase && hasStorage
        return Answer(
            isHealthy ? .ok : .serviceUnavailable,
            Dunbar.HealthReport(
                status: isHealthy ? "healthy" : "unhealthy",
                components: .init(server: "healthy", database: state(hasDatabase), storage: state(hasStorage)),
                timestamp: time.now(), message: isHealthy ? nil : "Service unavailable"),
            headers: [.cacheControl: "no-store"])
    }

    /// Whether it answers in time. What takes longer goes on by itself: an engine's call cannot be taken back.
    private func isWell(_ look: @escaping @Sendable () async throws -> Void) async -> Bool {
        let (answers, continuation) = AsyncStream<Bool>.makeStream()
        let looking = Task {
            do { try await look() } catch { continuation.yield(false) }
            continuation.yield(true)
        }
        let waiting = Task {
            try await Task.sleep(for: Self.patience)
            continuation.yield(false)
        }
        defer {
            looking.cancel()
            waiting.cancel()
        }
        for await isWell in answers { return isWell }
        return false
    }
}
