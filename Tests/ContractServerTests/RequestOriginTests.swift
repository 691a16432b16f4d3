import Contract
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import ContractServer

/// The origin at which a request was sent, what links begin with, and whose pages may change something.
@Suite(.timeLimit(.minutes(30))) struct RequestOriginTests {
    private static let proxies = TrustedProxies([try! AddressRange("10.0.0.1")])

    private static func origin(
        _ host: String?, from peer: String? = "192.0.2.1", _ headers: HTTPFields = [:], isEncrypted: Bool = false
    ) -> RequestOrigin {
        var head = HTTPRequest(method: .post, scheme: "http", authority: host, path: "/")
        head.headerFields = headers
        return RequestOrigin(RequestHead(head), peer: peer, trusting: proxies, isEncrypted: isEncrypted)
    }

    @Test(arguments: [
        "example.com", "example.com:8080", "EXAMPLE.com", "localhost", "127.0.0.1:5000", "[::1]", "[2001:db8::1]:443",
        "my_phone.local", "a", "xn--bcher-kva.example:65535",
    ]) func aHostIsTheBeginningOfLinks(_ host: String) {
        #expect(Self.origin(host).text == "http://\(host.lowercased())")
    }

    @Test(arguments: [
        "", ":", ":80", "a:", "a:0", "a:65536", "a:-1", "a:+1", "a:8O", "a:80:80", "a b", "a/b", "a?b", "a#b", "a\\b",
        "user@a", "é.example", "[::1", "::1", "[]", "[a]", "[::1]80", "[::1%25eth0]", "[127.0.0.1]", "<a>",
        "[::1]:", "a:\u{308}80", "[\u{308}::1]",
        "\"",
        String(repeating: "a", count: 256),
    ]) func anyOtherTextIsNoHost(_ text: String) {
        #expect(Self.origin(text).text == nil)
        #expect(Self.origin(nil).text == nil)
    }

    @Test func theSchemeIsTheServersOrTheTrustedProxys() {
        let (https, http): (HTTPFields, HTTPFields) = ([.forwardedProto: "HTTPS"], [.forwardedProto: "http"])
        #expect(Self.origin("a").text == "http://a")
        #expect(Self.origin("a", isEncrypted: true).text == "https://a")
        #expect(Self.origin("a", from: "10.0.0.1", https).text == "https://a")
        #expect(Self.origin("a", from: "10.0.0.1", http, isEncrypted: true).text == "http://a")
        // Any client may write the field.
        #expect(Self.origin("a", https).text == "http://a")
        #expect(Self.origin("a", http, isEncrypted: true).text == "https://a")
        #expect(Self.origin("a", from: nil, https).text == "http://a")
    }

    // MARK: Pages of other sites

    private func isAdmitted(
        _ page: String?, to host: String?, from peer: String = "192.0.2.1", _ headers: HTTPFields = [:],
        _ method: HTTPRequest.Method = .post, known: [String] = []
    ) -> Bool {
        var headers = headers
        headers[.origin] = page
        let info = RequestInfo(
            id: "1", address: ClientAddress(peer), headers: headers, origin: Self.origin(host, from: peer, headers))
        do {
            try OriginPolicy(known).admit(method, info, ErrorMessages())
            return true
        } catch {
            #expect(error.status == .forbidden && error.message == "Cross-site request refused")
            return false
        }
    }

    @Test func theServersOwnPagesMayChangeThings() {
        #expect(isAdmitted("http://127.0.0.1:5000", to: "127.0.0.1:5000"))
        #expect(isAdmitted("http://[::1]:5000", to: "[::1]:5000"))
        #expect(isAdmitted("http://Phone.local:5000", to: "phone.local:5000"))
        #expect(isAdmitted("http://example.com", to: "example.com:80"))
        #expect(isAdmitted("https://example.com", to: "example.com", from: "10.0.0.1", [.forwardedProto: "https"]))
        // Apps send no origin.
        #expect(isAdmitted(nil, to: "127.0.0.1:5000"))
        #expect(isAdmitted(nil, to: nil))
    }

    @Test func pagesOfOtherSitesMayNot() {
        for page in [
            "https://evil.example", "null", "", "http://127.0.0.1:5001", "http://127.0.0.1", "http://localhost:5000",
            "https://127.0.0.1:5000", "http://127.0.0.1:5000.evil.example", "file://",
        ] {
            #expect(!isAdmitted(page, to: "127.0.0.1:5000"), "\(page)")
            #expect(!isAdmitted(page, to: nil), "\(page)")
            #expect(isAdmitted(page, to: "127.0.0.1:5000", [:], .get), "\(page)")
        }
        // A text that is no host has no pages.
        #expect(!isAdmitted("http://a/b", to: "a/b"))
        // What else a proxy or a client says of the host has no effect.
        let forwarded: HTTPFields = [.forwardedProto: "https", HTTPField.Name("X-Forwarded-Host")!: "evil.example"]
        #expect(!isAdmitted("https://evil.example", to: "example.com", from: "10.0.0.1", forwarded))
        // The scheme that an unknown peer writes does not count, so that the secure site is another one.
        #expect(!isAdmitted("https://example.com", to: "example.com", [.forwardedProto: "https"]))
        #expect(!isAdmitted("http://example.com", to: "example.com", from: "10.0.0.1", [.forwardedProto: "https"]))
    }

    @Test func configuredSitesCountWhateverTheHostIs() {
        let known = ["https://example.com/", "http://localhost:3000"]
        for host in ["example.com", "10.0.0.7:5000", "evil.example", "a/b"] {
            #expect(isAdmitted("https://example.com", to: host, known: known))
            #expect(isAdmitted("http://localhost:3000", to: host, known: known))
            #expect(!isAdmitted("https://other.example", to: host, known: known))
        }
    }

    @Test func theOperatorIsToldTheOrigin() throws {
        let book = LogBook()
        let policy = OriginPolicy([], report: { book.logger.notice("\($0)") })
        let long = "https://" + String(repeating: "a", count: 200)
        for origin in ["https://app.example", long] {
            let info = RequestInfo(id: "1", address: ClientAddress("192.0.2.1"), headers: [.origin: origin])
            #expect(throws: Problem.self) { try policy.admit(.post, info, ErrorMessages()) }
        }
        #expect(book.lines == ["notice https://app.example ", "notice \(long.prefix(100)) "])
    }

    // MARK: Links

    /// Answers the beginning of its links: in the request's task, in a transaction's thread, and in a stream.
    private func links(followHost: Bool) -> ContractServer.Router<Sample> {
        var routes = Routes<Sample, String>(secrets: { [[1]] }, name: { $0 }, authenticate: { _ in "anna" })
        routes.open(use: { (_: Sample.GetThing, _) -> Sample.Echo in
            let kept = LinkOrigin.keeping { (name: String) in "\(name) \(LinkOrigin.current(else: "http://set"))" }
            let elsewhere = try await Task.detached { (try kept("kept"), LinkOrigin.current(else: "http://set")) }.value
            return Sample.Echo(text: "\(LinkOrigin.current(else: "http://set")) \(elsewhere.0) \(elsewhere.1)")
        })
        var options = Router<Sample>.Options(logger: LogBook().logger)
        options.linksFollowHost = followHost
        return Router(routes, options: options)
    }

    private func text(_ table: ContractServer.Router<Sample>, _ host: String?) async throws -> String? {
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/things/1")
        let request = Request(head: head, body: .init(buffer: ByteBuffer()))
        return try await table.respond(to: request, peer: nil).answered()["text"]
    }

    @Test func linksBeginWithTheHostThatTheClientAsks() async throws {
        let table = links(followHost: true)
        #expect(try await text(table, "phone:80") == "http://phone:80 kept http://phone:80 http://set")
        #expect(try await text(table, "a/b") == "http://set kept http://set http://set")
        #expect(try await text(table, nil) == "http://set kept http://set http://set")
    }

    @Test func aPublicURLWins() async throws {
        #expect(try await text(links(followHost: false), "phone:80") == "http://set kept http://set http://set")
    }
}
