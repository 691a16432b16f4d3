@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension GTSDScenarios {
    /// The scenarios of `concord check gtsd`.
    package static let checklist = Checklist(
        api: "gtsd", scenarios: all, probe: "/auth/me",
        isLimited: { $0.method == .post && $0.url.path.hasSuffix("/auth/signup") },
        noting: { CreatedResources() }, enter: { GTSDWorld($0) })
}

/// Records the accounts that a scenario creates, to delete them at its end.
private actor CreatedResources: MadeResources {
    private struct Account {
        let password: String
        /// The token of the session that the sign-up began.
        let token: String
    }

    /// The accounts by their addresses.
    private var accounts: [String: Account] = [:]

    func note(_ answer: RawAnswer) {
        if answer.request.url.path.hasSuffix("/auth/password"), answer.status == 200 {
            let token = answer.request.headers[.authorization].map { String($0.dropFirst("Bearer ".count)) }
            guard let (email, account) = accounts.first(where: { $1.token == token }),
                let password = answer.sent?["newPassword"]?.string
            else { return }
            accounts[email] = Account(password: password, token: account.token)
            return
        }
        guard answer.request.url.path.hasSuffix("/auth/signup"), answer.status == 201,
            let data = try? answer.json()["data"], let email = data["user"]?["email"]?.string,
            let password = answer.sent?["password"]?.string, let token = data["accessToken"]?.string
        else { return }
        accounts[email] = Account(password: password, token: token)
    }

    /// Deletes the accounts.
    ///
    /// - Returns: The number of accounts that could not be deleted. After too many wrong passwords, the right one is
    ///   refused for a while.
    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining {
        var seconds: Int?
        for (email, account) in accounts {
            switch await Self.delete(email, account, over: raw) {
            case .gone: accounts[email] = nil
            case .limited(let wait): seconds = max(seconds ?? 0, wait)
            case .failed: break
            }
        }
        return accounts.isEmpty ? [:] : .init(["users": accounts.count], retryAfter: seconds)
    }

    private enum Deletion {
        case gone
        case limited(seconds: Int)
        case failed
    }

    private static func delete(_ email: String, _ account: Account, over raw: RawClient) async -> Deletion {
        let (name, password) = (JSONValue.string(email), JSONValue.string(account.password))
        func delete(with token: String?) async -> Deletion {
            let body: JSONValue = ["password": password]
            let answer = try? await raw.send(.delete, "/auth/me", token: token, body: body.description)
            return answer?.status == 200 ? .gone : limit(in: answer) ?? .failed
        }
        let first = await delete(with: account.token)
        guard case .failed = first else { return first }
        // The scenario has ended that session, or deleted the account.
        let login = try? await raw.send(
            .post, "/auth/login", body: (["email": name, "password": password] as JSONValue).description)
        switch login?.status {
        case 200: return await delete(with: (try? login?.json())?["data"]?["accessToken"]?.string)
        case 401: return .gone
        default: return limit(in: login) ?? .failed
        }
    }

    private static func limit(in answer: RawAnswer?) -> Deletion? {
        guard let answer, answer.status == 429 else { return nil }
        return answer.headers[.retryAfter].flatMap(Int.init).map { .limited(seconds: $0) }
    }
}
