import NIOCore

/// An IP address. An IPv4 address in the form of IPv6 (`::ffff:192.0.2.1`) is treated as IPv4.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    public let isIPv6: Bool
    /// The upper half of the address as a number; an IPv4 address is the lower 32 bits of the lower half.
    let high: UInt64
    let low: UInt64

    /// Parses an address; fails for any other text. A zone (`fe80::1%eth0`) is dropped.
    public init?(_ text: some StringProtocol) {
        let text = text.prefix { $0 != "%" }
        switch try? SocketAddress(ipAddress: String(text), port: 0) {
        case .v4(let address):
            isIPv6 = false
            (high, low) = (0, UInt64(UInt32(bigEndian: address.address.sin_addr.s_addr)))
        case .v6(let address):
            let (high, low) = withUnsafeBytes(of: address.address.sin6_addr) { bytes in
                (
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            isIPv6 = !isMapped
            (self.high, self.low) = isMapped ? (0, low & 0xFFFF_FFFF) : (high, low)
        case .unixDomainSocket, nil: return nil
        }
    }

    private init(isIPv6: Bool, high: UInt64, low: UInt64) {
        self.isIPv6 = isIPv6
        self.high = high
        self.low = low
    }

    /// Every range that contains the address: one for each length of a prefix.
    public var ranges: [AddressRange] { (0...length).map { AddressRange(of: self, bits: $0) } }

    /// The number of bits.
    var length: Int { isIPv6 ? 128 : 32 }

    /// Returns the address with all bits cleared but the first ones.
    func prefix(_ bits: Int) -> IPAddress {
        /// Returns a mask for the first of 64 bits.
        func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(.max >> UInt64(bits)) }
        return isIPv6
            ? IPAddress(isIPv6: true, high: high & mask(bits), low: low & mask(bits - 64))
            : IPAddress(isIPv6: false, high: 0, low: low & mask(bits + 32))
    }

    /// The subscriber's network: an IPv4 address itself, the first 64 bits of an IPv6 address.
    public var network: String { isIPv6 ? "\(prefix(64))/64" : description }

    /// Whether the address is this machine's own: 127.0.0.0/8 or ::1.
    public var isLoopback: Bool { isIPv6 ? high == 0 && low == 1 : low >> 24 == 127 }

    /// Whether such addresses exist only in private networks: this machine's own, and those of RFC 1918, RFC 4193 and
    /// of one link.
    public var isPrivate: Bool { isLoopback || Self.privateRanges.contains { $0.contains(self) } }

    private static let privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fe80::/10"]
        .compactMap { try? AddressRange($0) }

    /// The address in its usual form: lower-case letters, the longest run of zeros left out.
    public var description: String {
        guard isIPv6 else { return (0..<4).map { String(low >> UInt64(24 - 8 * $0) & 0xFF) }.joined(separator: ".") }
        var bytes = ByteBuffer()
        bytes.writeInteger(high)
        bytes.writeInteger(low)
        let address = try? SocketAddress(packedIPAddress: bytes, port: 0)
        return address?.ipAddress ?? ""
    }
}

/// A range of addresses with a common prefix, such as `10.0.0.0/8`. A single address is a range, too.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let first: IPAddress
    private let bits: Int

    /// Whether the range is every address of its family.
    public var isEverything: Bool { bits == 0 }

    fileprivate init(of address: IPAddress, bits: Int) {
        first = address.prefix(bits)
        self.bits = bits
    }

    /// Parses a range.
    ///
    /// - Parameter text: An address, optionally with the length of the prefix. Bits after the prefix are ignored.
    /// - Throws: ``InvalidAddressRange`` for any other text.
    public init(_ text: String) throws(InvalidAddressRange) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.contains("%"), let address = IPAddress(first) else {
            throw InvalidAddressRange(text: text)
        }
        var bits = address.length
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard 1...3 ~= digits.count, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
                var given = Int(parts[1])
            else { throw InvalidAddressRange(text: text) }
            // An IPv4 address in the form of IPv6 begins with 96 bits that say so.
            if !address.isIPv6, first.contains(":") { given -= 96 }
            guard 0...address.length ~= given else { throw InvalidAddressRange(text: text) }
            bits = given
        }
        self.first = address.prefix(bits)
        self.bits = bits
    }

    public func contains(_ address: IPAddress) -> Bool {
        address.isIPv6 == first.isIPv6 && address.prefix(bits) == first
    }

    public var description: String { "\(first)/\(bits)" }
}

/// The text is not a range of addresses.
public struct InvalidAddressRange: Error, CustomStringConvertible {
    public let text: String

    public var description: String {
        "'\(text)' is neither an IP address nor a network: write 10.0.0.1, 10.0.0.0/8, ::1 or 2001:db8::/32"
    }
}
