import Contract
import ContractCheck
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let user = "GET /api/auth/user"
    private static let rename = "PUT /api/auth/user"
    private static let picture = "POST /api/auth/user/profile-picture"
    private static let end = "DELETE /api/auth/user"
    private static let export = "GET /api/auth/user/export"
    private static let create = "POST /api/groups"
    private static let list = "GET /api/groups"
    private static let detail = "GET /api/groups/{groupId}"
    private static let leave = "POST /api/groups/{groupId}/leave"
    private static let remove = "DELETE /api/groups/{groupId}/members/{userId}"
    private static let invite = "POST /api/groups/{groupId}/invite"
    private static let preview = "GET /api/groups/preview/{inviteId}"
    private static let invites = "GET /api/groups/{groupId}/invites"
    private static let otherGroup = "0b9c8d7e-6f5a-4b4c-9d3e-2f1a0b9c8d7e"
    private static let revoke = "DELETE /api/invites/{inviteId}"
    private static let join = "POST /api/join/{inviteId}"
    private static let open = "GET /join/{inviteId}"
    private static let log = "POST /api/deuces"
    private static let feed = "GET /api/deuces"
    private static let unlog = "DELETE /api/deuces/{entryId}"
    private static let react = "POST /api/entries/{entryId}/reactions"
    private static let unreact = "DELETE /api/entries/{entryId}/reactions"
    private static let reactions = "GET /api/entries/{entryId}/reactions"
    private static let reportUser = "POST /api/users/{userId}/report"
    private static let reportEntry = "POST /api/entries/{entryId}/report"
    private static let block = "POST /api/users/{userId}/block"
    private static let unblock = "DELETE /api/users/{userId}/block"
    private static let blocks = "GET /api/blocks"
    private static let locations = "GET /api/locations"
    private static let place = "POST /api/locations"
    private static let top = "GET /api/analytics/most-deuces"

    static let deuceDiary: [Mutant] = [
        .init("Request bodies", "reads a compressed body", .anyCoding(create)),
        .init("Request bodies", "takes a key twice", .keysTwice(create)),
        .init(user, "leaves out what is null", .body(user, #","username":null"#, "")),
        .init(user, "writes times without a fraction", .body(user, #"\.\d{3}Z"#, "Z")),
        .init(user, "counts a log that was not", .body(user, #""deuceCount":0"#, #""deuceCount":1"#)),
        .init(user, "has a member more", .body(user, "^\\{", #"{"role":"user","#)),
        .init(user, "makes no Solo Deuces", .answer(list) { _ in "[]" }),
        .init(user, "shows the addresses of others", .body(detail, #""email":null"#, #""email":"x@example.com""#)),
        .init(rename, "keeps the old name", .body(rename, #""username":"[^"]*""#, #""username":null"#)),
        .init(rename, "answers 409 for a taken name", .status(rename, 400, 409)),
        .init(rename, "words a taken name otherwise", .refusal(rename, "Username already taken", "Taken")),
        .init(
            rename, "words a short name otherwise",
            .refusal(rename, "String must contain at least 3 character(s)", "No")
        ),
        .init(rename, "trims", .request(rename, #"" ([^"]*) ""#, #""$1""#)),
        .init(picture, "shows no picture", .status("GET /uploads/{name}", 200, 404)),
        .init(
            picture, "shows a picture of another size",
            .exchange("GET /uploads/{name}") { request, forward in
                var response = try await forward(request)
                if response.status == .ok { response.body = SampleImage.jpeg(width: 100, height: 200) }
                return response
            }),
        .init(picture, "gives an absolute URL", .body(picture, #""/uploads"#, #""https://example.com/uploads"#)),
        .init(picture, "answers 400 for a large file", .status(picture, 413, 400)),
        .init(
            picture, "lets pictures be cached for no time",
            .exchange("GET /uploads/{name}") { request, forward in
                var response = try await forward(request)
                response.headers[.cacheControl] = nil
                return response
            }),
        .init(end, "deletes nothing", .exchange(end) { _, _ in .confirmation("Account deleted") }),
        .init(end, "says so otherwise", .body(end, "Account deleted", "Deleted")),
        .init(end, "words the token as a bad one", .refusal(detail, "Unauthorized", "Invalid token")),
        .init(end, "lets the token on for a while", .status(top, 401, 200)),
        .init(end, "is gone when it is", .status(end, 401, 404)),
        .init(end, "keeps the groups' maker", .body(detail, #""createdBy":"[^"]*""#, #""createdBy":"gone""#)),
        .init(end, "makes nobody admin", .body(detail, #""role":"admin""#, #""role":"member""#)),
        .init(end, "keeps counting the entries", .body(list, #""entryCount":1"#, #""entryCount":2"#)),
        .init(end, "keeps what was logged", .body(user, #""deuceCount":0"#, #""deuceCount":1"#)),
        .init(end, "keeps the picture", .status("GET /uploads/{name}", 404, 200)),
        .init(end, "keeps the name at the place", .body(locations, #""createdBy":null"#, #""createdBy":"gone""#)),
        .init(end, "lets the invites on", .status(join, 400, 200)),
        .init(
            export, "comes as a page",
            .exchange(export) { request, forward in
                var response = try await forward(request)
                response.headers[.init("Content-Disposition")!] = nil
                return response
            }),
        .init(
            export, "forgets the entries", .body(export, #""entries":\[.*\],"reactions""#, #""entries":[],"reactions""#)
        ),
        .init(export, "forgets the reactions", .body(export, #""reactions":\[.*\],"loc"#, #""reactions":[],"loc"#)),
        .init(export, "makes everybody admin", .body(export, #""role":"member""#, #""role":"admin""#)),
        .init(export, "hides the address", .body(export, #""email":"[^"]*""#, #""email":null"#)),
        .init(create, "forgets the description", .body(create, #""description":"[^"]*""#, #""description":null"#)),
        .init(create, "answers 201", .status(create, 200, 201)),
        .init(
            create, "takes a group without a name",
            .lenient(create, "Invalid group data: name is required (max 100 chars)", #"{"name":"N"}"#)),
        .init(create, "makes a member of the maker", .body(detail, #""role":"admin""#, #""role":"member""#)),
        .init(list, "has another order", .reversed(list)),
        .init(list, "miscounts members", .body(list, #""memberCount":2"#, #""memberCount":1"#)),
        .init(list, "counts no entries", .body(list, #""entryCount":\d+"#, #""entryCount":0"#)),
        .init(list, "knows of no activity", .body(list, #""lastActivity":"[^"]*""#, #""lastActivity":null"#)),
        .init(list, "reads garbage as no limit", .accepting(list, "Invalid limit", "[]")),
        .init(detail, "has the oldest entry first", .reversed(detail, "entries")),
        .init(detail, "has the oldest member first", .reversed(detail, "members")),
        .init(detail, "leaves out the entries' users", .body(detail, #","user":\{[^}]*\}\}\]"#, "}]")),
        .init(detail, "has no records", .body(detail, #""personalRecord":\{[^}]*\}"#, #""personalRecord":null"#)),
        .init(detail, "is 404 to strangers", .status(detail, 403, 404)),
        .init(detail, "is 403 for an unknown group", .status(detail, 404, 403)),
        .init(leave, "keeps the member", .exchange(leave) { _, _ in .confirmation("Left group") }),
        .init(leave, "says so otherwise", .body(leave, "Left group", "Left")),
        .init(leave, "is 404 to strangers", .status(leave, 403, 404)),
        .init(leave, "makes nobody admin", .body(detail, #""role":"admin""#, #""role":"member""#)),
        .init(leave, "makes everybody admin", .body(detail, #""role":"member""#, #""role":"admin""#)),
        .init(leave, "keeps an empty group", .status(detail, 404, 403)),
        .init(leave, "takes the entries along", .body(detail, #""entries":\[\{.*\}\]"#, #""entries":[]"#)),
        .init(leave, "keeps counting what is gone", .body(user, #""deuceCount":1"#, #""deuceCount":2"#)),
        .init(remove, "removes nobody", .exchange(remove) { _, _ in .confirmation("Member removed") }),
        .init(remove, "says so otherwise", .body(remove, "Member removed", "Removed")),
        .init(remove, "lets members remove", .accepting(remove, "Not authorized", #"{"message":"Member removed"}"#)),
        .init(remove, "lets admins remove themselves", .refusal(remove, "Use leave to remove yourself", "No")),
        .init(remove, "is 403 where there is no member", .status(remove, 404, 403)),
        .init(
            preview, "asks for a token",
            .exchange(preview) { request, forward in
                request.headers[.authorization] == nil ? .refusal(401, "Unauthorized") : try await forward(request)
            }),
        .init(preview, "miscounts members", .body(preview, #""memberCount":2"#, #""memberCount":1"#)),
        .init(preview, "miscounts entries", .body(preview, #""deuceCount":3"#, #""deuceCount":2"#)),
        .init(preview, "never ends", .body(preview, #""expiresAt":"2"#, #""expiresAt":"3"#)),
        .init(preview, "is 400 without an invite", .status(preview, 404, 400)),
        .init(invite, "links to something else", .body(invite, #"/join/"#, "/invite/")),
        .init(invite, "is 404 to strangers", .status(invite, 403, 404)),
        .init(leave, "lets their invites on", .status(join, 400, 200)),
        .init(remove, "lets those in again who were removed", .status(join, 400, 200)),
        .init(invites, "has the oldest first", .reversed(invites)),
        .init(invites, "names another group", .body(invites, #""groupId":"[^"]*""#, #""groupId":"\#(otherGroup)""#)),
        .init(invites, "names no maker", .body(invites, #""createdBy":"[^"]*""#, #""createdBy":"x""#)),
        .init(invites, "links to something else", .body(invites, #"/join/"#, "/invite/")),
        .init(invites, "shows members nothing", .body(invites, #"^\[.*\]$"#, "[]")),
        .init(invites, "is 404 to strangers", .status(invites, 403, 404)),
        .init(invites, "begins anew", .query(invites, "before=", "after=")),
        .init(invites, "reads garbage as no limit", .accepting(invites, "Invalid limit", "[]")),
        .init(revoke, "revokes nothing", .exchange(revoke) { _, _ in .confirmation("Invite revoked") }),
        .init(revoke, "says so otherwise", .body(revoke, "Invite revoked", "Revoked")),
        .init(revoke, "is 404 to strangers", .status(revoke, 403, 404)),
        .init(revoke, "is 200 without an invite", .status(revoke, 404, 200)),
        .init(unlog, "is closed to authors who have left", .status(unlog, 200, 404)),
        .init(join, "does not tell who was a member", .body(join, #","message":"[^"]*""#, "")),
        .init(
            join, "tells everybody that they were",
            .body(join, #"\}\}$"#, #"},"message":"Already a member of this group"}"#)),
        .init(join, "is 404 without an invite", .status(join, 400, 404)),
        .init(open, "shows a page", .status(open, 302, 200)),
        .init(open, "leads on for anything", .status(open, 404, 302)),
        .init(log, "counts groups wrongly", .body(log, #""count":2"#, #""count":1"#)),
        .init(log, "has another order", .reversed(log, "entries")),
        .init(log, "cuts the times", .body(log, #"\.\d{3}Z"#, ".000Z")),
        .init(log, "trims thoughts", .request(log, #""thoughts":" "#, #""thoughts":""#)),
        .init(
            log, "logs nowhere",
            .accepting(log, "At least one group must be selected", #"{"entries":[],"count":0}"#)),
        .init(log, "logs now, whenever it was", .request(log, #","loggedAt":"[^"]*""#, "")),
        .init(log, "words the future otherwise", .refusal(log, "Cannot log a deuce in the future", "Too early")),
        .init(log, "is 400 to strangers", .status(log, 403, 400)),
        .init(feed, "has the oldest first", .reversed(feed)),
        .init(feed, "leaves out the reactions", .body(feed, #""reactions":\[[^\]]+\]"#, #""reactions":[]"#)),
        .init(feed, "shows the addresses of others", .body(feed, #""email":null"#, #""email":"x@example.com""#)),
        .init(feed, "has pages of any size", .query(feed, "limit=\\d+", "x=")),
        .init(feed, "begins anew", .query(feed, "before=", "after=")),
        .init(feed, "mixes groups", .query(feed, "groupId=[0-9a-f-]{36}", "x=")),
        .init(feed, "reads garbage as no limit", .accepting(feed, "Invalid limit", "[]")),
        .init(feed, "is 404 to strangers", .status(feed, 403, 404)),
        .init(unlog, "deletes nothing", .exchange(unlog) { _, _ in .confirmation("Entry deleted") }),
        .init(unlog, "says so otherwise", .body(unlog, "Entry deleted", "Deleted")),
        .init(unlog, "is 403 to strangers", .status(unlog, 404, 403)),
        .init(unlog, "is 404 for those of others", .status(unlog, 403, 404)),
        .init(unlog, "keeps counting", .body(user, #""deuceCount":0"#, #""deuceCount":1"#)),
        .init(
            unlog, "keeps the group's activity",
            .body(list, #""lastActivity":null"#, #""lastActivity":"2025-06-10T08:00:00.000Z""#)),
        .init(unlog, "keeps the record", .body(top, #""count":2"#, #""count":3"#)),
        .init(react, "takes the same twice", .status(react, 400, 200)),
        .init(react, "names the wrong emoji", .body(react, #""emoji":"[^"]*""#, #""emoji":"x""#)),
        .init(react, "is 404 to strangers", .status(react, 403, 404)),
        .init(unreact, "says so otherwise", .body(unreact, "Reaction removed", "Removed")),
        .init(
            unreact, "is 404 where there is none", .exchange(unreact) { _, _ in .refusal(404, "Reaction not found") }),
        .init(
            unreact, "removes nothing",
            .exchange(unreact) { request, forward in
                var nothing = request
                nothing.body = .bytes(Array(#"{"emoji":"never"}"#.utf8))
                let response = try await forward(request.isEmptyBody ? request : nothing)
                return response
            }),
        .init(reactions, "leaves out the users", .body(reactions, #","user":\{[^}]*\}"#, "")),
        .init(reactions, "lists none", .answer(reactions) { _ in "[]" }),
        .init(reactions, "has the newest first", .reversed(reactions)),
        .init(locations, "has another order", .reversed(locations)),
        .init(
            locations, "asks for a token",
            .exchange(locations) { request, forward in
                request.headers[.authorization] == nil ? .refusal(401, "Unauthorized") : try await forward(request)
            }),
        .init(locations, "has no defaults", .body(locations, #""isDefault":true"#, #""isDefault":false"#)),
        .init(place, "makes defaults", .body(place, #""isDefault":false"#, #""isDefault":true"#)),
        .init(place, "takes a name twice", .status(place, 400, 200)),
        .init(place, "keeps the spaces", .body(place, #""name":""#, #""name":" "#)),
        .init(top, "counts one more", .body(top, #""count":3"#, #""count":4"#)),
        .init(top, "has a day before the first", .body(top, #""date":"""#, #""date":"1970-01-01""#)),
        .init(top, "prefers the day before", .body(top, "2025-05-21", "2025-05-20")),
        .init("Errors", "has another text for what is not there", .refusal("GET /api/nothing", "Not found", "Nothing")),
        .init(
            "Errors", "does not say what is allowed",
            .exchange("PATCH /api/groups") { request, forward in
                var response = try await forward(request)
                response.headers[.allow] = nil
                return response
            }),
        .init("Authentication", "words a bad token as none", .refusal(user, "Invalid token", "Unauthorized")),
        .init("Authentication", "looks at ids first", .status("GET /api/groups/{groupId}", 401, 404)),
        .init("Request bodies", "takes a list for nothing", .lenient(create, "Malformed JSON", "{}")),
        .init(
            "Request bodies", "words NUL otherwise", .refusal(create, "Text must not contain NUL characters", "No NUL")),
        .init(
            "Idempotency-Key", "forgets keys",
            .exchange(create) { request, forward in
                var request = request
                request.headers[.idempotencyKey] = nil
                return try await forward(request)
            }),
        .init(
            "Idempotency-Key", "does not tell a repeat",
            .exchange(log) { request, forward in
                var response = try await forward(request)
                response.headers[.idempotentReplayed] = nil
                return response
            }),
        .init(
            "Idempotency-Key", "words another request otherwise",
            .refusal(log, "Idempotency-Key was already used for another request", "Used")),
        .init(
            "Authorisation", "lets strangers in",
            .exchange(detail) { request, forward in
                var response = try await forward(request)
                if response.status == .forbidden { response.status = .ok }
                return response
            }),
        .init("/ws with a token", "refuses nobody", isSilent: true, .frames { $0.contains("error") ? [] : [$0] }),
        .init(
            "/ws with a token", "says nothing of newer tokens", isSilent: true,
            Defect(socket: { SocketDefect(sent: { ($0.contains("auth") ? [] : [$0], []) }) })),
        .init("/ws", "says nothing", isSilent: true, .frames { _ in [] }),
        .leaking(reportUser), .leaking(reportEntry), .leaking(block),
        .init(reportUser, "takes the same twice", .status(reportUser, 400, 200)),
        .init(reportUser, "words it otherwise", .refusal(reportUser, "You can't report yourself", "No")),
        .init(reportUser, "needs no reason", .refusal(reportUser, "Reason is required", "Reason")),
        .init(reportEntry, "is 404 to strangers", .status(reportEntry, 403, 404)),
        .init(
            reportEntry, "takes the same twice",
            .accepting(reportEntry, "You've already reported this entry", #"{"message":"Entry reported"}"#)),
        .init(
            reportEntry, "words long details otherwise",
            .refusal(reportEntry, "Details must be 2000 characters or less", "Details: too long")),
        .init(
            reportEntry, "deletes the entry",
            .answer(detail) { $0.replacing(#/"entries":\[.*\]/#, with: #""entries":[]"#) }),
        .init(block, "blocks nobody", .exchange(block) { _, _ in .confirmation("User blocked") }),
        .init(
            block, "lets the other react",
            .accepting(
                react, "Not authorized to react to this entry",
                #"{"id":1,"entryId":"x","userId":"x","emoji":"x","createdAt":"2025-06-10T09:00:00.000Z"}"#)),
        .init(unblock, "unblocks nobody", .exchange(unblock) { _, _ in .confirmation("User unblocked") }),
        .init(blocks, "lists nobody", .answer(blocks) { _ in "[]" }),
        .init(blocks, "shows addresses", .body(blocks, #""email":null"#, #""email":"x@example.com""#)),
        .init("/ws", "says everything twice", .frames { [$0, $0] }),
        .init("/ws", "shows addresses", .frame(#""email":null"#, #""email":"x@example.com""#)),
        .init("/ws", "leaves out the user", .frame(#","user":\{[^}]*\}"#, "")),
        .init("/ws", "names nobody", .frame(#""message":"[^"]*""#, #""message":"Someone logged a new deuce""#)),
        .init("/ws", "counts as before the log", .frame(#""deuceCount":1"#, #""deuceCount":0"#)),
        .init(
            "/ws", "acknowledges",
            Defect(socket: {
                SocketDefect(sent: { ([$0], $0.contains("join_group") ? [#"{"type":"joined"}"#] : []) })
            })),
    ]
}

extension TransportRequest {
    /// Whether the request has no emoji to remove.
    fileprivate var isEmptyBody: Bool {
        guard case .bytes(let bytes) = body else { return true }
        return !String(decoding: bytes, as: UTF8.self).contains(#""emoji":"💩""#)
    }
}

extension TransportResponse {
    fileprivate static func refusal(_ status: Int, _ text: String) -> TransportResponse {
        .json(status, #"{"message":"\#(text)"}"#)
    }

    fileprivate static func confirmation(_ text: String) -> TransportResponse {
        .json(200, #"{"message":"\#(text)"}"#)
    }
}
