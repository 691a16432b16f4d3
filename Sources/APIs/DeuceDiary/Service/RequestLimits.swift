import Contract
import ContractServer
import DeuceDiaryAPI

extension DeuceDiaryService {
    /// Returns the caller behind a token. One that is refused is counted, for the address that it comes from.
    ///
    /// - Throws: 401; 429 with `Retry-After` when the address has brought too many.
    func caller(_ token: String, from address: ClientAddress) async throws -> Caller {
        do {
            return try await accounts.caller(token)
        } catch let problem as Problem where problem.status == .unauthorized {
            try await count(address)
            throw problem
        }
    }

    /// Counts a request, or the opening of a socket, of somebody with a good token.
    func count(_ caller: Caller) async throws { try await count(Self.requestKey(of: caller.user)) }

    /// What a user's requests are counted under.
    static func requestKey(of user: DeuceDiary.User.ID) -> String { "user \(user)" }

    /// Counts what comes from an address without a good token.
    func count(_ address: ClientAddress) async throws { try await count("address \(address.network)") }

    /// Counts a request that needs no token.
    func count(_ info: RequestInfo) async throws { try await count(info.address) }

    /// Counts a request, where the operator limits them.
    ///
    /// - Parameter key: Whose it is.
    /// - Throws: 429 with `Retry-After`.
    private func count(_ key: String) async throws {
        guard let limit = settings.requestsPerMinute else { return }
        let standing = try await requests.count(key, limit: limit)
        guard standing.isExceeded else { return }
        throw standing.refusal(DeuceDiary.phrases.tooManyRequests, at: time.milliseconds())
    }
}
