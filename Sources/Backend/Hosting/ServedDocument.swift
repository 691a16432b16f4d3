import Contract
import ContractServer
import HTTPTypes
import Hummingbird
import NIOCore

/// A document that a listener answers beside the operations of its API, such as `/openapi.json`.
public struct ServedDocument: Sendable {
    /// The path, outside of the API's base path.
    public let path: String
    /// The media type.
    public let contentType: String
    private let bytes: MadeOnce

    /// - Parameter make: Makes the document. It runs once, when the document is first asked for.
    public init(_ path: String, contentType: String = "application/json", make: @escaping @Sendable () -> [UInt8]) {
        self.path = path
        self.contentType = contentType
        bytes = MadeOnce(make)
    }

    fileprivate func answer() async -> Response {
        let bytes = await bytes.value
        return Response(
            status: .ok, headers: [.contentType: contentType, .cacheControl: "no-cache"],
            body: .init(byteBuffer: bytes))
    }
}

/// A document, which is kept from the first time that it is asked for.
private actor MadeOnce {
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
        for document in documents { plain(.get, document.path) { _, _ in await document.answer() } }
    }
}
