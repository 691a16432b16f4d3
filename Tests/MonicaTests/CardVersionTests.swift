import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// The escapes of a card are those of its version, and its characters those of the character sets that it names.
@Suite(.timeLimit(.minutes(30))) struct MonicaCardVersionTests {
    /// A property of text: its line, and its place in a contact.
    struct Property: Sendable, CustomStringConvertible {
        let description: String
        let before: String
        let after: String
        let value: @Sendable (ContactCard) -> String?

        init(
            _ name: String, _ before: String = "", _ after: String = "",
            _ value: @escaping @Sendable (ContactCard) -> String?
        ) {
            (description, self.before, self.after, self.value) = (name, before, after, value)
        }

        static let all = [
            Property("FN") { $0.firstName }, Property("N", ";", ";;;") { $0.firstName },
            Property("N", "", ";John;;;") { $0.lastName }, Property("N", "Doe;John;", ";;") { $0.middleName },
            Property("NICKNAME") { $0.nickname }, Property("ORG") { $0.company },
            Property("ORG", "", ";") { $0.company },
            Property("TITLE") { $0.job }, Property("NOTE") { $0.description },
            Property("ADR", ";;", ";;;;") { $0.addresses.first?.street },
            Property("ADR", ";;;", ";;;") { $0.addresses.first?.city },
            Property("ADR", ";;;;", ";;") { $0.addresses.first?.province },
            Property("ADR", ";;;;;", ";") { $0.addresses.first?.postalCode },
            Property("ADR", ";;;;;;") { $0.addresses.first?.country }, Property("TEL") { $0.phones.first },
            Property("CATEGORIES") { $0.tags.first }, Property("CATEGORIES", "a,", ",b") { $0.tags.dropFirst().first },
        ]
    }

    /// Escapes, and the texts that they are in version 2.1 and in the later ones.
    private static let escapes: [(written: String, old: String, new: String)] = [
        (#"\\server\new\text"#, #"\\server\new\text"#, "\\server\new\\text"), (#"C:\temp"#, #"C:\temp"#, #"C:\temp"#),
        (#"a\;b"#, "a;b", "a;b"), (#"a\nb\Nc"#, #"a\nb\Nc"#, "a\nb\nc"), (#"a\\"#, #"a\\"#, #"a\"#),
        (#"a\"#, #"a\"#, #"a\"#), (#"\x\\nb"#, #"\x\\nb"#, #"\x\nb"#), (#"a\:b"#, #"a\:b"#, "a:b"),
        (#"a\\\;b"#, #"a\\;b"#, #"a\;b"#),
    ]

    private static func card(_ version: String, _ line: [UInt8], isVersionLast: Bool) -> [UInt8] {
        let (begin, version) = (Array("BEGIN:VCARD\r\n".utf8), Array("VERSION:\(version)\r\n".utf8))
        let (line, end) = (line + Array("\r\n".utf8), Array("END:VCARD\r\n".utf8))
        return begin + (isVersionLast ? line + version : version + line) + end
    }

    private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return Array("=\(digits.count == 1 ? "0" : "")\(digits)".utf8)
        }
    }

    @Test(arguments: ["2.1", "3.0", "4.0"], Property.all)
    func escapesAreThoseOfTheVersion(_ version: String, _ property: Property) throws {
        for (written, old, new) in Self.escapes {
            let expected = version == "2.1" ? old : new
            for isVersionLast in [false, true] {
                let value = property.before + written + property.after
                // An escape at the end of a component would escape the separator.
                if written.hasSuffix(#"\"#), property.after.hasPrefix(";") || property.after.hasPrefix(",") { continue }
                for line in [
                    Array("\(property):\(value)".utf8),
                    Array("\(property);ENCODING=QUOTED-PRINTABLE:".utf8) + Self.quoted(Array(value.utf8)),
                ] {
                    let read = try CardFile(Self.card(version, line, isVersionLast: isVersionLast))
                    let contact = read.cards.first?.contact ?? Self.named(version, line, isVersionLast)
                    let text = contact.flatMap(property.value)
                    #expect(text == expected, "\(written) in \(String(decoding: line, as: UTF8.self))")
                }
            }
        }
    }

    /// Reads a card that has a name beside the property.
    private static func named(_ version: String, _ line: [UInt8], _ isVersionLast: Bool) -> ContactCard? {
        let line = Array("FN:John Doe\r\n".utf8) + line
        return try? CardFile(card(version, line, isVersionLast: isVersionLast)).cards.first?.contact
    }

    /// In quoted-printable a line break is one of the text, in every version.
    @Test(arguments: ["2.1", "3.0", "4.0"])
    func lineBreaksInQuotedPrintableAreKept(_ version: String) throws {
        let line = Array("FN:John\r\nNOTE;ENCODING=QUOTED-PRINTABLE:a=0D=0Ab=0Ac".utf8)
        let read = try CardFile(Self.card(version, line, isVersionLast: false))
        #expect(read.cards.first?.contact?.description == "a\nb\nc")
    }

    /// In version 2.1 a comma separates nothing in the components of a name or an address.
    @Test func commasAreTextInVersion21() throws {
        let line = Array("N:Doe, Jr.;John;;;\r\nADR:;;1 Main St, Flat 2;a,b;;;".utf8)
        let contact = try CardFile(Self.card("2.1", line, isVersionLast: false)).cards.first?.contact
        #expect(contact?.lastName == "Doe, Jr.")
        #expect(contact?.addresses.first?.street == "1 Main St, Flat 2")
        #expect(contact?.addresses.first?.city == "a,b")
    }

    // MARK: Character sets

    @Test(
        arguments: [
            ("UTF-8", [0xC3, 0xA9], "é"), ("ISO-8859-1", [0xE9], "é"), ("windows-1252", [0x80], "€"),
            ("cp1253", [0xE1], "α"), ("windows-1251", [0xCF], "П"), ("KOI8-R", [0xF0], "П"), ("CP866", [0x80], "А"),
            // The second byte is that of a backslash.
            ("SHIFT_JIS", [0x83, 0x5C], "ソ"), ("BIG5", [0xB3, 0x5C], "許"), ("GBK", [0xC0, 0xEE], "李"),
            ("EUC-KR", [0xB1, 0xE8], "김"), ("ISO-8859-11", [0xA1], "ก"),
        ] as [(String, [UInt8], String)], Property.all)
    func everyPropertyHasItsCharacterSet(_ set: (String, [UInt8], String), _ property: Property) throws {
        let (charset, bytes, text) = set
        for version in ["2.1", "3.0", "4.0"] {
            let value = Array(property.before.utf8) + bytes + Array(property.after.utf8)
            let head = "FN:x\r\n\(property);CHARSET=\(charset)"
            for line in [
                Array("\(head):".utf8) + value, Array("\(head);ENCODING=QUOTED-PRINTABLE:".utf8) + Self.quoted(value),
            ] where property.description != "FN" {
                let read = try CardFile(Self.card(version, line, isVersionLast: true))
                #expect(read.cards.first?.contact.flatMap(property.value) == text)
                #expect(read.findings == .init())
            }
        }
    }

    /// What this system cannot read is left out and named. It is never read as anything else.
    @Test(arguments: ["x-odd", "EUC-XX", "UTF-8"], Property.all)
    func whatCannotBeReadIsNamed(_ charset: String, _ property: Property) throws {
        let value = Array(property.before.utf8) + [0x52, 0xE9] + Array(property.after.utf8)
        for line in [
            Array("\(property);CHARSET=\(charset):".utf8) + value,
            Array("\(property);CHARSET=\(charset);ENCODING=QUOTED-PRINTABLE:".utf8) + Self.quoted(value),
        ] {
            let line = line + Array("\r\nEMAIL:jane@example.com".utf8)
            let read = try CardFile(Self.card("2.1", line, isVersionLast: false))
            #expect(read.findings.unreadableCharsets == [charset: 1])
            let contact = try #require(read.cards.first?.contact)
            // The address takes the place of a name that cannot be read.
            #expect(contact.firstName == "jane@example.com")
            if !["FN", "N"].contains(property.description) { #expect(property.value(contact) == nil) }
        }
    }

    /// Japanese cards are read where the system has the table, and are never garbage.
    @Test func japaneseIsReadOrNamed() throws {
        let line = Array("EMAIL:jane@example.com\r\nN;CHARSET=EUC-JP:".utf8) + [0xB0, 0xA1] + Array(";;;;".utf8)
        let read = try CardFile(Self.card("2.1", line, isVersionLast: false))
        let name = read.cards.first?.contact?.firstName
        #expect(name == "亜" || (name == "jane@example.com" && read.findings.unreadableCharsets == ["EUC-JP": 1]))
    }

    // MARK: Cards of one contact

    @Test func aSecondCardOfOneContactIsNamed() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            func card(_ name: String, _ more: String = "") -> String { "BEGIN:VCARD\nFN:\(name)\n\(more)END:VCARD\n" }
            let uuid = "UID:6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071\n"
            let file =
                card("Jane", uuid) + card("Jane Doe", uuid) + card("Other", "UID:1\n") + card("Again", "UID:1\n")
                + card("Same") + card("Same")
            let first = try await host.service.importVCards(Array(file.utf8), into: "alice")
            let doubled = [(5, "Jane Doe"), (13, "Again"), (20, "Same")]
            #expect(
                first
                    == .init(
                        contacts: 3,
                        doubled: doubled.map { .init(line: $0.0, name: $0.1) }))
            let summary = ImportSummary(first, .init()).text
            #expect(
                summary == """
                    3 contacts imported
                    3 cards skipped, because the file has another card of the contact:
                      line 5, "Jane Doe"
                      line 13, "Again"
                      line 20, "Same"

                    """)
            // Of two newer cards of one contact, too, the first counts.
            let newer = card("New", uuid + "REV:20990101\n") + card("Newest", uuid + "REV:20990102\n")
            let second = try await host.service.importVCards(Array(newer.utf8), into: "alice")
            #expect(second == .init(updated: 1, doubled: [.init(line: 6, name: "Newest")]))
            let names = try await host.export(of: "alice").contacts.map(\.contact.completeName)
            #expect(names == ["New", "Other", "Same"])
        }
    }
}
