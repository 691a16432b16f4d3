import Contract
import ContractClient
import Foundation
import HTTPTypes
import MonicaClient
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport that answers by a script, whose last answer is repeated.
final class Script: Transport {
    enum Answer: Sendable {
        case status(Int, retryAfter: Int? = nil, body: String = "", honoursKeys: Bool = false)
        case lost

        static func body(_ text: String) -> Answer { .status(200, body: text) }
    }

    private struct State {
        var answers: [Answer]
        var requests: [TransportRequest] = []
        var waits: [Double] = []
    }

    private let state: Locked<State>

    init(_ answers: [Answer]) { state = Locked(State(answers: answers)) }

    var requests: [TransportRequest] { state.use { $0.requests } }
    /// The waits, in seconds.
    var waits: [Double] { state.use { $0.waits } }

    func client(
        clock: TestClock = TestClock(), cache: any ResponseCache = MemoryResponseCache(), retryCount: Int = 3
    ) -> MonicaAPIClient {
        MonicaAPIClient(
            configuration: APIConfiguration(
                baseURL: URL(string: "https://monica.example/api")!, token: "secret", retryCount: retryCount),
            transport: self, cache: cache,
            backoff: Backoff(
                jitter: { 0.2 }, sleep: { wait in self.state.use { $0.waits.append(wait / .seconds(1)) } }),
            now: { clock.date })
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let answer = state.use { state in
            state.requests.append(request)
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        switch answer {
        case .lost: throw URLError(.networkConnectionLost)
        case .status(let code, let retryAfter, let body, let honoursKeys):
            var headers: HTTPFields = [.contentType: body.hasPrefix("{") ? "application/json" : "text/html"]
            if honoursKeys { headers[.idempotencyKeyLifetime] = "86400" }
            if let retryAfter { headers[.retryAfter] = String(retryAfter) }
            return TransportResponse(status: .init(code: code), headers: headers, body: Array(body.utf8))
        }
    }
}
