import Contract
import ContractClient
import DunbarAPI
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Wakes the server up before the first request, and again after it could not be reached: a sleeping server takes a
/// while to answer, and may lose what is sent meanwhile.
actor WakingTransport: Transport {
    private let base: any Transport
    private let healthURL: URL
    private let patience: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let isConnected: @Sendable () -> Bool
    private var isAwake = false
    private var waking: Task<HTTPResponse.Status?, any Error>?

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - health: The request `GET /storage/health`.
    ///   - patience: The time that the server may take to wake up.
    ///   - isConnected: Returns whether there is a network.
    init(
        _ base: any Transport, health: URL, patience: Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void, isConnected: @escaping @Sendable () -> Bool
    ) {
        self.base = base
        healthURL = health
        self.patience = patience
        self.sleep = sleep
        self.isConnected = isConnected
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        guard isConnected() else { throw APIError.networkUnavailable }
        if !isAwake, request.url != healthURL {
            // A server that is awake without the operation is no Dunbar. Its answer to the request says so.
            let health = try await health()
            guard health == .ok || health == .notFound else { throw APIError.serverUnavailable }
        }
        do {
            return try await base.send(request, progress: progress)
        } catch {
            // A cancelled request says nothing about the server.
            try Task.checkCancellation()
            isAwake = false
            throw error
        }
    }

    /// Asks the server whether it is awake, once for all callers that wait at the same time.
    ///
    /// - Throws: `CancellationError`. The other callers go on waiting.
    func wakeUp() async throws -> Bool { try await health() == .ok }

    /// Returns the status of the server's health; nil when it did not answer in time.
    private func health() async throws -> HTTPResponse.Status? {
        if let waking { return try await waking.sharedValue() }
        let task = Task<HTTPResponse.Status?, any Error> {
            defer { waking = nil }
            let status = await ask()
            isAwake = status == .ok
            return status
        }
        waking = task
        return try await task.sharedValue()
    }

    private func ask() async -> HTTPResponse.Status? {
        guard isConnected() else { return nil }
        let request = TransportRequest(method: .get, url: healthURL, headers: [.accept: "application/json"])
        return await withTaskGroup(of: HTTPResponse.Status?.self) { [base, sleep, patience] group in
            group.addTask { (try? await base.send(request, progress: nil))?.status }
            group.addTask {
                try? await sleep(patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
