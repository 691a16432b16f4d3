import ContractClient
import Foundation

/// Asks the app for a token whenever one is needed.
struct TokenProvider: Credentials {
    let provide: @Sendable () async throws -> String

    func token(after earlier: String?) async throws -> String {
        let token = try await provide()
        // A request that is sent again is not sent as somebody who signed in meanwhile.
        guard let before = earlier.flatMap(Self.subject), let now = Self.subject(of: token) else { return token }
        guard before == now else { throw SignedOut() }
        return token
    }

    func renew(_ refused: String) async throws -> String { try await token(after: refused) }

    /// The app is asked once more after a refusal, and not again: it has no session here that could have ended.
    func refusedAgain(_ refused: String) {}

    /// Whom a JSON Web Token speaks of (RFC 7519 §4.1.2); nil for other tokens. Nothing is verified.
    private static func subject(of token: String) -> String? {
        struct Claims: Decodable { let sub: String }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let base64 = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - base64.count % 4) % 4)
        guard let payload = Data(base64Encoded: base64 + padding) else { return nil }
        return try? JSONDecoder().decode(Claims.self, from: payload).sub
    }
}
