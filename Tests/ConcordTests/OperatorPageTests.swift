import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import GTSDClient
import HTTPTypes
import MessengerClient
import OperatorPage
import Testbed
import Testing

/// The API of the operator's page, over a socket, on a server that runs.
@Suite(.timeLimit(.minutes(30))) struct OperatorPageTests {
    @Test func aLinkSignsInOnce() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data")
            let link = try await page.link("--role", "moderate", "--name", "anna")
            #expect(link.hasPrefix("\(page.url)/#sign-in="), "\(link)")
            let token = try #require(link.split(separator: "=").last).description
            #expect(page.process.standardOutput.contains("concord operator link\nready\n"))

            try await page.raw(.get, "/api/session").refused(401, "Sign in with a link: run 'concord operator link'")
            let answer = try await page.raw(.post, "/api/sign-in", ["token": .string(token)])
            let session = try answer.succeeded(200)
            #expect(session["name"]?.string == "operator anna" && session["role"]?.string == "moderate")
            #expect(answer.headers[.cacheControl] == "no-store")
            let set = try #require(answer.headers[.setCookie])
            for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
                #expect(set.contains(part), "\(set)")
            }
            #expect(!set.contains("Secure"))
            let cookie = String(set.prefix { $0 != ";" })
            #expect(!set.contains(token), "the link's token is not the session's")

            let used = try await page.raw(.post, "/api/sign-in", ["token": .string(token)])
            try used.refused(401, "This link was used, or is older than 15 minutes: run 'concord operator link' again")
            let anna = page.raw.signed([.cookie: cookie])
            #expect(try await anna(.get, "/api/session").status == 200)
            #expect(try await page.raw.signed([.cookie: cookie + "x"])(.get, "/api/session").status == 401)
            #expect(try await anna(.post, "/api/sign-out").status == 204)
            #expect(try await anna(.get, "/api/session").status == 401)
            try await page.stop()
        }
    }

    @Test func aRestartAndAnotherServerKnowNoCookie() async throws {
        try await withTemporaryFolder { folder in
            let first = try await PageServer.started(folder + "/data")
            let cookie = try await first.cookie()
            try await first.stop()
            let again = try await PageServer.started(folder + "/data", port: first.port)
            #expect(try await again.raw.signed([.cookie: cookie])(.get, "/api/session").status == 401)
            try await again.stop()
            let gone = try await PageServer.concord(["operator", "link", "--data", folder + "/data"])
            #expect(gone.status == 1 && gone.errors.contains("No server uses"), "\(gone.errors)")
        }
    }

    @Test func aForeignSiteIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data")
            let all = page.raw.signed([.cookie: try await page.cookie()])
            let words = "A page of another site sent this request, so nothing was done"
            for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "\(page.url).evil.example"] {
                try await all(.post, "/api/sign-out", headers: [.origin: origin]).refused(403, words)
            }
            let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
            for (method, path) in [(HTTPRequest.Method.get, "/api/overview"), (.post, "/api/sign-out")] {
                for value in ["cross-site", "same-site"] {
                    try await all(method, path, headers: [site: value]).refused(403, words)
                }
            }
            #expect(try await all(.get, "/api/overview", headers: [site: "same-origin"]).status == 200)
            #expect(try await all(.post, "/api/sign-out", headers: [.origin: page.url]).status == 204)
            try await page.stop()
        }
    }

    /// The page wants TLS behind a proxy, and metrics go on without.
    @Test func aNetworkWantsTLS() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data", more: ["--trusted-proxy", "127.0.0.1"])
            func forwarded(by scheme: String) throws -> HTTPFields {
                [
                    try #require(HTTPField.Name("X-Forwarded-For")): "192.0.2.7",
                    try #require(HTTPField.Name("X-Forwarded-Proto")): scheme,
                ]
            }
            let token = try #require(try await page.link().split(separator: "=").last).description
            let body: JSONValue = ["token": .string(token)]
            let plain = try await page.raw(.post, "/api/sign-in", body, headers: try forwarded(by: "http"))
            #expect(plain.status == 403 && plain.text.contains("behind a proxy with TLS"), "\(plain.text)")
            for path in ["/metrics", "/health", "/ready"] {
                #expect(try await page.raw(.get, path, headers: try forwarded(by: "http")).status == 200)
            }
            let secure = try await page.raw(.post, "/api/sign-in", body, headers: try forwarded(by: "https"))
            #expect(secure.headers[.setCookie]?.contains("Secure") == true, "\(secure.text)")
            try await page.stop()
        }
    }

    @Test func theRoleModerateMayNotDoEverything() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data")
            let moderator = page.raw.signed([.cookie: try await page.cookie("--role", "moderate")])
            for path in ["/api/audit", "/api/problems", "/api/log", "/api/people/messenger/1/export?reason=a"] {
                let refused = try await moderator(.get, path)
                #expect(refused.status == 403, "\(path) \(refused.text)")
                #expect(refused.text.contains("this needs the role all"))
            }
            for (path, body) in [
                ("/api/people/messenger/1/delete", ["reason": "a"]), ("/api/backups", [:]),
                ("/api/test-email", ["address": "a@example.com"]),
            ] as [(String, JSONValue)] { #expect(try await moderator(.post, path, body).status == 403, "\(path)") }
            for path in ["/api/overview", "/api/people?text=a", "/api/reports"] {
                #expect(try await moderator(.get, path).status == 200, "\(path)")
            }
            let all = page.raw.signed([.cookie: try await page.cookie()])
            try await all(.post, "/api/backups", [:]).refused(
                409, "The server has no place for backups: start it with --backup-to")
            try await page.stop()
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anOperatorHelpsAndSuspendsAPerson(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let page = try await PageServer.started(
                place.folder + "/data", more: place.url.map { ["--database", $0] } ?? [])
            let (_, bob) = try await page.people()
            let all = page.raw.signed([.cookie: try await page.cookie("--name", "anna")])
            let found = try await all(.get, "/api/people?text=BOB").succeeded(200)
            #expect(found.elements.map { $0["name"]?.string ?? "" } == ["bob"])
            let id = try #require(found.elements.first?["id"]?.string)
            let shown = try await all(.get, "/api/people/messenger/\(id)").succeeded(200)
            #expect(shown["email"]?.string == "bob@example.com" && shown["sessions"]?.elements.count == 1)

            func post(_ step: String, _ body: JSONValue) async throws -> RawAnswer {
                try await all(.post, "/api/people/messenger/\(id)/\(step)", body)
            }
            try await post("suspend", ["reason": "  "]).refused(400, "The reason is empty")
            let suspended = try await post("suspend", ["reason": "spam", "until": "2099-01-01T00:00:00Z"]).succeeded(
                200)
            #expect(suspended["suspension"]?["until"]?.string == "2099-01-01T00:00:00Z", "\(suspended)")
            try await post("suspend", ["reason": "spam"]).refused(409, "\(id) is suspended already")
            await #expect(throws: (any Error).self) { try await bob.send(Messenger.ListChats()) }
            try await post("restore", [:]).succeeded(200)
            try await bob.send(Messenger.ListChats())
            let code = try await post("reset-code", [:]).succeeded(200)
            #expect(code["code"]?.string?.isEmpty == false, "\(code)")
            #expect(try await post("sign-out", ["reason": "lost"]).succeeded(200)["sessions"] == 1)
            let archive = try await all(.get, "/api/people/messenger/\(id)/export?reason=asked")
            #expect(archive.headers[.contentType] == "application/zip" && archive.body.starts(with: Array("PK".utf8)))
            try await post("delete", ["reason": "asked"]).succeeded(200)
            let gone = try await all(.get, "/api/people/messenger/\(id)")
            try gone.refused(409, "There is no person \(id) in Messenger")
            #expect(try await all(.get, "/api/people/nowhere/1").status == 404)

            let audit = try await all(.get, "/api/audit").succeeded(200).elements
            let lines = audit.filter { $0["actor"]?.string == "operator anna" }.compactMap { $0["action"]?.string }
            #expect(
                lines == [
                    "people suspend", "people restore", "people reset-code", "people sign-out", "people export",
                    "people delete",
                ], "\(audit)")
            try await page.stop()
        }
    }

    @Test func oneOfTwoOperatorsClosesAReport() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data")
            let (alice, bob) = try await page.people()
            let chat = try await alice.send(Messenger.CreateChat.direct(with: try #require(try await bob.user))).id
            let picture = try await bob.upload(Upload(.bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg"))
                .id
            let page2 = try await bob.upload(Upload(.bytes(Array("<script>".utf8)), filename: "a.html")).id
            for file in [picture, page2] {
                let message = try await bob.send(Messenger.SendMessage(chat: chat, content: "rude", file: file)).id
                try await alice.send(Messenger.CreateReport(message: message, reason: "rude"))
            }
            let (one, other) = (
                page.raw.signed([.cookie: try await page.cookie("--name", "anna")]),
                page.raw.signed([.cookie: try await page.cookie("--name", "ben", "--role", "moderate")])
            )
            let open = try await other(.get, "/api/reports").succeeded(200)
            #expect(open.elements.count == 2)
            let shown = try await other(.get, "/api/reports/messenger/1").succeeded(200)
            #expect(shown["content"]?.string == "rude" && shown["present"]?.string == "rude")

            let image = try await one(.get, "/api/reports/messenger/1/files/1")
            #expect(image.headers[.contentType] == "image/jpeg" && image.status == 200)
            let script = try await one(.get, "/api/reports/messenger/2/files/1")
            #expect(script.headers[.contentType] == "application/octet-stream" && script.text == "<script>")
            for file in [image, script] {
                #expect(file.headers[.contentSecurityPolicy]?.contains("sandbox") == true)
                #expect(file.headers[.xContentTypeOptions] == "nosniff")
            }
            try await one(.get, "/api/reports/messenger/1/files/9").refused(409, "Report 1 has 1 file")

            try await other(.post, "/api/reports/messenger/1/notes", ["text": "asked bob"]).succeeded(200)
            try await one(.post, "/api/reports/messenger/1/act", ["acts": ["sing"], "reason": "a"])
                .refused(400, "acts must be of remove, suspend and warn")
            let acted = try await one(
                .post, "/api/reports/messenger/1/act", ["acts": ["remove", "suspend"], "reason": "insults"]
            ).succeeded(200)
            #expect(acted["state"]?.string == "acted" && acted["notes"]?.elements.count == 1, "\(acted)")
            let late = try await other(.post, "/api/reports/messenger/1/dismiss", [:])
            #expect(late.status == 409 && late.text.contains("was closed by operator anna"), "\(late.text)")
            try await other(.post, "/api/reports/messenger/2/dismiss", [:]).succeeded(200)
            #expect(try await one(.get, "/api/reports").succeeded(200).elements.count == 0)
            #expect(try await one(.get, "/api/reports?state=all").succeeded(200).elements.count == 2)
            try await page.stop()
        }
    }

    @Test(arguments: ["text", "json"])
    func aRequestIsFoundByItsID(_ format: String) async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data", more: ["--log-format", format])
            let all = page.raw.signed([.cookie: try await page.cookie()])
            let answer = try await page.client(of: "messenger")(.get, "/chats")
            let id = try #require(answer.headers[.requestID])
            let found = try await all(.get, "/api/log?text=\(id)").succeeded(200)
            #expect(found["lines"]?.elements.count == 1, "\(found)")
            #expect(found["lines"]?.elements.first?["text"]?.string?.contains("401") == true)
            let newest = try #require(found["newest"]?.integer)
            let none = try await all(.get, "/api/log?text=\(id)&after=\(newest)").succeeded(200)
            #expect(none["lines"]?.elements.isEmpty == true)
            try await all(.get, "/api/log?level=loud").refused(400, "level is not one of a log")
            try await page.stop()
        }
    }

    @Test func theOverviewShowsABackup() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data", more: ["--backup-to", folder + "/backups"])
            let all = page.raw.signed([.cookie: try await page.cookie()])
            let before = try await all(.get, "/api/overview").succeeded(200)
            #expect(before["apis"]?.elements.first?["ready"] == true, "\(before)")
            #expect(before["backup"]?["newest_at"] == nil && before["backup"]?["running"] == false)
            #expect(try await all(.post, "/api/backups", [:]).status == 202)
            while try await all(.get, "/api/overview").succeeded(200)["backup"]?["newest_at"]?.string == nil {
                try await Task.sleep(for: .milliseconds(50))
            }
            let test = try await all(.post, "/api/test-email", ["address": "anna@example.com"])
            #expect(test.status == 409 && test.text.contains("no mail server is set"), "\(test.text)")
            try await all(.get, "/api/problems").succeeded(200)
            try await page.stop()
        }
    }

    @Test func tokensOfMonicaAreMadeAndRevoked() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data", apis: ["messenger", "monica"])
            let all = page.raw.signed([.cookie: try await page.cookie("--name", "anna")])
            let body: JSONValue = ["account": "alice", "name": "phone"]
            let made = try await all(.post, "/api/tokens/monica", body).succeeded(200)
            #expect(made["text"]?.string?.utf8.count == 43, "\(made)")
            let list = try await all(.get, "/api/tokens/monica?account=alice").succeeded(200).elements
            #expect(list.map { $0["name"]?.string ?? "" } == ["phone"])
            let number = try #require(list.first?["number"]?.integer)
            #expect(try await all(.post, "/api/tokens/monica/\(number)/revoke").status == 204)
            #expect(try await all(.post, "/api/tokens/monica/\(number)/revoke").status == 409)
            #expect(try await all(.get, "/api/tokens/messenger?account=alice").status == 404)
            let moderator = page.raw.signed([.cookie: try await page.cookie("--role", "moderate")])
            #expect(try await moderator(.post, "/api/tokens/monica", body).status == 403)
            try await page.stop()
        }
    }

    /// The files of the page, with the style and the elements that it shares with the reference pages, have no need to be larger.
    @Test func theFilesAreSmallAndReadNoTextAsAProgram() throws {
        let files = OperatorPage.files
        #expect(files.reduce(0) { $0 + $1.bytes.count } <= 60_000)
        let texts = files.map { (path: $0.path, text: String(decoding: $0.bytes, as: UTF8.self)) }
        for (path, text) in texts {
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                "localStorage",
                "<style", " style=", "https://",
            ] { #expect(!text.contains(word), "\(path): \(word)") }
        }
        // Every file is loaded by the page or by one of its scripts.
        let named = texts.flatMap { path, text in
            text.matches(of: #/(?:src|href)="((?:page|reference)\/[^"]+)"/#).map { "/\($0.output.1)" }
                + text.matches(of: #/from "\.\/([^"]+)"/#).map { "/page/\($0.output.1)" }
                + text.matches(of: #/from "\.\.\/([^"]+)"/#).map { "/\($0.output.1)" }
        }
        #expect(Set(named + ["/"]) == Set(files.map(\.path)))
    }

    /// A person who has accounts of one address is three people: what is done to one is not done to the others.
    @Test func peopleOfThreeAPIsWithOneAddress() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data", apis: ["messenger", "gtsd", "dunbar"])
            let (_, bob) = try await page.people()
            let address = "bob@example.com"
            let gtsd = GTSDClient(baseURL: try page.url(of: "gtsd"), transport: .patient, retry: .never)
            try await gtsd.signUp(email: address, password: "Secret-123")
            let dunbar = DunbarClient(
                baseURL: try page.url(of: "dunbar").appendingPathComponent("api"), store: MemoryCookieStore(),
                transport: .patient, retry: .never)
            try await dunbar.register(
                .init(username: "robert", email: address, password: "secret123", displayName: "Robert"))
            let all = page.raw.signed([.cookie: try await page.cookie()])
            let session = try await all(.get, "/api/session").succeeded(200)
            #expect(session["apis"]?.elements.compactMap { $0["name"]?.string } == ["messenger", "gtsd", "dunbar"])

            let found = try await all(.get, "/api/people?text=\(address)").succeeded(200).elements
            #expect(found.compactMap { $0["api"]?.string } == ["messenger", "gtsd", "dunbar"])
            #expect(found.allSatisfy { $0["email"]?.string == address })
            let id = try #require(found.last?["id"]?.string)
            try await all(.post, "/api/people/dunbar/\(id)/suspend", ["reason": "spam"]).succeeded(200)
            await #expect(throws: (any Error).self) { try await dunbar.send(Dunbar.GetFeed()) }
            try await bob.send(Messenger.ListChats())
            try await gtsd.send(GTSD.GetMe())
            let now = try await all(.get, "/api/people?text=\(address)").succeeded(200).elements
            #expect(now.map { $0["suspension"] != nil } == [false, false, true])
            try await page.stop()
        }
    }

    @Test func anotherServersCookieIsNoSession() async throws {
        try await withTemporaryFolder { folder in
            let (one, other) = (
                try await PageServer.started(folder + "/one"), try await PageServer.started(folder + "/other")
            )
            let cookie = try await one.cookie()
            let value = try #require(cookie.split(separator: "=").last)
            #expect(try await one.raw.signed([.cookie: cookie])(.get, "/api/session").status == 200)
            for name in [cookie.prefix { $0 != "=" }, "concord_operator_\(other.port)", "concord_operator"] {
                let foreign = other.raw.signed([.cookie: "\(name)=\(value)"])
                try await foreign(.get, "/api/session").refused(401, "Sign in with a link: run 'concord operator link'")
                #expect(try await foreign(.post, "/api/sign-out").status == 401)
            }
            #expect(try await one.raw.signed([.cookie: cookie])(.get, "/api/session").status == 200)
            try await one.stop()
            try await other.stop()
        }
    }

    @Test func thePageAsksNoOtherHost() async throws {
        try await withTemporaryFolder { folder in
            let page = try await PageServer.started(folder + "/data")
            let answer = try await page.raw(.get, "/")
            #expect(answer.headers[.contentSecurityPolicy]?.contains("default-src 'self'") == true)
            #expect(answer.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            #expect(answer.headers[.xContentTypeOptions] == "nosniff")
            #expect(!answer.text.contains("http"), "no address of another host")
            try await page.stop()
        }
    }
}

