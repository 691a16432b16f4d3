import ContractServer
import HTTPTypes
import NIOCore

/// A document that a listener answers beside the operations of its API, such as `/openapi.json`.
public struct ServedDocument: Sendable {
    /// The path, outside of the API's base path.
    public let path: String
    /// The media type.
    public let contentType: String
    /// The content security policy, for a page that browsers show.
    public let policy: String?
    fileprivate let bytes: MadeOnce

    /// - Parameter make: Makes the document. It runs once, when the document is first asked for.
    public init(
        _ path: String, contentType: String = "application/json", policy: String? = nil,
        make: @escaping @Sendable () -> [UInt8]
    ) {
        self.path = path
        self.contentType = contentType
        self.policy = policy
        bytes = MadeOnce(make)
    }

    fileprivate var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: contentType, .cacheControl: "no-cache"]
        headers[.contentSecurityPolicy] = policy
        return headers
    }
}

/// A document, which is kept from the first time that it is asked for.
fileprivate actor MadeOnce {
    private let make: @Sendable () -> [UInt8]
    private var made: Task<ByteBuffer, Never>?

    init(_ make: @escaping @Sendable () -> [UInt8]) { self.make = make }

    var value: ByteBuffer {
        get async {
            let task = made ?? Task.detached { [make] in ByteBuffer(bytes: make()) }
            made = task
            return await task.value
        }
    }
}

extension Routes {
    /// Adds the documents, which need no credentials.
    mutating func serve(_ documents: [ServedDocument]) {
        for served in documents {
            document(served.path, headers: served.headers) { await served.bytes.value }
        }
    }
}
