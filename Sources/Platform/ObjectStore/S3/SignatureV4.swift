import Crypto
import Foundation

/// Signs requests with AWS Signature Version 4 in S3's form: it authenticates requests without sending the secret.
///
/// Specification: "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API Reference, by header
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html> and by query
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html>. S3 differs from the other
/// services of AWS: the path is percent-encoded once, and never normalised.
struct SignatureV4: Sendable {
    /// A request before encoding: nothing is percent-encoded, and every header is signed.
    struct Request: Sendable {
        typealias Fields = [(name: String, value: String)]

        var method: String
        /// The value of `Host`, with the port unless it is the scheme's default.
        var host: String
        /// The path, which begins with "/".
        var path: String
        var query: Fields = []
        /// The headers, with distinct names and without `Host`.
        var headers: Fields = []

        /// The path with every byte encoded except unreserved characters and "/".
        var encodedPath: String {
            path.percentEncoded(leaving: .path)
        }
    }

    /// The digest for a body that is not covered by the signature.
    static let unsignedPayload = "UNSIGNED-PAYLOAD"
    private static let algorithm = "AWS4-HMAC-SHA256"

    let credentials: S3Credentials
    let region: String

    /// Returns the query that allows its holder to make the request, for `seconds` from `time` (Unix seconds).
    ///
    /// The signed text is the one that is sent: the query in canonical form, followed by the signature. The request
    /// must have the headers with which it was signed.
    func presignedQuery(for request: Request, at time: Int64, expiresIn seconds: Int64) -> String {
        let stamp = Self.stamp(time)
        var request = request
        request.query += [
            ("X-Amz-Algorithm", Self.algorithm), ("X-Amz-Credential", "\(credentials.accessKeyID)/\(scope(stamp))"),
            ("X-Amz-Date", stamp), ("X-Amz-Expires", String(seconds)),
            ("X-Amz-SignedHeaders", Self.canonicalHeaders(of: request).names),
        ]
        if let token = credentials.sessionToken { request.query.append(("X-Amz-Security-Token", token)) }
        let signature = signature(of: request, payload: Self.unsignedPayload, stamp: stamp)
        return "\(Self.canonicalQuery(of: request))&X-Amz-Signature=\(signature)"
    }

    /// Returns the request's headers and those that authenticate it, without `Host`, at `time` (Unix seconds).
    ///
    /// `payload` is the SHA-256 of the body in lower-case hexadecimal, or ``unsignedPayload``.
    func headers(for request: Request, payload: String, at time: Int64) -> Request.Fields {
        let stamp = Self.stamp(time)
        var request = request
        request.headers += [("x-amz-content-sha256", payload), ("x-amz-date", stamp)]
        if let token = credentials.sessionToken { request.headers.append(("x-amz-security-token", token)) }
        let authorization =
            "\(Self.algorithm) Credential=\(credentials.accessKeyID)/\(scope(stamp)), "
            + "SignedHeaders=\(Self.canonicalHeaders(of: request).names), "
            + "Signature=\(signature(of: request, payload: payload, stamp: stamp))"
        return request.headers + [("Authorization", authorization)]
    }

    /// Returns the query in its canonical form, in which it can also be sent.
    static func canonicalQuery(of request: Request) -> String {
        request.query.map { ($0.name.queryEncoded, $0.value.queryEncoded) }.sorted { $0 < $1 }
            .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    }

    private func signature(of request: Request, payload: String, stamp: String) -> String {
        let headers = Self.canonicalHeaders(of: request)
        let canonicalRequest = [
            request.method, request.encodedPath, Self.canonicalQuery(of: request), headers.lines, headers.names,
            payload,
        ].joined(separator: "\n")
        let digest = SHA256.hash(data: Array(canonicalRequest.utf8)).hexadecimal
        let stringToSign = [Self.algorithm, stamp, scope(stamp), digest].joined(separator: "\n")
        return Self.authenticate(stringToSign, with: signingKey(stamp)).hexadecimal
    }

    /// Returns the scope of a derived key: `date/region/service/aws4_request`.
    private func scope(_ stamp: String) -> String { "\(stamp.prefix(8))/\(region)/s3/aws4_request" }

    private func signingKey(_ stamp: String) -> SymmetricKey {
        let secret = SymmetricKey(data: Array("AWS4\(credentials.secretAccessKey)".utf8))
        return scope(stamp).split(separator: "/").reduce(secret) { key, part in
            SymmetricKey(data: Self.authenticate(String(part), with: key))
        }
    }

    private static func authenticate(_ text: String, with key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }

    /// Returns `name:value` lines in the order of the names, each ended by a line feed, and the names joined by ";".
    private static func canonicalHeaders(of request: Request) -> (lines: String, names: String) {
        let headers = (request.headers + [("host", request.host)])
            .map { header in
                // Values are trimmed, and runs of spaces become one.
                (header.name.lowercased(), header.value.split { $0 == " " || $0 == "\t" }.joined(separator: " "))
            }
            .sorted { $0.0 < $1.0 }
        let lines = headers.map { "\($0.0):\($0.1)\n" }.joined()
        return (lines, headers.map(\.0).joined(separator: ";"))
    }

    /// Returns a time such as `20130524T000000Z`.
    private static func stamp(_ time: Int64) -> String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt)
        return Date(timeIntervalSince1970: Double(time)).formatted(style)
    }
}

extension Sequence where Element == UInt8 {
    /// The bytes with two lower-case digits each.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
