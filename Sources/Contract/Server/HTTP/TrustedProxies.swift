import HTTPTypes
import NIOConcurrencyHelpers

/// The operator's own proxies: what they write into `X-Forwarded-For` is believed.
///
/// One for a process: it also remembers that the operator was told of a proxy that is not among them.
public final class TrustedProxies: Sendable {
    private let ranges: [AddressRange]
    private let hasWarned = NIOLockedValueBox(false)

    public init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// Whether an address, in its usual form, is that of a trusted proxy.
    public func contains(_ address: String) -> Bool { IPAddress(address).map(contains) ?? false }

    func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Whether a peer looks like a proxy that somebody forgot to name, and nobody was told so before: it forwards, and is
    /// on this machine or in a private network. Anybody else may send the header, to no effect.
    func isFirstSignOfForgottenProxy(_ peer: String?, _ headers: HTTPFields) -> Bool {
        guard headers[.forwardedFor] != nil, let address = peer.flatMap({ IPAddress($0) }), address.isPrivate,
            !contains(address)
        else { return false }
        return hasWarned.withLockedValue { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
    }
}
