import Contract
import ContractServer
import Foundation
import HTTPTypes
import Logging
import Testing

/// An API under `/api` that reports its rate limit.
private enum Based: ServiceAPI {
    static let name = "based"
    static let basePath = "/api"
    static let errorMessages = ErrorMessages()
    static let sections = [Section([Rename.self])]

    struct Failure: WireFailure {
        let message: String
        init(_ problem: Problem, requestID: String) { message = problem.message }
    }

    struct Rename: AuthenticatedEndpoint {
        typealias API = Based
        static let route = Route.put("/things/{id}", alternatives: [.patch])
        typealias Output = String
        var id: Int
        var name: String
    }

    static func table() -> Router<Based> {
        var routes = Routes<Based, String>(
            secrets: { [[]] }, name: { $0 },
            authenticate: { info in
                guard let caller = info.headers[.authorization] else { throw Problem(.unauthorized, "Who are you?") }
                return "\(caller) from \(info.address)"
            },
            headers: { route, caller in [.allow: "\(caller) for \(route.path)"] })
        routes.on(answering: { (request: Rename, caller: String, _) in
            guard request.id == 7 else { throw Problem(.notFound, "No such thing") }
            return Answer(.ok, encoded: Array(request.name.utf8), headers: [.contentType: "text/plain"])
        })
        return Router(routes, options: .init(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }
}

@Suite(.timeLimit(.minutes(30))) struct BasePathTests {
    private let table = Based.table()
    private let said = "me from 192.0.2.1 for /things/{id}"

    @Test(arguments: [HTTPRequest.Method.put, .patch])
    func aMethodMayStandForAnother(_ method: HTTPRequest.Method) async throws {
        let answer = try await table.send(
            method, "/api/things/7", headers: [.authorization: "me"], body: #"{"name":"x"}"#)
        #expect(answer.status == .ok)
        #expect(answer.text == "x")
        // A handler's own content type is kept.
        #expect(answer.headers[.contentType] == "text/plain")
        #expect(answer.headers[.allow] == said)
    }

    @Test func refusalsOfACallerSayTheSame() async throws {
        let answer = try await table.send(.put, "/api/things/8", headers: [.authorization: "me"], body: "{}")
        #expect(answer.status == .notFound)
        #expect(answer.headers[.allow] == said)
        let malformed = try await table.send(.put, "/api/things/7", headers: [.authorization: "me"], body: "{")
        #expect(malformed.status == .badRequest)
        #expect(malformed.headers[.allow] == said)
        let stranger = try await table.send(.put, "/api/things/7", body: "{")
        #expect(stranger.status == .unauthorized)
        #expect(stranger.headers[.allow] == nil)
    }

    @Test func thePathWithoutItsBaseIsNone() async throws {
        #expect(table.signatures.sorted() == ["PATCH /api/things/{id}", "PUT /api/things/{id}"])
        let answer = try await table.send(.put, "/things/7", headers: [.authorization: "me"], body: "{}")
        #expect(answer.status == .notFound)
        let other = try await table.send(.get, "/api/things/7")
        #expect(other.status == .methodNotAllowed)
        #expect(other.headers[.allow] == "PUT, PATCH")
    }
}
