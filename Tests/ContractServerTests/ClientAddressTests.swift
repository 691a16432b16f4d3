import ContractServer
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

/// The client's address is taken from trusted proxies only, and limits count IPv6 addresses by network.
@Suite(.timeLimit(.minutes(30))) struct ClientAddressTests {
    private func address(
        _ peer: String?, _ forwarded: [String], trusting proxies: [String]
    ) throws -> ClientAddress {
        var headers = HTTPFields()
        for value in forwarded { headers.append(.init(name: .forwardedFor, value: value)) }
        let ranges = try proxies.map { try AddressRange($0) }
        return ClientAddress(peer: peer, headers: headers, trusting: TrustedProxies(ranges))
    }

    @Test(arguments: [
        // The header of a stranger is ignored.
        ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        ("192.0.2.1", [], "192.0.2.1"),
        // The header of a trusted proxy counts.
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("::1", ["203.0.113.9"], "203.0.113.9"),
        // Entries further left were invented by the client.
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1,203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["127.0.0.1,  203.0.113.9 "], "203.0.113.9"),
        ("10.0.0.1", ["127.0.0.1,\t203.0.113.9\t"], "203.0.113.9"),
        // The request came through several proxies, in one header or in several.
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9", "10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.2"], "10.0.0.2"),
        ("172.20.3.4", ["203.0.113.9, 172.31.255.255, 10.0.0.2"], "203.0.113.9"),
        ("2001:db8:1::7", ["203.0.113.9, 2001:DB8:1:0::9"], "203.0.113.9"),
        // The address is just outside the trusted network.
        ("172.32.0.1", ["203.0.113.9"], "172.32.0.1"),
        ("10.0.0.1", ["203.0.113.9, 172.15.0.1"], "172.15.0.1"),
        // An entry that is not an address ends the search.
        ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["1.1.1.1, evil\"name, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.9, , x"], "10.0.0.1"),
        // Some proxies append a port.
        ("10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9:4711, 10.0.0.2:80"], "203.0.113.9"),
        ("10.0.0.1", ["[2001:db8::1]:80"], "2001:db8::1"),
        ("10.0.0.1", ["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.1", ["[::ffff:203.0.113.9]:80"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9:"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9:http"], "10.0.0.1"),
        ("10.0.0.1", ["[2001:db8::1"], "10.0.0.1"),
        ("10.0.0.1", ["[203.0.113.9]"], "10.0.0.1"),
        // An IPv4 address in IPv6 form is the same address, on either side.
        ("::ffff:10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["203.0.113.9, ::ffff:10.0.0.2"], "203.0.113.9"),
        ("10.1.2.3", ["203.0.113.9"], "203.0.113.9"),
        ("::ffff:192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        // The spelling of an address does not matter.
        ("10.0.0.1", ["2001:0DB8:0:0::1"], "2001:db8::1"),
        ("fe80::1%eth0", [], "fe80::1"),
    ])
    func isFoundBehindTrustedProxies(_ peer: String, _ forwarded: [String], _ expected: String) throws {
        let proxies = ["10.0.0.1", "10.0.0.2", "::1", "172.16.0.0/12", "2001:db8:1::/48", "::ffff:10.1.0.0/112"]
        #expect(try address(peer, forwarded, trusting: proxies).description == expected)
    }

    @Test func withoutAPeerItIsUnknown() throws {
        #expect(try address(nil, ["203.0.113.9"], trusting: ["10.0.0.1"]).description == "unknown")
        #expect(try address(nil, ["203.0.113.9"], trusting: []).network == "unknown")
    }

    @Test(arguments: [
        ("203.0.113.9", "203.0.113.9"), ("::ffff:203.0.113.9", "203.0.113.9"), ("::1", "::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"), ("unknown", "unknown"),
    ])
    func a64CountsAsOne(_ text: String, _ network: String) {
        #expect(ClientAddress(text).network == network)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.9.10", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("128.0.0.1", false), ("10.0.0.1", false), ("::2", false), ("1127.0.0.1", false), ("unknown", false),
    ])
    func thisMachineIsKnownByItsAddress(_ text: String, _ isThisMachine: Bool) {
        #expect(ClientAddress(text).isThisMachine == isThisMachine)
    }

    /// A request that a proxy on this machine forwards does not count as this machine's own, whether the proxy is
    /// trusted or not.
    @Test(arguments: [[], ["127.0.0.1"]]) func forwardedRequestsAreNotThisMachines(_ proxies: [String]) throws {
        #expect(try address("127.0.0.1", [], trusting: proxies).isThisMachine)
        for header in ["203.0.113.9", "127.0.0.1", "", "nonsense"] {
            let forwarded = try address("127.0.0.1", [header], trusting: proxies)
            #expect(!forwarded.isThisMachine)
        }
    }

    @Test(arguments: [
        "", "foo", "localhost", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8/8", "10.0.0.1:80",
        "::1/129", "::g", "::ffff:10.0.0.0/95", "10.0.0.1,10.0.0.2", "010.0.0.1", "fe80::1%eth0", " 10.0.0.1",
        "10.0.0.0/+8", "10.0.0.0/0008",
    ])
    func anInvalidRangeIsRefusedWithAReason(_ text: String) throws {
        let error = #expect(throws: InvalidAddressRange.self) { try AddressRange(text) }
        #expect(error?.description.hasPrefix("'\(text)' is neither an IP address nor a network") == true)
    }

    @Test(arguments: [
        ("10.0.0.5", "10.0.0.5/32"), ("10.9.8.7/8", "10.0.0.0/8"), ("0.0.0.0/0", "0.0.0.0/0"), ("::1", "::1/128"),
        ("2001:DB8::/32", "2001:db8::/32"), ("2001:db8:ffff::1/33", "2001:db8:8000::/33"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:10.0.0.1", "10.0.0.1/32"),
        ("1:2:3:4:5:6:7:8/65", "1:2:3:4::/65"),
    ])
    func aRangeIsReadAsItIsMeant(_ text: String, _ expected: String) throws {
        #expect(try AddressRange(text).description == expected)
    }

    /// The operator is warned once about an untrusted proxy, and never about strangers who send the header.
    @Test(arguments: [
        ("127.0.0.1", 1), ("::1", 1), ("172.18.0.1", 1), ("fd00::7", 1), ("203.0.113.9", 0), ("10.0.0.1", 0),
    ])
    func aForgottenProxyIsNamedOnce(_ peer: String, _ warnings: Int) async throws {
        let log = LogBook()
        let table = Sample.table(log)
        for forwarded in [nil, "203.0.113.9", "203.0.113.10"] {
            var head = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/things/1")
            head.headerFields[.forwardedFor] = forwarded
            _ = await table.respond(to: Request(head: head, body: .init(buffer: ByteBuffer())), peer: peer)
        }
        let lines = log.lines.filter { $0.contains("--trusted-proxy") }
        #expect(lines.count == warnings)
        #expect(lines.allSatisfy { $0.hasPrefix("warning") && $0.contains("peer=\(peer)") })
    }
}
