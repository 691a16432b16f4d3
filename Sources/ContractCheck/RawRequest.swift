import Contract
import ContractClient
import Foundation
import HTTPTypes

/// Requests as a stranger would write them, and answers as they came: for what an SDK cannot send and does not show.
public struct RawClient: Sendable {
    public let baseURL: URL
    private let transport: any Transport

    public init(baseURL: URL, transport: any Transport) {
        self.baseURL = baseURL
        self.transport = transport
    }

    /// Sends a request with a body of any bytes.
    ///
    /// - Parameters:
    ///   - path: With its query, as it goes on the wire.
    ///   - token: Sent as `Authorization: Bearer`.
    public func send(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, headers: HTTPFields = [:],
        body: String? = nil
    ) async throws -> RawAnswer {
        try await send(method, path, token: token, headers: headers, bytes: body.map { Array($0.utf8) })
    }

    public func send(
        _ method: HTTPRequest.Method, _ path: String, token: String? = nil, headers: HTTPFields = [:],
        bytes: [UInt8]?
    ) async throws -> RawAnswer {
        guard let url = URL(string: baseURL.absoluteString + path) else { throw Broken("no URL: \(path)") }
        var request = TransportRequest(method: method, url: url, headers: headers)
        if let token { request.headers[.authorization] = "Bearer \(token)" }
        if let bytes { request.body = .bytes(bytes) }
        let response = try await transport.send(request, progress: nil)
        return RawAnswer(status: response.status.code, headers: response.headers, body: response.body)
    }
}

/// An answer as it came.
public struct RawAnswer: Sendable {
    public let status: Int
    public let headers: HTTPFields
    public let body: [UInt8]

    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as JSON of any shape.
    ///
    /// - Throws: ``Broken`` when it is none.
    public func json() throws -> JSONValue {
        do {
            return try JSONDecoder().decode(JSONValue.self, from: Data(body))
        } catch {
            throw Broken("not JSON: \(text.prefix(200))")
        }
    }
}
