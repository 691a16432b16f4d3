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
        Mutant(name, clause) {
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
        Mutant(name, clause) {
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
        Mutant(name, clause, isSilent: isSilent) { Defect(socket: make) }
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

// MARK: The traffic, as mutants look at it

extension TransportRequest {
    /// Returns whether the request is for an operation, such as `GET /chats/{id}`, or for a path with a prefix:
    /// `/objects/*`.
    func isFor(_ operation: String) -> Bool {
        if operation.hasSuffix("*") { return url.path.hasPrefix(operation.dropLast()) }
        let parts = operation.split(separator: " ")
        let (pattern, steps) = (parts[1].split(separator: "/"), url.path.split(separator: "/"))
        return method.rawValue == parts[0] && pattern.count == steps.count
            && zip(pattern, steps).allSatisfy { $0 == $1 || $0.first == "{" && Int64($1) != nil }
    }

    /// The body as text. Setting it replaces the body.
    var text: String {
        get { if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" } }
        set { body = .bytes(Array(newValue.utf8)) }
    }

    /// The members of the body. Setting them replaces the body.
    var json: [String: JSONValue] {
        get {
            guard case .bytes(let bytes) = body,
                case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
            else { return [:] }
            return members
        }
        set { text = JSONValue.object(newValue).description }
    }

    /// Returns a text of the body.
    func string(_ member: String) -> String? {
        if case .string(let text)? = json[member] { text } else { nil }
    }

    /// The bearer token.
    var token: String? {
        get {
            headers[.authorization].flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
        }
        set { headers[.authorization] = newValue.map { "Bearer \($0)" } }
    }

    /// The last id in the path.
    var id: Int64? { url.path.split(separator: "/").compactMap { Int64($0) }.last }

    func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    mutating func setQuery(_ name: String, _ value: String?) {
        var items = queryItems
        items.removeAll { $0.name == name }
        if let value { items.append((name, value)) }
        let text = items.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let base = url.absoluteString.prefix { $0 != "?" }
        url = URL(string: text.isEmpty ? String(base) : "\(base)?\(text)")!
    }

    /// The query items with their percent-encoding.
    private var queryItems: [(name: String, value: String)] {
        (url.query(percentEncoded: true) ?? "").split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }
}

extension TransportResponse {
    static func refusal(_ status: Int, _ text: String) -> TransportResponse {
        TransportResponse(
            status: .init(code: status), headers: [.contentType: "application/json"],
            body: Array(#"{"error":"\#(text)"}"#.utf8))
    }

    func isRefusal(_ text: String) -> Bool { status.code >= 400 && self.text == #"{"error":"\#(text)"}"# }

    var text: String {
        get { String(decoding: body, as: UTF8.self) }
        set { body = Array(newValue.utf8) }
    }

    var json: [String: JSONValue] {
        guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body)) else {
            return [:]
        }
        return members
    }

    /// The elements of a list, as they are written. Setting them keeps the text of each element.
    var rows: [String] {
        get {
            var (rows, depth, start): ([String], Int, [UInt8].Index?) = ([], 0, nil)
            var (isText, isEscaped) = (false, false)
            for index in body.indices {
                let byte = body[index]
                if isText {
                    if !isEscaped, byte == UInt8(ascii: "\"") { isText = false }
                    isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): isText = true
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    depth += 1
                    if depth == 2 { start = index }
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 1, let first = start {
                        rows.append(String(decoding: body[first...index], as: UTF8.self))
                    }
                default: break
                }
            }
            return rows
        }
        set { text = "[\(newValue.joined(separator: ","))]" }
    }
}

extension String {
    /// A member of an object in text.
    subscript(member name: String) -> JSONValue? {
        (try? JSONDecoder().decode(JSONValue.self, from: Data(utf8)))?[name]
    }

    subscript(text name: String) -> String {
        if case .string(let text)? = self[member: name] { text } else { "" }
    }

    subscript(integer name: String) -> Int64 {
        if case .integer(let value)? = self[member: name] { value } else { 0 }
    }
}
