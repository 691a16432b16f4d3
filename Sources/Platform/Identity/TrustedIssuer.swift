/// An issuer whose tokens are trusted.
public struct TrustedIssuer: Sendable {
    /// The value of the claim `iss`.
    let name: String
    let authorizedParties: Set<String>
    let keys: KeySource

    /// An issuer elsewhere that publishes its keys.
    ///
    /// - Parameters:
    ///   - name: what claim `iss` must be, to the letter.
    ///   - authorizedParties: what claim `azp` may be; if there are any, a token without `azp` is refused too.
    ///   - timeout: for how long the key set is waited for.
    ///   - refreshFailed: hears of each time that the keys could not be had, at most once a minute, or every five
    ///     seconds while none are known.
    ///   - keySet: gets the JSON Web Key Set (``KeySetURL/fetch()``).
    public static func outside(
        _ name: String, authorizedParties: Set<String> = [], timeout: Duration = .seconds(10),
        refreshFailed: @escaping @Sendable (any Error) -> Void,
        keySet: @escaping @Sendable () async throws -> [UInt8]
    ) -> TrustedIssuer {
        TrustedIssuer(
            name: name, authorizedParties: authorizedParties,
            keys: KeySource(timeout: timeout, failed: refreshFailed, fetch: keySet))
    }

    /// This server's own issuer.
    public static func local(_ issuer: LocalIssuer) -> TrustedIssuer {
        TrustedIssuer(name: LocalIssuer.name, authorizedParties: [], keys: KeySource(issuer.keySet))
    }
}
