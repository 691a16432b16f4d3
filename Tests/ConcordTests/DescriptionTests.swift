import ContractClient
import ContractDescribe
import Foundation
import Testbed
import Testing

@testable import concord

/// The descriptions for programs: the documents of `concord describe`, which servers answer and the repository keeps.
@Suite(.timeLimit(.minutes(30))) struct DescriptionTests {
    private static let folder = StockTools.package + "/docs/openapi"

    /// Every API's description, made once for all tests.
    static let descriptions = Task {
        await onThread { ConcordAPI.all.map { $0.describe() } + [OperatorDescription.make()] }
    }
    static let names = ConcordAPI.names + [OperatorDescription.name]

    /// Returns the names of the committed files with what they must contain.
    private static func documents(of name: String) async throws -> [(file: String, document: JSONTree)] {
        let description = try #require(await descriptions.value.first { $0.name == name })
        let socket = description.asyncAPI.map { [(file: "\(name).asyncapi.json", document: $0)] } ?? []
        return [(file: "\(name).json", document: description.openAPI)] + socket
    }

    @Test(arguments: names)
    func theCommittedDocumentsAreTheTypes(_ name: String) async throws {
        for (file, document) in try await Self.documents(of: name) {
            let committed = try? String(contentsOfFile: "\(Self.folder)/\(file)", encoding: .utf8)
            #expect(committed == document.pretty, "docs/openapi/\(file) is stale: run `make describe`")
        }
    }

    @Test(.enabled(if: StockTools.python != nil, "`make test` sets CONCORD_PYTHON"))
    func theCallsAreThoseOfTheWireTests() async throws {
        let run = try await StockTools.run(
            try #require(StockTools.python), [StockTools.package + "/Tools/swift-calls", "--check"])
        #expect(run.status == 0, "\(run.output)")
    }

    @Test func everyCommittedDocumentIsAnAPIs() async throws {
        var files: [String] = []
        for name in Self.names { files += try await Self.documents(of: name).map(\.file) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: Self.folder).sorted() == files.sorted())
    }

    @Test func theCommandPrintsThem() async throws {
        for (arguments, file) in [
            (["describe", "gtsd"], "gtsd.json"), (["describe", "operator"], "operator.json"),
            (["describe", "messenger", "--async"], "messenger.asyncapi.json"),
        ] {
            let process = try ConcordProcess(arguments)
            let output = await process.wholeOutput()
            #expect(await process.status() == 0)
            #expect(try output == String(contentsOfFile: "\(Self.folder)/\(file)", encoding: .utf8))
        }
        let process = try ConcordProcess(["describe", "gtsd", "--async"])
        #expect(await process.status() == 64)
        #expect(await process.standardError().contains("gtsd has no live socket"))
    }

    @Test func aServerAnswersThem() async throws {
        try await withTemporaryFolder { folder in
            let port = try await reservePort()
            let server = try await ConcordProcess.serving(data: folder, port: port)
            let base = try #require(URL(string: "http://127.0.0.1:\(port)"))
            for path in ["openapi", "asyncapi"] {
                for _ in 0..<2 {
                    let request = TransportRequest(method: .get, url: base.appendingPathComponent("\(path).json"))
                    let response = try await URLSessionTransport.patient.send(request, progress: nil)
                    #expect(response.status == .ok)
                    #expect(response.headers[.contentType] == "application/json")
                    let description = await Self.descriptions.value.first { $0.name == "messenger" }
                    let document = path == "openapi" ? description?.openAPI : description?.asyncAPI
                    #expect(String(decoding: response.body, as: UTF8.self) == document?.compact)
                }
            }
            server.signal(SIGTERM)
            #expect(await server.status() == 0)
        }
    }

    @Test(.enabled(if: StockTools.python != nil, "`make test` installs the validator and sets CONCORD_PYTHON"))
    func theOpenAPIDocumentsAreValid() async throws {
        let files = Self.names.map { "\(Self.folder)/\($0).json" }
        let run = try await StockTools.run(
            try #require(StockTools.python), ["-m", "openapi_spec_validator"] + files)
        #expect(run.status == 0, "\(run.output)")
    }
}
