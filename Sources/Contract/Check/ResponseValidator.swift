import Contract
import ContractClient
import ContractExamples
import Foundation
import HTTPTypes

/// What goes over the wire of an API, as the contract's examples show it: names and types that do not come from the SDK's
/// types, which might be wrong the same way.
public struct WireShapes: Sendable {
    /// The answer of an operation that succeeds.
    struct Operation: Sendable {
        let signature: String
        let methods: [String]
        let path: [Substring]
        let answers: [Answer]

        func matches(_ method: String, _ steps: [Substring]) -> Bool {
            methods.contains(method) && path.count == steps.count
                && zip(path, steps).allSatisfy { $0 == $1 || $0.first == "{" }
        }
    }

    struct Answer: Sendable {
        let status: Int
        let inclusion: String?
        let mediaType: String?
        let shape: Shape?
    }

    /// Those with the fewest captures come first: they match first.
    let operations: [Operation]
    let elsewhere: [String]
    let failure: Shape
    /// The frames that the server sends on sockets, by `type`.
    let frames: [String: Shape]

    /// Derives the shapes of an API's examples. Of several for one answer or frame the first says what it looks like.
    public init(_ examples: Examples) {
        operations = examples.operations.map { operation in
            Operation(
                signature: operation.signature, methods: operation.methods, path: operation.path.split(separator: "/"),
                answers: operation.answers.map {
                    Answer(status: $0.status, inclusion: $0.inclusion, mediaType: $0.mediaType, shape: $0.body?.shape)
                })
        }.sorted { left, right in
            left.path.count { $0.first == "{" } < right.path.count { $0.first == "{" }
        }
        elsewhere = examples.elsewhere
        failure = examples.failure.shape
        let frames = examples.frames.filter { $0.sender == .server }
        self.frames = Dictionary(frames.map { ($0.type, $0.value.shape) }) { first, _ in first }
    }
}

/// Validates every answer and frame of every scenario, the SDK's too, against the contract's examples.
///
/// An SDK overlooks what another client would stumble over: an unknown member, a null that is left out, a time with a
/// fraction. An operation or frame without an example fails: nothing goes over the wire unseen.
public struct ResponseValidator: Transport, SocketTransport {
    private let server: Server
    private let shapes: WireShapes

    public init(of server: Server, against shapes: WireShapes) {
        self.server = server
        self.shapes = shapes
    }

    // MARK: Answers

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await server.transport.send(request, progress: progress)
        try validate(Exchange(request: request, response: response), response)
        return response
    }

    private func validate(_ exchange: Exchange, _ response: TransportResponse) throws {
        let (url, method) = (exchange.request.url, exchange.request.method.rawValue)
        guard let steps = steps(of: url) else { return }
        let (status, path) = (response.status.code, "/" + steps.joined(separator: "/"))
        let what = "\(method) \(path)"
        func mismatch(_ expected: String, _ found: String) -> CheckFailure {
            CheckFailure(JSONDifference(path: "", expected: expected, found: found), of: what, in: exchange)
        }
        let words = Self.inclusions(in: url)
        guard let operation = shapes.operations.first(where: { $0.matches(method, steps) }) else {
            if status < 400, !shapes.elsewhere.contains(where: path.hasPrefix) {
                throw mismatch("an operation with examples", "status \(status)")
            }
            return
        }
        if response.headers[.idempotentReplayed] != nil { server.coverage?.add(repeatOf: operation.signature) }
        let shape: Shape
        if status >= 400 {
            shape = shapes.failure
        } else {
            let answers = operation.answers.filter { $0.inclusion.map(words.contains) ?? true }
            // A contract says that an operation redirects, and not always how.
            let isRedirect = { server.level == .contract && 300..<400 ~= status && 300..<400 ~= $0 }
            let fitting = answers.filter { $0.status == status || isRedirect($0.status) }
            // A request may ask for several parts at once.
            let including = fitting.filter { $0.inclusion != nil }
            guard let answer = including.first ?? fitting.first else {
                let expected = Set(answers.map(\.status)).sorted().map(String.init).joined(separator: " or ")
                throw mismatch("status \(expected)", "status \(status)")
            }
            for inclusion in including.isEmpty ? [nil] : including.map(\.inclusion) {
                server.coverage?.add("\(operation.signature): \(status)", inclusion)
            }
            guard let mediaType = answer.mediaType else {
                // A redirect may have a page for people.
                guard response.body.isEmpty || 300..<400 ~= status else {
                    throw mismatch("no body", "\(response.body.count) bytes")
                }
                return
            }
            guard let expected = answer.shape else {
                let found = response.headers[.contentType] ?? "none"
                guard found.prefix(while: { $0 != ";" }) == mediaType else {
                    throw mismatch("Content-Type \(mediaType)", found)
                }
                return
            }
            shape = including.dropFirst().compactMap(\.shape).reduce(expected) { $0.joined(with: $1) }
        }
        let type = response.headers[.contentType] ?? "none"
        guard type.prefix(while: { $0 != ";" }) == "application/json" else {
            throw mismatch("Content-Type application/json", type)
        }
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(response.body)) else {
            throw mismatch("JSON", "\(String(decoding: response.body.prefix(200), as: UTF8.self))")
        }
        if let difference = shape.difference(in: value, level: server.level) {
            throw CheckFailure(difference, of: what, in: exchange)
        }
    }

    /// The steps of a path below the base URL; nil for another URL, such as one of a file's store.
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
        ValidatedSocket(
            base: try await server.sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize),
            shapes: shapes.frames, level: server.level, coverage: server.coverage)
    }

    private struct ValidatedSocket: Socket {
        let base: any Socket
        let shapes: [String: Shape]
        let level: Level
        let coverage: Coverage?

        func receive() async throws -> SocketMessage {
            let message = try await base.receive()
            guard case .text(let text) = message else { throw mismatch("a text frame", "a binary one") }
            guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else {
                throw mismatch("JSON", "\(text.prefix(200))")
            }
            guard let shape = shapes[value["type"]?.string ?? ""] else {
                // Clients skip unknown types. A server of this project sends none.
                if level == .contract, value["type"]?.string != nil { return message }
                throw mismatch("a known type", "\(text.prefix(200))")
            }
            if let difference = shape.difference(in: value, level: level) {
                throw CheckFailure(difference, of: "frame")
            }
            coverage?.add(frame: value, from: .server)
            return message
        }

        private func mismatch(_ expected: String, _ found: String) -> CheckFailure {
            CheckFailure(JSONDifference(path: "", expected: expected, found: found), of: "frame")
        }

        func send(_ text: String) async throws {
            try await base.send(text)
            if let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) {
                coverage?.add(frame: value, from: .client)
            }
        }
        func ping() async throws { try await base.ping() }
        func close(code: UInt16, reason: String) async { await base.close(code: code, reason: reason) }
    }
}
