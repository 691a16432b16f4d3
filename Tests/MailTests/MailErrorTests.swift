import Testing

@testable import Mail

/// An operator can read why an e-mail was refused.
@Suite(.timeLimit(.minutes(30))) struct MailErrorTests {
    @Test(arguments: [
        ("550 5.1.1 <jane@example.com>: Recipient address rejected", "550 5.1.1 <address>: Recipient address rejected"),
        ("no address to send to: \"jane@example.com\"", "no address to send to: \"<address>\""),
        ("450 jane.doe+x@example.com, joe@b: busy", "450 <address>, <address> busy"),
        ("the connection ended", "the connection ended"),
    ])
    func addressesAreLeftOut(_ text: String, _ expected: String) {
        #expect(MailError(text, isTransient: true).description == expected)
    }
}
