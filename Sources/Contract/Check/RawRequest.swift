import Contract
import ContractClient
import Foundation
import HTTPTypes

/// A client for requests that an SDK cannot send, and for answers that it does not show.
public struct RawClient: Sendable {
    /// Returns the body of a refusal, as the contract shows it.
    public typealias Refusals = @Sendable (Problem, _ answer: RawAnswer) -> JSONValue

    public let baseURL: URL
    private let transport: any Transport
    private let refusals: Refusals
    /// The fields that every request carries.
    private var credentials: HTTPFields = [:]

    /// - Parameter refusals: The API's shape of refusals; `{"error":"…"}` by default.
    public init(
        baseURL: URL, transport: any Transport,
        refusals: @escaping Refusals = { problem, _ in ["error": .string(problem.message)] }
    ) {
        self.baseURL = baseURL
        self.transport = transport
        self.refusals = refusals
    }

    /// Returns a client that sends these fields with every request, in place of those that a request names itself.
    public func signed(_ credentials: HTTPFields) -> RawClient {
        var client = self
        client.credentials = credentials
        return client
    }

    /// Returns a client that sends a token with every request.
    public func signed(token: String) -> RawClient { signed([.authorization: "Bearer \(token)"]) }

    public func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], body: String? = nil
    ) async throws -> RawAnswer {
        try await send(method, path, headers: headers, body: body)
    }

    public func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:], bytes: [UInt8]
    ) async throws -> RawAnswer {
        try await send(method, path, headers: headers, bytes: bytes)
    }

    public func callAsFunction(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue, headers: HTTPFields = [:]
    ) async throws -> RawAnswer {
        try await send(method, path, headers: headers, body: body.description)
    }

    /// Returns a client of another URL, without credentials.
    func elsewhere(_ url: String) throws -> RawClient {
        guard let url = URL(string: url) else { throw CheckFailure("no URL: \(url)") }
        return RawClient(baseURL: url, transport: transport, refusals: refusals)
    }

    /// Sends a request with any bytes as its body.
    ///
    /// - Parameters:
    ///   - path: The path with its query, as it goes on the wire.
    ///   - token: The token for `Authorization: Bearer`.
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
        guard let url = URL(string: baseURL.absoluteString + path) else { throw CheckFailure("no URL: \(path)") }
        var request = TransportRequest(method: method, url: url, headers: headers)
        for field in credentials { request.headers[field.name] = field.value }
        if let token { request.headers[.authorization] = "Bearer \(token)" }
        if let bytes { request.body = .bytes(bytes) }
        let response = try await transport.send(request, progress: nil)
        return RawAnswer(request: request, response: response, refusals: refusals)
    }
}

/// An answer as it came, with its request.
public struct RawAnswer: Sendable {
    public let request: TransportRequest
    private let response: TransportResponse
    private let refusals: RawClient.Refusals

    init(request: TransportRequest, response: TransportResponse, refusals: @escaping RawClient.Refusals) {
        self.request = request
        self.response = response
        self.refusals = refusals
    }

    public var status: Int { response.status.code }
    public var headers: HTTPFields { response.headers }
    public var body: [UInt8] { response.body }
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The exchange, for a ``CheckFailure`` about this answer.
    public var exchange: Exchange { Exchange(request: request, response: response) }

    /// Returns the body as JSON of any shape.
    ///
    /// - Throws: ``CheckFailure`` when the body is not JSON.
    public func json() throws -> JSONValue {
        do {
            return try JSONDecoder().decode(JSONValue.self, from: Data(body))
        } catch {
            throw CheckFailure(expected: "JSON", found: "\(text.prefix(200))", in: exchange)
        }
    }
}

extension RawAnswer {
    /// Fails unless this is a refusal with this status and exactly this message, in the API's shape.
    ///
    /// - Parameter what: The refused request, if a description needs it.
    @discardableResult
    public func refused(
        _ status: Int, _ text: String, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws -> RawAnswer {
        try refused(Problem(.init(code: status), text), what(), line: line, file: file)
    }

    /// Fails unless this is the refusal that tells of a problem, in the API's shape.
    @discardableResult
    public func refused(
        _ problem: Problem, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> RawAnswer {
        try refused(
            problem.status.code, problem.message, as: refusals(problem, self), what(), line: line, file: file)
    }

    /// Fails unless this is a refusal with this status and exactly this body.
    ///
    /// - Parameters:
    ///   - text: The message of the refusal, for the description of a failure.
    ///   - what: The refused request, if a description needs it.
    @discardableResult
    public func refused(
        _ status: Int, _ text: String, as body: JSONValue, _ what: @autoclosure () -> String = "",
        line: UInt = #line, file: StaticString = #fileID
    ) throws -> RawAnswer {
        let isJSON = headers[.contentType]?.hasPrefix("application/json") == true
        guard self.status == status, isJSON, try json() == body else {
            throw mismatch("\(status) \"\(text)\"", what(), line, file)
        }
        return self
    }

    /// Fails unless this is a success with this status.
    ///
    /// - Returns: The body.
    @discardableResult
    public func succeeded(
        _ status: Int, _ what: @autoclosure () -> String = "", line: UInt = #line, file: StaticString = #fileID
    ) throws -> JSONValue {
        guard self.status == status, headers[.contentType]?.hasPrefix("application/json") == true else {
            throw mismatch("\(status)", what(), line, file)
        }
        return try json()
    }

    /// Fails unless the status is one of these.
    public func expect(
        _ statuses: Range<Int>, _ what: @autoclosure () -> String = "", line: UInt = #line,
        file: StaticString = #fileID
    ) throws {
        guard statuses ~= status else {
            let last = statuses.upperBound - 1
            throw mismatch(
                last == statuses.lowerBound ? "\(last)" : "\(statuses.lowerBound) to \(last)", what(), line, file)
        }
    }

    private func mismatch(_ expected: String, _ what: String, _ line: UInt, _ file: StaticString) -> CheckFailure {
        let type = headers[.contentType] ?? "no content type"
        return CheckFailure(
            expected: expected, found: "\(status) (\(type)) \(text.prefix(200))", String(what.prefix(200)),
            in: exchange,
            line: line, file: file)
    }
}

extension Identifier {
    public var json: JSONValue { .integer(rawValue) }
}

extension TextIdentifier {
    public var json: JSONValue { .string(rawValue) }
}

extension String {
    /// A URL with another spelling of the last step of its path, which has nothing encoded: each character is encoded (RFC 3986
    /// §6.2.2.2). It means the same.
    package var spelledOtherwise: String {
        let end = firstIndex(of: "?") ?? endIndex
        guard let slash = self[..<end].lastIndex(of: "/") else { return self }
        let start = index(after: slash)
        let hexadecimal = Array("0123456789ABCDEF")
        let step = self[start..<end].utf8.map { "%\(hexadecimal[Int($0 >> 4)])\(hexadecimal[Int($0 & 15)])" }
        return self[..<start] + step.joined() + self[end...]
    }
}
