@_spi(Scenarios) import CheckedLists
import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes

extension DeuceDiaryScenarios {
    /// Returns the scenarios of `concord check deuce-diary`.
    package static func checklist(_ tokens: TokenSource) -> Checklist {
        Checklist(
            api: "deuce-diary", scenarios: all, probe: "/api/auth/user", tokens: tokens.given,
            isLimited: { _ in false }, noting: { CreatedResources(areUsersNew: tokens.areUsersNew) },
            enter: { DeuceDiaryWorld($0, tokens: tokens) })
    }
}

/// The source of the users' tokens.
package enum TokenSource: Sendable {
    /// Makes a token for any user.
    case issuer(DeuceDiaryWorld.Issuer)
    /// Tokens of existing users, each of a different one. Scenarios that need more are skipped.
    case given([String])

    fileprivate var given: [String] { if case .given(let tokens) = self { tokens } else { [] } }
    fileprivate var areUsersNew: Bool { if case .issuer = self { true } else { false } }
}

/// Records what a scenario creates, and deletes its users at the end, with everything but locations, if the server has
/// that addition to the contract.
private actor CreatedResources: MadeResources {
    private let areUsersNew: Bool
    private var tokens: Set<String> = []
    private var made: [String: Int] = [:]

    init(areUsersNew: Bool) { self.areUsersNew = areUsersNew }

    func cleanUp(_ raw: RawClient, hasFailed: Bool) async -> Checklist.Remaining {
        guard areUsersNew else { return .init(made) }
        var users = 0
        for token in tokens {
            // A scenario may have deleted the user.
            let answer = try? await raw(.delete, "/api/auth/user", headers: [.authorization: token])
            if answer?.status != 200, answer?.status != 401 { users += 1 }
        }
        return .init(users > 0 ? made.merging(["users": users]) { $1 } : made.filter { $0.key == "locations" })
    }

    func note(_ answer: RawAnswer) {
        guard answer.status == 200, answer.headers[.idempotentReplayed] == nil else { return }
        if let token = answer.request.headers[.authorization] { tokens.insert(token) }
        guard answer.request.method == .post else { return }
        switch answer.request.url.path {
        case let path where path.hasSuffix("/api/groups"): made["groups", default: 0] += 1
        case let path where path.hasSuffix("/api/locations"): made["locations", default: 0] += 1
        case let path where path.hasSuffix("/api/deuces"):
            made["entries", default: 0] += (try? answer.json())?["entries"]?.elements.count ?? 0
        default: break
        }
    }
}
