/// An API whose sessions are ``SessionTokens``: begun by ``PasswordSignIn``, continued by ``SessionRenewal`` and ended by
/// ``SignOut``. Its SDK is a `SessionClient`, its server's accounts are `SessionAccounts`.
public protocol SessionAPI: ServiceAPI {
    /// The id of an account, as the API writes it.
    associatedtype UserID: Codable & Hashable & Sendable
}

extension SessionAPI {
    /// The section with the operations on sessions, for the API's ``ServiceAPI/sections``.
    public static var sessions: Section {
        Section([PasswordSignIn<Self>.self, SessionRenewal<Self>.self, SignOut<Self>.self])
    }
}

/// The answer to a sign-in and to a renewal: an access token, which is valid for a short time, and a refresh token, which
/// is exchanged for the next pair.
public struct SessionTokens<UserID: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The token that requests send in `Authorization: Bearer …`.
    public let accessToken: String
    /// The token that the next ``SessionRenewal`` sends. It is valid once.
    public let refreshToken: String
    /// The lifetime of the access token, in seconds.
    public let expiresIn: Int
    /// The account that is signed in.
    public let user: UserID

    public init(accessToken: String, refreshToken: String, expiresIn: Int, user: UserID) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresIn = expiresIn
        self.user = user
    }
}

/// `POST /sessions` begins a session.
public struct PasswordSignIn<API: SessionAPI>: OpenEndpoint, Hashable {
    public static var route: Route { .post("/sessions") }
    public typealias Output = SessionTokens<API.UserID>

    /// The name by which the account is known.
    public var name: String
    /// The password, as it was typed.
    public var password: String

    public init(name: String, password: String) {
        self.name = name
        self.password = password
    }
}

/// `POST /sessions/refresh` exchanges a refresh token. A token that comes a second time ends its session.
public struct SessionRenewal<API: SessionAPI>: OpenEndpoint, Hashable {
    public static var route: Route { .post("/sessions/refresh") }
    public typealias Output = SessionTokens<API.UserID>

    /// The newest refresh token of the session.
    public var refreshToken: String

    public init(refreshToken: String) { self.refreshToken = refreshToken }
}

/// `POST /sessions/end` ends the session of a refresh token. A token whose session has ended already is accepted, so that
/// an app can send it again.
public struct SignOut<API: SessionAPI>: OpenEndpoint, Hashable {
    public static var route: Route { .post("/sessions/end", .noContent) }
    public typealias Output = Empty

    /// A refresh token of the session.
    public var refreshToken: String

    public init(refreshToken: String) { self.refreshToken = refreshToken }
}

/// A frame of a live socket that says what was added to a list: `{"type":"added","element":{…}}`.
public struct Added<Element: Codable & Hashable & Sendable>: ServerFrame {
    public static var type: String { "added" }
    /// The element that was added.
    public var element: Element

    public init(_ element: Element) { self.element = element }
}
