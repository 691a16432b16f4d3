import Backend
import Contract
import ContractServer
import DunbarAPI
import HTTPTypes

extension DunbarService {
    /// The time after which a component that has not answered is reported as unhealthy.
    static let patience = Duration.seconds(2)

    func health(_ routes: inout Routes<Dunbar, Caller>) {
        routes.open(answering: checkHealth)
    }

    func checkHealth(_ request: Dunbar.CheckHealth, _ info: RequestInfo) async throws -> Answer<Dunbar.HealthReport> {
        async let database = succeedsInTime { [database] in try await database.check() }
        async let storage = succeedsInTime { [objects] in try await objects.reach() }
        let (hasDatabase, hasStorage) = await (database, storage)
        func state(_ isHealthy: Bool) -> String { isHealthy ? "healthy" : "error" }
        let isHealthy = hasDatabase && hasStorage
        return Answer(
            isHealthy ? .ok : .serviceUnavailable,
            Dunbar.HealthReport(
                status: isHealthy ? "healthy" : "unhealthy",
                components: .init(server: "healthy", database: state(hasDatabase), storage: state(hasStorage)),
                timestamp: time.now(), message: isHealthy ? nil : "Service unavailable"),
            headers: [.cacheControl: "no-store"])
    }

    /// Returns whether a check succeeds in time. A check that takes longer continues on its own, because a call of the
    /// database engine cannot be cancelled.
    private func succeedsInTime(_ look: @escaping @Sendable () async throws -> Void) async -> Bool {
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
        for await result in answers { return result }
        return false
    }
}
