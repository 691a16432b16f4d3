/// Where a client's bearer tokens come from.
public protocol Credentials: Sendable {
    /// The token to send.
    ///
    /// - Throws: ``SignedOut`` when there is no session.
    func token() async throws -> String

    /// Another token, after the server refused one.
    ///
    /// - Throws: ``SignedOut`` when the session has ended; a network error leaves the session as it is.
    func renew(_ rejected: String) async throws -> String
}
