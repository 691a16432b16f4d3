import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension GTSDScenarios {
    /// For `concord check gtsd`.
    public static let checklist = Checklist(
        api: "gtsd", scenarios: all, probe: "/auth/me",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/auth/signup") },
        enter: { server in
            let ledger = Ledger(server.transport)
            var own = server
            own.transport = ledger
            return (GTSDWorld(own), { await ledger.settle(at: server.baseURL) })
        })
}

/// Remembers the accounts that a scenario makes, to delete them at its end.
private actor Ledger: Transport {
    private let transport: any Transport
    private struct Account {
        let password: String
        /// Of the session that the sign-up began.
        let token: String
    }

    /// By address.
    private var accounts: [String: Account] = [:]

    init(_ transport: any Transport) { self.transport = transport }

    func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        guard request.url.path.hasSuffix("/auth/signup"), response.status == .created,
            case .bytes(let bytes) = request.body,
            let sent = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes)),
            let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body)),
            let email = answer["data"]?["user"]?["email"]?.string, let password = sent["password"]?.string,
            let token = answer["data"]?["accessToken"]?.string
        else { return response }
        accounts[email] = Account(password: password, token: token)
        return response
    }

    /// Deletes the accounts, and tells how many it could not.
    func settle(at baseURL: URL) async -> [String: Int] {
        let raw = RawClient(baseURL: baseURL, transport: transport)
        var left = 0
        for (email, account) in accounts {
            if await Self.delete(account, token: account.token, over: raw) { continue }
            // The scenario ended that session, or the account.
            let credentials: JSONValue = ["email": .string(email), "password": .string(account.password)]
            let login = try? await raw.send(.post, "/auth/login", body: credentials.description)
            if login?.status == 401 { continue }
            guard let token = try? login?.json()["data"]?["accessToken"]?.string,
                await Self.delete(account, token: token, over: raw)
            else {
                left += 1
                continue
            }
        }
        return left > 0 ? ["users": left] : [:]
    }

    private static func delete(_ account: Account, token: String, over raw: RawClient) async -> Bool {
        let body: JSONValue = ["password": .string(account.password)]
        return (try? await raw.send(.delete, "/auth/me", token: token, body: body.description))?.status == 200
    }
}
