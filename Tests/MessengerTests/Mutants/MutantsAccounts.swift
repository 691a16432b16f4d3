import Contract
import ContractClient
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testbed

/// Mutants of profiles, deletions, blocks and reports.
extension Mutant {
    private static let update = "PUT /me"
    private static let password = "POST /me/password"
    private static let list = "GET /me/sessions"
    private static let forgot = "POST /auth/forgot-password"
    private static let reset = "POST /auth/reset-password"
    private static let email = "POST /me/email"
    private static let verify = "POST /auth/verify-email"
    private static let endSession = "DELETE /me/sessions/{id}"
    private static let endOthers = "DELETE /me/sessions"
    private static let archive = "POST /me/archive"
    private static let archived = "GET /me/archive"
    private static let delete = "DELETE /me"
    private static let block = "POST /users/{id}/block"
    private static let unblock = "DELETE /users/{id}/block"
    private static let blocked = "GET /me/blocks"
    private static let report = "POST /reports"
    private static let send = "POST /chats/{id}/messages"
    private static let refusal = "You cannot message this user"

    static let profiles: [Mutant] = [
        .status("answers 201", update, of: update, 200, 201),
        .answer("answers nothing", update, to: update) { response, _ in
            if response.status == .ok { response = TransportResponse(status: .noContent) }
        },
        .request("changes nothing", update, of: update) { $0.json = [:] },
        .request("drops null", update, of: update) { request in
            request.json = request.json.filter { $0.value != .null }
        },
        .request("takes an absent bio for null", update, of: update) { request in
            if !request.json.isEmpty, request.json["bio"] == nil { request.json["bio"] = .null }
        },
        .request("takes an empty bio for null", update, of: update) { request in
            if request.json["bio"] == "" { request.json["bio"] = .null }
        },
        .request("trims the bio", update, of: update) { request in
            if let bio = request.string("bio") {
                request.json["bio"] = .string(bio.trimmingCharacters(in: .whitespacesAndNewlines))
            }
        },
        .body("does not trim the name", update, of: update, #""display_name":"Älice""#, #""display_name":" Älice\\n""#),
        .body("leaves out the avatar", update, of: update, #","avatar_file_id":(null|\d+)"#, ""),
        .refusal("words the name otherwise", update, "display_name must be 1 to 64 characters", "Invalid name"),
        .refusal("words the bio otherwise", update, "bio must be at most 500 characters", "Invalid bio"),
        .refusing("counts the bio's bytes", update, of: update, 400, "bio must be at most 500 characters") {
            ($0.string("bio") ?? "").utf8.count > 500
        },
        .lenient("takes a longer bio", update, of: update, to: "bio must be at most 500 characters") {
            $0.json["bio"] = "x"
        },
        .lenient("takes anything for a picture", update, of: update, to: "avatar must be an image") {
            $0.json["avatar_file_id"] = nil
        },
        .leaking("takes others' pictures", update, update, [404]),
        .status("answers 400 for a picture that is not there", update, of: update, 404, 400),
        .refusing("refuses what is mistyped", update, of: update, 400, "Invalid avatar_file_id") {
            if case .string? = $0.json["avatar_file_id"] { true } else { false }
        },
        Mutant(update, "shows the picture to its owner alone") {
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                let response = try await forward(request)
                people.note(request, response)
                guard request.isFor("GET /files/{id}/download"), let file = request.id, response.status == .found,
                    people.uploader(of: file) != request.token
                else { return response }
                return .refusal(404, "File not found")
            })
        },
        .keepingFiles("keeps a former picture", update),
    ]