/// A server with Messenger and an operator's port.
struct PageServer {
    let process: ConcordProcess
    let folder: String
    let port: Int
    /// The ports of the APIs by their names.
    let ports: [String: Int]

    var url: String { "http://127.0.0.1:\(port)" }
    var raw: RawClient { RawClient(baseURL: URL(string: url)!, transport: .patient) }

    /// Returns a stranger's client of an API.
    func client(of api: String) throws -> RawClient { RawClient(baseURL: try url(of: api), transport: .patient) }

    /// Returns the URL at which an API listens.
    func url(of api: String) throws -> URL {
        let port = try #require(ports[api])
        return try #require(URL(string: "http://127.0.0.1:\(port)"))
    }

    static func started(
        _ folder: String, port: Int? = nil, more: [String] = [], apis: [String] = ["messenger"],
        environment: [String: String] = [:]
    ) async throws -> PageServer {
        let free = try await reservePort()
        let chosen = port ?? free
        var ports: [String: Int] = [:]
        for api in apis { ports[api] = try await reservePort() }
        let process = try ConcordProcess(
            ["serve"] + apis + ["--data", folder, "--port", "operator=\(chosen)"]
                + ports.flatMap { ["--port", "\($0)=\($1)"] } + more, environment: environment)
        try await process.waitUntilReady()
        return PageServer(process: process, folder: folder, port: chosen, ports: ports)
    }

