import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore

/// An operation of S3 that does the same whether it is done once or several times.
struct S3Call: Sendable {
    /// S3's name of it.
    var operation: String
    var method: String
    /// Of the bucket or an object, not encoded.
    var path: String
    var query: SignatureV4.Request.Fields = []
    var headers: SignatureV4.Request.Fields = []
    /// The body, which can be read several times, and its SHA-256.
    var body: (content: HTTPClientRequest.Body, sha256: [UInt8])?
    /// For each attempt: until the answer begins.
    var timeout = TimeAmount.seconds(30)
    var attempts = 3
}

/// An answer of S3, complete.
struct S3Response: Sendable {
    var status: Int
    /// By their names in lower case.
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

    /// The answer, whatever it says. Throws ``S3Error`` when there is none, and what reading the body throws.
    func perform(_ call: S3Call) async throws -> S3Response {
        var attempt = 0
        while true {
            attempt += 1
            let isLast = attempt == call.attempts
            do {
                // Signed at each attempt, since time has gone by.
                let response = try await send(request(for: call), call.timeout)
                if isLast || !response.mayPass { return response }
            } catch let error as HTTPClientError where error == .cancelled {
                throw CancellationError()
            } catch let error as CancellationError {
                throw error
            } catch let error as FileSystemError {
                throw error
            } catch {
                if isLast { throw S3Error(call.operation, error) }
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
    /// Whether the same request may have another answer soon.
    fileprivate var mayPass: Bool {
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
    static func forS3() -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(5), read: .seconds(30), write: .seconds(30)),
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // Who calls tries again by itself, and a readiness probe wants to know now.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    /// Makes a request and reads the answer to its end.
    func answer(to request: HTTPClientRequest, within timeout: TimeAmount) async throws -> S3Response {
        let response = try await execute(request, timeout: timeout)
        // A page of a thousand keys of a kilobyte each is the longest.
        let body = try await response.body.collect(upTo: 8 << 20)
        let headers = response.headers.map { ($0.name.lowercased(), $0.value) }
        return S3Response(
            status: Int(response.status.code), headers: Dictionary(headers) { first, _ in first }, body: body)
    }
}
