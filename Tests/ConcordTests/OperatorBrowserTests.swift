import Contract
import ContractCheck
import ContractClient
import DunbarClient
import Foundation
import MessengerClient
import Testbed
import Testing

/// The operator's page in a real browser, which Tests/Browser drives: each view and each button.
@Suite(
    .enabled(if: Chromium.isThere, "`make test` installs chromium-headless-shell and sets CONCORD_PYTHON"),
    .serialized, .timeLimit(.minutes(30)))
struct OperatorBrowserTests {
    /// The folder of screenshots; nil where none are taken.
    private static let pictures = ProcessInfo.processInfo.environment["CONCORD_PICTURES"]
    /// The text that strangers write wherever an operator reads it.
    private static let attack =
        pictures == nil
        ? #"<img src=x onerror=alert(1)>"'</script><script>alert(2)</script>"# : "and everyone here knows it"

    /// A name that a stranger chooses in an API whose names may have any sign.
    private static let name = pictures == nil ? "<img/src=x/onerror=alert(3)>" : "dora"

    /// The server, its people and their reports, as Tests/Browser/operators_page.py names them.
    private struct Facts: Encodable {
        let url: String
        let messenger: String
        let process: Int32
        let links: [String]
        let person: String
        let name: String
        let find: String
        let text: String
        let request: String
        let removed: String
        let account: String
        let stranger: String
    }

    @Test(arguments: Stack.Engine.available)
    func anOperatorWorksOnThePage(_ engine: Stack.Engine) async throws {
        try await withTestDatabase(on: engine) { place in
            let database = place.url.map { ["--database", $0] } ?? []
            let page = try await PageServer.started(
                place.folder + "/data", more: ["--backup-to", place.folder + "/backups"] + database,
                apis: ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"])
            let facts = place.folder + "/facts.json"
            try JSONEncoder().encode(try await fill(page)).write(to: URL(fileURLWithPath: facts))
            let pictures = Self.pictures.map { [$0] } ?? []
            let run = try await StockTools.run(
                try #require(StockTools.python),
                [StockTools.package + "/Tests/Browser/operators_page.py", try #require(Chromium.program), facts]
                    + pictures)
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.contains("operator: works"))
            if run.status != 0 { page.process.signal(SIGTERM) }
            // The browser has seen how the page looks without its server.
            let (status, output) = (await page.process.status(), await page.process.wholeOutput())
            #expect(status == 0, "\(output.suffix(2000))")
        }
    }

    /// Makes people and three reports whose every text is an attack, an account of Monica, and a person with an attack for a name.
    private func fill(_ page: PageServer) async throws -> Facts {
        let (alice, bob) = try await page.people()
        let his = try #require(try await bob.user)
        try await bob.signIn(username: "bob", password: "secret123", deviceName: Self.attack)
        let chat = try await alice.send(Messenger.CreateChat.direct(with: his)).id
        let (picture, name) = (SampleImage.jpeg(width: 64, height: 48), Self.attack.filter { $0 != "/" } + ".jpg")
        for number in 1...3 {
            let file = try await bob.upload(Upload(.bytes(picture), filename: name, contentType: "image/jpeg")).id
            let message = try await bob.send(
                Messenger.SendMessage(chat: chat, content: "rude \(number) \(Self.attack)", file: file)
            ).id
            try await alice.send(
                Messenger.CreateReport(message: message, reason: "rude \(Self.attack)", details: Self.attack))
        }
        let carol = MessengerClient(baseURL: try page.url(of: "messenger"), transport: .patient, retry: .never)
        try await carol.send(Messenger.Register(username: "carol", email: "carol@example.com", password: "secret123"))
        let hers = try await carol.signIn(username: "carol", password: "secret123")
        let other = try await carol.send(Messenger.CreateChat.direct(with: his)).id
        try await carol.send(Messenger.SendMessage(chat: other, content: "spam"))
        let token = try await PageServer.concord(
            ["monica", "token", "create", "--account", "erin", "--data", page.folder])
        #expect(token.status == 0, "\(token.errors)")
        let dunbar = DunbarClient(
            baseURL: try page.url(of: "dunbar").appendingPathComponent("api"), store: MemoryCookieStore(),
            transport: .patient, retry: .never)
        try await dunbar.register(
            .init(username: Self.name, email: "d@example.com", password: "secret123", displayName: "D"))
        let refused = try await page.client(of: "messenger")(.get, "/chats")
        return Facts(
            url: page.url, messenger: "\(try page.url(of: "messenger"))", process: page.process.identifier,
            links: [try await page.link("--name", "anna"), try await page.link("--name", "anna")], person: "\(his)",
            name: "bob", find: "bob",
            text: Self.attack, request: try #require(refused.headers[.requestID]), removed: "\(hers)", account: "erin",
            stranger: Self.name)
    }
}
