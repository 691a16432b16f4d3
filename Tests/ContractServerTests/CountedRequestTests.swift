import Contract
import ContractServer
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// An API with a rate limit reports it with every answer.
@Suite(.timeLimit(.minutes(30))) struct CountedRequestTests {
    private let counted = NIOLockedValueBox<[String]>([])

    /// A router that lets two requests through.
    private var table: Router<Sample> {
        var routes = Routes<Sample, String>(
            secrets: { [[1]] }, name: { $0 },
            authenticate: { info in
                guard let name = info.headers[.authorization] else { throw Problem(.unauthorized, "Who are you?") }
                return name
            },
            headers: { [counted] route, caller in
                let count = counted.withLockedValue { counted in
                    counted.append("\(caller) \(route.path)")
                    return counted.count
                }
                let headers: HTTPFields = [.rateLimitRemaining: String(max(0, 2 - count))]
                guard count <= 2 else { throw Problem(.tooManyRequests, "Too many", headers: headers) }
                return headers
            })
        routes.on(answering: { (request: Sample.AddNote, caller, _) in
            if request.text == "unforeseen" { throw Unforeseen() }
            return Answer(.created, Sample.Echo(text: "\(caller): \(request.text)"))
        })
        var options = Router<Sample>.Options(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        options.showsDetails = true
        return Router(routes, options: options)
    }

    private struct Unforeseen: Error {}

    private func send(_ body: String, _ headers: HTTPFields = [.authorization: "anna"]) async throws -> Answered {
        try await table.send(.post, "/things/7/notes", headers: headers, body: body)
    }

    @Test func everyAnswerReportsTheRemainingRequests() async throws {
        let first = try await send(#"{"text":"a"}"#)
        #expect(first.status == .created)
        #expect(first.headers[.rateLimitRemaining] == "1")
        // An unexpected error's answer reports it too.
        let second = try await send(#"{"text":"unforeseen"}"#)
        #expect(second.status == .internalServerError)
        #expect(second.headers[.rateLimitRemaining] == "0")
        #expect(counted.withLockedValue { $0 } == ["anna /things/{id}/notes", "anna /things/{id}/notes"])
    }

    @Test func excessBytesAreNotRead() async throws {
        for _ in 0..<2 {
            let refused = try await send("{")
            #expect(refused.status == .badRequest)
            #expect(refused.headers[.rateLimitRemaining] != nil)
        }
        let third = try await send(String(repeating: " ", count: 2_000_000))
        #expect(third.status == .tooManyRequests)
        #expect(third.headers[values: .rateLimitRemaining] == ["0"])
    }

    @Test func aStrangerIsNotCounted() async throws {
        let answer = try await send("{}", [:])
        #expect(answer.status == .unauthorized)
        #expect(answer.headers[.rateLimitRemaining] == nil)
        #expect(counted.withLockedValue { $0 }.isEmpty)
    }
}
