import Contract
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@testable import ContractClient

/// Requests are retried only when that is safe, after the right delays.
@Suite(.timeLimit(.minutes(30))) struct RetryTests {
    private let waits = Waits()

    private func client(_ transport: ScriptedTransport, _ retry: Retry? = nil) throws -> Client<Sample> {
        Client(
            baseURL: try #require(URL(string: "https://api.example.com")), transport: transport,
            retry: retry ?? waits.retry())
    }

    private static let passing: [ScriptedTransport.Step] = [
        offline, failure(URLError(.timedOut)), answer(.tooManyRequests), answer(.badGateway),
        answer(.serviceUnavailable), answer(.gatewayTimeout),
    ]

    @Test(arguments: passing)
    func safeRequestsAreRepeated(_ trouble: @escaping ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport(
            trouble, answer(.ok), trouble, answer(.ok), trouble, answer(.noContent, ""), trouble, answer(.created))
        let client = try client(transport)
        try await client.send(Sample.GetThing(id: "1"))
        try await client.send(Sample.PutThing(id: 1, name: "n"))
        try await client.send(Sample.DeleteThing(id: 1))
        try await client.send(Sample.AddThing(name: "n"))
        #expect(transport.requests.count == 8)
        #expect(waits.all.count == 4)
    }

    @Test(arguments: passing)
    func aPostWithoutAKeyNeverIs(_ trouble: @escaping ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport(trouble, trouble)
        let client = try client(transport)
        await #expect(throws: (any Error).self) { try await client.send(Sample.Act(name: "n")) }
        await #expect(throws: (any Error).self) { try await client.send(Sample.Patch(id: 1)) }
        #expect(transport.requests.count == 2)
        #expect(waits.all.isEmpty)
    }

    @Test func aRepeatHasTheSameKeyAndBody() async throws {
        let transport = ScriptedTransport(offline, answer(.serviceUnavailable), offline, answer(.created))
        try await client(transport).send(Sample.AddThing(name: "n"))
        let keys = transport.requests.compactMap { $0.headers[.idempotencyKey] }
        #expect(keys.count == 4)
        #expect(Set(keys).count == 1)
        for request in transport.requests {
            guard case .bytes(let bytes) = request.body else { return #expect(Bool(false), "no body") }
            #expect(String(decoding: bytes, as: UTF8.self) == #"{"name":"n"}"#)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 409, 413, 422, 500, 501] as [HTTPResponse.Status])
    func aVerdictIsNotAskedForTwice(_ status: HTTPResponse.Status) async throws {
        let transport = ScriptedTransport(answer(status, headers: [.retryAfter: "1"]))
        let client = try client(transport)
        await #expect(throws: APIError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [failure(CancellationError()), failure(URLError(.cancelled))])
    func cancelledRequestsAreNotRepeated(_ trouble: @escaping ScriptedTransport.Step) async throws {
        let transport = ScriptedTransport(trouble)
        let client = try client(transport)
        await #expect(throws: (any Error).self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 1)
    }

    @Test func itGivesUpAfterItsAttempts() async throws {
        let transport = ScriptedTransport(offline, answer(.serviceUnavailable), offline, answer(.badGateway, "{}"))
        let client = try client(transport)
        let error = await #expect(throws: APIError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(error?.status == .badGateway)
        #expect(transport.requests.count == 4)

        let never = ScriptedTransport(offline)
        let once = try self.client(never, .never)
        await #expect(throws: URLError.self) { try await once.send(Sample.GetThing(id: "1")) }
        #expect(never.requests.count == 1)
    }

    @Test(arguments: [
        (1.0, [0.5, 1.0, 2.0, 3.0, 3.0]),
        (0.5, [0.25, 0.5, 1.0, 1.5, 1.5]),
        (0.0, [0.0, 0.0, 0.0, 0.0, 0.0]),
    ])
    func waitsAreDoubledUpToTheCapAndJittered(_ random: Double, _ seconds: [Double]) async throws {
        let transport = ScriptedTransport(offline, offline, offline, offline, offline, answer(.ok))
        let retry = waits.retry(attempts: 5, cap: .seconds(3), random: random)
        try await client(transport, retry).send(Sample.GetThing(id: "1"))
        #expect(waits.all == seconds.map { .seconds($0) })
    }

    @Test func retryAfterIsHonoured() async throws {
        let transport = ScriptedTransport(
            // The delay equals the cap.
            answer(.tooManyRequests, headers: [.retryAfter: "20"]),
            answer(.serviceUnavailable, headers: [.retryAfter: "0"]),
            answer(.serviceUnavailable, headers: [.retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT"]), answer(.ok))
        try await client(transport, waits.retry(random: 0)).send(Sample.GetThing(id: "1"))
        #expect(waits.all == [.seconds(20), .zero, .zero])
    }

    /// A server that gives a point in time instead of a duration is understood by this device's clock.
    @Test func aLimitsResetIsHonouredWithoutRetryAfter() async throws {
        let transport = ScriptedTransport(
            answer(.tooManyRequests, headers: [.rateLimitReset: "1771840807"]),
            answer(.tooManyRequests, headers: [.rateLimitReset: "1771840790"]),
            answer(.tooManyRequests, headers: [.rateLimitReset: "1771840807", .retryAfter: "2"]), answer(.ok))
        var retry = waits.retry(random: 0)
        retry.now = { start }
        try await client(transport, retry).send(Sample.GetThing(id: "1"))
        #expect(waits.all == [.seconds(7), .zero, .seconds(2)])
    }

    /// Clients that received the same `Retry-After` do not all retry at the same moment.
    @Test func retryAfterIsJitteredUpwards() async throws {
        let transport = ScriptedTransport(answer(.tooManyRequests, headers: [.retryAfter: "7"]), answer(.ok))
        try await client(transport).send(Sample.GetThing(id: "1"))
        #expect(waits.all == [.seconds(7.5)])
    }

    @Test(arguments: ["21", "86400", "9223372036854775807"])
    func aRetryAfterBeyondTheCapIsLeftToTheCaller(_ seconds: String) async throws {
        let transport = ScriptedTransport(answer(.tooManyRequests, headers: [.retryAfter: seconds]))
        let client = try client(transport)
        let error = await #expect(throws: APIError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(error?.retryAfter == Int(seconds))
        #expect(waits.all.isEmpty)
    }

    @Test func aWaitThatIsCancelledEndsTheRequest() async throws {
        let transport = ScriptedTransport(offline, answer(.ok))
        let client = try client(transport, Retry(sleep: { _ in throw CancellationError() }))
        await #expect(throws: CancellationError.self) { try await client.send(Sample.GetThing(id: "1")) }
        #expect(transport.requests.count == 1)
    }
}
