import Contract
import ContractServer
import DeuceDiaryAPI

extension DeuceDiaryService {
    /// Counts a request, where the operator limits them.
    ///
    /// - Parameter key: Whose it is.
    /// - Throws: 429 with `Retry-After`.
    func count(_ key: String) async throws {
        guard let limit = settings.requestsPerMinute else { return }
        let standing = try await requests.count(key, limit: limit)
        guard standing.isExceeded else { return }
        throw standing.refusal(DeuceDiary.phrases.tooManyRequests, at: time.milliseconds())
    }

    /// Counts a request that needs no token.
    func count(_ info: RequestInfo) async throws { try await count("address \(info.address)") }
}
