import Contract
import ContractClient
import ContractServer
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Hands requests to a router, without a network in between.
public struct InProcessTransport: Transport {
    private let respond: @Sendable (Request, String?) async -> Response
    /// The client's address, as the server sees it.
    private let peer: String

    public init<API: ServiceAPI>(_ table: ContractServer.Router<API>, peer: String = "127.0.0.1") {
        respond = { await table.respond(to: $0, peer: $1) }
        self.peer = peer
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        var path = request.url.path(percentEncoded: true)
        if let query = request.url.query(percentEncoded: true) { path += "?" + query }
        var head = HTTPRequest(method: request.method, scheme: "http", authority: "test", path: path)
        head.headerFields = request.headers
        let body: RequestBody
        switch request.body {
        case .none: body = RequestBody(buffer: ByteBuffer())
        case .bytes(let bytes):
            head.headerFields[.contentLength] = String(bytes.count)
            body = RequestBody(buffer: ByteBuffer(bytes: bytes))
        case .file(let url):
            let data = try Data(contentsOf: url, options: .mappedIfSafe)
            head.headerFields[.contentLength] = String(data.count)
            body = RequestBody(asyncSequence: Pieces(data: data))
        }
        let response = await respond(Request(head: head, body: body), peer)
        let collector = Collector()
        try await response.body.write(Writer(collector: collector))
        if case .bytes(let bytes) = request.body { progress?(Int64(bytes.count), Int64(bytes.count)) }
        return TransportResponse(
            status: response.status, headers: response.headers, body: await collector.bytes)
    }

    private struct Pieces: AsyncSequence, Sendable {
        let data: Data

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: Data
            mutating func next() async -> ByteBuffer? {
                let piece = rest.prefix(65_536)
                rest = rest.dropFirst(piece.count)
                return piece.isEmpty ? nil : ByteBuffer(bytes: piece)
            }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: data) }
    }

    private actor Collector {
        var bytes: [UInt8] = []
        func append(_ buffer: ByteBuffer) { bytes += buffer.readableBytesView }
    }

    private struct Writer: ResponseBodyWriter {
        let collector: Collector
        mutating func write(_ buffer: ByteBuffer) async throws { await collector.append(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
