import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

/// The kinds of mutants.
extension Mutant {
    typealias Change<Value> = @Sendable (inout Value) -> Void

    /// Replaces matches of a regular expression in an operation's answers.
    static func body(
        _ name: String, _ clause: String, of operation: String, _ pattern: String, _ template: String
    ) -> Mutant {
        answer(name, clause, to: operation) { response, _ in
            response.text = response.text.replacingOccurrences(
                of: pattern, with: template, options: .regularExpression)
        }
    }

    /// Replaces the status of an operation's answers that have a certain one.
    static func status(_ name: String, _ clause: String, of operation: String?, _ from: Int, _ to: Int) -> Mutant {
        answer(name, clause, to: operation) { response, _ in
            if response.status.code == from { response.status = .init(code: to) }
        }
    }

    /// Replaces the text of a refusal.
    static func refusal(_ name: String, _ clause: String, _ text: String, _ replacement: String) -> Mutant {
        answer(name, clause, to: nil) { response, _ in
            if response.isRefusal(text) { response.text = #"{"error":"\#(replacement)"}"# }
        }
    }

    /// Sets or removes a header of an operation's answers.
    static func header(
        _ name: String, _ clause: String, of operation: String?, _ field: HTTPField.Name, _ value: String?
    ) -> Mutant {
        answer(name, clause, to: operation) { response, _ in
            if response.headers[field] != nil { response.headers[field] = value }
        }
    }

    /// Changes an operation's answers, or those of all operations.
    static func answer(
        _ name: String, _ clause: String, to operation: String?,
        _ change: @escaping @Sendable (inout TransportResponse, TransportRequest) -> Void
    ) -> Mutant {
        exchange(name, clause, operation) { request, forward in
            var response = try await forward(request)
            change(&response, request)
            return response
        }
    }

    /// Changes an operation's requests.
    static func request(
        _ name: String, _ clause: String, of operation: String?, _ change: @escaping Change<TransportRequest>
    ) -> Mutant {
        exchange(name, clause, operation) { request, forward in
            var request = request
            change(&request)
            return try await forward(request)
        }
    }

    /// Sends a refused request again with another body, which the server accepts.
    static func lenient(
        _ name: String, _ clause: String, of operation: String?, to text: String,
        _ change: @escaping Change<TransportRequest>
    ) -> Mutant {
        exchange(name, clause, operation) { request, forward in
            let response = try await forward(request)
            guard response.isRefusal(text) else { return response }
            var request = request
            change(&request)
            return try await forward(request)
        }
    }

    /// Refuses some requests.
    static func refusing(
        _ name: String, _ clause: String, of operation: String?, _ status: Int, _ text: String,
        when condition: @escaping @Sendable (TransportRequest) -> Bool
    ) -> Mutant {
        exchange(name, clause, operation) { request, forward in
            condition(request) ? .refusal(status, text) : try await forward(request)
        }
    }

    static func exchange(
        _ name: String, _ clause: String, _ operation: String?,
        _ exchange:
            @escaping @Sendable (TransportRequest, Defect.Forward) async throws -> TransportResponse
    ) -> Mutant {
        Mutant(clause, name) {
            Defect(exchange: { request, forward in
                let applies = operation.map { request.isFor($0) } ?? true
                return applies ? try await exchange(request, forward) : try await forward(request)
            })
        }
    }

    /// Changes an exchange, given all sign-ins so far.
    static func knowing(
        _ name: String, _ clause: String, _ operation: String? = nil,
        _ exchange:
            @escaping @Sendable (TransportRequest, Defect.Forward, KnownUsers) async throws -> TransportResponse
    ) -> Mutant {
        Mutant(clause, name) {
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                let response: TransportResponse
                if operation.map({ request.isFor($0) }) ?? true {
                    response = try await exchange(request, forward, people)
                } else {
                    response = try await forward(request)
                }
                people.note(request, response)
                return response
            })
        }
    }

    /// Answers a refused request with what another user may see.
    static func leaking(_ name: String, _ clause: String, _ operation: String, _ refusals: Set<Int>) -> Mutant {
        knowing(name, clause, operation) { request, forward, people in
            let response = try await forward(request)
            guard refusals.contains(response.status.code) else { return response }
            for token in people.accessTokens {
                var request = request
                request.headers[.authorization] = "Bearer \(token)"
                let other = try await forward(request)
                if other.status.code < 400 { return other }
            }
            return response
        }
    }

    /// Replaces matches of a regular expression in the server's frames of a type.
    static func frame(
        _ name: String, _ clause: String, _ type: String, _ pattern: String, _ template: String
    ) -> Mutant {
        frames(name, clause, type) { text in
            [text.replacingOccurrences(of: pattern, with: template, options: .regularExpression)]
        }
    }

    /// Replaces the server's frames of a type.
    static func frames(
        _ name: String, _ clause: String, isSilent: Bool = false, _ type: String,
        _ change: @escaping @Sendable (String) -> [String]
    ) -> Mutant {
        socket(name, clause, isSilent: isSilent) {
            SocketDefect(received: { $0.contains(#"{"type":"\#(type)""#) ? change($0) : [$0] })
        }
    }

    /// Replaces the frames of a client.
    static func sent(
        _ name: String, _ clause: String, isSilent: Bool = false, _ change: @escaping @Sendable (String) -> [String]
    ) -> Mutant {
        socket(name, clause, isSilent: isSilent) { SocketDefect(sent: { (change($0), []) }) }
    }

    static func socket(
        _ name: String, _ clause: String, isSilent: Bool = false, _ make: @escaping @Sendable () -> SocketDefect
    ) -> Mutant {
        Mutant(clause, name, isSilent: isSilent) { Defect(socket: make) }
    }
}

/// The users who have registered and signed in.
final class KnownUsers: Sendable {
    struct SignIn: Sendable {
        let name: String
        let user: Int64
        let accessToken: String
        let refreshToken: String
    }

    private let state = NIOLockedValueBox(
        (signIns: [SignIn](), passwords: [String: String](), uploaders: [Int64: String]()))

    var signIns: [SignIn] { state.withLockedValue { $0.signIns } }
    var accessTokens: [String] { signIns.map(\.accessToken) }
    func password(of name: String) -> String? { state.withLockedValue { $0.passwords[name] } }
    /// Returns the access token with which a file was uploaded.
    func uploader(of file: Int64) -> String? { state.withLockedValue { $0.uploaders[file] } }
    func signIn(withAccess token: String) -> SignIn? { signIns.first { $0.accessToken == token } }
    func signIn(withRefresh token: String) -> SignIn? { signIns.first { $0.refreshToken == token } }

    func note(_ request: TransportRequest, _ response: TransportResponse) {
        guard request.method == .post, response.status.code < 300 else { return }
        let (sent, answer) = (request.json, response.json)
        if request.isFor("POST /auth/register"), case .string(let name)? = sent["username"],
            case .string(let password)? = sent["password"]
        {
            state.withLockedValue { $0.passwords[name] = password }
        }
        if request.isFor("POST /auth/login"), case .string(let name)? = sent["username"],
            case .string(let access)? = answer["access_token"], case .string(let refresh)? = answer["refresh_token"],
            case .integer(let user)? = answer["user_id"]
        {
            let signIn = SignIn(name: name, user: user, accessToken: access, refreshToken: refresh)
            state.withLockedValue { $0.signIns.append(signIn) }
        }
        if request.isFor("POST /files"), case .integer(let file)? = answer["id"] {
            state.withLockedValue { $0.uploaders[file] = request.token }
        }
    }
}

extension TransportResponse {
    static func refusal(_ status: Int, _ text: String) -> TransportResponse {
        .json(status, #"{"error":"\#(text)"}"#)
    }

    func isRefusal(_ text: String) -> Bool { status.code >= 400 && self.text == #"{"error":"\#(text)"}"# }
}
