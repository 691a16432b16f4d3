import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Cards of all versions and programs are read.
@Suite(.timeLimit(.minutes(30))) struct MonicaCardReadingTests {
    /// The lines are those that other programs write.
    @Test(arguments: [
        // A nested card describes another person.
        ("FN:Jane\nBEGIN:VCARD\nTITLE:Agent\nEND:VCARD", "Jane", nil as String?),
        ("FN:Jane\nTITLE:a\\Nb\\nc", "Jane", "a\nb\nc"),
        ("N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:;Ren=E9\nTITLE;QUOTED-PRINTABLE:=41=0D=0AB", "René", "A\nB"),
        ("FN:Jane\nTITLE:one\n  two\n\t three", "Jane", "one two three"),
        ("fn:Jane\r  Doe\rtitle:x\r", "Jane Doe", "x"),
        ("N:Doe\\;x;Jane\nTITLE;LANGUAGE=\"de:x;y\":z\\\\n", "Jane Doe;x", "z\\n"),
        ("NICKNAME:Jane\nTITLE:x", "Jane", "x"), ("ORG:ACME;\nTITLE:x", "ACME", "x"), ("TEL:1", "1", nil),
        ("EMAIL:jane@example.com", "jane@example.com", nil), ("N:Doe;;;;\nFN:Jane Doe", "Doe", nil),
        ("FN:Jane\nTITLE:a\\", "Jane", "a\\"),
    ])
    func cardsAreReadInAllForms(_ lines: String, _ name: String, _ job: String?) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let file = "\u{FEFF}BEGIN:VCARD\n\(lines)\nEND:VCARD\n"
            let result = try await host.service.importVCards(Array(file.utf8), into: "alice")
            #expect(result.contacts == 1)
            let contact = try #require(try await host.export(of: "alice").contacts.first?.contact)
            #expect(contact.completeName == name)
            #expect(contact.information.career.job == job)
        }
    }

    @Test func aFileThatIsNoUTF8IsWindows1252() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let file = Array("BEGIN:VCARD\nFN:Ren".utf8) + [0xE9, 0x20, 0x80] + Array("\nEND:VCARD\n".utf8)
            _ = try await host.service.importVCards(file, into: "alice")
            let names = try await host.export(of: "alice").contacts.map(\.contact.completeName)
            #expect(names == ["René €"])
        }
    }

    /// The text is in quoted-printable, or in raw bytes.
    @Test(
        arguments: [
            ("SHIFT_JIS", [0x91, 0xBE, 0x98, 0x59], "太郎"),
            ("iso-8859-2", [0x57, 0x61, 0xB3, 0xEA, 0x73, 0x61], "Wałęsa"),
            ("ISO-8859-1", [0x52, 0x65, 0x6E, 0xE9], "René"), ("windows-1251", [0xCF, 0xF0], "Пр"),
            ("KOI8-R", [0xF0, 0xD2], "Пр"), ("GB2312", [0xC0, 0xEE], "李"), ("EUC-KR", [0xB1, 0xE8], "김"),
            ("BIG5", [0xA7, 0xF5], "李"), ("UTF-8", [0xC3, 0xA9], "é"),
        ] as [(String, [UInt8], String)])
    func charactersAreReadAsTheirCardSays(_ charset: String, _ bytes: [UInt8], _ name: String) throws {
        let encoded = bytes.map { "=" + String($0, radix: 16, uppercase: true) }.joined()
        let quoted = "BEGIN:VCARD\nFN;CHARSET=\(charset);ENCODING=QUOTED-PRINTABLE:\(encoded)\nEND:VCARD\n"
        let plain = Array("BEGIN:VCARD\nFN;CHARSET=\(charset):".utf8) + bytes + Array("\nEND:VCARD\n".utf8)
        for file in [Array(quoted.utf8), plain] {
            let read = try CardFile(file)
            #expect(read.cards.map { $0.contact?.completeName } == [name])
            #expect(read.findings == .init())
        }
    }

    @Test func aCharacterSetThatIsNotKnownIsNamed() throws {
        let file = "BEGIN:VCARD\nFN;CHARSET=x-odd;ENCODING=QUOTED-PRINTABLE:Ren=E9\nEND:VCARD\n"
        let read = try CardFile(Array(file.utf8))
        // A card without any name is no contact.
        #expect(read.cards.map { $0.contact?.completeName } == [nil])
        #expect(read.findings.unreadableCharsets == ["x-odd": 1])
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func aByteOrderMarkDecidesTheEncoding(_ encoding: String.Encoding) throws {
        let text = "\u{FEFF}BEGIN:VCARD\r\nFN:李小龍\r\nEND:VCARD\r\n"
        let read = try CardFile([UInt8](try #require(text.data(using: encoding))))
        #expect(read.cards.map { $0.contact?.completeName } == ["李小龍"])
    }

    @Test func unreadableCardsAreLeftOutAndListed() throws {
        let file = """
            From the phone
            BEGIN: VCARD
            FN:Jane
            PHOTO;ENCODING=BASE64:/9j/4AAQSkZJRg
            ABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQ
            FBQUGBwwIBwcHBw8LCwkMEQ8SEhEP
            NOTE:one
            two
            END:VCARD
            between
            BEGIN:VCARD
            FN:Lost
            BEGIN:VCARD
            FN:John
            END:VCARD
            END:VCARD
            \u{1A}
            """
        #expect(throws: MonicaService.ImportRefused.self) { try CardFile(Array(file.utf8)) }
        let read = try CardFile(Array(file.utf8), skippingUnreadable: true)
        #expect(read.cards.map { $0.contact?.completeName } == ["Jane", "John"])
        #expect(read.findings.unreadable.map(\.lines) == [1...1, 5...6, 8...8, 10...10, 11...12, 16...16])
        let reasons = read.findings.unreadable.map(\.reason)
        #expect(reasons[0] == "expected BEGIN:VCARD, found \"From the phone\"")
        #expect(reasons[1] == "no property: \"ABAQAAAQABAAD/2wBDAAUDBAQEAwUEBAQ\"")
        #expect(reasons[4] == "BEGIN:VCARD without END:VCARD")
    }

    @Test(
        arguments: [
            ("20241026T142200Z", 1_729_952_520_000), ("2024-10-26T16:22:00.5+02:00", 1_729_952_520_000),
            ("20241026T162200+0200", 1_729_952_520_000), ("2024-10-26T12:22-02", 1_729_952_520_000),
            ("2024-10-26t14:22z", 1_729_952_520_000), ("2024-10-26", 1_729_900_800_000), ("yesterday", nil),
            ("2024-10-26T14:22:", nil), ("2024-10-26T14:22:00.", nil), ("2024-10-26T24:00Z", nil),
            ("2024-10-26T14:60Z", nil), ("2024-10-26T14:22+2", nil), ("2024-10-26T14:22Zulu", nil), ("2024-1-26", nil),
        ] as [(String, Int64?)])
    func revisionsAreReadInAllForms(_ text: String, _ milliseconds: Int64?) throws {
        let read = try CardFile(Array("BEGIN:VCARD\nFN:Jane\nREV:\(text)\nEND:VCARD\n".utf8))
        #expect(read.cards.map(\.revisedAt) == [milliseconds])
    }

    @Test(arguments: [
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-04", "--0304"), ("BDAY:1980-10-10T08:00:00Z", "19801010"),
        ("BDAY:--03-04", "--0304"), ("BDAY:1980-10", "1980"), ("BDAY:1980", "1980"),
        ("BDAY:0000-01-01", nil as String?), ("BDAY:1604-03-04", "--0304"), ("BDAY:16040304", "--0304"),
        ("BDAY:2001-02-29", nil), ("BDAY;VALUE=text:19801010", nil), ("BDAY:--0229", "--0229"), ("BDAY:x", nil),
    ])
    func birthdaysAreReadInAllForms(_ line: String, _ written: String?) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let file = "BEGIN:VCARD\nFN:Jane\n\(line)\nEND:VCARD\n"
            let result = try await host.service.importVCards(Array(file.utf8), into: "alice")
            let cards = try await host.cards(of: "alice")
            let birthday = cards.split(separator: "\r\n").first { $0.hasPrefix("BDAY:") }?.dropFirst(5)
            #expect(birthday.map(String.init) == written)
            #expect(result.leftOut.isEmpty == (written != nil && line != "BDAY:1980-10"))
        }
    }

    @Test(arguments: [
        ("N:李;小龍\nFN:李小龍", "李小龍"), ("N:Doe;John\nFN:Doe John", "Doe John"), ("N:Doe;John\nFN:John Doe", "John Doe"),
        ("N:Doe;John\nFN:Doe, John", "John Doe"), ("N:Ann;Anna\nFN:Annanna", "Anna Ann"),
    ])
    func namesKeepTheirOrder(_ lines: String, _ name: String) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let file = "BEGIN:VCARD\n\(lines)\nEND:VCARD\n"
            _ = try await host.service.importVCards(Array(file.utf8), into: "alice")
            let client = try await host.client("alice")
            let contact = try #require(try await client.listContacts(page: 1, limit: 1, query: name).data.first)
            #expect(contact.completeName == name)
            #expect(try await host.cards(of: "alice").contains("FN:\(name)\r\n"))
            // The formatted name is kept while the name stays the same.
            try await client.update(
                contact.id,
                Monica.ContactDraft(firstName: contact.firstName, lastName: contact.lastName, nickname: "x"))
            #expect(try await client.getContact(id: contact.id).data.completeName == name)
            try await client.update(contact.id, Monica.ContactDraft(firstName: "New", lastName: contact.lastName))
            let renamed = try await client.getContact(id: contact.id).data.completeName
            #expect(renamed == "New \(contact.lastName ?? "")")
        }
    }

    @Test func invalidAddressesAreReported() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let lines = [
                "URL:not a website", "URL:https://example.com", "EMAIL:a b@example.com", "EMAIL:a@example..com", "TEL:",
                "ADR:;;;;;;",
            ]
            let card = (["BEGIN:VCARD", "FN:Jane"] + lines + ["END:VCARD", ""]).joined(separator: "\n")
            let result = try await host.service.importVCards(Array(card.utf8), into: "alice")
            #expect(result.leftOut == ["URL": 1, "EMAIL": 1])
            let contact = try #require(try await host.export(of: "alice").contacts.first?.contact)
            #expect(contact.contactFields?.map(\.content) == ["https://example.com"])
            #expect(contact.addresses.isEmpty)
        }
    }

    @Test func gendersAreTheAccounts() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let cards = ["M", "f", "O;in words", "U", ";in words", "N", ""].enumerated().map { index, gender in
                "BEGIN:VCARD\nFN:N\(index)\nGENDER:\(gender)\nEND:VCARD\n"
            }
            let result = try await host.service.importVCards(Array(cards.joined().utf8), into: "alice")
            let contacts = try await host.export(of: "alice").contacts.map(\.contact)
            #expect(contacts.map(\.genderType) == ["M", "F", "O", nil, nil, nil, nil])
            #expect(contacts.map(\.gender) == ["Man", "Woman", "Rather not say", nil, nil, nil, nil])
            #expect(result.leftOut == ["GENDER (words)": 2])
        }
    }
}
