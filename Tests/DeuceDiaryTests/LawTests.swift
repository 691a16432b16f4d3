import Backend
import Contract
import ContractCheck
import ContractServer
import DeuceDiaryAPI
import DeuceDiaryService
import Foundation
import HTTPTypes
import Logging
import Testbed
import Testing

extension Example {
    private static let id = "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071"

    /// One for every operation; of each optional field one that has it.
    static let all: [Example] = {
        let group = DeuceDiary.Group.ID(id)
        let entry = DeuceDiary.DeuceEntry.ID(id)
        let odd = "ä \"b\"\\ /?&+%\r\n\u{1F}👨‍👩‍👧‍👦"
        do {
            return [
                try Example(DeuceDiary.GetUser()),
                try Example(DeuceDiary.UpdateUser(username: "new_Name 7")),
                try Example(
                    DeuceDiary.UploadProfilePicture(
                        Upload(.bytes([1, 2]), filename: "é\".jpg", contentType: "image/jpeg"))),
                try Example(DeuceDiary.CreateGroup(name: odd)),
                try Example(DeuceDiary.CreateGroup(name: "Throne Room", description: odd)),
                try Example(DeuceDiary.ListGroups()),
                try Example(DeuceDiary.ListGroups(limit: 500, before: group)),
                try Example(DeuceDiary.GetGroup(group: group)),
                try Example(DeuceDiary.GetGroup(group: group, limit: 1, before: entry)),
                try Example(DeuceDiary.CreateInvite(group: group)),
                try Example(DeuceDiary.JoinGroup(invite: .init(id))),
                try Example(DeuceDiary.OpenInvite(invite: .init(id))),
                try Example(DeuceDiary.LogDeuce(groups: [group, "other"], location: odd, thoughts: "")),
                try Example(
                    DeuceDiary.LogDeuce(
                        groups: [group], location: "Home", thoughts: odd, loggedAt: .init(milliseconds: 1))),
                try Example(DeuceDiary.AddReaction(entry: entry, emoji: "👨‍👩‍👧‍👦")),
                try Example(DeuceDiary.RemoveReaction(entry: entry, emoji: "💩")),
                try Example(DeuceDiary.ListReactions(entry: entry)),
                try Example(DeuceDiary.ListReactions(entry: entry, limit: 1000, after: .init(.max))),
                try Example(DeuceDiary.ListLocations()),
                try Example(DeuceDiary.ListLocations(limit: 2, page: 3)),
                try Example(DeuceDiary.CreateLocation(name: odd)),
                try Example(DeuceDiary.GetMostDeuces()),
            ]
        } catch {
            preconditionFailure("\(error)")
        }
    }()
}

/// What must hold for the API as a whole, so that no operation is forgotten anywhere.
@Suite struct DeuceDiaryLawTests {
    /// The contract's headings, in its order.
    static let summary = [
        "GET /api/auth/user", "PUT /api/auth/user", "POST /api/auth/user/profile-picture", "POST /api/groups",
        "GET /api/groups", "GET /api/groups/{groupId}", "POST /api/groups/{groupId}/invite",
        "POST /api/join/{inviteId}", "GET /join/{inviteId}", "POST /api/deuces",
        "POST /api/entries/{entryId}/reactions", "DELETE /api/entries/{entryId}/reactions",
        "GET /api/entries/{entryId}/reactions", "GET /api/locations", "POST /api/locations",
        "GET /api/analytics/most-deuces",
    ]

    /// Those that anybody may call (decisions §3).
    static let open: Set = ["GET /join/{inviteId}", "GET /api/locations"]

    // MARK: Of the types

    @Test func theOperationsAreTheContractsInItsOrder() {
        #expect(DeuceDiary.endpoints.map { $0.signature } == Self.summary)
    }

    @Test func everyOperationHasAnExample() {
        #expect(Set(Example.all.map(\.signature)) == Set(Self.summary))
    }

