import Contract
import ContractExamples

/// The description of an API for programs: an OpenAPI document of its operations, and an AsyncAPI document of its socket.
///
/// It is made from the operations' types and the contract's examples. What neither shows, an endpoint states in
/// `fieldRules`.
public struct APIDescription: Sendable {
    /// The API's name on the command line.
    public let name: String
    /// The OpenAPI 3.1 document.
    public let openAPI: JSONTree
    /// The AsyncAPI 3.0 document; nil for an API without a socket.
    public let asyncAPI: JSONTree?
    /// The fields of requests whose rule was not found: `POST /auth/signup password`.
    public let unexplained: [String]

    /// Describes an API.
    ///
    /// - Parameters:
    ///   - title: The API's name in sentences.
    ///   - version: The version of the document.
    ///   - signIn: Sentences that say how a client gets credentials, with operations and commands between backticks.
    public init<API: ServiceAPI>(
        _: API.Type, title: String, version: String, examples: Examples, signIn: String = ""
    ) {
        name = API.name
        var document = OpenAPIDocument<API>(title: title, version: version, examples: examples, signIn: signIn)
        openAPI = document.made()
        unexplained = document.unexplained
        asyncAPI =
            examples.frames.isEmpty
            ? nil : AsyncAPIDocument<API>(title: title, version: version, examples: examples).made()
    }
}
