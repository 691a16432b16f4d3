import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The client's part of an opening handshake, validated (RFC 6455 §4.2.1).
struct Handshake {
    /// The error for a handshake at a route that breaks the protocol. It is answered without asking the route.
    struct Invalid: Error {
        let status: HTTPResponse.Status
        var headers = HTTPFields()
    }

    private let key: String

    /// Returns whether a request asks for a WebSocket. One with a body does not, because no client sends that.
    static func isRequested(by request: HTTPRequest) -> Bool {
        request.method == .get
            && request.headerFields.contains("websocket", in: .upgrade)
            && request.headerFields.contains("upgrade", in: .connection)
            && request.headerFields[.transferEncoding] == nil
            && (request.headerFields[.contentLength].map { $0 == "0" } ?? true)
    }

    init(_ request: HTTPRequest) throws(Invalid) {
        guard request.headerFields[values: .secWebSocketVersion] == ["13"] else {
            throw Invalid(
                status: .upgradeRequired,
                headers: [.secWebSocketVersion: "13", .upgrade: "websocket", .connection: "upgrade"])
        }
        let keys = request.headerFields[values: .secWebSocketKey]
        guard keys.count == 1, keys[0].isBase64OfSixteenBytes else { throw Invalid(status: .badRequest) }
        key = keys[0]
    }

    /// Returns the fields of the server's part. NIO's upgrader computes the accept value, because it has the SHA-1 for it.
    func response(on channel: any Channel) -> EventLoopFuture<HTTPFields> {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/",
            headers: ["Sec-WebSocket-Key": key, "Sec-WebSocket-Version": "13"])
        return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
            .map { headers in
                var fields: HTTPFields = [.upgrade: "websocket", .connection: "upgrade"]
                fields[.secWebSocketAccept] = headers.first(name: "Sec-WebSocket-Accept")
                return fields
            }
    }
}

extension HTTPFields {
    /// Returns whether a comma-separated field contains the token, in any letter case.
    fileprivate func contains(_ token: String, in name: HTTPField.Name) -> Bool {
        self[values: name].contains { value in
            value.split(separator: ",").contains { element in
                element.drop { $0 == " " || $0 == "\t" }
                    .prefix { $0 != " " && $0 != "\t" }
                    .lowercased() == token
            }
        }
    }
}

extension String {
    /// Whether the text may be the base64 of 16 bytes, which has 22 characters and two of padding.
    fileprivate var isBase64OfSixteenBytes: Bool {
        utf8.count == 24 && hasSuffix("==")
            && utf8.dropLast(2).allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }
}
