import Contract
import ContractClient
import Foundation
import HTTPTypes

/// What goes over the wire of an API, as its contract's examples show it: names and types, held by hand and not taken
/// from the SDK's types, which might be wrong the same way.
public struct WireShapes: Sendable {
    /// What an operation answers when it succeeds: a body for each status.
    public struct Operation: Sendable {
        let method: String
        let path: [Substring]
        let inclusion: String?
        let answers: [Int: Shape?]

        /// - Parameters:
        ///   - path: With captures in braces.
        ///   - inclusion: Only of requests that have the word in their `include`.
        ///   - answers: By status; nil for one without a body.
        public init(_ method: String, _ path: String, including inclusion: String? = nil, _ answers: [Int: Shape?]) {
            self.method = method
            self.path = path.split(separator: "/")
            self.inclusion = inclusion
            self.answers = answers
        }

        func matches(_ method: String, _ steps: [Substring], including words: [String]) -> Bool {
            self.method == method && path.count == steps.count
                && zip(path, steps).allSatisfy { $0 == $1 || $0.first == "{" }
                && (inclusion.map { words.contains($0) } ?? true)
        }
    }

    let operations: [Operation]
    let failure: Shape
    let frames: [String: Shape]

    /// - Parameters:
    ///   - operations: The first that matches counts.
    ///   - failure: What every refusal looks like.
    ///   - frames: What the server says on sockets, by their `type`.
    public init(operations: [Operation], failure: Shape, frames: [String: Shape]) {
        self.operations = operations
        self.failure = failure
        self.frames = frames
    }
}

/// Looks at every answer and frame of every scenario, the SDK's too: whether it is written as the contract shows it.
///
/// An SDK overlooks what a stranger's client would trip over: a member too many, a null that is left out, a time with a
/// fraction.
public struct Witness: Transport, SocketTransport {
    private let server: Server
    private let shapes: WireShapes

    public init(of server: Server, holdingTo shapes: WireShapes) {
        self.server = server
        self.shapes = shapes
    }

    // MARK: Answers

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await server.transport.send(request, progress: progress)
        try judge(Exchange(request: request, response: response), response)
        return response
    }

    private func judge(_ exchange: Exchange, _ response: TransportResponse) throws {
        let (url, method) = (exchange.request.url, exchange.request.method.rawValue)
        guard let steps = steps(of: url),
            let operation = shapes.operations.first(where: {
                $0.matches(method, steps, including: Self.inclusions(in: url))
            })
        else { return }
        let what = "\(exchange.request.method) /\(steps.joined(separator: "/"))"
        func broken(_ expected: String, _ found: String) -> Broken {
            Broken(JSONDifference(path: "", expected: expected, found: found), of: what, in: exchange)
        }

        let status = response.status.code
        guard let answer = status >= 400 ? shapes.failure : operation.answers[status] else {
            let expected = operation.answers.keys.sorted().map(String.init).joined(separator: " or ")
            throw broken("status \(expected)", "status \(status)")
        }
        guard let shape = answer else {
            // A redirect may have a page for people.
            guard response.body.isEmpty || 300..<400 ~= status else {
                throw broken("no body", "\(response.body.count) bytes")
            }
            return
        }
        let type = response.headers[.contentType] ?? "none"
        guard type.prefix(while: { $0 != ";" }) == "application/json" else {
            throw broken("Content-Type application/json", type)
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body)) else {
            throw broken("JSON", "\(String(decoding: response.body.prefix(200), as: UTF8.self))")
        }
        if let difference = shape.difference(in: value, level: server.level) {
            throw Broken(difference, of: what, in: exchange)
        }
    }

    /// Returns the steps of a path below the base URL; nil for other URLs, such as that of a file's store.
    private func steps(of url: URL) -> [Substring]? {
        let (base, text) = (server.baseURL.absoluteString, url.absoluteString)
        guard text.hasPrefix(base + "/") else { return nil }
        return text.dropFirst(base.count).prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
    }

    private static func inclusions(in url: URL) -> [String] {
        let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let words = items.first { $0.name == "include" }?.value?.split(separator: ",") ?? []
        return words.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    // MARK: Frames

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        WitnessedSocket(
            base: try await server.sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize),
            shapes: shapes.frames, level: server.level)
    }

    private struct WitnessedSocket: Socket {
        let base: any Socket
        let shapes: [String: Shape]
        let level: Level

        func receive() async throws -> SocketMessage {
            let message = try await base.receive()
            guard case .text(let text) = message else { throw broken("a text frame", "a binary one") }
            guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
                throw broken("JSON", "\(text.prefix(200))")
            }
            guard let shape = shapes[value["type"]?.string ?? ""] else {
                // Clients skip unknown types; a server of ours has none.
                if level == .contract, value["type"]?.string != nil { return message }
                throw broken("a known type", "\(text.prefix(200))")
            }
            if let difference = shape.difference(in: value, level: level) { throw Broken(difference, of: "frame") }
            return message
        }

        private func broken(_ expected: String, _ found: String) -> Broken {
            Broken(JSONDifference(path: "", expected: expected, found: found), of: "frame")
        }

        func send(_ text: String) async throws { try await base.send(text) }
        func ping() async throws { try await base.ping() }
        func close(code: UInt16, reason: String) async { await base.close(code: code, reason: reason) }
    }
}
