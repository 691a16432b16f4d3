import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

/// Mutants of rules for all requests.
extension Mutant {
    private static let once = "Idempotency-Key"
    private static let bodies = "Request bodies"
    private static let signIn = "Authentication"

    static let idempotency: [Mutant] = [
        .request("is not known", once, of: nil) { $0.headers[.idempotencyKey] = nil },
        .request("is not known for accounts", once, of: "POST /auth/register") { $0.headers[.idempotencyKey] = nil },
        .request("is not known for files", once, of: "POST /files") { $0.headers[.idempotencyKey] = nil },
        .request("is not known for chats", once, of: "POST /chats") { $0.headers[.idempotencyKey] = nil },
        .header("does not say that it replays", once, of: nil, .idempotentReplayed, nil),
        .answer("says always that it replays", once, to: nil) { response, request in
            if request.headers[.idempotencyKey] != nil { response.headers[.idempotentReplayed] = "true" }
        },
        .answer("replays with 200", once, to: nil) { response, _ in
            if response.headers[.idempotentReplayed] != nil { response.status = .ok }
        },
        .answer("replays other bytes", once, to: nil) { response, _ in
            if response.headers[.idempotentReplayed] != nil { response.text += " " }
        },
        .remembering("replays for another body") { "\($0.token ?? "") \($0.url.path)" },
        .remembering("is shared by all users") { "\($0.url.path) \($0.text)" },
        .remembering("is shared by all paths") { "\($0.token ?? "") \($0.text)" },
        .remembering("keeps refusals", refusals: true) { "\($0.token ?? "") \($0.url.path) \($0.text)" },
        .remembering("is burnt by a refusal", refusals: true) { "\($0.token ?? "") \($0.url.path)" },
        Mutant(once, "is forgotten after an hour") {
            let first = NIOLockedValueBox<[String: ContinuousClock.Instant]>([:])
            return Defect(exchange: { request, forward in
                guard let key = request.headers[.idempotencyKey] else { return try await forward(request) }
                let start = first.withLockedValue { first in
                    first[key] = first[key] ?? .now
                    return first[key] ?? .now
                }
                var request = request
                if ContinuousClock.now - start > .seconds(3600) { request.headers[.idempotencyKey] = nil }
                return try await forward(request)
            })
        },
        .exchange("may be anything", once, nil) { request, forward in
            let response = try await forward(request)
            guard response.isRefusal("Invalid Idempotency-Key") else { return response }
            var request = request
            request.headers[.idempotencyKey] = nil
            return try await forward(request)
        },
        .refusing("has 64 characters at most", once, of: nil, 400, "Invalid Idempotency-Key") {
            ($0.headers[.idempotencyKey]?.count ?? 0) > 64
        },
        .status("answers 409 for another body", once, of: "POST /chats/{id}/messages", 422, 409),
        .exchange("is looked at where nothing is made", once, "POST /auth/login") { request, forward in
            guard let key = request.headers[.idempotencyKey], key.utf8.contains(where: { $0 > 126 }) else {
                return try await forward(request)
            }
            return .refusal(400, "Invalid Idempotency-Key")
        },
    ]

