import Foundation
import NIOCore

/// A message between an operator's process and the server: one byte for the kind, four for the length (the most
/// significant first), then as many bytes.
///
/// The process begins with ``request(_:)``. The server answers with any number of ``output(_:)`` and
/// ``progress(done:total:)`` frames. It asks for input with ``more``, which the process answers with ``input(_:)`` or
/// ``endOfInput``. It ends with ``done`` or ``refused(_:)``. A connection serves one request.
enum OperatorFrame: Sendable, Equatable {
    case request(OperatorRequest)
    case input([UInt8])
    case endOfInput
    case more
    case output([UInt8])
    case progress(done: Int, total: Int)
    case done
    case refused(String)
    /// The server uses another database than the one that the operator has given.
    case otherDatabase

    /// The most bytes that follow the length.
    static let maximumLength = 16 << 20
}

struct OperatorRequest: Codable, Sendable, Equatable {
    /// The name of the command.
    var operation: String
    /// The name of the API that the command is for.
    var api: String?
    /// The command's fields, as JSON.
    var arguments: Data
    /// The location of the database, as the operator has given it; nil when the option was left out.
    var database: String?
    /// The person who gives the command; nil from a version that did not send it.
    var actor: String?
}

extension OperatorRequest {
    /// Who has sent the request, and for which command.
    var audit: Audit { Audit(actor: actor ?? "operator", action: operation) }
}

/// The error for a peer that does not speak this protocol.
struct UnreadableFrame: Error {}

final class OperatorFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = OperatorFrame

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let frame = try OperatorFrame(reading: &buffer) else { return .needMoreData }
        context.fireChannelRead(wrapInboundOut(frame))
        return .continue
    }

    func decodeLast(
        context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
    ) throws -> DecodingState {
        try decode(context: context, buffer: &buffer)
    }
}

final class OperatorFrameEncoder: MessageToByteEncoder {
    typealias OutboundIn = OperatorFrame

    func encode(data: OperatorFrame, out: inout ByteBuffer) throws { try data.write(to: &out) }
}

extension OperatorFrame {
    private enum Kind: UInt8 {
        case request = 1
        case input, endOfInput, more, output, progress, done, refused, otherDatabase
    }

    /// Reads a frame from a buffer; nil when the buffer does not have all of it yet.
    init?(reading buffer: inout ByteBuffer) throws {
        guard let length = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self) else { return nil }
        guard let kind = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self).flatMap(Kind.init(rawValue:)),
            length <= Self.maximumLength
        else { throw UnreadableFrame() }
        guard buffer.readableBytes >= 5 + Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: 5)
        let payload = buffer.readBytes(length: Int(length)) ?? []
        switch kind {
        case .request: self = .request(try JSONDecoder().decode(OperatorRequest.self, from: Data(payload)))
        case .input: self = .input(payload)
        case .endOfInput: self = .endOfInput
        case .more: self = .more
        case .output: self = .output(payload)
        case .progress:
            let numbers = String(decoding: payload, as: UTF8.self).split(separator: "/").compactMap { Int($0) }
            guard numbers.count == 2 else { throw UnreadableFrame() }
            self = .progress(done: numbers[0], total: numbers[1])
        case .done: self = .done
        case .refused: self = .refused(String(decoding: payload, as: UTF8.self))
        case .otherDatabase: self = .otherDatabase
        }
    }

    func write(to buffer: inout ByteBuffer) throws {
        let (kind, payload): (Kind, [UInt8]) =
            switch self {
            case .request(let request): (.request, Array(try JSONEncoder().encode(request)))
            case .input(let bytes): (.input, bytes)
            case .endOfInput: (.endOfInput, [])
            case .more: (.more, [])
            case .output(let bytes): (.output, bytes)
            case .progress(let done, let total): (.progress, Array("\(done)/\(total)".utf8))
            case .done: (.done, [])
            case .refused(let message): (.refused, Array(message.utf8))
            case .otherDatabase: (.otherDatabase, [])
            }
        guard payload.count <= Self.maximumLength else { throw UnreadableFrame() }
        buffer.writeInteger(kind.rawValue)
        buffer.writeInteger(UInt32(payload.count))
        buffer.writeBytes(payload)
    }
}

extension NIOAsyncChannel where Inbound == OperatorFrame, Outbound == OperatorFrame {
    /// Makes a channel that reads and writes frames.
    static func operatorFrames(on channel: any Channel) -> EventLoopFuture<Self> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
                ByteToMessageHandler(OperatorFrameDecoder()), MessageToByteHandler(OperatorFrameEncoder()),
            ])
            return try Self(wrappingChannelSynchronously: channel)
        }
    }
}
