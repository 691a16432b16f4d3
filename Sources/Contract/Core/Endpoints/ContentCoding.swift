import HTTPTypes

extension HTTPFields {
    /// Refuses a body that is compressed, or has another coding than `identity` (RFC 9110 §8.4), before it is read. An
    /// answer says with `Accept-Encoding` which coding a client may use (RFC 9110 §15.5.16).
    ///
    /// - Throws: A problem of status 415.
    package func requireNoCoding(_ errorMessages: ErrorMessages) throws(Problem) {
        guard let codings = value(of: .contentEncoding) else { return }
        let isPlain = codings.split(separator: ",").allSatisfy { coding in
            let name = coding.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return name.isEmpty || name.lowercased() == "identity"
        }
        guard !isPlain else { return }
        throw Problem(
            .unsupportedMediaType, errorMessages.unsupportedEncoding, headers: [.acceptEncoding: "identity"])
    }
}
