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
        return RawAnswer(request: request, response: response)
    }
}

/// An answer as it came, and what it answers.
public struct RawAnswer: Sendable {
    public let request: TransportRequest
    private let response: TransportResponse

    init(request: TransportRequest, response: TransportResponse) {
        self.request = request
        self.response = response
    }

    public var status: Int { response.status.code }
    public var headers: HTTPFields { response.headers }
    public var body: [UInt8] { response.body }
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// For a ``Broken`` that this answer is the reason of.
    public var exchange: Exchange { Exchange(request: request, response: response) }

    /// The body as JSON of any shape.
    ///
    /// - Throws: ``Broken`` when it is none.
    public func json() throws -> JSONValue {
        do {
            return try JSONDecoder().decode(JSONValue.self, from: Data(body))
        } catch {
            throw Broken(expected: "JSON", found: "\(text.prefix(200))", in: exchange)
        }
    }
}
