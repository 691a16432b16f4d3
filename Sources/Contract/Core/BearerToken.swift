import HTTPTypes

extension HTTPFields {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); the scheme's case does not matter. Nil without the header and
    /// for another scheme, and empty where no token follows the scheme.
    public var bearerToken: String? {
        let parts = self[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.first?.lowercased() == "bearer" else { return nil }
        return parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
    }
}
