import HTTPTypes
import NIOConcurrencyHelpers

/// The operator's own proxies, whose `X-Forwarded-For` counts.
///
/// There is one value for a process, which also remembers that the operator was warned about a missing proxy.
public final class TrustedProxies: Sendable {
    private let ranges: [AddressRange]
    private let hasWarned = NIOLockedValueBox(false)

    public init(_ ranges: [AddressRange] = []) { self.ranges = ranges }

    /// Whether no proxy is trusted.
    public var isEmpty: Bool { ranges.isEmpty }

    /// Returns whether an address, in its usual form, is that of a trusted proxy.
    public func contains(_ address: String) -> Bool { IPAddress(address).map(contains) ?? false }

    func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    /// Returns whether a peer looks like a proxy that is missing in the settings, the first time that one is seen: it
    /// forwards requests, and is on this machine or in a private network. Other clients may send the header without
    /// effect.
    func isFirstSignOfForgottenProxy(_ peer: String?, _ headers: HTTPFields) -> Bool {
        guard headers.contains(.forwardedFor), let address = peer.flatMap({ IPAddress($0) }), address.isPrivate,
            !contains(address)
        else { return false }
        return hasWarned.withLockedValue { hasWarned in
            defer { hasWarned = true }
            return !hasWarned
        }
    }
}