    @Test func onlyInvitesAndLocationsAreOpenToAnybody() {
        for endpoint in DeuceDiary.endpoints {
            let (isOpen, isAuthenticated) = (
                endpoint is any OpenEndpoint.Type, endpoint is any AuthenticatedEndpoint.Type
            )
            #expect(isOpen == Self.open.contains(endpoint.signature), "\(endpoint.signature)")
            #expect(isAuthenticated == !isOpen, "\(endpoint.signature)")
        }
    }

    /// Decisions §1: "on every POST above except join".
    @Test func everyCreatingPostTakesAnIdempotencyKey() {
        for endpoint in DeuceDiary.endpoints {
            let isCreating = endpoint.route.method == .post && endpoint.signature != "POST /api/join/{inviteId}"
            #expect(endpoint.route.acceptsIdempotencyKey == isCreating, "\(endpoint.signature)")
        }
    }

    /// "Every success is 200; the browser redirect is 302."
    @Test func everySuccessIs200() {
        for endpoint in DeuceDiary.endpoints {
            #expect(endpoint.route.status == (endpoint.signature == "GET /join/{inviteId}" ? .found : .ok))
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
            let moved = try example.moved(capture, "moved").split(separator: "?")[0]
            let expected = zip(example.route.segments, steps.dropFirst()).map { segment, step in
                if case .capture(let name) = segment, name == capture { "moved" } else { String(step) }
            }
            #expect(moved == "/" + expected.joined(separator: "/"))
        }
    }

    // MARK: Of the server

    @Test func everyOperationIsAnsweredAndNothingElse() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess)) { host in
            let routes = host.service.routes()
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let signatures = RouteTable(routes, options: .init(logger: logger)).signatures
            let pictures = signatures.filter { $0.hasSuffix(" /uploads/{name*}") }
            #expect(Set(pictures) == ["GET /uploads/{name*}", "HEAD /uploads/{name*}"])
            #expect(signatures.filter { !pictures.contains($0) }.sorted() == Self.summary.sorted())
        }
    }

    /// 401 before the ids, the size and the body are looked at.
    @Test(arguments: Stack.all)
    func withoutATokenNothingIsLookedAt(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for example in Example.all where example.needsCaller {
                let bodies = example.route.method == .get ? [nil] : [nil, "{", "[]", #"{"name":0}"#]
                for path in [example.path, example.path.split(separator: "?")[0] + "?limit=x&before=%00"] {
                    for body in bodies {
                        let answer = try await raw.send(
                            example.route.method, path, headers: [.idempotencyKey: "\u{7F}"], body: body)
                        #expect(answer.status == 401, "\(example.signature)")
                        #expect(answer.text == #"{"message":"Unauthorized"}"#)
                    }
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func otherMethodsAre405(_ stack: Stack) async throws {
        var allowed: [String: Set<String>] = ["/health": ["GET"], "/ready": ["GET"]]
        for signature in Self.summary {
            let parts = signature.split(separator: " ")
            allowed[String(parts[1].replacing(#/{\w+}/#, with: "x")), default: []].insert(String(parts[0]))
        }
        let methods = try ["GET", "POST", "PUT", "PATCH", "DELETE"].map { try #require(HTTPRequest.Method($0)) }
        try await withDeuceDiary(on: stack) { [allowed] host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for (path, allowed) in allowed {
                for method in methods where !allowed.contains(method.rawValue) {
                    let answer = try await raw.send(method, path)
                    #expect(answer.status == 405, "\(method) \(path)")
                    #expect(answer.text == #"{"message":"Method not allowed"}"#)
                    let allow = answer.headers[.allow]?.split(separator: ", ").map(String.init) ?? []
                    #expect(Set(allow) == allowed, "\(method) \(path)")
                }
            }
        }
    }

    @Test(arguments: Stack.all)
    func healthIsAnsweredToAnybody(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            for path in ["/health", "/ready"] {
                let answer = try await raw.send(.get, path)
                #expect(answer.status == 200)
                #expect(answer.text == #"{"status":"ok"}"#)
            }
        }
    }
}
