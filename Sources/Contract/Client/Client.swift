import Contract
import Foundation
import HTTPTypes

/// Sends any endpoint of an API: encodes the request, adds the credentials, retries where that is safe, and decodes the
/// answer.
public struct Client<API: ServiceAPI>: Sendable {
    /// The URL to which the contract's paths are appended.
    public let baseURL: URL
    private let transport: any Transport
    private let credentials: (any Credentials)?
    private let retry: Retry

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - baseURL: The URL to which the contract's paths are appended.
    ///   - transport: The HTTP client that carries requests.
    ///   - credentials: The tokens for operations that need a caller; nil sends such operations without.
    ///   - retry: The conditions under which a request is sent again.
    public init(
        baseURL: URL, transport: any Transport = URLSessionTransport(), credentials: (any Credentials)? = nil,
        retry: Retry = .standard
    ) {
        self.baseURL = baseURL
        self.transport = transport
        self.credentials = credentials
        self.retry = retry
    }

    /// Sends a request and returns the value that the operation answers.
    ///
    /// - Parameter idempotencyKey: See ``answer(_:idempotencyKey:progress:)``.
    /// - Throws: ``APIError`` when the API refuses the request, or when `validate()` does before anything is sent;
    ///   ``SignedOut``; ``UnreadableAnswer``; `CancellationError`; the network's error.
    @discardableResult
    public func send<E: Endpoint>(
        _ request: E, idempotencyKey: String? = nil
    ) async throws -> E.Output where E.API == API {
        guard let output = try await answer(request, idempotencyKey: idempotencyKey).output else {
            throw UnreadableAnswer(status: E.route.status, body: [], reason: "no output")
        }
        return output
    }

    /// Sends a request and returns the answer with its status and headers.
    ///
    /// - Parameters:
    ///   - idempotencyKey: A key for operations that honour one: 1 to 255 printable ASCII characters, by default a new
    ///     key. Pass your own to repeat a request in another launch of the app without acting twice.
    ///   - progress: Called as an upload proceeds.
    /// - Throws: The errors of ``send(_:idempotencyKey:)``.
    public func answer<E: Endpoint>(
        _ request: E, idempotencyKey: String? = nil, progress: UploadProgress? = nil
    ) async throws -> Answer<E.Output> where E.API == API {
        do {
            try request.validatePath()
            try request.validate()
        } catch {
            throw APIError(error)
        }
        let encoded = try RequestCoding.encode(request)
        guard let url = URL(string: trimmedBase + encoded.path) else { throw URLError(.badURL) }
        var outgoing = TransportRequest(method: E.route.method, url: url)
        outgoing.headers[.accept] = "application/json"
        if E.route.acceptsIdempotencyKey {
            outgoing.headers[.idempotencyKey] = idempotencyKey ?? UUID().uuidString.lowercased()
        }
        let form = try MultipartBody(encoded.body)
        defer { form?.remove() }
        switch encoded.body {
        case .none: break
        case .json(let bytes):
            outgoing.headers[.contentType] = "application/json"
            outgoing.body = .bytes(bytes)
        case .form:
            outgoing.headers[.contentType] = form?.contentType
            outgoing.body = form?.body ?? .none
        }
        let needsCaller = E.self is any AuthenticatedEndpoint.Type
        let (response, mayHaveActed) = try await exchange(
            outgoing, credentials: needsCaller ? credentials : nil, mayRepeat: E.route.mayRepeat,
            progress: progress)
        // The first attempt has deleted it, and only its answer was lost.
        if E.route.method == .delete, mayHaveActed, response.status == .notFound,
            let output = (E.Output.self as? any DeletionOutput.Type)?.alreadyDeleted as? E.Output
        {
            return Answer(E.route.status, output, headers: response.headers)
        }
        guard response.status.kind == .successful || response.status.code == E.route.status.code else {
            throw APIError(response, api: API.self, from: baseURL)
        }
        return Answer(response.status, try decode(E.Output.self, response), headers: response.headers)
    }

    /// Sends one request and its repeats, each with the token that is valid at that time.
    ///
    /// - Returns: The last answer, and whether the server may have acted on an earlier attempt.
    private func exchange(
        _ request: TransportRequest, credentials: (any Credentials)?, mayRepeat: Bool, progress: UploadProgress?
    ) async throws -> (TransportResponse, mayHaveActed: Bool) {
        var request = request
        var mayHaveActed = false
        var token: String?
        /// The new token, after the server refused the one before.
        var renewed: String?
        var isRenewed = false
        var attempt = 0
        while true {
            // A request that the server has not acted on can always be sent again.
            var mayRepeatNow = true
            let delay: Duration?
            let outcome: Result<TransportResponse, any Error>
            do {
                if let credentials {
                    let bearer: String
                    if let renewed { bearer = renewed } else { bearer = try await credentials.token(after: token) }
                    renewed = nil
                    request.headers[.authorization] = "Bearer \(bearer)"
                    token = bearer
                }
                mayRepeatNow = mayRepeat
                let response = try await transport.send(request, progress: progress)
                if response.status == .unauthorized, let credentials, let refused = token {
                    mayRepeatNow = true
                    if !isRenewed {
                        renewed = try await credentials.renew(refused)
                        isRenewed = true
                        continue
                    }
                    try await credentials.refusedAgain(refused)
                }
                outcome = .success(response)
                delay = mayRepeat ? retry.delay(after: response, attempt: attempt) : nil
            } catch let error where !(error is SignedOut) {
                // A transport may report the cancellation as an error of its own.
                try Task.checkCancellation()
                outcome = .failure(error)
                delay = mayRepeatNow ? retry.delay(after: error, attempt: attempt) : nil
            }
            guard let delay else { return (try outcome.get(), mayHaveActed) }
            if case .success(let response) = outcome, response.status.code < 500 {} else { mayHaveActed = true }
            try await retry.sleep(delay)
            isRenewed = false
            attempt += 1
        }
    }

    private func decode<Output: Decodable>(_ type: Output.Type, _ response: TransportResponse) throws -> Output {
        if let empty = Empty() as? Output { return empty }
        do {
            return try JSONDecoder().decode(type, from: Data(response.body))
        } catch {
            if let plain = type as? any PlainAnswer.Type,
                let output = plain.init(plain: String(decoding: response.body, as: UTF8.self)) as? Output
            {
                return output
            }
            throw UnreadableAnswer(status: response.status, body: response.body, reason: "\(error)")
        }
    }

    private var trimmedBase: String {
        let text = baseURL.absoluteString
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}
