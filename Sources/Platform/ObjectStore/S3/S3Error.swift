import AsyncHTTPClient

/// The error for an operation that S3 has refused or could not perform. The text contains no secret.
public struct S3Error: Error, Equatable, CustomStringConvertible {
    /// S3's name of the operation, for example `PutObject`.
    public let operation: String
    /// The status of the answer; nil when there was none.
    public let status: Int?
    /// S3's own code, for example `AccessDenied`; nil when the answer has none, as any answer to HEAD.
    public let code: String?
    /// A sentence from S3, or the reason why there is no answer.
    public let message: String

    /// The whole error: `S3 PutObject: 403 AccessDenied: Access Denied.`
    public var description: String {
        let cause = [status.map { String($0) }, code].compactMap(\.self).joined(separator: " ")
        return "S3 \(operation): " + (cause.isEmpty ? message : "\(cause): \(message)")
    }
}

extension S3Error {
    /// Makes an error of an unexpected answer.
    ///
    /// Only two elements of its body are read, because others echo the request and its signature.
    init(_ operation: String, _ response: S3Response) {
        let elements = XMLElements(response.body)
        var message = elements?.first("Error/Message").map(Self.printable) ?? Self.meaning(of: response.status)
        if let region = response.headers["x-amz-bucket-region"], [301, 400].contains(response.status) {
            message += " (the bucket is in region \(Self.printable(region)))"
        }
        self.init(
            operation: operation, status: response.status,
            code: elements?.first("Error/Code").map(Self.printable), message: message)
    }

    /// Makes an error for a request without an answer.
    init(_ operation: String, _ error: any Error) {
        // The full description of some of the client's errors contains headers.
        let reason = (error as? HTTPClientError)?.shortDescription ?? "\(error)"
        self.init(operation: operation, status: nil, code: nil, message: Self.printable(reason))
    }

    /// Returns a message for answers without a body.
    private static func meaning(of status: Int) -> String {
        switch status {
        case 200..<300: "an answer that is not S3's"
        case 300..<400: "the bucket is in another region or has another endpoint"
        case 403: "not allowed with these credentials"
        case 404: "there is no such bucket"
        default: "refused without a reason"
        }
    }

    /// Returns the text for one line of a log.
    private static func printable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(500).map { $0.value < 0x20 ? " " : $0 }))
    }
}
