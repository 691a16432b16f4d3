/// An issuer whose tokens are trusted.
public struct TrustedIssuer: Sendable {
    /// The value of the claim `iss`.
    let name: String
    let authorizedParties: Set<String>
    /// The values that claim `sts` may have, if it is there; nil for an issuer all of whose tokens are sessions of users.
    let sessionStatuses: Set<String>?
    let keys: KeySource

    /// The beginning of the subjects that are machines, as Clerk names them.
    static let machinePrefix = "mch_"

    /// Makes an issuer at another service, which publishes its keys.
    ///
    /// - Parameters:
    ///   - name: The exact value of claim `iss`.
    ///   - authorizedParties: The accepted values of claim `azp`. If there are any, a token without `azp` is refused,
    ///     too.
    ///   - allowsPendingSessions: Whether a session counts before its user has done everything that the issuer asks for, such
    ///     as choosing an organization: claim `sts` is `pending`, not `active`.
    ///   - timeout: The time limit for the key set.
    ///   - refreshFailed: Receives each failure to fetch the keys, at most once a minute, or every five seconds while
    ///     no keys are known.
    ///   - keySet: Fetches the JSON Web Key Set (``KeySetURL/fetch()``).
    public static func outside(
        _ name: String, authorizedParties: Set<String> = [], allowsPendingSessions: Bool = false,
        timeout: Duration = .seconds(10),
        refreshFailed: @escaping @Sendable (any Error) -> Void,
        keySet: @escaping @Sendable () async throws -> [UInt8]
    ) -> TrustedIssuer {
        TrustedIssuer(
            name: name, authorizedParties: authorizedParties,
            sessionStatuses: allowsPendingSessions ? ["active", "pending"] : ["active"],
            keys: KeySource(timeout: timeout, failed: refreshFailed, fetch: keySet))
    }

    /// Makes this server's own issuer.
    public static func local(_ issuer: LocalIssuer) -> TrustedIssuer {
        TrustedIssuer(name: LocalIssuer.name, authorizedParties: [], sessionStatuses: nil, keys: issuer.keys)
    }
}
