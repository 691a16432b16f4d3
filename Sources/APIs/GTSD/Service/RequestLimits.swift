import Contract
import GTSDAPI
import HTTPTypes

extension GTSDService {
    /// Counts a request of one of the four limited operations, before any part of it is read.
    ///
    /// - Returns: The `X-RateLimit-*` headers.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    func countRequest(_ route: Route, of caller: Caller) async throws -> HTTPFields {
        guard let limit = RequestLimit.all[route.path] else { return [:] }
        return try await requests.admit(
            RequestLimit.key(route.path, caller.user), limit: limit.requests, limit.refusal)
    }

    /// Returns the keys under which a user's requests are counted.
    static func requestKeys(of user: UserID) -> [String] { RequestLimit.all.keys.map { RequestLimit.key($0, user) } }
}

/// The number of requests that one user may send in a minute.
private struct RequestLimit {
    let requests: Int
    let refusal: String

    static func key(_ path: String, _ user: UserID) -> String { "\(path) \(user)" }

    /// The limits by path.
    static let all = [
        GTSD.PresignPhoto.route.path: Self(
            requests: 20, refusal: "Too many presign requests, please try again later"),
        GTSD.ConfirmPhoto.route.path: Self(
            requests: 30, refusal: "Too many photo confirmation requests, please try again later"),
        GTSD.CheckCompliance.route.path: Self(requests: 20, refusal: GTSD.errorMessages.tooManyRequests),
        GTSD.GeneratePlan.route.path: Self(requests: 20, refusal: GTSD.errorMessages.tooManyRequests),
    ]
}
