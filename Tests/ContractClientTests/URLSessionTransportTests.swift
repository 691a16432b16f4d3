import Backend
import Contract
import ContractClient
import ContractServer
import Foundation
import HTTPTypes
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Testbed
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The platform's own HTTP client talks to a server on a loopback port.
@Suite(.timeLimit(.minutes(30))) struct URLSessionTransportTests {
    private let transport: URLSessionTransport = .patient

    /// Serves the sample API, whose handlers answer with what they received.
    private func withServer(_ body: (URL) async throws -> Void) async throws {
        var routes = Routes<Sample, String>(
            spool: MemorySpool(), secrets: { [[1]] }, name: { $0 },
            authenticate: { info in info.headers[.authorization] ?? "nobody" })
        routes.on(use: { (request: Sample.GetThing, caller) in Sample.Thing(name: "\(request.id) for \(caller)") })
        routes.open(use: { (request: Sample.PutThing, _) in Sample.Thing(name: request.name) })
        routes.open(use: { (_: Sample.DeleteThing, _) in Empty() })
        routes.open(answering: { (request: Sample.Follow, _) in
            // The target of the redirect would answer if it were requested.
            Answer(.found, headers: [.location: "/things/\(request.id)"])
        })
        routes.open(use: { (request: Sample.AddFile, _) in
            guard case .spooled(let content) = request.file.content else { throw URLError(.cannotOpenFile) }
            return Sample.Thing(name: "\(request.file.filename) \(content.count) \(request.caption)")
        })
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let table = Router(routes, options: .init(logger: logger))
        let port = try await reservePort()
        let listener = Listener(table, sockets: [], group: MultiThreadedEventLoopGroup.ofTests)
        try await serving(listener, port: port) {
            try await body(try #require(URL(string: "http://127.0.0.1:\(port)")))
        }
    }

    @Test func requestsAndAnswers() async throws {
        try await withServer { url in
            let session = TokenSession(
                store: MemoryTokenStore(tokens("a")), now: { start }, refresh: { _ in throw SignedOut() })
            let client = Client<Sample>(baseURL: url, transport: transport, credentials: session, retry: .never)
            #expect(try await client.send(Sample.GetThing(id: "7")).name == "7 for Bearer a")
            #expect(try await client.send(Sample.PutThing(id: 7, name: "Grüße 🎉")).name == "Grüße 🎉")
            let deleted = try await client.answer(Sample.DeleteThing(id: 7))
            #expect(deleted.status == .noContent)
            #expect(deleted.headers[.requestID] != nil)
            let error = await #expect(throws: APIError.self) { try await client.send(Sample.GetThing(id: "x")) }
            #expect(error?.status == .notFound)
            #expect(error?.message == "Not found")
        }
    }

    @Test func redirectsAreNotFollowed() async throws {
        try await withServer { url in
            let client = Client<Sample>(baseURL: url, transport: transport, retry: .never)
            let answer = try await client.answer(Sample.Follow(id: 7))
            #expect(answer.status == .found)
            #expect(answer.headers[.location] == "/things/7")
        }
    }

    @Test(arguments: [true, false])
    func anUploadReportsItsProgress(_ isOnDisk: Bool) async throws {
        try await withTemporaryFolder { folder in
            let size = 500_000
            let source = URL(fileURLWithPath: folder + "/source")
            try Data(repeating: 7, count: size).write(to: source)
            let content = isOnDisk ? Upload.Content.file(source) : .bytes(Array(repeating: 7, count: size))
            try await withServer { url in
                let client = Client<Sample>(baseURL: url, transport: transport, retry: .never)
                let reports = NIOLockedValueBox<[(sent: Int64, total: Int64)]>([])
                let request = Sample.AddFile(caption: "c", file: Upload(content, filename: "f"))
                let answer = try await client.answer(request) { sent, total in
                    reports.withLockedValue { $0.append((sent, total)) }
                }
                guard case .output(let thing) = answer.content else { return #expect(Bool(false), "no output") }
                #expect(thing.name == "f \(size) c")
                let all = reports.withLockedValue { $0 }
                #expect(!all.isEmpty)
                #expect(all.allSatisfy { $0.sent <= $0.total && $0.total > size })
                #expect(all.map(\.sent) == all.map(\.sent).sorted())
            }
        }
    }

    @Test func anUnreachableServerIsTheNetworksError() async throws {
        let port = try await reservePort()
        let client = Client<Sample>(baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")), retry: .never)
        await #expect(throws: URLError.self) { try await client.send(Sample.GetThing(id: "1")) }
    }
}

/// An upload spool in memory.
private struct MemorySpool: UploadSpool {
    func begin() async throws -> any UploadWriter { File() }

    private actor File: UploadWriter {
        private var bytes: [UInt8] = []

        func append(_ chunk: ByteBuffer) async throws { bytes += chunk.readableBytesView }
        func finish() async throws -> any SpooledUpload { Finished(bytes: bytes) }
        func discard() async {}
    }

    private struct Finished: SpooledUpload {
        let bytes: [UInt8]
        var count: Int64 { Int64(bytes.count) }
        var sha256: [UInt8] { bytes }
    }
}
