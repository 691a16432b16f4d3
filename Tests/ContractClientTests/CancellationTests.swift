import Contract
import ContractClient
import Foundation
import NIOCore
import NIOPosix
import Testbed
import Testing

/// A cancelled call ends at once with a `CancellationError`, and nothing is sent again.
@Suite(.timeLimit(.minutes(30))) struct CancellationTests {
    @Test func aCancelledRequestIsNotSentAgain() async throws {
        let silent = SilentTransport()
        let client = Client<Sample>(baseURL: URL(string: "https://sample.example")!, transport: silent)
        let request = Task { try await client.send(Sample.PutThing(id: 1, name: "x")) }
        await silent.asked()
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(silent.requests == 1)
    }

    @Test func aCancelledCallerDoesNotEndTheRenewalOfOthers() async throws {
        let begun = AsyncStream<Void>.makeStream()
        let answer = Reply<TokenSession.Renewed>()
        let session = TokenSession(
            store: MemoryTokenStore(tokens("old", expiresIn: 0)), now: { start },
            refresh: { _ in
                begun.continuation.yield()
                return try await answer.value()
            })
        let (first, second) = (Task { try await session.token() }, Task { try await session.token() })
        for await _ in begun.stream { break }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        answer.deliver(.success(.init(accessToken: "new", expiresIn: 3600)))
        #expect(try await second.value == "new")
    }

    @Test func theTransportEndsARequestThatTheServerNeverAnswers() async throws {
        let accepted = AsyncStream<Void>.makeStream()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.continuation.yield()
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/"))
        let request = Task {
            try await URLSessionTransport().send(TransportRequest(method: .get, url: url), progress: nil)
        }
        for await _ in accepted.stream { break }
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        try await server.close()
    }

    @Test func aRequestThatIsCancelledBeforeIsNotSent() async throws {
        let request = Task {
            while !Task.isCancelled { await Task.yield() }
            let url = URL(string: "http://127.0.0.1:1/")!
            return try await URLSessionTransport().send(TransportRequest(method: .get, url: url), progress: nil)
        }
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
    }
}

/// The repeat of a deletion whose answer was lost finds nothing: the deletion has succeeded.
@Suite(.timeLimit(.minutes(30))) struct RepeatedDeletionTests {
    private func client(_ transport: ScriptedTransport) -> Client<Sample> {
        var retry = Retry.standard
        retry.sleep = { _ in }
        return Client(baseURL: URL(string: "https://sample.example")!, transport: transport, retry: retry)
    }

    private static let notFound: ScriptedTransport.Step = { _ in
        TransportResponse(status: .notFound, body: Array(#"{"error":"Not found"}"#.utf8))
    }

    @Test(arguments: [true, false])
    func aRepeatThatFindsNothingHasSucceeded(isLost: Bool) async throws {
        let transport = ScriptedTransport(
            { _ in
                if isLost { throw URLError(.networkConnectionLost) }
                return TransportResponse(status: .badGateway)
            }, Self.notFound)
        let answer = try await client(transport).answer(Sample.DeleteThing(id: 1))
        #expect(answer.status == .noContent)
        #expect(transport.requests.count == 2)
    }

    @Test func aFirstAttemptThatFindsNothingFails() async throws {
        let throttled: ScriptedTransport.Step = { _ in TransportResponse(status: .tooManyRequests) }
        for transport in [ScriptedTransport(Self.notFound), ScriptedTransport(throttled, Self.notFound)] {
            let error = await #expect(throws: APIError.self) {
                try await client(transport).send(Sample.DeleteThing(id: 1))
            }
            #expect(error?.status == .notFound)
        }
    }
}
