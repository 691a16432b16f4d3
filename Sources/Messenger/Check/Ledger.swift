import Contract
import ContractClient
import Foundation
import HTTPTypes

/// What a scenario makes on the server: sessions, which it can end, and what the API has no way to remove.
actor Ledger: Transport {
    private let transport: any Transport
    private var refreshTokens: Set<String> = []
    private var made: [String: Int] = [:]

    init(_ transport: any Transport) { self.transport = transport }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response: TransportResponse
        if request.url.path.hasSuffix("/auth/login") {
            // To its end, even if nobody waits any more: a session whose tokens nobody saw could not be ended.
            response = try await Task { [transport] in try await transport.send(request, progress: progress) }.value
        } else {
            response = try await transport.send(request, progress: progress)
        }
        note(request, response)
        return response
    }

    /// Ends the sessions.
    ///
    /// - Returns: what stays, counted.
    func settle(at baseURL: URL) async -> [String: Int] {
        let logout = baseURL.absoluteString + "/auth/logout"
        guard let url = URL(string: logout) else { return made }
        var stayed = made
        await withTaskGroup(of: Bool.self) { group in
            for token in refreshTokens {
                let body: JSONValue = ["refresh_token": .string(token)]
                let request = TransportRequest(method: .post, url: url, body: .bytes(Array(body.description.utf8)))
                group.addTask { [transport] in
                    (try? await transport.send(request, progress: nil))?.status == .noContent
                }
            }
            // On a server that cannot end them they expire.
            for await isEnded in group where !isEnded { stayed["sessions", default: 0] += 1 }
        }
        return stayed
    }

    private func note(_ request: TransportRequest, _ response: TransportResponse) {
        guard request.method == .post, response.status.kind == .successful else { return }
        let steps = request.url.path.split(separator: "/").suffix(2)
        switch (response.status.code, steps.last) {
        case (200, "login"):
            let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
            if let token = answer?["refresh_token"]?.string { refreshTokens.insert(token) }
        case (_, "logout"):
            guard case .bytes(let body) = request.body else { return }
            let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(body))
            if let token = sent?["refresh_token"]?.string { refreshTokens.remove(token) }
        case (201, "register"): count("users", response)
        case (201, "chats"): count("chats", response)
        case (201, "messages"): count("messages", response)
        case (201, "files"): count("files", response)
        default: break
        }
    }

    /// A replayed answer has made nothing.
    private func count(_ name: String, _ response: TransportResponse) {
        if response.headers[.idempotentReplayed] == nil { made[name, default: 0] += 1 }
    }
}
