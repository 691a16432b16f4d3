import Contract
import ContractCheck
import Foundation
import Testbed
import Testing

/// The reference pages, and the page of an invitation, in a real browser, which Tests/Browser drives.
@Suite(
    .enabled(if: Chromium.isThere, "`make test` installs chromium-headless-shell and sets CONCORD_PYTHON"),
    .serialized, .timeLimit(.minutes(30)))
struct BrowserTests {
    private func drive(_ scenario: String, _ arguments: String...) async throws {
        try await drive(scenario, arguments)
    }

    private func drive(_ scenario: String, _ arguments: [String]) async throws {
        let run = try await StockTools.run(
            try #require(StockTools.python),
            [StockTools.package + "/Tests/Browser/reference.py", try #require(Chromium.program), scenario] + arguments)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("reference: works"))
    }

    /// Serves one API, runs a closure with the URL of its page, and stops the server.
    private func serving(
        _ api: String, _ folder: String, more: [String] = [], _ body: (String) async throws -> Void
    ) async throws {
        let port = try await reservePort()
        // The address that the server prints, with the defaults.
        let url = "http://127.0.0.1:\(port)"
        let server = try ConcordProcess(["serve", api, "--data", folder, "--port", "\(api)=\(port)"] + more)
        try await server.waitUntilReady()
        #expect(server.standardOutput.contains(url))
        try await body(url)
        server.signal(SIGTERM)
        #expect(await server.status() == 0)
    }

    @Test func aMessageArrivesInAnotherTab() async throws {
        try await withTemporaryFolder { folder in
            let file = folder + "/a file.bin"
            try Data([0, 1, 2, 255]).write(to: URL(fileURLWithPath: file))
            try await serving("messenger", folder + "/data") { try await drive("messenger", $0, file) }
        }
    }

    @Test func aDeuceIsLogged() async throws {
        try await withTemporaryFolder { folder in
            try await serving("deuce-diary", folder) { url in
                try await drive("deuce-diary", url, try await ConcordProcess.diaryToken("user_john", folder))
            }
        }
    }

    /// An invitation shows the names of its creator and group as text, whatever they contain.
    @Test func anInvitationIsRead() async throws {
        let (name, group) = (#"<img src=x onerror=alert(1)>"#, #"</bdi><script>alert("2")</script>'&amp;"#)
        let store = "https://apps.apple.com/app/id1234567890?a=1&b=2"
        let more = ["--app-id", "deuce-diary=ABCDE12345.com.example.diary", "--deuce-diary-app-store", store]
        try await withTemporaryFolder { folder in
            try await serving("deuce-diary", folder, more: more) { url in
                let token = try await ConcordProcess.diaryToken(
                    "user_mallory", folder, "--first-name", name, "--last-name", "Doe")
                let raw = RawClient(baseURL: try #require(URL(string: url)), transport: .patient)
                func post(_ path: String, _ body: JSONValue) async throws -> String {
                    let answer = try await raw.send(.post, path, token: token, body: body.description)
                    return try #require(try answer.json()["id"]?.string, "\(answer.text)")
                }
                let id = try await post("/api/groups", ["name": .string(group)])
                let (invite, ended) = (
                    try await post("/api/groups/\(id)/invite", [:]), try await post("/api/groups/\(id)/invite", [:])
                )
                #expect(try await raw.send(.delete, "/api/invites/\(ended)", token: token).status == 200)
                let run = try await StockTools.run(
                    try #require(StockTools.python),
                    [
                        StockTools.package + "/Tests/Browser/invitation.py", try #require(Chromium.program), url,
                        invite,
                        ended, store, name + " Doe", group,
                    ])
                #expect(run.status == 0, "\(run.output)")
                #expect(run.output.contains("invitation: works"))
            }
        }
    }

    @Test func aPictureIsPosted() async throws {
        try await withTemporaryFolder { folder in
            let picture = folder + "/it's a \"picture\".jpg"
            try Data(SampleImage.jpeg(width: 640, height: 480)).write(to: URL(fileURLWithPath: picture))
            try await serving("dunbar", folder + "/data") { try await drive("dunbar", $0, picture) }
        }
    }

    /// Contrast, names of controls and the width of a phone, on the pages of all APIs.
    @Test func everyPageIsAccessible() async throws {
        try await withTemporaryFolder { folder in
            let names = ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"]
            var (options, urls): ([String], [String]) = ([], [])
            for name in names {
                let port = try await reservePort()
                options += ["--port", "\(name)=\(port)"]
                urls.append("http://127.0.0.1:\(port)")
            }
            let server = try ConcordProcess(["serve", "--data", folder] + options)
            try await server.waitUntilReady()
            try await drive("looks", urls)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }
}

/// The browser of the tests.
enum Chromium {
    static let program =
        ProcessInfo.processInfo.environment["CONCORD_BROWSER"]
        ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }

    static var isThere: Bool { program != nil && StockTools.python != nil }
}
