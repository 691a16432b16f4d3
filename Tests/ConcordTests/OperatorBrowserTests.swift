import Contract
import ContractCheck
import ContractClient
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

    private struct Facts: Encodable {
        let url: String
        let links: [String]
        let person: String
        let name: String
        let find: String
        let text: String
        let request: String
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
            try await page.stop()
        }
    }

    /// Makes people and three reports whose every text is an attack.
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
        let refused = try await page.messenger(.get, "/chats")
        return Facts(
            url: page.url, links: [try await page.link("--name", "anna")], person: "\(his)", name: "bob", find: "bob",
            text: Self.attack, request: try #require(refused.headers[.requestID]))
    }
}
