import Backend
import ContractCheck
import ContractClient
import DeuceDiaryAPI
import DeuceDiaryCheck
import Foundation
import HTTPTypes
import Testbed
import Testing

/// The page that a browser sees when it follows an invite's link.
@Suite(.timeLimit(.minutes(30))) struct InvitationPageTests {
    private static let links = AppLinks(appIDs: ["ABCDE12345.com.example.diary"])
    private static let browser: HTTPFields = [.accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"]

    /// Sends a request whose answer is not JSON, which the checks demand of all others.
    private func open(
        _ path: String, on host: DeuceDiaryHost, _ headers: HTTPFields = browser, _ method: HTTPRequest.Method = .get
    ) async throws -> TransportResponse {
        let url = try #require(URL(string: host.baseURL.absoluteString + path))
        var request = TransportRequest(method: method, url: url)
        request.headers = headers
        return try await host.transport.send(request, progress: nil)
    }

    @Test(arguments: Stack.all)
    func aBrowserIsLedToAPageAndAnAppToItself(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack, appLinks: Self.links) { host in
            let john = try await host.world().person()
            let invite = try await john.send(DeuceDiary.CreateInvite(group: try await john.group("Throne Room"))).id
            let led = try await open("/join/\(invite)", on: host)
            #expect(led.status == .found && led.headers[.location] == "/invitation/\(invite)")
            #expect(led.headers[.vary] == "Accept")
            for headers in [[:], [.accept: "*/*"], [.accept: "application/json"]] as [HTTPFields] {
                let app = try await open("/join/\(invite)", on: host, headers)
                #expect(app.status == .found && app.headers[.location] == "deucediary://join/\(invite)")
            }
            #expect(try await open("/join/x", on: host).status == .notFound)

            let page = try await open("/invitation/\(invite)", on: host)
            let text = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == .ok && page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(text.contains("<h1><bdi>John Doe</bdi> invites you to <bdi>Throne Room</bdi></h1>"))
            #expect(text.contains(#"<a class="main" href="deucediary://join/\#(invite)">Open in the app</a>"#))
            #expect(text.contains(#"<a href="https://apps.apple.com/app/id1?a=1&amp;b=2">Get the app</a>"#))
            #expect(!text.contains("<script") && !text.contains("@example.com") && !text.contains(john.id.rawValue))
            #expect(page.headers[.cacheControl] == "no-store")
            #expect(page.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
            #expect(page.headers[.xContentTypeOptions] == "nosniff")
            let head = try await open("/invitation/\(invite)", on: host, Self.browser, .head)
            #expect(head.status == .ok && head.body.isEmpty)
            #expect(head.headers[.contentLength] == "\(page.body.count)")
            #expect(try await open("/invitation/\(invite)", on: host, Self.browser, .post).status == .methodNotAllowed)
        }
    }

    @Test(arguments: Stack.all)
    func anInviteThatHasEndedSaysSo(_ stack: Stack) async throws {
        let clock = TestClock()
        try await withDeuceDiary(on: stack, clock: clock, appLinks: Self.links) { host in
            let john = try await host.world().person()
            let group = try await john.group("Throne Room")
            let (revoked, late) = (
                try await john.send(DeuceDiary.CreateInvite(group: group)).id,
                try await john.send(DeuceDiary.CreateInvite(group: group)).id
            )
            try await john.client.revoke(revoked)
            func check(_ id: String) async throws {
                let page = try await open("/invitation/\(id)", on: host)
                let text = String(decoding: page.body, as: UTF8.self)
                #expect(page.status == .notFound && text.contains("<h1>This invitation has ended</h1>"), "\(id)")
                #expect(
                    !text.contains("John") && !text.contains("Throne Room") && !text.contains("deucediary:"), "\(id)")
                #expect(page.headers[.cacheControl] == "no-store", "\(id)")
            }
            for id in [revoked.rawValue, UUID().uuidString.lowercased(), "x", "%00", "%3Cscript%3E"] {
                try await check(id)
            }
            #expect(try await open("/invitation/\(late)", on: host).status == .ok)
            clock.advance(by: .seconds(7 * 24 * 3600 + 1))
            try await check(late.rawValue)
        }
    }

    /// The names of people and groups are texts of strangers.
    @Test(arguments: Stack.all)
    func namesAreTextAndNothingElse(_ stack: Stack) async throws {
        let attack = #"<script>alert('1')</script>"&amp;<img src=x onerror=alert(2)>"#
        try await withDeuceDiary(on: stack, appLinks: Self.links) { host in
            let world = host.world()
            let mallory = try await world.stranger(
                Bearer(subject: world.freshID(), firstName: attack, lastName: "</h1>"))
            let invite = try await mallory.send(
                DeuceDiary.CreateInvite(group: try await mallory.group("</bdi>\(attack)"))
            ).id
            let text = String(decoding: try await open("/invitation/\(invite)", on: host).body, as: UTF8.self)
            #expect(!text.contains("<script") && !text.contains("<img") && text.split(separator: "</h1>").count == 2)
            #expect(text.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;amp;&lt;img src=x"))
            #expect(text.contains("<bdi>&lt;/bdi&gt;&lt;script"))
        }
    }

    /// The page counts for the address that asks for it, as other requests without a token do.
    @Test func thePageIsLimited() async throws {
        try await withDeuceDiary(on: Stack(.sqlite, .inProcess), requestsPerMinute: 3, appLinks: Self.links) { host in
            let path = "/invitation/\(UUID().uuidString.lowercased())"
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await open(path, on: host).status.code) }
            #expect(statuses == [404, 404, 404, 429])
        }
    }
}
