import Contract
import ContractClient
import Foundation
import HTTPTypes
import Testbed

extension Mutant {
    private static let register = "POST /register"
    private static let login = "POST /login"
    private static let me = "GET /user"
    private static let password = "POST /account/password"
    private static let profile = "GET /users/{id}"
    private static let update = "PATCH /users/{id}"
    private static let photo = "POST /users/{id}/photo"
    private static let publish = "POST /posts"
    private static let posts = "GET /users/{id}/posts"
    private static let feed = "GET /feed"
    private static let delete = "DELETE /posts/{id}"
    private static let comment = "POST /posts/{id}/comments"
    private static let comments = "GET /posts/{id}/comments"
    private static let follow = "POST /users/{id}/follow"
    private static let followers = "GET /users/{id}/followers"
    private static let pending = "GET /follow-requests/pending"
    private static let search = "GET /users/search"
    private static let block = "POST /users/{id}/block"

    /// The mutants that do not follow from the examples: who may see what, cookies, files, other sites, texts as they are
    /// kept.
    static let dunbar: [Mutant] = [
        .init("§1 JSON bodies", "reads a compressed body", .anyCoding(publish)),
        .init("§1 JSON bodies", "takes a key twice", .keysTwice(publish)),
        .leaking(posts) { $0.text == "[]" }, .leaking("GET /posts/{id}") { $0.text == "[]" },
        .leaking("GET /posts") { $0.text == "[]" }, .leaking(comments), .leaking(comment), .leaking(delete),
        .leaking("DELETE /comments/{id}"), .leaking("POST /posts/{id}/report"),
        .leaking("POST /users/{id}/report"), .leaking("POST /comments/{id}/report"), .leaking(update), .leaking(photo),
        .leaking(followers), .leaking("GET /users/{id}/following"),
        .leaking("POST /follow-requests/{id}/accept"), .leaking("POST /follow-requests/{id}/reject"),
        .leaking(profile),
        .init(feed, "shows the caller's own posts alone", .exchange(feed, ownPosts)),
        .init(login, "lets scripts read the cookie", .cookie(login, "HttpOnly; ?", "")),
        .init(login, "sends the cookie from other sites", .cookie(login, "SameSite=Lax", "SameSite=None")),
        .init(login, "ends the session with the browser", .cookie(login, "; Max-Age=\\d+", "")),
        .init(register, "lets scripts read the cookie", .cookie(register, "HttpOnly; ?", "")),
        .init(login, "ends no session", .headers(login, .cookie)),
        .init("POST /logout", "keeps the cookie", .header("POST /logout", .setCookie, nil)),
        .init("POST /logout", "ends no session", .headers("POST /logout", .cookie)),
        .init("POST /posts", "takes requests from other sites", .headers(publish, .origin)),
        .init("POST /logout", "takes requests from other sites", .headers("POST /logout", .origin)),
        .init(register, "looks at the case of usernames", .accepting(register, "Username already exists", "{}")),
        .init(register, "makes usernames small", .request(register, #""username":"([A-Z])"#, #""username":"x$1"#)),
        .init(register, "makes public accounts", .body(register, #""isPrivate":true"#, #""isPrivate":false"#)),
        .init(register, "takes isAdmin", .body(register, #""isAdmin":false"#, #""isAdmin":true"#)),
        .init(login, "takes any case of a password", .accepting(login, "Invalid username or password", "{}")),
        .leaking("DELETE /sessions/{id}"),
        .init(
            "GET /sessions", "ignores the device's name",
            .request(login, #""deviceName":"[^"]*""#, #""deviceName":" ""#)),
        .init("GET /sessions", "ignores the program", .headers(login, .userAgent)),
        .init(
            "DELETE /sessions/{id}", "keeps the cookie of the caller's own",
            .header("DELETE /sessions/{id}", .setCookie, nil)),
        .init(password, "has no key", .headers(password, .idempotencyKey)),
        .init(password, "takes any length", .accepting(password, "Password must be at least 8 characters", "{}")),
        .init(profile, "shows the address", .body(profile, #""bio":"#, #""email":"x@example.com","bio":"#)),
        .init(
            profile, "asks for a session",
            .exchange(profile) { request, forward in
                request.headers[.cookie] == nil
                    ? .json(401, #"{"message":"Unauthorized"}"#) : try await forward(request)
            }),
        .init(update, "keeps an empty bio", .body(update, #""bio":null"#, #""bio":"""#)),
        .init(update, "keeps the spaces", .body(update, #""displayName":""#, #""displayName":" "#)),
        .init(update, "makes admins", .body(update, #""isAdmin":false"#, #""isAdmin":true"#)),
        .init(publish, "trims", .request(publish, #""content":" "#, #""content":""#)),
        .init(publish, "makes text safe for HTML", .request(publish, "</script>", "&lt;/script&gt;")),
        .init(publish, "reverses the media", .body(publish, #""media":\["([^"]*)","([^"]*)""#, #""media":["$2","$1""#)),
        .init(posts, "has the oldest first", .reversed(posts)),
        .init(feed, "has the oldest first", .reversed(feed)),
        .init(comments, "has the newest first", .reversed(comments)),
        .init(followers, "has the oldest first", .reversed(followers)),
        .init(pending, "has the oldest first", .reversed(pending)),
        .init(search, "knows no follows", .body(search, #""isFollowing":true"#, #""isFollowing":false"#)),
        .init(search, "takes a request for a follow", .body(search, #""isPending":true"#, #""isPending":false"#)),
        .init(followers, "follows every follower", .body(followers, #""isFollowing":false"#, #""isFollowing":true"#)),
        .init(search, "has another order", .reversed(search)),
        .init(comment, "keeps the spaces", .body(comment, #""content":""#, #""content":" "#)),
        .init(posts, "reads garbage as no limit", .accepting(posts, "Invalid limit", "[]")),
        .init(search, "takes % for anything", .query(search, "%25", "")),
        .init(search, "takes _ for anything", .query(search, "_", "")),
        .init(search, "finds everybody without a text", .query(search, "q=(%20)*$", "q=a")),
        .init(
            search, "shows ten",
            .answer(search) { text in
                guard case .list(let rows)? = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
                    return text
                }
                return JSONValue.list(Array(rows.prefix(10))).description
            }),
        .init(follow, "follows private accounts at once", .body(follow, "Follow request sent", "Following")),
        .init(follow, "asks public accounts", .body(follow, "Following", "Follow request sent")),
        .init(block, "blocks oneself", .accepting(block, "Cannot block yourself", #"{"message":"User blocked"}"#)),
        .init(photo, "serves files as text", .file(.contentType, "text/html")),
        .init(photo, "lets browsers guess a file's type", .file(.init("X-Content-Type-Options")!, nil)),
        .init(publish, "serves whole files for a range", .wholeFiles),
    ]
}

extension Defect {
    /// Replaces matches of a regular expression in the cookie that an operation sets.
    fileprivate static func cookie(_ operation: String, _ pattern: String, _ template: String) -> Defect {
        exchange(operation) { request, forward in
            var response = try await forward(request)
            response.headers[.setCookie] = response.headers[.setCookie]?.replacingOccurrences(
                of: pattern, with: template, options: .regularExpression)
            return response
        }
    }

    /// Keeps a header of an operation's requests from the server.
    fileprivate static func headers(_ operation: String, _ field: HTTPField.Name) -> Defect {
        exchange(operation) { request, forward in
            var request = request
            request.headers[field] = nil
            return try await forward(request)
        }
    }

    /// Ignores the range of a file that is asked for.
    fileprivate static var wholeFiles: Defect {
        Defect(exchange: { request, forward in
            var request = request
            request.headers[.range] = nil
            return try await forward(request)
        })
    }

    /// Sets or removes a header of the answers with a file.
    fileprivate static func file(_ field: HTTPField.Name, _ value: String?) -> Defect {
        Defect(exchange: { request, forward in
            var response = try await forward(request)
            if request.url.query?.contains("signature=") == true, response.headers[field] != nil {
                response.headers[field] = value
            }
            return response
        })
    }
}

/// Returns the posts alone that the caller has written.
@Sendable
private func ownPosts(_ request: TransportRequest, _ forward: Defect.Forward) async throws -> TransportResponse {
    var own = request
    guard let url = URL(string: request.url.absoluteString.replacingOccurrences(of: "/feed", with: "/user")) else {
        return try await forward(request)
    }
    own.url = url
    let user = try await forward(own).value["user"]?["id"]
    var response = try await forward(request)
    guard response.status == .ok, case .list(let posts) = response.value else { return response }
    let kept = posts.filter { $0["userId"] == user }
    if kept.count < posts.count { response.text = JSONValue.list(kept).description }
    return response
}
