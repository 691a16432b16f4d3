import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import Tracing

/// A call of S3 that has the same effect when it is repeated.
struct S3Call: Sendable {
    /// The name of the operation in S3.
    var operation: String
    var method: String
    /// The path of the bucket or object, not encoded.
    var path: String
    var query: SignatureV4.Request.Fields = []
    var headers: SignatureV4.Request.Fields = []
    /// The body, which can be read several times, and its SHA-256.
    var body: (content: HTTPClientRequest.Body, sha256: [UInt8])?
    /// The time limit of each attempt until the answer begins; nil for the rest of the client's patience.
    var timeout: TimeAmount?
    var attempts = 3
}

/// A complete answer of S3.
struct S3Response: Sendable {
    var status: Int
    /// The headers by their names in lower case.
    var headers: [String: String] = [:]
    var body = ByteBuffer()
}

/// Signs and sends calls, and repeats those that failed for a temporary reason.
struct S3Client: Sendable {
    let location: S3Location
    let signature: SignatureV4
    /// Returns the time in Unix seconds. S3 refuses signatures that are more than 15 minutes off its own clock.
    let now: @Sendable () -> Int64
    let sleep: @Sendable (Duration) async throws -> Void
    let send: @Sendable (HTTPClientRequest, TimeAmount) async throws -> S3Response
    /// Makes a request whose answer is read in pieces.
    var open: @Sendable (HTTPClientRequest, TimeAmount) async throws -> HTTPClientResponse = {
        try await HTTPClient.shared.execute($0, timeout: $1)
    }
    var breaker = S3Breaker()
    /// The time for which a call without an answer is retried, all attempts together, because a client waits for it.
    var patience = TimeAmount.seconds(4)

    /// Returns the answer, whatever its status is.
    ///
    /// - Throws: ``S3Error`` when there is no answer; the errors of reading the body.
    func perform(_ call: S3Call) async throws -> S3Response {
        try await attempting(call) { request, timeout in
            let response = try await send(request, timeout)
            return (response, response)
        }
    }

    /// Returns an answer whose body is still to be read. The body of a refusal has been read to its end.
    func stream(_ call: S3Call) async throws -> (head: S3Response, body: HTTPClientResponse.Body) {
        try await attempting(call) { request, timeout in
            let response = try await open(request, timeout)
            var head = S3Response(response)
            if head.status >= 300 { head.body = try await response.body.collect(upTo: 1 << 20) }
            return (head, (head, response.body))
        }
    }

    private func attempting<Answer>(
        _ call: S3Call,
        _ make: (HTTPClientRequest, TimeAmount) async throws -> (head: S3Response, answer: Answer)
    ) async throws -> Answer {
        let begin = NIODeadline.now()
        let span = Self.span(of: call)
        defer { span?.end() }
        var attempt = 0
        while true {
            attempt += 1
            try breaker.admit(call.operation)
            let elapsed = NIODeadline.now() - begin
            // A long call may take as long as its content makes progress.
            let timeout = call.timeout ?? patience - elapsed
            do {
                // Each attempt is signed anew, because signatures contain the time.
                let (head, answer) = try await make(request(for: call), max(timeout, .milliseconds(100)))
                breaker.note(isWorking: !(500...599 ~= head.status) || head.status == 501)
                span?.attributes["http.response.status_code"] = head.status
                if attempt == call.attempts || !head.isTransient { return answer }
            } catch let error as HTTPClientError where error == .cancelled {
                breaker.release()
                throw CancellationError()
            } catch let error as CancellationError {
                breaker.release()
                throw error
            } catch let error as FileSystemError {
                breaker.release()
                throw error
            } catch {
                breaker.note(isWorking: false)
                if attempt == call.attempts || NIODeadline.now() - begin >= patience {
                    span?.setStatus(.init(code: .error))
                    throw S3Error(call.operation, error)
                }
            }
            try await sleep(Self.pause(after: attempt))
        }
    }

    /// Begins a span when the current work is part of a trace. It names the operation and no object.
    private static func span(of call: S3Call) -> (any Span)? {
        guard let context = ServiceContext.current else { return nil }
        let span: any Span = InstrumentationSystem.tracer.startSpan(
            "S3 \(call.operation)", context: context, ofKind: .client)
        span.attributes["http.request.method"] = call.method
        return span
    }

    /// Returns a random pause up to 0.2 s, 0.4 s, 0.8 s … ("full jitter"), so that nodes do not retry at the same time.
    private static func pause(after attempt: Int) -> Duration {
        .milliseconds(Int.random(in: 0...(100 << attempt)))
    }

    private func request(for call: S3Call) -> HTTPClientRequest {
        let signed = SignatureV4.Request(
            method: call.method, host: location.host, path: call.path, query: call.query, headers: call.headers)
        let digest = (call.body?.sha256 ?? Array(SHA256.hash(data: [UInt8]()))).hexadecimal
        var request = HTTPClientRequest(
            url: location.url(of: signed, query: SignatureV4.canonicalQuery(of: signed)))
        request.method = .init(rawValue: call.method)
        request.headers.add(name: "Host", value: signed.host)
        for header in signature.headers(for: signed, payload: digest, at: now()) {
            request.headers.add(name: header.name, value: header.value)
        }
        request.body = call.body?.content
        return request
    }
}

extension S3Response {
    /// Makes an answer without its body.
    fileprivate init(_ response: HTTPClientResponse) {
        status = Int(response.status.code)
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Whether the same request may get another answer soon.
    fileprivate var isTransient: Bool {
        switch status {
        case 429, 500, 502, 503, 504: true
        // Two conditional writes conflicted, or a connection to S3 was too slow.
        case 409, 400: ["ConditionalRequestConflict", "OperationAborted", "RequestTimeout"].contains(code)
        default: false
        }
    }

    /// S3's error code, if the body has one.
    var code: String? { XMLElements(body)?.first("Error/Code") }
}

extension HTTPClient {
    /// Makes a client for S3. It follows no redirects, because requests are signed for one host.
    static func forS3(patience: TimeAmount) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // The timeout applies to silence: a transfer that makes progress may take as long as it needs.
            timeout: .init(
                connect: max(.seconds(3), .nanoseconds(patience.nanoseconds / 3)), read: max(.seconds(15), patience),
                write: patience),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The client's own spans would have the names of objects in them.
        configuration.tracing.tracer = nil
        // The caller retries, and a readiness probe needs an answer at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// Sends a request, and reads the answer to its end.
    func answer(to request: HTTPClientRequest, within timeout: TimeAmount) async throws -> S3Response {
        let response = try await execute(request, timeout: timeout)
        var answer = S3Response(response)
        // The longest answer is a page of a thousand keys of a kilobyte each.
        answer.body = try await response.body.collect(upTo: 8 << 20)
        return answer
    }
}
