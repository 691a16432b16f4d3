/// An operation as the contract shows it: its requests, and its answers by status.
///
/// It is text, and independent of the types and their coding, so that a wrong name on the wire cannot agree with itself.
public struct OperationExample: Sendable {
    /// A request line and body.
    public struct Request: Sendable {
        /// The path and query, such as `/chats/5/messages?limit=2`.
        public let target: String
        /// Whether the body stands for the text fields of a form.
        public let isForm: Bool
        public let body: ExampleValue?
    }

    /// A successful answer.
    public struct Answer: Sendable {
        public let status: Int
        /// The word in a request's `include` that has this answer.
        public let inclusion: String?
        /// The media type of the body; nil for an answer without a body.
        public let mediaType: String?
        /// The JSON of the body; nil also for a body that is not JSON.
        public let body: ExampleValue?
    }

    /// A refusal that is the operation's own.
    public struct Refusal: Sendable, Hashable {
        public let status: Int
        /// The message, in the words of the contract.
        public let message: String
    }

    /// A word behind an operation's path.
    enum Mark: String {
        case open, key, limited, addition
    }

    /// The method, and behind it those that a server takes for the same.
    public let methods: [String]
    /// The path, captures in braces: `/chats/{id}/messages`.
    public let path: String
    let marks: Set<Mark>
    /// The fields of the request that the published contract does not have, and whose example does not say so.
    public let addedFields: Set<String>
    /// A sentence that says what the operation does; empty where the examples have none.
    public let summary: String
    public let requests: [Request]
    public let answers: [Answer]
    /// The refusals that not every operation has.
    public let refusals: [Refusal]

    /// Whether it needs no caller.
    public var isOpen: Bool { marks.contains(.open) }
    /// Whether it honours `Idempotency-Key`.
    public var takesKey: Bool { marks.contains(.key) }
    /// Whether answers have the state of a rate limit in `X-RateLimit-…`.
    public var isLimited: Bool { marks.contains(.limited) }
    /// Whether a server of the published contract alone need not have it.
    public var isAddition: Bool { marks.contains(.addition) }

    /// The heading in the contract's summary, such as `GET /chats/{id}`.
    public var signature: String { "\(methods[0]) \(path)" }
}

/// What one side says on a socket.
public struct FrameExample: Sendable {
    /// Who sends a frame.
    public enum Sender: Sendable {
        case client, server
    }

    /// The path of the socket.
    public let path: String
    public let sender: Sender
    public let type: String
    public let value: ExampleValue
    /// Whether a side that knows the published contract alone need not know the frame.
    public let isAddition: Bool
}

/// The examples of a whole API, in the order of its contract.
///
/// The mock answers with them, the checker's response validator holds every server to their shapes, and the tests hold
/// the types to them.
public struct Examples: Sendable {
    public let operations: [OperationExample]
    public let frames: [FrameExample]
    /// What every refusal looks like.
    public let failure: ExampleValue
    /// The request of each operation as Swift writes it with the SDK: the SDK's type, and its arguments. Where an app calls a
    /// function of the SDK instead, the call stands behind the type and a colon.
    public let calls: [String]
    /// The beginnings of paths that a server answers beside the operations, such as `/objects/`.
    public let elsewhere: [String]

    /// Reads the sections' examples. A mistake in one is a mistake in the program, and ends it.
    ///
    /// - Parameters:
    ///   - sections: One text for each section of the contract, in its order.
    ///   - calls: The requests as Swift writes them. Each begins a line; the lines that continue it are indented.
    public init(_ sections: String..., calls: String = "", failure: String, elsewhere: [String] = []) {
        do {
            var (operations, frames): ([OperationExample], [FrameExample]) = ([], [])
            for section in sections {
                var parser = ExampleParser(section)
                let found = try parser.parse()
                operations += found.operations
                frames += found.frames
            }
            self.operations = operations
            self.frames = frames
            self.failure = try ExampleValue(parsing: failure)
            self.elsewhere = elsewhere
            self.calls = calls.split(separator: "\n").reduce(into: []) { calls, line in
                if line.hasPrefix(" "), let last = calls.indices.last {
                    calls[last] += "\n" + line
                } else {
                    calls.append(String(line))
                }
            }
        } catch {
            preconditionFailure("An example cannot be read: \(error)")
        }
    }

    /// The examples of an operation.
    ///
    /// - Parameter signature: Such as `GET /chats/{id}`.
    public subscript(signature: String) -> OperationExample? { operations.first { $0.signature == signature } }
}
