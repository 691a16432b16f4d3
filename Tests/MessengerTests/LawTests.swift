import Backend
import Contract
import ContractCheck
import ContractServer
import Foundation
import HTTPTypes
import Logging
import MessengerAPI
import MessengerService
import Testbed
import Testing

extension Example {
    /// One for every operation; of each optional field one that has it.
    static let all: [Example] = {
        do {
            return [
                try Example(
                    Messenger.Register(
                        username: "älice \"b\"", email: "a+b@example.com", password: "p\\ss/word 🎉", displayName: "A")),
                try Example(Messenger.Login(username: "alice", password: " ")),
                try Example(Messenger.Refresh(refreshToken: "eyJ.a-b_c")),
                try Example(Messenger.Logout(refreshToken: "eyJ.a-b_c")),
                try Example(Messenger.GetMe()),
                try Example(Messenger.GetUser(id: 7)),
                try Example(Messenger.SearchUsers("50% & a+b=c?/#é")),
                try Example(Messenger.CreateChat.direct(with: 2)),
                try Example(Messenger.CreateChat.group("Team \"α\"", members: [2, 3, .init(.max)])),
                try Example(Messenger.ListChats()),
                try Example(Messenger.ListChats(limit: 3, before: 9)),
                try Example(Messenger.GetChat(id: 7)),
                try Example(Messenger.AddMembers(chat: 7, users: [8, .init(.max)])),
                try Example(Messenger.RemoveMember(chat: 7, user: 7)),
                try Example(Messenger.LeaveChat(chat: 7)),
                try Example(Messenger.SendMessage(chat: 7, content: "\r\n\t\u{1F}é🎉")),
                try Example(Messenger.SendMessage(chat: 7, content: "", type: .voice, file: 8)),
                try Example(Messenger.ListMessages(chat: 7)),
                try Example(Messenger.ListMessages(chat: 7, limit: 50, before: 99)),
                try Example(Messenger.ListMessages(chat: 7, limit: 50, after: 0)),
                try Example(Messenger.ListMessages(chat: 7, include: .edited)),
                try Example(Messenger.ListChats(include: .init(rawValue: "unread, x&y"))),
                try Example(Messenger.EditMessage(chat: 7, message: 7, content: "\r\n\t\u{1F}é🎉")),
                try Example(Messenger.DeleteMessage(chat: 7, message: 7)),
                try Example(Messenger.MarkRead(chat: 7, message: 7)),
                try Example(Messenger.GetReceipts(chat: 7)),
                try Example(
                    Messenger.UploadFile(Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
                try Example(Messenger.DownloadFile(id: 7)),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite struct LawTests {
    /// The contract's headings, in its order, each followed by what the decisions add to its section.
    static let summary = [
        "POST /auth/register", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout", "GET /me",
        "GET /users/{id}", "GET /users/search",
        "POST /chats", "GET /chats", "GET /chats/{id}",
        "POST /chats/{id}/members", "DELETE /chats/{id}/members/{userId}", "POST /chats/{id}/leave",
        "POST /chats/{id}/messages", "GET /chats/{id}/messages",
        "PUT /chats/{id}/messages/{msgId}", "DELETE /chats/{id}/messages/{msgId}",
        "POST /chats/{id}/messages/{msgId}/read", "GET /chats/{id}/receipts",
        "POST /files", "GET /files/{id}/download",
    ]

    /// Those that anybody may call (decisions §3).
    static let open: Set = ["POST /auth/register", "POST /auth/login", "POST /auth/refresh", "POST /auth/logout"]

    /// Decisions §1: "register, POST /chats, messages, files, members".
    static let keyed: Set = [
        "POST /auth/register", "POST /chats", "POST /chats/{id}/messages", "POST /files", "POST /chats/{id}/members",
    ]

    // MARK: Of the types

    @Test func theOperationsAreTheContractsInItsOrder() {
        #expect(Messenger.endpoints.map { $0.signature } == Self.summary)
    }

    @Test func everyOperationHasAnExample() {
        #expect(Set(Example.all.map(\.signature)) == Set(Self.summary))
    }

    @Test func onlySigningInIsOpenToAnybody() {
        for endpoint in Messenger.endpoints {
            let (isOpen, isAuthenticated) = (
                endpoint is any OpenEndpoint.Type, endpoint is any AuthenticatedEndpoint.Type
            )
            #expect(isOpen == Self.open.contains(endpoint.signature), "\(endpoint.signature)")
            #expect(isAuthenticated == !isOpen, "\(endpoint.signature)")
        }
    }

    @Test func everyCreatingPostTakesAnIdempotencyKey() {
        let keyed = Messenger.endpoints.filter { $0.route.acceptsIdempotencyKey }
        #expect(Set(keyed.map { $0.signature }) == Self.keyed)
        // An operation that answers 201 makes something, and is done once under a key.
        for endpoint in Messenger.endpoints where endpoint.route.status == .created {
            #expect(endpoint.route.acceptsIdempotencyKey, "\(endpoint.signature)")
        }
    }

    @Test(arguments: Example.all)
    func aRequestSurvivesTheWire(_ example: Example) throws {
        let (sent, received) = try example.roundTrip()
        #expect(sent == received)
    }

    @Test(arguments: Example.all)
    func everyCaptureIsAField(_ example: Example) throws {
        let steps = example.path.split(separator: "?")[0].split(separator: "/", omittingEmptySubsequences: false)
        #expect(steps.dropFirst().allSatisfy { !$0.isEmpty }, "a capture without a value: \(example.path)")
        for capture in example.route.captures {
            let expected = example.route.segments.map { segment in
                switch segment {
                case .literal(let text): text
                case .capture(let name): name == capture ? "123456" : "7"
                }
            }
            let moved = try example.moved(capture, "123456").split(separator: "?")[0]
            #expect(moved == "/" + expected.joined(separator: "/"))
        }
    }

    // MARK: Of the server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            var routes = host.service.routes()
            let options = RouteTable<Messenger>.Options(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            #expect(RouteTable(routes, options: options).signatures.sorted() == Self.summary.sorted())

            routes.serve(Health(check: host.service.check))
            routes.serve(host.objects)
            let beyond = Set(RouteTable(routes, options: options).signatures).subtracting(Self.summary)
            // Stored objects refuse every method but two in their own words: the signature names it.
            let objects = beyond.filter { $0.hasSuffix(" /objects/{key*}") }
            #expect(beyond.subtracting(objects) == ["GET /health", "GET /ready"])
            #expect(objects.isSuperset(of: ["GET /objects/{key*}", "HEAD /objects/{key*}"]))
        }
    }

    /// 401 before the ids, the size and the body are looked at.
    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in Example.all where example.needsCaller {
                let path = example.path.replacingOccurrences(of: "/7", with: "/999999999999999999999")
                let paths = [example.path, path, path.split(separator: "?")[0] + "?limit=x&q=%00"]
                let bodies = example.route.method == .get ? [nil] : [nil, "{", "[]", #"{"type":0}"#]
                for path in paths {
                    for body in bodies {
                        let answer = try await raw.send(
                            example.route.method, path, headers: [.idempotencyKey: "\u{7F}"], body: body)
                        #expect(answer.status == 401, "\(example.signature)")
                        #expect(answer.text == #"{"error":"Missing Authorization header"}"#)
                    }
                }
            }
        }
    }

    @Test(arguments: [
        ("Basic YTpi", "Authorization header must start with 'Bearer '"),
        ("Bearer", "Authorization header must start with 'Bearer '"),
        ("Bearer x", "Invalid or expired token"),
        ("Bearer a.b.c", "Invalid or expired token"),
    ])
    func withABadTokenNothingIsLookedAtEither(_ header: String, _ message: String) async throws {
        try await withMessenger(on: Stack(.sqlite, .inProcess)) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in Example.all where example.needsCaller {
                let answer = try await raw.send(
                    example.route.method, example.path, headers: [.authorization: header], body: "{")
                #expect(answer.status == 401, "\(example.signature)")
                #expect(try answer.json() == ["error": .string(message)])
            }
        }
    }

    @Test(arguments: Stack.all)
    func unknownPathsAre404(_ stack: Stack) async throws {
        let paths = [
            "/", "/nowhere", "/ME", "/me/", "/me/x", "/users", "/users/abc", "/users/1.0", "/users/-1", "/users/1/x",
            "/users/%D9%A1", "/users/search/", "/chats/", "/chats/x/messages", "/chats/1/messages/",
            "/chats/1/messages/x", "/files/1", "/files/x/download", "/files/1/download/", "/auth", "/auth/login/",
            "/health/", "/ws/x",
        ]
        try await withMessenger(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for path in paths {
                for method in [HTTPRequest.Method.get, .post, .delete] {
                    let answer = try await raw.send(method, path)
                    #expect(answer.status == 404, "\(method) \(path)")
                    #expect(answer.text == #"{"error":"Not found"}"#)
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        var allowed: [String: Set<String>] = ["/health": ["GET"], "/ready": ["GET"]]
        for signature in Self.summary {
            let parts = signature.split(separator: " ")
            allowed[String(parts[1].replacing(#/{\w+}/#, with: "7")), default: []].insert(String(parts[0]))
        }
        let methods = try ["GET", "POST", "PUT", "PATCH", "DELETE"].map { try #require(HTTPRequest.Method($0)) }
        try await withMessenger(on: stack) { [allowed] host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for (path, allowed) in allowed {
                for method in methods where !allowed.contains(method.rawValue) {
                    let answer = try await raw.send(method, path)
                    #expect(answer.status == 405, "\(method) \(path)")
                    #expect(answer.text == #"{"error":"Method not allowed"}"#)
                    let allow = answer.headers[.allow]?.split(separator: ", ").map(String.init) ?? []
                    #expect(Set(allow) == allowed, "\(method) \(path)")
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for path in ["/health", "/ready"] {
                let answer = try await raw.send(.get, path)
                #expect(answer.status == 200)
                #expect(answer.text == #"{"status":"ok"}"#)
            }
        }
    }
}
