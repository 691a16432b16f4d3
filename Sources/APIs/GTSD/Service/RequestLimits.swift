import Contract
import GTSDAPI
import HTTPTypes

extension GTSDService {
    /// Counts a request of one of the four limited operations, before anything of it is read.
    ///
    /// - Returns: `X-RateLimit-*`.
    /// - Throws: 429 with `Retry-After`.
    func countRequest(_ route: Route, of caller: Caller) async throws -> HTTPFields {
        guard let limit = RequestLimit.all[route.path] else { return [:] }
        return try await requests.admit(
            RequestLimit.key(route.path, caller.user), limit: limit.requests, limit.refusal)
    }

    /// What a user's requests are counted under.
    static func requestKeys(of user: UserID) -> [String] { RequestLimit.all.keys.map { RequestLimit.key($0, user) } }
}

/// How often one person may ask, in a minute.
private struct RequestLimit {
    let requests: Int
    let refusal: String

    static func key(_ path: String, _ user: UserID) -> String { "\(path) \(user)" }

    /// By path.
    static let all = [
        GTSD.PresignPhoto.route.path: Self(
            requests: 20, refusal: "Too many presign requests, please try again later"),
        GTSD.ConfirmPhoto.route.path: Self(
            requests: 30, refusal: "Too many photo confirmation requests, please try again later"),
        GTSD.CheckCompliance.route.path: Self(requests: 20, refusal: GTSD.phrases.tooManyRequests),
        GTSD.GeneratePlan.route.path: Self(requests: 20, refusal: GTSD.phrases.tooManyRequests),
    ]
}
