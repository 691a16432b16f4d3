import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore

/// An operation of S3 that does the same whether it is done once or several times.
struct S3Call: Sendable {
    /// S3's name of it.
    var operation: String
    var method: String
    /// The path of the bucket or object, not encoded.
    var path: String
    var query: SignatureV4.Request.Fields = []
    var headers: SignatureV4.Request.Fields = []
    /// The body, which can be read several times, and its SHA-256.
    var body: (content: HTTPClientRequest.Body, sha256: [UInt8])?
    /// How long each attempt may take until the answer begins; nil for what is left of the client's patience.
    var timeout: TimeAmount?
    var attempts = 3
}

/// An answer of S3, complete.
struct S3Response: Sendable {
    var status: Int
    /// The headers by their names in lower case.
    var headers: [String: String] = [:]
    var body = ByteBuffer()
}

/// Signs calls, makes them, and repeats those that failed for a reason that may pass.
struct S3Client: Sendable {
    let location: S3Location
    let signature: SignatureV4
    /// In Unix seconds; S3 refuses what is signed more than 15 minutes off its own clock.
    let now: @Sendable () -> Int64
    let sleep: @Sendable (Duration) async throws -> Void
    let send: @Sendable (HTTPClientRequest, TimeAmount) async throws -> S3Response
    /// Makes a request whose answer is read piece by piece.
    var open: @Sendable (HTTPClientRequest, TimeAmount) async throws -> HTTPClientResponse = {
        try await HTTPClient.shared.execute($0, timeout: $1)
    }
    var breaker = S3Breaker()
    /// The time for which a call without an answer is tried, all attempts together, because a client waits for it.
    var patience = TimeAmount.seconds(4)

    /// Returns the answer, whatever it says. Throws ``S3Error`` when there is none, and what reading the body throws.
    func perform(_ call: S3Call) async throws -> S3Response {
        try await attempting(call) { request, timeout in
            let response = try await send(request, timeout)
            return (response, response)
        }
    }

    /// Returns an answer whose body is still to be read; one that refuses has been read to its end.
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
        var attempt = 0
        while true {
            attempt += 1
            try breaker.admit(call.operation)
            let elapsed = NIODeadline.now() - begin
            // A long call goes on for as long as its content moves.
            let timeout = call.timeout ?? patience - elapsed
            do {
                // Signed at each attempt, since time has gone by.
                let (head, answer) = try await make(request(for: call), max(timeout, .milliseconds(100)))
                breaker.note(isWorking: !(500...599 ~= head.status) || head.status == 501)
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
                    throw S3Error(call.operation, error)
                }
            }
            try await sleep(Self.pause(after: attempt))
        }
    }

    /// "Full jitter": anything up to 0.2 s, 0.4 s, 0.8 s …, so that nodes do not come back in step.
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
    /// The head of an answer, without its body.
    fileprivate init(_ response: HTTPClientResponse) {
        status = Int(response.status.code)
        headers = Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }

    /// Whether the same request may have another answer soon.
    fileprivate var isTransient: Bool {
        switch status {
        case 429, 500, 502, 503, 504: true
        // Two conditional writes met; a connection to S3 was too slow.
        case 409, 400: ["ConditionalRequestConflict", "OperationAborted", "RequestTimeout"].contains(code)
        default: false
        }
    }

    /// S3's code, if the body has one.
    var code: String? { XMLElements(body)?.first("Error/Code") }
}

extension HTTPClient {
    /// A client for S3: nothing signed for one host is sent on to another.
    static func forS3(patience: TimeAmount) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            // The timeout is for silence: a transfer that makes progress may take as long as it needs.
            timeout: .init(connect: .seconds(3), read: max(.seconds(15), patience), write: patience),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The caller repeats by itself, and a readiness probe needs an answer now.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// Makes a request and reads the answer to its end.
    func answer(to request: HTTPClientRequest, within timeout: TimeAmount) async throws -> S3Response {
        let response = try await execute(request, timeout: timeout)
        var answer = S3Response(response)
        // A page of a thousand keys of a kilobyte each is the longest.
        answer.body = try await response.body.collect(upTo: 8 << 20)
        return answer
    }
}
