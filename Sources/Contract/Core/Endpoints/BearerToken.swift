import HTTPTypes

extension HTTPFields {
    /// The token of `Authorization: Bearer …` (RFC 6750 §2.1); the scheme's case does not matter. Nil without the header and
    /// for another scheme, and empty where no token follows the scheme.
    public var bearerToken: String? {
        guard let value = value(of: .authorization) else { return nil }
        // The usual form needs no search.
        let scheme = "Bearer "
        let isUsual = value.withBytes { bytes in
            scheme.withBytes { bytes.starts(with: $0) && bytes.dropFirst($0.count).first != UInt8(ascii: " ") }
        }
        if isUsual { return String(Substring(value.utf8.dropFirst(scheme.utf8.count))) }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.first?.lowercased() == "bearer" else { return nil }
        return parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
    }
}
