import Contract
import ContractServer
import DeuceDiaryAPI

extension DeuceDiaryService {
    /// Returns the caller behind a token. A request with a token that is refused counts for the address that it comes
    /// from.
    ///
    /// - Throws: A `Problem` with 401, or with 429 and `Retry-After` when the address has sent too many.
    func caller(_ token: String, from address: ClientAddress) async throws -> Caller {
        do {
            return try await accounts.caller(token, from: address)
        } catch let problem as Problem where problem.status == .unauthorized {
            try await count(address)
            throw problem
        }
    }

    /// Counts a request or the opening of a socket by a user with a valid token.
    func count(_ caller: Caller) async throws { try await count(Self.requestKey(of: caller.user)) }

    /// Returns the key under which a user's requests are counted.
    static func requestKey(of user: DeuceDiary.User.ID) -> String { "user \(user)" }

    /// Counts a request from an address without a valid token.
    func count(_ address: ClientAddress) async throws { try await count("address \(address.network)") }

    /// Counts a request that needs no token.
    func count(_ info: RequestInfo) async throws { try await count(info.address) }

    /// Counts a request, if the operator has set a limit.
    ///
    /// - Parameter key: The key of the user or address.
    /// - Throws: A `Problem` with 429 and `Retry-After`.
    private func count(_ key: String) async throws {
        guard let limit = settings.requestsPerMinute else { return }
        let standing = try await requests.count(key, limit: limit)
        guard standing.isExceeded else { return }
        throw standing.refusal(DeuceDiary.errorMessages.tooManyRequests, at: time.milliseconds())
    }
}
