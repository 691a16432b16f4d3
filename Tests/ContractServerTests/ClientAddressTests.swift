import ContractServer
import HTTPTypes
import Testing

/// Whose word is taken for where a request comes from.
@Suite struct ClientAddressTests {
    private func address(_ peer: String?, _ forwarded: [String], trusting proxies: Set<String>) -> String {
        var headers = HTTPFields()
        for value in forwarded { headers.append(.init(name: .forwardedFor, value: value)) }
        return ClientAddress(peer: peer, headers: headers, trusting: proxies).description
    }

    @Test(arguments: [
        // Nobody else is believed.
        ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),
        ("192.0.2.1", [], "192.0.2.1"),
        // A trusted proxy is.
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("::1", ["203.0.113.9"], "203.0.113.9"),
        // What stands further left is the client's own invention.
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1,203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["127.0.0.1,  203.0.113.9 "], "203.0.113.9"),
        // Through several proxies, in one header or in several.
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9", "10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["10.0.0.2, 10.0.0.2"], "10.0.0.2"),
        // What is no address ends the search.
        ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["1.1.1.1, evil\"name, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", ["203.0.113.9, , x"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9:1234"], "10.0.0.1"),
    ])
    func isFoundBehindTrustedProxies(_ peer: String, _ forwarded: [String], _ expected: String) {
        #expect(address(peer, forwarded, trusting: ["10.0.0.1", "10.0.0.2", "::1"]) == expected)
    }

    @Test func withoutAPeerItIsUnknown() {
        #expect(address(nil, ["203.0.113.9"], trusting: ["10.0.0.1"]) == "unknown")
        #expect(address(nil, ["203.0.113.9"], trusting: []) == "unknown")
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.9.10", true), ("::1", true), ("::ffff:127.0.0.1", true),
        ("128.0.0.1", false), ("10.0.0.1", false), ("::2", false), ("1127.0.0.1", false), ("unknown", false),
    ])
    func loopback(_ text: String, _ isLoopback: Bool) {
        #expect(ClientAddress(text).isLoopback == isLoopback)
    }
}
