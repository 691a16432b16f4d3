import Foundation
import Testbed
import Testing

@testable import Mail

/// E-mails are encoded for the wire, and mailboxes can be folders.
@Suite(.timeLimit(.minutes(30))) struct InternetMessageTests {
    private func text(of message: MailMessage, from sender: String = "concord@example.com") throws -> String {
        try InternetMessage(message, from: sender, at: 1_771_840_800, id: "id-1").text
    }

    @Test func plainText() throws {
        let text = try text(of: .init(to: "a@b.example", subject: "Hello", text: "One\nTwo\n"))
        #expect(
            text
                == [
                    "Date: Mon, 23 Feb 2026 10:00:00 +0000", "From: <concord@example.com>", "To: <a@b.example>",
                    "Subject: Hello", "Message-ID: <id-1@example.com>", "MIME-Version: 1.0",
                    "Auto-Submitted: auto-generated", "Content-Type: text/plain; charset=utf-8",
                    "Content-Transfer-Encoding: 7bit", "", "One", "Two", "", "",
                ].joined(separator: "\r\n"))
    }

    @Test func anEmailMayHaveItsOwnIdentity() throws {
        let text = try text(of: .init(to: "a@b.example", subject: "Hello", text: "One", id: "own.2026-02-23"))
        #expect(text.contains("\r\nMessage-ID: <own.2026-02-23@example.com>\r\n"))
    }

    @Test(arguments: [
        ("Dunbar", "Dunbar"), ("Dunbar, Inc.", "\"Dunbar, Inc.\""), (#"a "b" \c"#, #""a \"b\" \\c""#),
        ("Grüße", "=?utf-8?B?R3LDvMOfZQ==?="), ("a\r\nBcc: x", "\"a  Bcc: x\""),
    ])
    func anEmailHasASender(_ name: String, _ expected: String) throws {
        let text = try text(of: .init(from: name, to: "a@b", subject: "", text: ""))
        #expect(text.components(separatedBy: "\r\n")[1] == "From: \(expected) <concord@example.com>")
    }

    @Test func textBeyondASCIIOrWithLongLines() throws {
        for text in ["Grüße\nan alle 🎉", String(repeating: "x", count: 999)] {
            let parts = try self.text(of: .init(to: "a@b", subject: "é", text: text)).components(
                separatedBy: "\r\n\r\n")
            #expect(parts[0].contains("Content-Transfer-Encoding: base64"))
            #expect(parts[0].contains("Subject: =?utf-8?B?w6k=?="))
            let data = try #require(Data(base64Encoded: parts[1], options: .ignoreUnknownCharacters))
            #expect(String(decoding: data, as: UTF8.self) == text.replacingOccurrences(of: "\n", with: "\r\n"))
            #expect(parts[1].components(separatedBy: "\r\n").allSatisfy { $0.count <= 76 })
        }
    }

    @Test func aLongSubjectIsFolded() throws {
        let subject = String(repeating: "Grüße ", count: 20)
        let lines = try text(of: .init(to: "a@b", subject: subject, text: "")).components(separatedBy: "\r\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 78 + "Subject: ".count })
        let words = lines.filter { $0.contains("=?utf-8?B?") }.flatMap {
            $0.matches(of: #/=\?utf-8\?B\?(.+?)\?=/#).map { String($0.output.1) }
        }
        let bytes = words.compactMap { Data(base64Encoded: $0) }.reduce(Data(), +)
        #expect(String(decoding: bytes, as: UTF8.self) == subject)
    }

    /// A subject cannot add a header.
    @Test func aSubjectIsOneHeader() throws {
        let text = try text(of: .init(to: "a@b", subject: "x\r\nBcc: c@d", text: ""))
        #expect(text.contains("Subject: x  Bcc: c@d\r\n"))
    }

    @Test(arguments: [
        "", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nRCPT TO:<c@d>", "a>@b", "<a@b", "a@b>", "\"a\"@b", "a@b,c",
        "a\u{0}@b",
        "a\\@b", "a@b\u{a0}",
    ])
    func invalidAddressesAreRefused(_ address: String) {
        #expect(throws: MailError.self) { try text(of: .init(to: address, subject: "", text: "")) }
        #expect(throws: MailError.self) {
            try text(of: .init(to: "a@b", subject: "", text: ""), from: address)
        }
    }

    @Test func aMailboxIsAFolderOfEmails() async throws {
        try await withTemporaryFolder { folder in
            let mailbox = MailboxFolder(path: folder + "/mail", from: "concord@localhost", now: { 1_771_840_800 })
            for number in 0..<3 { try await mailbox.send(.init(to: "a@b", subject: "\(number)", text: "Hello")) }
            let names = try FileManager.default.contentsOfDirectory(atPath: mailbox.path)
            #expect(names.count == 3)
            for name in names {
                #expect(name.hasPrefix("1771840800-") && name.hasSuffix(".eml"), "\(name)")
                let path = "\(mailbox.path)/\(name)"
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("\r\n\r\nHello\r\n"))
            }
        }
    }
}
