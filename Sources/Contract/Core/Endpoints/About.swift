/// Who runs a server and on which terms, as its operator has set it: the answer of ``GetAbout``. What the operator has not
/// set is nil.
public struct About: Codable, Hashable, Sendable {
    /// The name of the service or of who runs it: at most 200 characters.
    @OrNull public var name: String?
    /// The way to who runs the server, such as an e-mail address or the URL of a page: at most 200 characters.
    @OrNull public var contact: String?
    /// The URL of the terms of use.
    @OrNull public var terms: String?
    /// The URL of the privacy policy.
    @OrNull public var privacy: String?
    /// The version of the terms, which a person accepts who registers: at most 100 characters.
    @OrNull public var version: String?

    public init(
        name: String? = nil, contact: String? = nil, terms: String? = nil, privacy: String? = nil,
        version: String? = nil
    ) {
        self.name = name
        self.contact = contact
        self.terms = terms
        self.privacy = privacy
        self.version = version
    }

    /// The length up to which a version is kept, in characters.
    public static let longestVersion = 100
}

/// `GET /about`: returns who runs the server, and on which terms. An addition to the contract, the same in each API that
/// lists it among its operations; the server answers it by itself.
public struct GetAbout<API: ServiceAPI>: OpenEndpoint, Hashable {
    public static var route: Route { .get("/about") }
    public typealias Output = API.AboutAnswer

    public init() {}
}
