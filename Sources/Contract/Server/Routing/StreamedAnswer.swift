import HTTPTypes
import Hummingbird
import NIOCore

/// A successful answer whose body is written while it is sent.
public struct StreamedAnswer: Sendable {
    /// Accepts a piece of the body, and returns when there is room for the next.
    public typealias Write = @concurrent (_ piece: [UInt8]) async throws -> Void

    let headers: HTTPFields
    /// The place that the client asked; the body is sent when the request's task has ended.
    private let asked = LinkOrigin.asked
    let body: @concurrent @Sendable (_ write: Write) async throws -> Void

    /// - Parameter headers: The headers, with the content type.
    public init(headers: HTTPFields, body: @escaping @concurrent @Sendable (_ write: Write) async throws -> Void) {
        self.headers = headers
        self.body = body
    }

    /// The size in bytes up to which pieces are collected.
    private static let piece = 1 << 16

    /// Returns the body as it is sent.
    func responseBody(isCompressed: Bool) -> ResponseBody {
        ResponseBody { writer in
            try await LinkOrigin.$asked.withValue(asked) {
                try await outsideOfEventLoops { try await send(through: &writer, isCompressed) }
            }
            try await writer.finish(nil)
        }
    }

    @concurrent private func send(through writer: inout any ResponseBodyWriter, _ isCompressed: Bool) async throws {
        let gzip = isCompressed ? try GzipStream() : nil
        var waiting = ByteBuffer()
        try await body { bytes in
            if let gzip { gzip.compress(bytes, into: &waiting) } else { waiting.writeBytes(bytes) }
            if waiting.readableBytes >= Self.piece {
                try await writer.write(waiting)
                waiting.clear()
            }
        }
        gzip?.finish(into: &waiting)
        if waiting.readableBytes > 0 { try await writer.write(waiting) }
    }
}