    static let errors: [Mutant] = [
        Mutant(bodies, "reads a compressed body", .anyCoding("POST /chats")),
        Mutant(bodies, "takes a key twice", .keysTwice("POST /chats")),
        .answer("has a page for unknown paths", "Errors", to: nil) { response, _ in
            if response.isRefusal("Not found") {
                response.headers[.contentType] = "text/html"
                response.text = "<h1>Not Found</h1>"
            }
        },
        .answer("has nothing for unknown paths", "Errors", to: nil) { response, _ in
            if response.isRefusal("Not found") { response = TransportResponse(status: .notFound) }
        },
        .refusal("words unknown paths otherwise", "Errors", "Not found", "Not Found"),
        .refusing(
            "asks for a token before it looks at the path", "Errors", of: nil, 401, "Missing Authorization header"
        ) {
            $0.url.path == "/nothing" && $0.headers[.authorization] == nil
        },
        .answer("answers 404 for another method", "Errors", to: nil) { response, _ in
            if response.status == .methodNotAllowed { response = .refusal(404, "Not found") }
        },
        .header("leaves out Allow", "Errors", of: nil, .allow, nil),
        .answer("allows the first method alone", "Errors", to: nil) { response, _ in
            let allowed = response.headers[.allow]?.components(separatedBy: ", ")
            if let first = allowed?.first { response.headers[.allow] = first }
        },
        .header("allows what it refuses", "Errors", of: nil, .allow, "GET, POST, PATCH, PUT, DELETE"),
        .answer("calls the error message", "Errors", to: nil) { response, _ in
            if response.status.code >= 400 {
                response.text = response.text.replacingOccurrences(of: #"{"error":"#, with: #"{"message":"#)
            }
        },
        .answer("adds a code to errors", "Errors", to: nil) { response, _ in
            if response.status.code >= 400 {
                response.text = response.text.replacingOccurrences(of: "\"}", with: #"","code":1}"#)
            }
        },
        .answer("calls errors text", "Errors", to: nil) { response, _ in
            if response.status.code >= 400 { response.headers[.contentType] = "text/plain" }
        },
        .exchange("breaks on a large id", "Errors", nil) { request, forward in
            request.url.path.contains("99999") ? .refusal(500, "Internal error") : try await forward(request)
        },
        .exchange("breaks on bytes that are no UTF-8", "Errors", nil) { request, forward in
            request.url.absoluteString.contains("%ff") ? .refusal(500, "Internal error") : try await forward(request)
        },
        .exchange("breaks on half a surrogate", "Errors", nil) { request, forward in
            request.text.contains("\\ud800") ? .refusal(500, "Internal error") : try await forward(request)
        },
    ]

    static let requestBodies: [Mutant] = [
        .status("answers 500 for no JSON", bodies, of: nil, 400, 500),
        .refusal("words it otherwise", bodies, "Invalid JSON", "Malformed JSON"),
        .exchange("takes a list for an object", bodies, nil) { request, forward in
            var request = request
            if request.text == "[]" { request.text = "{}" }
            return try await forward(request)
        },
        .exchange("takes what follows the object", bodies, nil) { request, forward in
            var request = request
            if request.text.hasPrefix("{} ") { request.text = "{}" }
            return try await forward(request)
        },
        .exchange("nests without end", bodies, nil) { request, forward in
            var request = request
            if request.text.contains(String(repeating: "[", count: 64)) { request.text = "{}" }
            return try await forward(request)
        },
        .refusing("nests 32 levels", bodies, of: nil, 400, "Invalid JSON") {
            $0.text.contains(String(repeating: "[", count: 32))
        },
        .lenient("takes any size", bodies, of: "POST /auth/login", to: "Request body too large") { $0.text = "{}" },
        .refusing("takes half a megabyte", bodies, of: nil, 413, "Request body too large") {
            $0.text.utf8.count > 524_288
        },
        .answer("answers 400 for what is too large", bodies, to: nil) { response, _ in
            if response.status == .contentTooLarge { response.status = .badRequest }
        },
        .exchange("takes UTF-16", bodies, nil) { request, forward in
            var request = request
            if case .bytes([0x7B, 0, 0x7D, 0]) = request.body { request.text = "{}" }
            return try await forward(request)
        },
        .refusing("refuses an empty body", bodies, of: "POST /auth/login", 400, "Invalid JSON") { $0.text.isEmpty },
        .refusing("wants application/json", bodies, of: nil, 415, "Unsupported media type") {
            $0.headers[.contentType].map { !$0.hasPrefix("application/json") } ?? false
        },
        .refusing("refuses unknown keys", bodies, of: nil, 400, "Invalid JSON") { $0.text.contains(#""owner_id""#) },
        .answer("takes the sender from the body", bodies, to: "POST /chats/{id}/messages") { response, request in
            guard response.status == .created, let sender = request.json["sender_id"] else { return }
            response.text = response.text.replacingOccurrences(
                of: #""sender_id":\d+"#, with: #""sender_id":\#(sender)"#, options: .regularExpression)
        },
        .answer("takes the time from the body", bodies, to: "POST /chats/{id}/messages") { response, request in
            if let time = request.string("created_at") {
                response.text = response.text.replacingOccurrences(of: response.text[text: "created_at"], with: time)
            }
        },
        .refusing("refuses null", bodies, of: nil, 400, "Invalid JSON") { $0.text.contains(#""type":null"#) },
        .refusing("refuses a value of another type", bodies, of: nil, 400, "Invalid JSON") {
            $0.text.contains(#""content":5"#)
        },
        .request("reads numbers as text", bodies, of: "POST /chats/{id}/messages") { request in
            if case .integer(let number)? = request.json["content"] { request.json["content"] = .string("\(number)") }
        },
        .request("drops NUL", bodies, of: nil) { request in
            let text = request.text.replacingOccurrences(of: "\\u0000", with: "")
            if text.utf8.count < request.text.utf8.count { request.text = text }
        },
        .request("drops NUL in a query", bodies, of: "GET /users/search") { request in
            request.setQuery("q", request.query("q")?.replacingOccurrences(of: "%00", with: ""))
        },
    ]

    static let authentication: [Mutant] = [
        .admitting("shows profiles to anybody", "GET /users/{id}"),
        .admitting("shows chats to anybody", "GET /chats/{id}"),
        .admitting("shows messages to anybody", "GET /chats/{id}/messages"),
        .admitting("takes messages from anybody", "POST /chats/{id}/messages"),
        .admitting("serves files to anybody", "GET /files/{id}/download"),
        .admitting("lets anybody search", "GET /users/search"),
        .admitting("takes chats from anybody", "POST /chats"),
        .refusal(
            "does not tell schemes apart", signIn, "Authorization header must start with 'Bearer '",
            "Invalid or expired token"),
        .refusal("does not tell a missing token", signIn, "Missing Authorization header", "Invalid or expired token"),
        .refusal("does not tell refresh tokens apart", signIn, "Expected access token", "Invalid or expired token"),
        .knowing("takes a refresh token for an access token", signIn) { request, forward, people in
            var request = request
            if let own = people.signIn(withRefresh: request.token ?? "") { request.token = own.accessToken }
            return try await forward(request)
        },
        .request("takes bearer written small", signIn, of: nil) { request in
            if let header = request.headers[.authorization], header.hasPrefix("bearer ") {
                request.token = String(header.dropFirst(7))
            }
        },
        .request("takes a token without a scheme", signIn, of: nil) { request in
            if let header = request.headers[.authorization], header.hasPrefix("eyJ") { request.token = header }
        },
        .knowing("takes a token that nobody signed", signIn) { request, forward, people in
            var request = request
            let parts = (request.token ?? "").split(separator: ".", omittingEmptySubsequences: false)
            if parts.count == 3, parts[2].isEmpty,
                let own = people.signIns.first(where: { $0.accessToken.contains(".\(parts[1]).") })
            {
                request.token = own.accessToken
            }
            return try await forward(request)
        },
        .knowing("compares the beginning of a signature", signIn) { request, forward, people in
            var request = request
            if let token = request.token, token.count > 40,
                let own = people.signIns.first(where: { $0.accessToken.hasPrefix(token) })
            {
                request.token = own.accessToken
            }
            return try await forward(request)
        },
        .status("answers 403 for a bad token", signIn, of: nil, 401, 403),
        .refusing("looks at the body first", signIn, of: "POST /chats", 400, "Invalid JSON") { $0.text == "{" },
        .refusing("looks at the query first", signIn, of: "GET /chats/{id}/messages", 400, "Invalid limit") {
            $0.query("limit") == "x"
        },
        .refusing("looks at the size first", signIn, of: "POST /chats", 413, "Request body too large") {
            $0.text.utf8.count > 1_048_576
        },
        .refusing("wants a good token to register", signIn, of: "POST /auth/register", 401, "Invalid or expired token")
        {
            $0.token == "x"
        },
        .refusing("wants no token to refresh", signIn, of: "POST /auth/refresh", 401, "Invalid or expired token") {
            $0.headers[.authorization] != nil
        },
        .remembering401("lets a wrong token in after a good one"),
    ]

    static let authorisation: [Mutant] = [
        .leaking("shows strangers a chat", "Authorisation", "GET /chats/{id}", [404]),
        .leaking("shows strangers a history", "Authorisation", "GET /chats/{id}/messages", [403]),
        .leaking("takes strangers' messages", "Authorisation", "POST /chats/{id}/messages", [403]),
        .leaking("serves strangers files", "Authorisation", "GET /files/{id}/download", [404]),
        .leaking("takes files from anybody", "Authorisation", "POST /files", [401]),
        .leaking("answers anybody who is who", "Authorisation", "GET /me", [401]),
        .refusing(
            "keeps members from writing", "Authorisation", of: "POST /chats/{id}/messages", 403,
            "Not a member of this chat"
        ) {
            $0.token != nil && $0.text == #"{"content":"a"}"#
        },
        .overhearing("pushes to everybody", "Authorisation"),
        .socket("subscribes strangers", "Authorisation") {
            SocketDefect(received: {
                $0.contains("Not a member") ? [#"{"type":"subscribed","chat_id":1}"#] : [$0]
            })
        },
        .socket("lets sockets in unasked", "Authorisation") {
            SocketDefect(received: {
                $0.contains("Not authenticated") ? [#"{"type":"subscribed","chat_id":1}"#] : [$0]
            })
        },
    ]

    /// Repeats the answer that it gave under a key before.
    ///
    /// - Parameter place: Returns the scope of a key.
    private static func remembering(
        _ name: String, refusals: Bool = false, _ place: @escaping @Sendable (TransportRequest) -> String
    ) -> Mutant {
        Mutant(once, name) {
            let answers = NIOLockedValueBox<[String: TransportResponse]>([:])
            return Defect(exchange: { request, forward in
                guard let key = request.headers[.idempotencyKey], !request.isFor("POST /auth/login") else {
                    return try await forward(request)
                }
                let place = "\(place(request)) \(key)"
                if let answer = answers.withLockedValue({ $0[place] }) { return answer }
                let response = try await forward(request)
                var replay = response
                if response.status.code < 300 { replay.headers[.idempotentReplayed] = "true" }
                let isKept = refusals ? 400..<422 ~= response.status.code : response.status.code < 300
                if isKept { answers.withLockedValue { $0[place] = replay } }
                return response
            })
        }
    }

    /// Accepts requests without a token, with the token of another user.
    private static func admitting(_ name: String, _ operation: String) -> Mutant {
        .knowing(name, signIn, operation) { request, forward, people in
            let response = try await forward(request)
            guard response.isRefusal("Missing Authorization header"), let token = people.accessTokens.last else {
                return response
            }
            var request = request
            request.token = token
            return try await forward(request)
        }
    }

    /// Accepts a token with a byte too many, as a cache with an incomplete key would.
    private static func remembering401(_ name: String) -> Mutant {
        .knowing(name, signIn) { request, forward, people in
            var request = request
            if let token = request.token, token.hasSuffix("x"),
                let own = people.signIn(withAccess: String(token.dropLast()))
            {
                request.token = own.accessToken
            }
            return try await forward(request)
        }
    }
}
