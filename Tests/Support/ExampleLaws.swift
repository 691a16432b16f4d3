import Contract
import ContractCheck
import ContractClient
import ContractExamples
import ContractServer
import Foundation
import NIOCore
import Testing

// These laws compare the types with the contract's examples. Both sides share the types and would agree on a wrong name
// on the wire, but the examples are text.
extension Laws {
    /// Checks that the operations are those of the examples, in their order, with the same methods, keys and statuses,
    /// and that each needs a caller exactly if the example says so.
    public func checkOperations() {
        #expect(API.endpoints.map { $0.signature } == examples.operations.map(\.signature))
        for endpoint in API.endpoints {
            let signature = endpoint.signature
            guard let example = examples[signature] else {
                Issue.record("\(signature) has no examples")
                continue
            }
            let route = endpoint.route
            #expect(([route.method] + route.alternatives).map(\.rawValue) == example.methods, "\(signature)")
            #expect(endpoint is any OpenEndpoint.Type == example.isOpen, "\(signature)")
            #expect(endpoint is any AuthenticatedEndpoint.Type == !example.isOpen, "\(signature)")
            #expect(route.acceptsIdempotencyKey == example.takesKey, "\(signature)")
            // An operation that answers 201 creates something.
            #expect(route.status != .created || route.acceptsIdempotencyKey, "\(signature)")
            #expect(example.answers.contains { $0.status == route.status.code }, "\(signature): \(route.status.code)")
            let captures = example.path.split(separator: "/").filter { $0.first == "{" }.map {
                String($0.dropFirst().dropLast())
            }
            #expect(captures == route.captures, "\(signature)")
        }
    }

    /// Checks that every example of a request has a request of the SDK, and every example of an answer with a body has
    /// a value, each word of `include` one of its own.
    ///
    /// - Parameter answers: The values; nil if they are compared in another way.
    public func checkExamplesAreUsed(_ answers: [ExampleAnswer]? = nil) {
        for operation in examples.operations {
            for example in operation.requests {
                let isWritten = requests.contains {
                    $0.signature == operation.signature && $0.isWritten(as: example)
                }
                #expect(isWritten, "no request is written as \(operation.signature) \(example.target)")
            }
            if let answers, operation.answers.contains(where: { $0.body != nil }) {
                let hasValue = answers.contains { $0.signature == operation.signature }
                #expect(hasValue, "no value for the answers of \(operation.signature)")
            }
            for answer in operation.answers {
                guard let answers, let word = answer.inclusion, let body = answer.body else { continue }
                let hasValue = answers.contains { $0.signature == operation.signature && $0.written == body.json() }
                #expect(hasValue, "no value for the answer of \(operation.signature) that includes \(word)")
            }
        }
    }

