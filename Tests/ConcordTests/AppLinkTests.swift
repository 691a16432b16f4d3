import ContractClient
import Foundation
import HTTPTypes
import Testbed
import Testing

/// Links that open an app: the file that Apple fetches, the settings, and the page that browsers see.
@Suite(.timeLimit(.minutes(30))) struct AppLinkTests {
    private static let team = "ABCDE12345"

    /// Serves all APIs, and runs a closure with a function that sends a request at an API's root.
    private func serving(
        _ arguments: [String], _ environment: [String: String] = [:],
        _ body: (_ get: (String, String, HTTPFields) async throws -> TransportResponse) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var ports: [String: Int] = [:]
            for name in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
                ports[name] = try await reservePort()
            }
            let options = ports.flatMap { ["--port", "\($0.key)=\($0.value)"] }
            let server = try ConcordProcess(
                ["serve", "--data", folder] + options + arguments, environment: environment)
            try await server.waitUntilReady()
            try await body { api, path, headers in
                let url = try #require(URL(string: "http://127.0.0.1:\(ports[api] ?? 0)\(path)"))
                var request = TransportRequest(method: .get, url: url)
                request.headers = headers
                return try await URLSessionTransport.patient.send(request, progress: nil)
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    private struct Association: Decodable, Equatable {
        struct Links: Decodable, Equatable {
            struct Detail: Decodable, Equatable {
                var appIDs: [String]?
                var components: [[String: String]]?
                var appID: String
                var paths: [String]
            }
            var apps: [String]
            var details: [Detail]
        }
        var applinks: Links
    }

    @Test func appleFetchesTheLinksOfEachAPI() async throws {
        let (one, two, three) = ("\(Self.team).com.example.diary", "\(Self.team).com.example.diary-beta", "Z9.a.b")
        try await serving(
            ["--app-id", "deuce-diary=\(one)", "--app-id", "deuce-diary=\(two)"],
            ["CONCORD_APP_ID_DUNBAR": "\(three)", "CONCORD_PUBLIC_URL_DUNBAR": "https://example.com/social/"]
        ) { get in
            let path = "/.well-known/apple-app-site-association"
            for api in ["messenger", "monica", "gtsd"] { #expect(try await get(api, path, [:]).status == .notFound) }
            let diary = try await get("deuce-diary", path, [:])
            #expect(diary.status == .ok && diary.headers[.contentType] == "application/json")
            #expect(
                try JSONDecoder().decode(Association.self, from: Data(diary.body)).applinks
                    == .init(
                        apps: [],
                        details: [
                            .init(
                                appIDs: [one, two], components: [["/": "/join/*"]], appID: one, paths: ["/join/*"]),
                            .init(appID: two, paths: ["/join/*"]),
                        ]))
            let dunbar = try await get("dunbar", path, [:])
            #expect(dunbar.status == .ok)
            let paths = ["/social/api/verify-email/*", "/social/api/reset-password*", "/social/posts/*"]
            #expect(
                try JSONDecoder().decode(Association.self, from: Data(dunbar.body)).applinks.details
                    == [
                        .init(appIDs: [three], components: paths.map { ["/": $0] }, appID: three, paths: paths)
                    ])
        }
    }

    @Test func withoutTheSettingThereIsNoFileAndNoPage() async throws {
        try await serving([]) { get in
            for api in ["messenger", "deuce-diary", "monica", "gtsd", "dunbar"] {
                let refused = try await get(api, "/.well-known/apple-app-site-association", [:])
                #expect(refused.status == .notFound && refused.headers[.contentType] == "application/json", "\(api)")
            }
            let id = UUID().uuidString.lowercased()
            #expect(try await get("deuce-diary", "/invitation/\(id)", [.accept: "text/html"]).status == .notFound)
        }
    }

    /// A wrong setting is refused in words, and `concord config` shows the right ones.
    @Test func theSettingsAreChecked() async throws {
        let known = "deuce-diary, dunbar"
        let wrong: [([String], [String: String], String)] = [
            (
                ["--app-id", "gtsd=\(Self.team).com.a"], [:],
                "gtsd has no links that an app can open. Those that have: \(known)"
            ),
            (
                [], ["CONCORD_APP_ID_MONICA": "\(Self.team).com.a"],
                "monica has no links that an app can open. Those that have: \(known)"
            ),
            (
                ["--app-id", "diary=\(Self.team).com.a"], [:],
                "there is no API 'diary'. Those with links that an app can open: \(known)"
            ),
            (["--app-id", Self.team], [:], "--app-id must be NAME=ID, not '\(Self.team)'"),
            (["--app-id", "dunbar=com.example.app"], [:], "'com.example.app' is not the id of an app for dunbar"),
            (["--app-id", "dunbar=\(Self.team)"], [:], "'\(Self.team)' is not the id of an app for dunbar"),
            ([], ["CONCORD_APP_ID_DUNBAR": "\(Self.team).com.a, x"], "'x' is not the id of an app for dunbar"),
            (
                ["--deuce-diary-app-store", "javascript:alert(1)"], [:],
                "'javascript:alert(1)' is not a URL of the app's store"
            ),
            (
                [], ["CONCORD_DEUCE_DIARY_APP_STORE": "https://apps.example.com/app"],
                "name it with --app-id deuce-diary=ID"
            ),
        ]
        for (arguments, environment, words) in wrong {
            let process = try ConcordProcess(["serve", "--data", "/nowhere"] + arguments, environment: environment)
            let errors = await process.standardError()
            #expect(errors.contains(words), "\(arguments): \(errors)")
            #expect(await process.status() != 0)
        }
        try await withTemporaryFolder { folder in
            let process = try ConcordProcess(
                [
                    "config", "--data", folder, "--app-id", "dunbar=\(Self.team).com.a", "--app-id",
                    "dunbar=\(Self.team).com.b",
                ],
                environment: ["CONCORD_APP_ID_DEUCE_DIARY": "\(Self.team).com.c"])
            let output = await process.wholeOutput()
            #expect(output.contains(#/app-id dunbar +ABCDE12345\.com\.a,ABCDE12345\.com\.b +--app-id/#), "\(output)")
            #expect(
                output.contains(#/app-id deuce-diary +ABCDE12345\.com\.c +CONCORD_APP_ID_DEUCE_DIARY/#), "\(output)")
            #expect(
                output.contains("The links of deuce-diary, dunbar open no app, because their public URL is not https"),
                "\(output)")
            #expect(await process.status() == 1)
        }
    }
}
