/// The error for wrong settings of an S3 store, as a sentence for the operator; it never shows a secret.
public struct S3SettingsError: Error, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The credentials of a store at S3. Printing the value shows no secret.
public struct S3Credentials: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    /// The public half, which is in every request and every URL.
    public let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    /// Makes credentials.
    ///
    /// - Parameters:
    ///   - accessKeyID: The public half, such as `AKIAIOSFODNN7EXAMPLE`.
    ///   - secretAccessKey: The signing key, which never leaves the process.
    ///   - sessionToken: The token of temporary credentials. URLs expire with the credentials, whatever their own time
    ///     is.
    public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }

    /// Reads `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, if it is set, `AWS_SESSION_TOKEN`.
    public init(environment: [String: String]) throws(S3SettingsError) {
        func value(_ name: String) throws(S3SettingsError) -> String? {
            guard let value = environment[name], !value.isEmpty else { return nil }
            // A copied line break would break the headers, or no signature would ever match.
            guard value.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
                throw S3SettingsError("\(name) contains spaces, line breaks or other characters that no key has")
            }
            return value
        }
        func required(_ name: String) throws(S3SettingsError) -> String {
            guard let value = try value(name) else { throw S3SettingsError("Objects on S3 need \(name) to be set") }
            return value
        }
        self.init(
            accessKeyID: try required("AWS_ACCESS_KEY_ID"), secretAccessKey: try required("AWS_SECRET_ACCESS_KEY"),
            sessionToken: try value("AWS_SESSION_TOKEN"))
    }

    /// The public half.
    public var description: String { "S3Credentials(\(accessKeyID))" }
    /// The public half, also for `dump` and debuggers.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