    /// Checks that a request is encoded as an example of its operation, and that the example is decoded as the request.
    public func check(_ request: ExampleRequest) throws {
        let operation = try #require(examples[request.signature], "no examples")
        let example = try #require(
            operation.requests.first(where: request.isWritten),
            "no example of a request is \(request.path) \(request.json?.description ?? "without a body")")
        #expect(try request.reading(example) == request.value)
        try request.checkRoundTrip()
    }

    /// Checks that a value is encoded exactly as an example of its operation, and that the example is decoded as the
    /// value, with and without the additions to the contract.
    public func check(_ answer: ExampleAnswer) throws {
        let operation = try #require(examples[answer.signature], "no examples")
        let bodies = operation.answers.compactMap(\.body)
        let found = bodies.first { $0.json() == answer.written }
        if found == nil { #expect(answer.written == bodies.first?.json()) }
        let body = try #require(found, "no example of an answer")
        #expect(try answer.isRead(body.json(), false))
        #expect(try answer.isRead(body.json(additions: false), true))
    }

    /// Checks that every answer in the examples, and every variant of it, has the answer's shape, and is unchanged
    /// after decoding and encoding.
    public func checkAnswers() throws {
        for endpoint in API.endpoints {
            var shapes: [String: Shape] = [:]
            for answer in examples[endpoint.signature]?.answers ?? [] {
                guard let body = answer.body else { continue }
                let shape = shapes["\(answer.status) \(answer.inclusion ?? "")", default: body.shape]
                shapes["\(answer.status) \(answer.inclusion ?? "")"] = shape
                for variant in [body] + body.variants {
                    let difference = shape.difference(in: variant.value)
                    #expect(difference == nil, "\(endpoint.signature)")
                    try Self.checkRoundTrip(endpoint, variant.json())
                }
            }
        }
    }

    private static func checkRoundTrip<E: Contract.Endpoint>(_ endpoint: E.Type, _ json: String) throws {
        let value = try read(E.Output.self, json)
        #expect(String(buffer: try JSONBody.encode(value)) == json, "\(E.signature)")
    }

    /// Checks that the sections and the examples have the same types of frames, and that every frame in the examples, and
    /// every variant of it, has the shape of its type and a value, and is unchanged after decoding and encoding.
    public func checkFrames<Value>(
        _ sender: FrameExample.Sender, of frames: FrameSet<Value>, values: [ExampleFrame]
    ) throws {
        let examples = examples.frames.filter { $0.sender == sender }
        #expect(frames.types.map { $0.type }.sorted() == Set(examples.map(\.type)).sorted())
        for example in examples {
            let json = example.value.json()
            #expect(values.contains { $0.written == json }, "no value for \(json)")
            // A client may send a type in several shapes. The checker knows only the first one of a server's type.
            let known = sender == .server ? examples.first { $0.type == example.type } : example
            let shape = known?.value.shape
            for variant in [example.value] + example.value.variants {
                #expect(shape?.difference(in: variant.value) == nil, "\(example.type)")
                let frame = try Self.frame(variant.json(), in: frames)
                #expect(frame.wireType == example.type && !(frame is UnknownFrame), "\(example.type)")
                let written = String(buffer: try JSONBody.encode(TypedFrame(frame)))
                #expect(written == variant.json(), "\(example.type)")
            }
        }
    }

    /// Checks that a server encodes a frame as an example, an SDK with the same members, and that the example is decoded as
    /// the frame, with and without additions.
    public func check<Value>(_ value: ExampleFrame, in frames: FrameSet<Value>) throws {
        let isClients = frames.types.allSatisfy { $0 is any ClientFrame.Type }
        let example = try #require(
            examples.frames.first { ($0.sender == .client) == isClients && $0.value.json() == value.written },
            "no example of a frame is \(value.written)")
        #expect(try read(JSONValue.self, [UInt8](value.frame.json())) == read(JSONValue.self, value.written))
        for json in [example.value.json(), example.value.json(additions: false)] {
            let frame = AnyHashable(try Self.frame(json, in: frames))
            #expect(frame == AnyHashable(value.frame))
        }
    }

    private static func frame<Value>(_ json: String, in frames: FrameSet<Value>) throws -> any Frame {
        let value: Any = try frames.decode(Data(json.utf8))
        guard let frame = value as? any Frame else { throw NoFrame() }
        return frame
    }

    private struct NoFrame: Error {}

    /// Checks that the mock answers every operation with its examples.
    ///
    /// - Parameters:
    ///   - refused: The operations that the mock always refuses with its data.
    ///   - mock: Creates a mock. Each request has one of its own.
    public func checkMock(
        but refused: Set<String> = [], from mock: () -> (any Transport & SocketTransport, baseURL: URL)
    ) async throws {
        let shapes = WireShapes(examples)
        for operation in examples.operations {
            var refusals: [String] = []
            var isAnswered = false
            for request in requests where request.signature == operation.signature {
                let (mock, baseURL) = mock()
                let server = Server(baseURL: baseURL, transport: mock, sockets: mock)
                do {
                    try await request.send(ResponseValidator(of: server, against: shapes), baseURL)
                    isAnswered = true
                } catch is UnreadableAnswer where operation.answers.contains(where: { $0.body == nil }) {
                    // The API's own client decodes a body of another media type.
                    isAnswered = true
                } catch let error as APIError {
                    #expect(error.status != .notImplemented, "\(operation.signature)")
                    refusals.append("\(request.path): \(error.message)")
                }
            }
            let isRefused = refused.contains(operation.signature)
            #expect(isAnswered != isRefused, "the mock answers \(operation.signature): \(refusals)")
        }
    }

    /// Checks that scenarios receive every answer and every frame of the examples.
    ///
    /// - Parameters:
    ///   - unseen: What no client can cause, such as `frame x`, and a test of its own sees.
    ///   - coverage: Records the examples that the scenarios on all servers have seen.
    ///   - run: Runs a scenario on a server of its own.
    package func checkCoverage<World>(
        _ scenarios: [Scenario<World>], but unseen: [String] = [], noting coverage: Coverage,
        _ run: @escaping @Sendable (Scenario<World>) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, scenario) in scenarios.enumerated() {
                // Four run at a time, because each has a server and a database.
                if index >= 4 { try await group.next() }
                group.addTask { try await run(scenario) }
            }
            try await group.waitForAll()
        }
        #expect(coverage.missing(from: examples) == unseen, "no scenario sees these")
    }
}
