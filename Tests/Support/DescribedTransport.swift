import Contract
import ContractClient
import ContractDescribe
import Foundation
import HTTPTypes

/// Passes requests on, and holds every answer and every frame to the documents that describe the API: the operation, the
/// status, the media type and the body.
public struct DescribedTransport: Transport, SocketTransport {
    private let transport: any Transport
    private let sockets: any SocketTransport
    private let baseURL: URL
    private let description: SharedDescription

    /// The documents of an API, ready for lookups.
    struct Documents: Sendable {
        let openAPI: SchemaValidator
        let asyncAPI: SchemaValidator?
        /// The operations by their method and path, those with the fewest captures first.
        fileprivate let operations: [(method: String, steps: [Substring], json: JSONTree)]

        init(_ description: APIDescription) {
            openAPI = SchemaValidator(document: description.openAPI)
            asyncAPI = description.asyncAPI.map(SchemaValidator.init)
            operations = (description.openAPI["paths"]?.members ?? []).flatMap { path in
                path.value.members.map { operation in
                    (operation.name.uppercased(), path.name.split(separator: "/"), operation.value)
                }
            }.sorted { $0.steps.count { $0.first == "{" } < $1.steps.count { $0.first == "{" } }
        }
    }

    public init(
        _ transport: any Transport, _ sockets: any SocketTransport, baseURL: URL, _ description: SharedDescription
    ) {
        self.transport = transport
        self.sockets = sockets
        self.baseURL = baseURL
        self.description = description
    }

    /// An answer or a frame that the documents do not have.
    struct Undescribed: Error, CustomStringConvertible {
        let description: String
    }

    public func send(_ request: TransportRequest, progress: UploadProgress?) async throws -> TransportResponse {
        let response = try await transport.send(request, progress: progress)
        try check(response, to: request, await description.documents)
        return response
    }

    private func check(
        _ response: TransportResponse, to request: TransportRequest, _ documents: Documents
    ) throws {
        let (base, url) = (baseURL.absoluteString, request.url.absoluteString)
        let path = url.dropFirst(base.count).prefix { $0 != "?" }
        guard url.hasPrefix(base), path.isEmpty || path.first == "/" else { return }
        // The root has no steps.
        let steps = path.count < 2 ? [] : path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        // A path that is not the contract's, such as health, is not in the document either.
        let found = documents.operations.first { operation in
            operation.method == request.method.rawValue && operation.steps.count == steps.count
                && zip(operation.steps, steps).allSatisfy { $0 == $1 || ($0.first == "{" && !$1.isEmpty) }
        }
        guard let found else { return }
        let (status, validator) = (response.status.code, documents.openAPI)
        func undescribed(_ what: String) -> Undescribed {
            let path = "/" + found.steps.joined(separator: "/")
            let body = String(decoding: response.body.prefix(300), as: UTF8.self)
            return Undescribed(description: "\(found.method) \(path): \(status): \(what): \(body)")
        }
        guard var answer = found.json["responses"]?["\(status)"] else { throw undescribed("an undocumented status") }
        if let reference = answer["$ref"]?.text { answer = validator.resolved(reference) ?? [:] }
        for header in answer["headers"]?.members ?? [] where header.name == "X-Request-Id" {
            guard response.headers[.requestID] != nil else { throw undescribed("no \(header.name)") }
        }
        guard let content = answer["content"]?.members.first else {
            // A redirect may have a page for people.
            guard response.body.isEmpty || 300..<400 ~= status else { throw undescribed("an undocumented body") }
            return
        }
        guard (response.headers[.contentType] ?? "").prefix(while: { $0 != ";" }) == content.name else {
            throw undescribed("not \(content.name)")
        }
        guard content.name == "application/json" else { return }
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(response.body))
        if let difference = validator.difference(in: value, from: content.value["schema"] ?? [:]) {
            throw undescribed(difference)
        }
    }

    // MARK: Frames

    public func open(_ url: URL, headers: HTTPFields, maximumMessageSize: Int) async throws -> any Socket {
        let socket = try await sockets.open(url, headers: headers, maximumMessageSize: maximumMessageSize)
        guard let validator = await description.documents.asyncAPI else { return socket }
        return DescribedSocket(base: socket, validator: validator)
    }

    private struct DescribedSocket: Socket {
        let base: any Socket
        let validator: SchemaValidator

        func receive() async throws -> SocketMessage {
            let message = try await base.receive()
            guard case .text(let text) = message else { throw Undescribed(description: "a binary frame") }
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
            guard case .string(let type)? = value["type"] else { throw Undescribed(description: "no type: \(text)") }
            let sent = validator.document["operations"]?["sendFrame"]?["messages"]?.elements ?? []
            let messages = sent.compactMap { $0["$ref"]?.text }.compactMap(validator.resolved)
                .compactMap { $0["$ref"]?.text }.compactMap(validator.resolved)
            guard let known = messages.first(where: { $0["name"]?.text == type }) else {
                throw Undescribed(description: "an undocumented frame: \(text)")
            }
            if let difference = validator.difference(in: value, from: known["payload"] ?? [:]) {
                throw Undescribed(description: "\(difference): \(text)")
            }
            return message
        }

        func send(_ text: String) async throws { try await base.send(text) }
        func ping() async throws { try await base.ping() }
        func close(code: UInt16, reason: String) async { await base.close(code: code, reason: reason) }
    }
}
