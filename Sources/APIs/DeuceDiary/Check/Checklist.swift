@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    /// Returns the scenarios of `concord check deuce-diary`.
    public static func checklist(_ tokens: TokenSource) -> Checklist {
        Checklist(
            api: "deuce-diary", scenarios: all, probe: "/api/auth/user", tokens: tokens.given,
            isLimited: { _ in false },
            enter: { server in
                let created = CreatedResources(server.transport, areUsersNew: tokens.areUsersNew)
                var own = server
                own.transport = created
                return (DeuceDiaryWorld(own, tokens: tokens), { .init(await created.cleanUp(at: server.baseURL)) })
            })
    }
}

/// The source of the users' tokens.
public enum TokenSource: Sendable {
    /// Makes a token for any user.
    case issuer(DeuceDiaryWorld.Issuer)
    /// Tokens of existing users, each of a different one. Scenarios that need more are skipped.
    case given([String])

    fileprivate var given: [String] { if case .given(let tokens) = self { tokens } else { [] } }
    fileprivate var areUsersNew: Bool { if case .issuer = self { true } else { false } }
}

/// Records what a scenario creates, and deletes its users at the end, with everything but locations, if the server has
/// that addition to the contract.
private actor CreatedResources: Transport {
    private let transport: any Transport
    private let areUsersNew: Bool
    private var tokens: Set<String> = []
    private var made: [String: Int] = [:]

    init(_ transport: any Transport, areUsersNew: Bool) {
        self.transport = transport
        self.areUsersNew = areUsersNew
    }

    /// - Returns: The numbers of remaining resources, by their name in plural.
    func cleanUp(at baseURL: URL) async -> [String: Int] {
        guard areUsersNew else { return made }
        var users = 0
        for token in tokens where await !isDeleted(token, at: baseURL) { users += 1 }
        guard users == 0 else { return made.merging(["users": users]) { $1 } }
        return made.filter { $0.key == "locations" }
    }

    /// Deletes a user, or finds that a scenario has done so.
    private func isDeleted(_ token: String, at baseURL: URL) async -> Bool {
        let request = TransportRequest(
            method: .delete, url: baseURL.appendingPathComponent("api/auth/user"), headers: [.authorization: token])
        guard let answer = try? await transport.send(request, progress: nil) else { return false }
        return answer.status == .ok || answer.status == .unauthorized
    }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        guard response.status == .ok, response.headers[.idempotentReplayed] == nil else { return response }
        if let token = request.headers[.authorization] { tokens.insert(token) }
        guard request.method == .post else { return response }
        switch request.url.path {
        case let path where path.hasSuffix("/api/groups"): made["groups", default: 0] += 1
        case let path where path.hasSuffix("/api/locations"): made["locations", default: 0] += 1
        case let path where path.hasSuffix("/api/deuces"):
            let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body))
            made["entries", default: 0] += answer?["entries"]?.elements.count ?? 0
        default: break
        }
        return response
    }
}
