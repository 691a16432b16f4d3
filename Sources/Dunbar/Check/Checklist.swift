import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DunbarScenarios {
    /// For `concord check dunbar`. What takes the server's operator is not in it.
    public static let checklist = Checklist(
        api: "dunbar", scenarios: all, probe: "/user",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/register") },
        enter: { server in
            let ledger = Ledger(server.transport)
            var own = server
            own.transport = ledger
            return (DunbarWorld(own), { await ledger.settle(at: server.baseURL) })
        })
}

/// Counts what a scenario makes, and signs its sessions out. The contract has no way to remove accounts.
private actor Ledger: Transport {
    private let transport: any Transport
    private var made: [String: Int] = [:]
    /// Of the sessions that have begun.
    private var cookies: Set<String> = []

    init(_ transport: any Transport) { self.transport = transport }

    /// What is left, by its name in plural.
    func settle(at baseURL: URL) async -> [String: Int] {
        for cookie in cookies {
            let request = TransportRequest(
                method: .post, url: baseURL.appendingPathComponent("logout"), headers: [.cookie: cookie])
            _ = try? await transport.send(request, progress: nil)
        }
        return made.filter { $0.value > 0 }
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        if let cookie = response.headers[.setCookie]?.prefix(while: { $0 != ";" }), !cookie.hasSuffix("=") {
            cookies.insert(String(cookie))
        }
        guard response.status.kind == .successful, response.headers[.idempotentReplayed] == nil else { return response }
        switch (request.method, request.url.lastPathComponent) {
        case (.post, "register"): made["users", default: 0] += 1
        case (.post, "posts"): made["posts", default: 0] += 1
        case (.delete, _): made["posts", default: 0] -= 1
        default: break
        }
        return response
    }
}