    static let passwords: [Mutant] = [
        .exchange("changes nothing", password, password) { request, forward in
            let response = try await forward(request)
            guard response.status == .noContent else { return response }
            var undo = request
            undo.headers[.idempotencyKey] = nil
            undo.json["current_password"] = request.json["new_password"]
            undo.json["new_password"] = request.json["current_password"]
            _ = try await forward(undo)
            return response
        },
        .status("answers 200", password, of: password, 204, 200),
        .status("answers 401 for a wrong password", password, of: password, 403, 401),
        .refusal("words it otherwise", password, "Invalid password", "Invalid credentials"),
        .refusal("needs no password", password, "current_password required", "Invalid password"),
        .knowing("takes any password", password, password) { request, forward, people in
            guard let name = people.signIn(withAccess: request.token ?? "")?.name,
                let known = people.password(of: name), request.string("current_password")?.isEmpty == false
            else { return try await forward(request) }
            var request = request
            request.json["current_password"] = .string(known)
            return try await forward(request)
        },
        .lenient("takes a short one", password, of: password, to: "Password must be at least 8 characters") {
            $0.json["new_password"] = "another one"
        },
        .lenient("takes a long one", password, of: password, to: "Password must be at most 200 characters") {
            $0.json["new_password"] = "another one"
        },
        .exchange("lets passwords be tried", password, password) { request, forward in
            let response = try await forward(request)
            return response.status == .tooManyRequests ? .refusal(403, "Invalid password") : response
        },
        .header("limits without saying for how long", password, of: password, .retryAfter, nil),
        .request("has no key", password, of: password) { $0.headers[.idempotencyKey] = nil },
        .knowing("keeps the other sessions", password, "POST /auth/refresh") { request, forward, people in
            let response = try await forward(request)
            guard response.isRefusal("Invalid or expired refresh token"),
                people.signIn(withRefresh: request.string("refresh_token") ?? "") != nil
            else { return response }
            var kept = TransportResponse.refusal(200, "")
            kept.text = #"{"access_token":"x","token_type":"Bearer","expires_in":3600}"#
            return kept
        },
        .socket("keeps the other sockets", password, isSilent: true) { SocketDefect(closed: { _ in nil }) },
        .exchange("ends the caller's session", password, password) { request, forward in
            let response = try await forward(request)
            guard response.status == .noContent, let new = request.string("new_password") else { return response }
            let me = try await forward(.asking(like: request, .get, "/me"))
            var signIn = TransportRequest.asking(like: request, .post, "/auth/login")
            signIn.json = ["username": me.json["username"] ?? .null, "password": .string(new)]
            let token = try await forward(signIn).json["access_token"]?.string ?? ""
            // Another session changes the password, so that the caller's ends.
            var again = request
            again.headers[.authorization] = "Bearer \(token)"
            again.headers[.idempotencyKey] = nil
            again.json["current_password"] = .string(new)
            _ = try await forward(again)
            return response
        },
    ]

