import Backend
import ContractClient
import ContractDescribe
import ContractReference
import Foundation
import HTTPTypes
import Testbed
import Testing

@testable import concord

/// The page of an API's reference, as a server answers it.
@Suite(.timeLimit(.minutes(30))) struct ReferenceTests {
    private static func text(_ file: ReferencePage.File) -> String { String(decoding: file.bytes, as: UTF8.self) }

    /// The files of an API's page on a server with some settings.
    private static func files(
        of api: ConcordAPI, among served: [String] = ConcordAPI.names, ports: [String: Int] = [:],
        urls: [String: String] = [:]
    ) -> [ReferencePage.File] {
        var settings = ServerSettings(folder: "none", environment: [:])
        (settings.ports, settings.publicURLs) = (ports, urls)
        return ReferencePage.files(api.introduction(among: served, settings))
    }

    private static func page(
        of api: ConcordAPI, among served: [String] = ConcordAPI.names, urls: [String: String] = [:]
    ) throws -> String {
        text(try #require(files(of: api, among: served, urls: urls).first { $0.path == "/" }))
    }

    /// Returns the answer to a request at a path that is written as it stands.
    private func answer(
        _ path: String, at port: Int, method: HTTPRequest.Method = .get, _ headers: HTTPFields = [:]
    ) async throws -> TransportResponse {
        var request = TransportRequest(
            method: method, url: try #require(URL(string: "http://127.0.0.1:\(port)\(path)")))
        request.headers = headers
        return try await URLSessionTransport.patient.send(request, progress: nil)
    }

    @Test func aServerAnswersItsFiles() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            for file in Self.files(of: .messenger(), among: ["messenger"], ports: ["messenger": port]) {
                let first = try await answer(file.path, at: port)
                #expect(first.status == .ok && first.body == file.bytes, "\(file.path)")
                #expect(first.headers[.contentType] == file.contentType)
                #expect(first.headers[.contentSecurityPolicy] == ReferencePage.policy)
                #expect(first.headers[.xContentTypeOptions] == "nosniff")
                let tag = try #require(first.headers[.eTag])
                let second = try await answer(file.path, at: port, [.ifNoneMatch: tag])
                #expect(second.status == .notModified && second.body.isEmpty, "\(file.path)")
            }
            for method in [HTTPRequest.Method.post, .put, .delete] {
                let refused = try await answer("/", at: port, method: method)
                #expect(refused.status == .methodNotAllowed && refused.headers[.allow] == "GET")
            }
            let unknown = try await answer("/reference/none.js", at: port)
            #expect(unknown.status == .notFound)
            #expect(String(decoding: unknown.body, as: UTF8.self) == #"{"error":"Not found"}"#)
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func anOperatorSwitchesItOff() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(
                data: folder, port: port, environment: ["CONCORD_REFERENCE": "off"])
            for file in Self.files(of: .messenger()) {
                let refused = try await answer(file.path, at: port)
                #expect(refused.status == .notFound, "\(file.path)")
                #expect(String(decoding: refused.body, as: UTF8.self) == #"{"error":"Not found"}"#)
            }
            for path in ["/openapi.json", "/asyncapi.json"] {
                #expect(try await answer(path, at: port).status == .ok, "\(path)")
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test func noOperationOfAContractHasAPathOfThePage() async {
        for api in await DescriptionTests.descriptions.value {
            let document = api.openAPI
            let base = document["servers"]?.elements.first?["url"]?.text ?? "/"
            for path in document["paths"]?.members ?? [] {
                let steps = ((base == "/" ? "" : base) + path.name).split(separator: "/")
                let isFree = steps.first.map { !$0.hasPrefix("{") && $0 != "reference" } ?? false
                #expect(isFree, "\(api.name) \(path.name)")
            }
        }
    }

    @Test(arguments: ConcordAPI.names) func itIsSmallAndWhole(_ name: String) throws {
        let api = try ConcordAPI.named(name)
        let files = Self.files(of: api)
        #expect(files.reduce(0) { $0 + $1.bytes.count } < 80_000)
        let paths = Set(files.map(\.path))
        #expect(paths.count == files.count)
        let page = try Self.page(of: api)
        var named = Set(page.matches(of: #/(?:src|href)="(reference\/[^"]+)"/#).map { "/" + $0.output.1 })
        for file in files where file.path.hasSuffix(".js") {
            named.formUnion(
                Self.text(file).matches(of: #/from "\.\/([^"]+)"/#).map { "/reference/" + $0.output.1 })
        }
        #expect(named.union(["/"]) == paths)
    }

    /// An answer is never read as HTML or as a program, and no other host is asked for anything.
    @Test(arguments: ConcordAPI.names) func itHasNothingThatThePolicyIsAgainst(_ name: String) throws {
        let api = try ConcordAPI.named(name)
        for file in Self.files(of: api) {
            let text = Self.text(file)
            for word in [
                "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
                "localStorage", "http://", "https://",
            ] { #expect(!text.contains(word), "\(file.path): \(word)") }
        }
        let page = try Self.page(of: api)
        #expect(!page.contains("<style") && !page.contains(" style=") && !page.contains("<script>"))
        #expect(page.firstMatch(of: #/\son\w+=/#) == nil)
        #expect(!ReferencePage.policy.contains("unsafe"))
    }

    // MARK: The first view

    /// The name of the API, what it is, its steps and its session are there without a script.
    @Test func theFirstViewNeedsNoDescription() async throws {
        let descriptions = await DescriptionTests.descriptions.value
        for api in ConcordAPI.all {
            let page = try Self.page(of: api)
            #expect(page.contains("<h1>\(api.hosted.title) <small>\(Concord.number)</small></h1>"))
            #expect(page.contains("id=\"session\"") && !page.contains("{{"))
            #expect(page.contains("data-socket=\"\(api.hasSocket)\""))
            #expect(api.steps.count == 3)
            let document = try #require(descriptions.first { $0.name == api.name }).openAPI
            let operations = (document["paths"]?.members ?? []).flatMap(\.value.members).compactMap {
                $0.value["operationId"]?.text
            }
            let links = page.matches(of: #/<li>[^\n]*?href="\#(\w+)"/#).map { String($0.output.1) }
            #expect(!links.isEmpty && links.allSatisfy(operations.contains), "\(api.name): \(links)")
        }
    }

    @Test func itLinksToTheOtherPagesWhoseAddressesAreKnown() throws {
        let page = try Self.page(of: .monica(), urls: ["gtsd": "https://gtsd.example.com/?a=\"b\""])
        #expect(page.contains(#"<a data-port="8080">Messenger</a>"#))
        #expect(page.contains(#"<a href="https://gtsd.example.com/?a=&quot;b&quot;/">GTSD</a>"#))
        #expect(!page.contains(">Monica</a>"))
        #expect(!(try Self.page(of: .monica(), among: ["monica"])).contains("<a data-port"))
    }
}
