import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

/// The API of the simulated server.
enum Simulated: ServiceAPI {
    static let name = "simulated"
    static let errorMessages = ErrorMessages()
    static let sections: [Section] = []

    struct Failure: WireFailure {
        let error: String
        init(_ problem: Problem, requestID: String) { error = problem.message }
        var message: String { error }
    }

    struct Done: Codable, Sendable {
        var user: String
    }

    /// An operation that may be repeated.
    struct Look: AuthenticatedEndpoint {
        typealias API = Simulated
        static let route = Route.get("/calls/{id}")
        typealias Output = Done
        var id: String
    }

    /// An operation that must not be repeated.
    struct Act: AuthenticatedEndpoint {
        typealias API = Simulated
        static let route = Route.post("/calls/{id}")
        typealias Output = Done
        var id: String
    }

    /// `POST /refresh/{token}` has the token in its path, so that the simulated server need not parse a body.
    struct Refresh: OpenEndpoint {
        typealias API = Simulated
        static let route = Route.post("/refresh/{token}")
        struct Output: Codable, Sendable {
            var access: String
            var refresh: String?
            var expiresIn: Int
        }
        var token: String
    }
}

/// Issues tokens as the contracts' servers do, with refresh tokens that stay or that are rotated at each use.
final class SimulatedServer: @unchecked Sendable {
    /// The time within which a rotated refresh token is accepted once more if none of its successors has been used,
    /// because the answer may have been lost. After that it ends the session.
    static let grace = Duration.seconds(10)

    struct AccessToken {
        let session: Int
        let expiresAt: Duration
        /// The number of the key that signed the token. A server that restarts with another key rejects its old tokens.
        let key: Int
    }

    private struct RefreshToken {
        let session: Int
        var rotatedAt: Duration?
        var successors: [String] = []
    }

    let simulation: Simulation
    let lifetime: Int
    let rotates: Bool
    var isUp = true
    var key = 0
    private(set) var users: [String] = []
    private(set) var revoked: Set<Int> = []
    /// Sessions that ended because a rotated token was used again.
    private(set) var reused: Set<Int> = []
    private(set) var accessTokens: [String: AccessToken] = [:]
    private var refreshTokens: [String: RefreshToken] = [:]
    private var issued = 0

    init(_ simulation: Simulation, lifetime: Int, rotates: Bool) {
        self.simulation = simulation
        self.lifetime = lifetime
        self.rotates = rotates
    }

    func isAlive(_ session: Int) -> Bool { !revoked.contains(session) }
    func revoke(_ session: Int) { revoked.insert(session) }
    func session(ofRefreshToken token: String) -> Int? { refreshTokens[token]?.session }

    func signIn(_ user: String) -> (session: Int, access: String, refresh: String) {
        users.append(user)
        let session = users.count - 1
        return (session, issueAccess(session), issueRefresh(session))
    }

    private func issueAccess(_ session: Int) -> String {
        issued += 1
        let token = "a\(issued)"
        accessTokens[token] = AccessToken(
            session: session, expiresAt: simulation.now + .seconds(lifetime), key: key)
        return token
    }

    private func issueRefresh(_ session: Int) -> String {
        issued += 1
        refreshTokens["r\(issued)"] = RefreshToken(session: session)
        return "r\(issued)"
    }

    /// Answers at once: the simulated network adds the delay.
    func answer(_ request: TransportRequest) -> TransportResponse {
        let last = request.url.lastPathComponent
        guard let header = request.headers[.authorization] else { return refresh(last) }
        guard let token = accessTokens[String(header.dropFirst("Bearer ".count))], isAlive(token.session),
            token.key == key, token.expiresAt > simulation.now
        else { return Self.refusal }
        return Self.success(#"{"user":"\#(users[token.session])"}"#)
    }

    private func refresh(_ token: String) -> TransportResponse {
        guard let record = refreshTokens[token], isAlive(record.session) else { return Self.refusal }
        guard rotates else {
            return Self.success(#"{"access":"\#(issueAccess(record.session))","expiresIn":\#(lifetime)}"#)
        }
        if let rotatedAt = record.rotatedAt {
            let isUsed = record.successors.contains { refreshTokens[$0]?.rotatedAt != nil }
            guard simulation.now - rotatedAt <= Self.grace, !isUsed else {
                revoke(record.session)
                reused.insert(record.session)
                return Self.refusal
            }
        } else {
            refreshTokens[token]?.rotatedAt = simulation.now
        }
        let (access, successor) = (issueAccess(record.session), issueRefresh(record.session))
        refreshTokens[token]?.successors.append(successor)
        return Self.success(#"{"access":"\#(access)","refresh":"\#(successor)","expiresIn":\#(lifetime)}"#)
    }

    private static func success(_ body: String) -> TransportResponse {
        TransportResponse(status: .ok, body: Array(body.utf8))
    }

    private static let refusal = TransportResponse(
        status: .unauthorized, body: Array(#"{"error":"Invalid or expired token"}"#.utf8))
}
