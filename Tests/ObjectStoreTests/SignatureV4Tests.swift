import Testing

@testable import ObjectStore

/// The signatures equal the examples of "Authenticating Requests (AWS Signature Version 4)" in the Amazon S3 API
/// Reference.
@Suite(.timeLimit(.minutes(30))) struct SignatureV4Tests {
    private static let signature = SignatureV4(
        credentials: S3Credentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")
    /// 2013-05-24T00:00:00Z
    private static let time: Int64 = 1_369_353_600
    private static let host = "examplebucket.s3.amazonaws.com"
    private static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test func `the published presigned URL`() {
        let request = SignatureV4.Request(method: "GET", host: Self.host, path: "/test.txt")
        let query = Self.signature.presignedQuery(for: request, at: Self.time, expiresIn: 86400)
        #expect(
            query == "X-Amz-Algorithm=AWS4-HMAC-SHA256"
                + "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
                + "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                + "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: SignatureV4.Request
        var payload = emptyDigest
        let signedHeaders: String
        let signature: String
    }

    private static let examples = [
        Example(
            testDescription: "GET Object",
            request: .init(method: "GET", host: host, path: "/test.txt", headers: [("Range", "bytes=0-9")]),
            signedHeaders: "host;range;x-amz-content-sha256;x-amz-date",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        Example(
            testDescription: "PUT Object",
            request: .init(
                method: "PUT", host: host, path: "/test$file.text",
                headers: [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")]),
            payload: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            signedHeaders: "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        Example(
            testDescription: "GET Bucket Lifecycle",
            request: .init(method: "GET", host: host, path: "/", query: [("lifecycle", "")]),
            signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        Example(
            testDescription: "GET Bucket (List Objects)",
            request: .init(method: "GET", host: host, path: "/", query: [("prefix", "J"), ("max-keys", "2")]),
            signedHeaders: "host;x-amz-content-sha256;x-amz-date",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ]

    @Test(arguments: examples)
    func `the published signed headers`(example: Example) {
        let headers = Self.signature.headers(for: example.request, payload: example.payload, at: Self.time)
        #expect(
            headers.last?.value == "AWS4-HMAC-SHA256 "
                + "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=\(example.signedHeaders), Signature=\(example.signature)")
        #expect(headers.contains { $0 == ("x-amz-date", "20130524T000000Z") })
        #expect(headers.contains { $0 == ("x-amz-content-sha256", example.payload) })
    }

    @Test func `a session token is part of what is signed`() {
        let credentials = S3Credentials(accessKeyID: "A", secretAccessKey: "B", sessionToken: "a/b+c=")
        let signature = SignatureV4(credentials: credentials, region: "eu-central-1")
        let request = SignatureV4.Request(method: "GET", host: "h", path: "/")
        let query = signature.presignedQuery(for: request, at: 0, expiresIn: 1)
        #expect(query.contains("&X-Amz-Security-Token=a%2Fb%2Bc%3D&"))
        let headers = signature.headers(for: request, payload: SignatureV4.unsignedPayload, at: 0)
        #expect(headers.contains { $0 == ("x-amz-security-token", "a/b+c=") })
        #expect(headers.last?.value.contains("x-amz-date;x-amz-security-token, ") == true)
    }
}
