import NIOConcurrencyHelpers

/// Tokens whose signature was found good, with their claims: a bearer presents the same token with each request,
/// and a look-up costs a hundredth of parsing it.
///
/// Two generations: a full young one becomes the old one, and what is used again moves back. That forgets tokens
/// out of use without keeping a list in order of use.
struct TokenCache<Claims: Sendable>: Sendable {
    private struct Generations {
        var young: [String: Claims] = [:]
        var old: [String: Claims] = [:]
    }

    private let generations = NIOLockedValueBox(Generations())
    private let generationLimit: Int

    /// Holds `capacity` tokens at most.
    init(capacity: Int) {
        generationLimit = max(1, capacity / 2)
    }

    func claims(of token: String) -> Claims? {
        let (claims, isOld) = generations.withLockedValue { generations -> (Claims?, Bool) in
            if let claims = generations.young[token] { return (claims, false) }
            return (generations.old[token], true)
        }
        if isOld, let claims { insert(claims, for: token) }
        return claims
    }

    func insert(_ claims: Claims, for token: String) {
        let retired = generations.withLockedValue { generations -> [String: Claims] in
            var retired: [String: Claims] = [:]
            if generations.young.count >= generationLimit {
                retired = generations.old
                generations.old = generations.young
                generations.young = [:]
            }
            generations.young[token] = claims
            return retired
        }
        // Thousands of strings are freed here, outside the lock.
        _ = retired
    }

    /// How many tokens are held, for tests.
    var count: Int {
        generations.withLockedValue { Set($0.young.keys).union($0.old.keys).count }
    }
}
