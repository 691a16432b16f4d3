import ContractCheck
import Foundation
import NIOConcurrencyHelpers
import Push
import Testbed
import Testing

/// Notifications reach a service that speaks HTTP/2 over TLS and checks them as Apple's does.
@Suite(.timeLimit(.minutes(Torture.minutes))) struct APNsTests {
    private let clock = TestClock()

    private func run(_ body: (APNsStandIn, APNsClient) async throws -> Void) async throws {
        try await APNsStandIn.run(by: clock) { try await body($0, try $0.client()) }
    }

    private func push(
        _ index: Int = 0, payload: String = #"{"aps":{"alert":"Hi"}}"#, collapseID: String? = nil
    ) -> PushNotification {
        let token = String(repeating: "0", count: 56) + String(format: "%08x", index)
        return PushNotification(
            to: .init(token: token, environment: index.isMultiple(of: 2) ? .production : .sandbox),
            payload: Array(payload.utf8), expiresAt: clock.source.seconds + 3600, collapseID: collapseID)
    }

    @Test func aNotificationHasItsHeaders() async throws {
        try await run { service, client async throws in
            #expect(await client.send(push(7, collapseID: "message-5")) == .sent)
            let taken = service.taken
            #expect(taken.count == 1)
            #expect(taken.first?.token == push(7).device.token)
            #expect(taken.first?.display("alert") == "Hi")
            let headers = taken.first?.headers ?? [:]
            #expect(headers["apns-push-type"] == "alert")
            #expect(headers["apns-priority"] == "10")
            #expect(headers["apns-expiration"] == "\(clock.source.seconds + 3600)")
            #expect(headers["apns-collapse-id"] == "message-5")
        }
    }

    /// One connection carries them, and one token of the team.
    @Test func manyNotificationsAtOnce() async throws {
        let count = Torture.isOn ? 10_000 : 500
        try await run { service, client async throws in
            let outcomes = try await together(count, width: 200) { await client.send(push($0)) }
            #expect(outcomes.allSatisfy { $0 == .sent })
            #expect(Set(service.taken.map(\.token)).count == count)
            #expect(service.taken.count == count)
            #expect(service.tokenCount == 1)
            #expect(service.connectionCount < 50)
        }
    }

    @Test func whatIsTooLargeIsNotSent() async throws {
        try await run { service, client async throws in
            func payload(_ count: Int) -> String {
                let frame = #"{"aps":{"alert":""}}"#
                return #"{"aps":{"alert":"\#(String(repeating: "x", count: count - frame.utf8.count))"}}"#
            }
            #expect(await client.send(push(payload: payload(4096))) == .sent)
            #expect(await client.send(push(payload: payload(4097))) == .refused(reason: "PayloadTooLarge"))
            let id = String(repeating: "é", count: 32)
            #expect(await client.send(push(collapseID: id)) == .sent)
            #expect(await client.send(push(collapseID: id + "x")) == .refused(reason: "BadCollapseId"))
            #expect(service.taken.count == 2)
        }
    }

    @Test(arguments: [
        (
            APNsStandIn.Reply.refuse(410, reason: "Unregistered", timestamp: 5),
            PushOutcome.gone(reason: "Unregistered", since: 5)
        ),
        (.refuse(400, reason: "BadDeviceToken"), .gone(reason: "BadDeviceToken", since: nil)),
        (.refuse(400, reason: "DeviceTokenNotForTopic"), .refused(reason: "DeviceTokenNotForTopic")),
        (.refuse(403, reason: "InvalidProviderToken"), .refused(reason: "InvalidProviderToken")),
        (.refuse(404, reason: "a b\\n\\u0007<secret>"), .refused(reason: "absecret")),
        (.refuse(429, reason: "TooMany", retryAfter: 7), .postponed(reason: "TooMany", retryAfter: 7000)),
        (.refuse(429, reason: "TooManyRequests"), .postponed(reason: "TooManyRequests", retryAfter: nil)),
        (.refuse(500, reason: "InternalServerError"), .postponed(reason: "InternalServerError", retryAfter: nil)),
        (.refuse(503, reason: "Shutdown", retryAfter: 90_000), .postponed(reason: "Shutdown", retryAfter: 86_400_000)),
    ])
    func refusals(_ reply: APNsStandIn.Reply, _ outcome: PushOutcome) async throws {
        try await run { service, client async throws in
            service.reply { _ in reply }
            #expect(await client.send(push()) == outcome)
            service.reply { _ in .take }
            #expect(await client.send(push()) == .sent)
        }
    }

    /// A connection is lost with all that it carries, and each is sent again.
    @Test(arguments: [true, false])
    func lostConnections(_ isAnnounced: Bool) async throws {
        try await run { service, client async throws in
            let seen = NIOLockedValueBox(0)
            service.reply { _ in
                let number = seen.withLockedValue { seen in
                    seen += 1
                    return seen
                }
                return number.isMultiple(of: 100) ? (isAnnounced ? .goAway : .hangUp) : .take
            }
            let outcomes = try await together(500, width: 50) { await client.send(push($0)) }
            // What three connections have lost is left to the caller.
            let lost = outcomes.filter { $0 != .sent }.count
            #expect(lost < 50, "\(lost)")
            #expect(service.connectionCount > 1)
            let tokens = Set(service.taken.map(\.token))
            for (index, outcome) in outcomes.enumerated() where outcome == .sent {
                #expect(tokens.contains(push(index).device.token))
            }
        }
    }

    @Test func whereNobodyAnswersItIsPostponed() async throws {
        let port = try await reservePort()
        try await run { service, _ async throws in
            let endpoint = try #require(APNsEndpoint(standIn: "https://localhost:\(port)"))
            let client = APNsClient(
                try service.apnsKey, topic: APNsStandIn.topic, at: endpoint, now: { clock.source.seconds })
            guard case .postponed(_, nil) = await client.send(push()) else {
                Issue.record("it was not postponed")
                return
            }
            // The certificate is not one of the system's authorities.
            let strict = try #require(APNsEndpoint(standIn: "https://localhost:\(service.port)"))
            let other = APNsClient(
                try service.apnsKey, topic: APNsStandIn.topic, at: strict, now: { clock.source.seconds })
            guard case .postponed(_, nil) = await other.send(push()) else {
                Issue.record("it trusts any certificate")
                return
            }
            #expect(service.taken.isEmpty)
        }
    }

    // MARK: The team's token

    @Test func aTokenIsReplacedBeforeItExpires() async throws {
        try await run { service, client async throws in
            for minutes in [0, 19, 30] {
                clock.advance(by: .seconds(minutes * 60))
                #expect(await client.send(push()) == .sent)
                #expect(service.tokenCount == 1)
            }
            clock.advance(by: .seconds(60))
            #expect(try await together(50) { _ in await client.send(push()) }.allSatisfy { $0 == .sent })
            #expect(service.tokenCount == 2)
        }
    }

    @Test func anExpiredTokenIsReplacedAndTheNotificationSentAgain() async throws {
        try await run { service, client async throws in
            #expect(await client.send(push()) == .sent)
            clock.advance(by: .seconds(25 * 60))
            let expired = service.taken.first?.headers["authorization"]
            service.reply { push in
                push.headers["authorization"] == expired ? .refuse(403, reason: "ExpiredProviderToken") : .take
            }
            #expect(try await together(50) { await client.send(push($0)) }.allSatisfy { $0 == .sent })
            #expect(service.tokenCount == 2)
        }
    }

    /// A team that makes tokens too often is refused altogether.
    @Test func aNewTokenIsNotReplaced() async throws {
        try await run { service, client async throws in
            service.reply { _ in .refuse(403, reason: "ExpiredProviderToken") }
            for index in 0..<5 {
                #expect(
                    await client.send(push(index)) == .postponed(reason: "ExpiredProviderToken", retryAfter: nil))
            }
            #expect(service.tokenCount == 1)
        }
    }

    // MARK: Settings

    @Test func keysAreChecked() throws {
        let good = APNsStandIn.pem
        let broken = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"
        _ = try APNsKey(pem: good, id: "ABC123DEFG", team: "TEAM123456")
        for (pem, id, team) in [
            (good, "", "TEAM123456"), (good, "ABC123DEFG", "TEAM12345"), (good, "ABC 23DEFG", "TEAM123456"),
            ("", "ABC123DEFG", "TEAM123456"), (broken, "ABC123DEFG", "TEAM123456"),
        ] {
            let error = #expect(throws: APNsKeyError.self) { try APNsKey(pem: pem, id: id, team: team) }
            #expect(error?.description.contains("AAAA") == false)
        }
    }

    @Test(arguments: [
        ("https://localhost:2197", true), ("https://localhost:2197/", true), ("https://localhost?ca=/a/b.pem", true),
        ("http://localhost:2197", false), ("localhost", false), ("", false), ("https://", false),
        ("https://a/b", false), ("https://a?ca=", false), ("https://a?x=1", false), ("https://u:p@a", false),
    ])
    func standIns(_ url: String, _ isGood: Bool) { #expect((APNsEndpoint(standIn: url) != nil) == isGood) }
}
