import Foundation
import Testbed
import Testing

@testable import ObjectStore

/// AWS's own library signs requests in the same way, byte for byte.
@Suite(
    .enabled(if: StockTools.python != nil, "`make test` installs botocore and sets CONCORD_PYTHON"),
    .timeLimit(.minutes(30)))
struct BotocoreTests {
    /// A request as `presign.py` takes it, and this project's result.
    private typealias Case = (request: [String: Any], result: String)

    private func expectEqual(_ cases: [Case]) async throws {
        let folder = try TemporaryFolder()
        let lines = try cases.map { try JSONSerialization.data(withJSONObject: $0.request) }
        let input = folder.path + "/requests"
        try Data(lines.joined(separator: [UInt8(ascii: "\n")])).write(to: URL(fileURLWithPath: input))
        let botocore = try await StockTools.run(
            try #require(StockTools.python), [StockTools.package + "/Tests/StockClient/presign.py"], input: input)
        try #require(botocore.status == 0, "\(botocore.output)")
        let expected = try botocore.output.split(separator: "\n").map {
            try JSONDecoder().decode(String.self, from: Data($0.utf8))
        }
        #expect(expected.count == cases.count)
        for (signed, expected) in zip(cases, expected) where signed.result != expected {
            Issue.record("\(signed.request) gave\n\(signed.result), not\n\(expected)")
        }
    }

    @Test func `500 random presigned URLs to get and to put, byte for byte`() async throws {
        var generator = SeededGenerator(state: 2013)
        let cases = try (0..<500).map { _ in try url(&generator) }
        let operations = Dictionary(grouping: cases) { $0.request["operation"] as? String }.mapValues(\.count)
        #expect(operations.keys.count == 2 && operations.values.allSatisfy { $0 > 200 }, "\(operations)")
        try await expectEqual(cases)
    }

    @Test func `250 random signed headers, byte for byte`() async throws {
        var generator = SeededGenerator(state: 2014)
        try await expectEqual((0..<250).map { _ in header(&generator) })
    }

    private static let endpoints: [String?] = [
        nil, "https://s3.example.org", "http://127.0.0.1:9000", "https://objects.example.org:8443", "http://minio",
    ]

    private func url(_ generator: inout SeededGenerator) throws -> Case {
        let endpoint = Self.endpoints.randomElement(using: &generator) ?? nil
        let isNumber = endpoint?.contains("127.0.0.1") == true
        let style = isNumber ? "path" : ["path", "virtual"].randomElement(using: &generator) ?? ""
        let region = ["us-east-1", "eu-central-1", "auto"].randomElement(using: &generator) ?? ""
        var text = "s3://a-bucket?region=\(region)&style=\(style)"
        if let endpoint { text += "&endpoint=\(endpoint)" }
        let location = try S3Location(text)
        let signature = signature(&generator, region: region)
        let time = Int64.random(in: 0...4_000_000_000, using: &generator)
        let expires = Int64.random(in: 1...604_800, using: &generator)
        let key = "k" + self.text(&generator)
        var request = SignatureV4.Request(
            method: "GET", host: location.host, path: (location.bucketPath + "/" + key).replacing("//k", with: "/k"))
        var parameters: [String: Any] = [:]
        if Bool.random(using: &generator) {
            let (type, disposition) = (self.text(&generator), ContentDisposition.attachment(self.text(&generator)))
            parameters = ["ResponseContentType": type, "ResponseContentDisposition": disposition]
            request.query = [("response-content-type", type), ("response-content-disposition", disposition)]
        } else {
            request.method = "PUT"
            if Bool.random(using: &generator) {
                let size = Int.random(in: 0...Int.max, using: &generator)
                parameters = ["ContentLength": size, "ContentType": "image/png"]
                request.headers = [("Content-Length", String(size)), ("Content-Type", "image/png")]
            }
        }
        var described = describe(signature, at: time)
        described["kind"] = "url"
        described["endpoint"] = endpoint ?? NSNull()
        described["style"] = style
        described["bucket"] = location.bucket
        described["key"] = key
        described["operation"] = request.method == "GET" ? "get_object" : "put_object"
        described["parameters"] = parameters
        described["expires"] = expires
        let query = signature.presignedQuery(for: request, at: time, expiresIn: expires)
        return (described, location.url(of: request, query: query))
    }

    private func header(_ generator: inout SeededGenerator) -> Case {
        let signature = signature(&generator, region: "us-west-2")
        let time = Int64.random(in: 0...4_000_000_000, using: &generator)
        var request = SignatureV4.Request(
            method: ["GET", "PUT", "HEAD", "DELETE"].randomElement(using: &generator) ?? "",
            host: ["h", "h:81", "a.b.example"].randomElement(using: &generator) ?? "",
            path: "/" + text(&generator))
        for index in 0..<Int.random(in: 0...4, using: &generator) {
            request.query.append((text(&generator) + "\(index)", text(&generator)))
        }
        for name in ["Content-Type", "Range", "x-amz-meta-a", "X-Amz-Meta-B"] where Bool.random(using: &generator) {
            let pieces = (0...4).map { _ in ["a", "  ", " ", ";", "B=1"].randomElement(using: &generator) ?? "" }
            request.headers.append((name, "v" + pieces.joined()))
        }
        let body = text(&generator)
        var described = describe(signature, at: time)
        described["kind"] = "header"
        described["method"] = request.method
        described["origin"] = "https://\(request.host)"
        described["path"] = request.path
        described["query"] = Dictionary(uniqueKeysWithValues: request.query.map { ($0.name, $0.value) })
        described["headers"] = Dictionary(uniqueKeysWithValues: request.headers.map { ($0.name, $0.value) })
        described["body"] = body
        let headers = signature.headers(for: request, payload: sha256(body), at: time)
        return (described, headers.last?.value ?? "")
    }

    private func signature(_ generator: inout SeededGenerator, region: String) -> SignatureV4 {
        let token = Bool.random(using: &generator) ? "t/+=" + text(&generator) : nil
        return SignatureV4(
            credentials: S3Credentials(
                accessKeyID: "AKIA\(Int.random(in: 0...999, using: &generator))",
                secretAccessKey: "s/+\(text(&generator))", sessionToken: token), region: region)
    }

    private func describe(_ signature: SignatureV4, at time: Int64) -> [String: Any] {
        [
            "accessKey": signature.credentials.accessKeyID, "secretKey": signature.credentials.secretAccessKey,
            "token": signature.credentials.sessionToken ?? NSNull(), "region": signature.region, "time": time,
        ]
    }

    /// Returns text with characters on which encoders fail: separators, escapes, combining marks, characters of every
    /// width.
    private func text(_ generator: inout SeededGenerator) -> String {
        let pieces = [
            "a", "Z", "0", "-", "_", ".", "~", "/", "//", "%", "%20", "+", "&", "=", "?", "#", ":", "@", "!", "$", "'",
            "(", ")", "*", ",", ";", "[", "]", " ", "  ", "\"", "\\", "<", "|", "^", "`", "\u{E9}", "e\u{301}",
            "\u{20AC}", "\u{1F511}",
        ]
        return (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? ""
        }
        .joined()
    }
}