    static let sessionLists: [Mutant] = [
        .body("lists no devices", list, of: list, #""device":"[^"]*""#, #""device":null"#),
        .body("marks no session", list, of: list, #""current":true"#, #""current":false"#),
        .body("marks every session", list, of: list, #""current":false"#, #""current":true"#),
        .body("leaves out the address", list, of: list, #","address":(null|"[^"]*")"#, ""),
        .body("keeps no time of the sign-in", list, of: list, #""created_at":"[^"]*""#, #""created_at":null"#),
        .answer("lists one session", list, to: list) { response, _ in response.rows = Array(response.rows.prefix(1)) },
        .body("has one id for all", list, of: list, #""id":\d+"#, #""id":5"#),
        .request("ignores the device's name", list, of: "POST /auth/login") { $0.json["device_name"] = nil },
        .request("ignores the program", list, of: "POST /auth/login") { $0.headers[.userAgent] = nil },
        .exchange("ends nothing", endSession, endSession) { request, forward in
            let rows = try await forward(.asking(like: request, .get, "/me/sessions")).rows
            return rows.contains { $0[integer: "id"] == request.id }
                ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .leaking("ends the sessions of others", endSession, endSession, [404]),
        .status("answers 200", endSession, of: endSession, 204, 200),
        .status("answers 400 for what is not there", endSession, of: endSession, 404, 400),
        .refusal("words it otherwise", endSession, "Session not found", "Not found"),
        .socket("keeps the sockets", endSession, isSilent: true) { SocketDefect(closed: { _ in nil }) },
        .exchange("ends nothing", endOthers, endOthers) { request, forward in
            let me = try await forward(.asking(like: request, .get, "/me"))
            return me.status == .ok ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .exchange("ends the caller's, too", endOthers, endOthers) { request, forward in
            let response = try await forward(request)
            for row in try await forward(.asking(like: request, .get, "/me/sessions")).rows {
                _ = try await forward(.asking(like: request, .delete, "/me/sessions/\(row[integer: "id"] ?? 0)"))
            }
            return response
        },
        .status("answers 200", endOthers, of: endOthers, 204, 200),
        .socket("keeps the sockets", endOthers, isSilent: true) { SocketDefect(closed: { _ in nil }) },
    ]

    static let recoveries: [Mutant] = [
        .knowing("tells that there is no account", forgot, forgot) { request, forward, people in
            let name = request.string("email")?.split(separator: "@").first.map(String.init) ?? ""
            return people.password(of: name) == nil ? .refusal(404, "User not found") : try await forward(request)
        },
        .status("answers 200", forgot, of: forgot, 204, 200),
        .request("sends no e-mail", reset, of: forgot) { $0.json["email"] = "nobody" },
        .request("sets another password", reset, of: reset) { $0.json["new_password"] = "something else" },
        .refusal("words it otherwise", reset, "Invalid or expired reset token", "Invalid token"),
        .status("answers 404 for no token", reset, of: reset, 400, 404),
        .status("answers 200", reset, of: reset, 204, 200),
        Mutant(reset, "takes a code twice") {
            let used = NIOLockedValueBox<Set<String>>([])
            return .exchange(reset) { request, forward in
                let response = try await forward(request)
                let token = request.string("token") ?? ""
                if response.status == .noContent { used.withLockedValue { _ = $0.insert(token) } }
                return used.withLockedValue { $0.contains(token) } ? TransportResponse(status: .noContent) : response
            }
        },
        .knowing("keeps the sessions", reset, "POST /auth/refresh") { request, forward, people in
            let response = try await forward(request)
            guard response.isRefusal("Invalid or expired refresh token"),
                people.signIn(withRefresh: request.string("refresh_token") ?? "") != nil
            else { return response }
            var kept = TransportResponse.refusal(200, "")
            kept.text = #"{"access_token":"x","token_type":"Bearer","expires_in":3600}"#
            return kept
        },
        .socket("keeps the sockets", reset, isSilent: true) { SocketDefect(closed: { _ in nil }) },
        .status("answers 401 for a wrong password", email, of: email, 403, 401),
        .status("answers 400 for an address that is taken", email, of: email, 409, 400),
        .refusal("needs no password", email, "password required", "Invalid password"),
        .lenient("takes what is no address", email, of: email, to: "Invalid email") { request in
            request.json["email"] = "a@b"
        },
        .knowing("takes any password", email, email) { request, forward, people in
            guard let name = people.signIn(withAccess: request.token ?? "")?.name,
                let known = people.password(of: name), request.string("password")?.isEmpty == false
            else { return try await forward(request) }
            var request = request
            request.json["password"] = .string(known)
            return try await forward(request)
        },
        .exchange("verifies nothing", verify, verify) { request, forward in
            let token = request.string("token") ?? ""
            return token.count == 43 && token != String(repeating: "A", count: 43)
                ? TransportResponse(status: .noContent) : try await forward(request)
        },
        .refusal("words it otherwise", verify, "Invalid or expired verification token", "Invalid token"),
        .status("answers 200", verify, of: verify, 204, 200),
        .status("answers 400 for an address that is taken", verify, of: verify, 409, 400),
    ]

    static let archives: [Mutant] = [
        .status("answers 200", archive, of: archive, 202, 200),
        .body("says at once that it is ready", archive, of: archive, #""state":"preparing""#, #""state":"ready""#),
        .body(
            "makes another one each time", archive, of: archive, #""requested_at":"[^"]*""#,
            #""requested_at":"2020-01-01T00:00:00Z""#),
        .body("is never ready", archive, of: archived, #""state":"ready""#, #""state":"preparing""#),
        .body("names a wrong size", archive, of: archived, #""size":(\d+)"#, #""size":1$1"#),
        .body("has no end", archive, of: archived, #""expires_at":"[^"]*""#, #""expires_at":null"#),
        .body("has another URL", archive, of: archived, #"/objects/"#, #"/object/"#),
        .refusal("words a missing one otherwise", archive, "No archive was requested", "Not found"),
        .leaking("shows others' archives", archive, archived, [404]),
    ]

    static let accountDeletions: [Mutant] = [
        .exchange("deletes nothing", delete, delete) { request, forward in
            let response = try await forward(TransportRequest.asking(like: request, .get, "/me"))
            guard response.status == .ok, request.string("password")?.hasPrefix("secret-") == true else {
                return try await forward(request)
            }
            return TransportResponse(status: .noContent)
        },
        .answer("answers 200", delete, to: delete) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .knowing("takes any password", delete, delete) { request, forward, people in
            guard let name = people.signIn(withAccess: request.token ?? "")?.name,
                let password = people.password(of: name), request.string("password")?.isEmpty == false
            else { return try await forward(request) }
            var request = request
            request.json["password"] = .string(password)
            return try await forward(request)
        },
        .status("answers 401 for a wrong password", delete, of: delete, 403, 401),
        .refusal("words it otherwise", delete, "Invalid password", "Invalid credentials"),
        .refusal("needs no password", delete, "password required", "Invalid password"),
        .exchange("lets passwords be tried", delete, delete) { request, forward in
            let response = try await forward(request)
            return response.status == .tooManyRequests ? .refusal(403, "Invalid password") : response
        },
        .header("limits without saying for how long", delete, of: delete, .retryAfter, nil),
        .deleted("keeps profiles", "GET /users/{id}") { id, _ in
            #"{"id":\#(id),"username":"x","display_name":"x","bio":null,"avatar_file_id":null}"#
        },
        .deleted("finds who is gone", "GET /users/search") { id, query in
            #"[{"id":\#(id),"username":"x","display_name":"\#(query)"}]"#
        },
        .exchange("keeps the name", delete, "POST /auth/register") { request, forward in
            request.string("password") == "another one"
                ? .refusal(409, "Username or email already taken") : try await forward(request)
        },
        Mutant(delete, "takes the messages along") {
            let gone = NIOLockedValueBox<Set<Int64>>([])
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                people.note(request, response)
                if request.isFor(delete), response.status == .noContent,
                    let user = people.signIn(withAccess: request.token ?? "")?.user
                {
                    gone.withLockedValue { _ = $0.insert(user) }
                }
                if request.isFor("GET /chats/{id}/messages"), response.status == .ok {
                    let gone = gone.withLockedValue { $0 }
                    response.rows = response.rows.filter { !gone.contains($0[integer: "sender_id"]) }
                }
                return response
            })
        },
        .keepingFiles("keeps the files", delete),
        .answer("passes groups to the youngest", delete, to: "GET /chats/{id}") { response, _ in
            guard case .list(let members)? = response.json["members"], members.count > 1,
                case .integer(let id)? = members.last?["id"]
            else { return }
            response.text = response.text.replacingOccurrences(
                of: #""owner_id":\d+"#, with: #""owner_id":\#(id)"#, options: .regularExpression)
        },
        .frames("does not tell the groups", delete, isSilent: true, "member_removed") { _ in [] },
        .socket("keeps the sockets", delete, isSilent: true) { SocketDefect(closed: { _ in nil }) },
        .socket("closes sockets as if it stopped", delete) {
            SocketDefect(closed: { SocketClosed(code: 1001, reason: $0.reason) })
        },
        .lenient("writes to who is gone", delete, of: send, to: refusal) { request in
            request.url = URL(string: request.url.absoluteString.replacingOccurrences(of: "/messages", with: "/leave"))!
        },
    ]

    static let blocking: [Mutant] = [
        .exchange("blocks nobody", block, block) { request, forward in
            let profile = try await forward(.asking(like: request, .get, "/users/\(request.id ?? 0)"))
            let me = try await forward(.asking(like: request, .get, "/me"))
            guard profile.status == .ok, me.json["id"] != .integer(request.id ?? 0) else {
                return try await forward(request)
            }
            return TransportResponse(status: .noContent)
        },
        .exchange("unblocks nobody", block, unblock) { request, forward in
            let response = try await forward(.asking(like: request, .get, "/users/\(request.id ?? 0)"))
            let me = try await forward(.asking(like: request, .get, "/me"))
            guard response.status == .ok, me.json["id"] != .integer(request.id ?? 0) else {
                return try await forward(request)
            }
            return TransportResponse(status: .noContent)
        },
        .answer("answers 200", block, to: block) { response, _ in
            if response.status == .noContent {
                response = .refusal(200, "")
                response.text = "{}"
            }
        },
        .knowing("refuses a second time", block, block) { request, forward, people in
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            if rows.contains(where: { $0[integer: "id"] == request.id }) { return .refusal(409, "Already blocked") }
            return try await forward(request)
        },
        .refusal("says who has blocked", block, refusal, "You are blocked"),
        .status("answers 404 for a blocked chat", block, of: send, 403, 404),
        .knowing("lets the one who blocked write", block, send) { request, forward, people in
            let response = try await forward(request)
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            guard response.isRefusal(refusal), let own = rows.first?[integer: "id"] else { return response }
            let undo = TransportRequest.asking(like: request, .delete, "/users/\(own)/block")
            guard try await forward(undo).status == .noContent else { return response }
            let sent = try await forward(request)
            _ = try await forward(.asking(like: request, .post, "/users/\(own)/block"))
            return sent
        },
        .exchange("opens chats behind a block", block, "POST /chats") { request, forward in
            let response = try await forward(request)
            guard response.isRefusal(refusal) else { return response }
            var made = TransportResponse.refusal(200, "")
            made.text = #"{"id":1,"type":"existing"}"#
            return made
        },
        .exchange("lets edits through", block, "PUT /chats/{id}/messages/{msgId}") { request, forward in
            let response = try await forward(request)
            return response.isRefusal(refusal) ? .refusal(404, "Message not found") : response
        },
        .exchange("hides the chat", block, "GET /chats/{id}/messages") { request, forward in
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            return rows.isEmpty ? try await forward(request) : .refusal(403, "Not a member of this chat")
        },
        .exchange("keeps people out of groups", block, send) { request, forward in
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            let chat = try await forward(
                .asking(like: request, .get, "/chats/\(request.url.path.split(separator: "/")[1])"))
            guard !rows.isEmpty, chat.json["type"] == "group" else { return try await forward(request) }
            return .refusal(403, refusal)
        },
        .exchange("shows the profile of who has blocked", block, "GET /users/{id}") { request, forward in
            let response = try await forward(request)
            guard response.status == .notFound, let id = request.id, (1...1_000_000).contains(id) else {
                return response
            }
            var shown = TransportResponse.refusal(200, "")
            shown.text = #"{"id":\#(id),"username":"x","display_name":"x","bio":null,"avatar_file_id":null}"#
            return shown
        },
        .exchange("hides the profile of who is blocked", block, "GET /users/{id}") { request, forward in
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            let isBlocked = rows.contains { $0[integer: "id"] == request.id }
            return isBlocked ? .refusal(404, "User not found") : try await forward(request)
        },
        .exchange("finds who is blocked", block, "GET /users/search") { request, forward in
            var response = try await forward(request)
            let rows = try await forward(.asking(like: request, .get, "/me/blocks")).rows
            if response.status == .ok { response.rows += rows }
            return response
        },
        .lenient("lets one block oneself", block, of: block, to: "Cannot block yourself") { request in
            request.method = .get
            request.body = .none
            request.url = URL(string: request.url.absoluteString.replacingOccurrences(of: "/block", with: ""))!
        },
        .answer("takes nobody for somebody", block, to: block) { response, _ in
            if response.isRefusal("User not found") { response = TransportResponse(status: .noContent) }
        },
        .answer("is in the order of ids", blocked, to: blocked) { response, _ in
            response.rows = response.rows.sorted { $0[integer: "id"] < $1[integer: "id"] }
        },
        .body("tells the bio", blocked, of: blocked, #"\}"#, #","bio":null}"#),
        .answer("lists nobody", blocked, to: blocked) { response, _ in
            if response.status == .ok { response.rows = [] }
        },
        .exchange("forgets to unblock", blocked, unblock) { _, _ in TransportResponse(status: .noContent) },
        .leaking("shows others' blocks to anybody", blocked, blocked, [401]),
    ]

    static let reporting: [Mutant] = [
        .status("answers 200", report, of: report, 201, 200),
        .body("says more than the id", report, of: report, #"\}$"#, #","status":"open"}"#),
        .body("gives every report one id", report, of: report, #""id":\d+"#, #""id":1"#),
        .leaking("takes what cannot be seen", report, report, [404]),
        .status("answers 400 for what is not there", report, of: report, 404, 400),
        .refusal("does not tell messages from users", report, "Message not found", "User not found"),
        .refusal("words it otherwise", report, "user_id or message_id required", "Nothing to report"),
        .lenient("needs no reason", report, of: report, to: "reason must be 1 to 100 characters") {
            $0.json["reason"] = "x"
        },
        .lenient("takes longer details", report, of: report, to: "details must be at most 2000 characters") {
            $0.json["details"] = nil
        },
        .refusing("counts the details' bytes", report, of: report, 400, "details must be at most 2000 characters") {
            ($0.string("details") ?? "").utf8.count > 2000
        },
        .refusing("takes one thing at a time", report, of: report, 400, "user_id or message_id required") {
            if case .integer? = $0.json["user_id"], case .integer? = $0.json["message_id"] { true } else { false }
        },
        .refusing("refuses what is mistyped", report, of: report, 400, "Invalid message_id") {
            if case .string? = $0.json["message_id"] { true } else { false }
        },
        .refusing("refuses details that are null", report, of: report, 400, "Invalid details") {
            $0.json["details"] == .null
        },
    ]

    /// Answers a request about a deleted user as if the user still existed.
    private static func deleted(
        _ name: String, _ operation: String,
        _ answer: @escaping @Sendable (_ id: Int64, _ query: String) -> String
    ) -> Mutant {
        Mutant(delete, name) {
            let gone = NIOLockedValueBox<Set<Int64>>([])
            let people = KnownUsers()
            return Defect(exchange: { request, forward in
                var response = try await forward(request)
                people.note(request, response)
                if request.isFor(delete), response.status == .noContent,
                    let user = people.signIn(withAccess: request.token ?? "")?.user
                {
                    gone.withLockedValue { _ = $0.insert(user) }
                }
                guard request.isFor(operation), let last = gone.withLockedValue({ $0.first }),
                    response.status == .notFound || response.text == "[]"
                else { return response }
                response = .refusal(200, "")
                response.text = answer(last, request.query("q") ?? "")
                return response
            })
        }
    }
}

extension TransportRequest {
    /// Creates another request with the same token.
    fileprivate static func asking(
        like request: TransportRequest, _ method: HTTPRequest.Method, _ path: String
    ) -> TransportRequest {
        var other = TransportRequest(method: method, url: URL(string: "http://test\(path)")!)
        other.headers[.authorization] = request.headers[.authorization]
        return other
    }
}