    static func concord(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        let process = try ConcordProcess(arguments, environment: ["SUDO_USER": "root"])
        let output = await process.wholeOutput()
        return (await process.status(), output, await process.standardError())
    }

    func link(_ options: String...) async throws -> String { try await link(options) }

    private func link(_ options: [String]) async throws -> String {
        let made = try await Self.concord(["operator", "link", "--data", folder] + options)
        try #require(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .newlines)
    }

    /// Signs an operator in, and returns the cookie.
    func cookie(_ options: String...) async throws -> String {
        let token = try #require(try await link(options).split(separator: "=").last)
        let answer = try await raw(.post, "/api/sign-in", ["token": .string(String(token))])
        return String(try #require(answer.headers[.setCookie]).prefix { $0 != ";" })
    }

    /// Registers Alice and Bob.
    func people() async throws -> (MessengerClient, MessengerClient) {
        func client(_ name: String) async throws -> MessengerClient {
            let client = MessengerClient(baseURL: try url(of: "messenger"), transport: .patient, retry: .never)
            try await client.send(
                Messenger.Register(username: name, email: "\(name)@example.com", password: "secret123"))
            try await client.signIn(username: name, password: "secret123")
            return client
        }
        return (try await client("alice"), try await client("bob"))
    }

    func stop() async throws {
        process.signal(SIGTERM)
        let (status, log) = (await process.status(), await process.standardError())
        #expect(status == 0, "\(log.suffix(2000))")
    }
}
