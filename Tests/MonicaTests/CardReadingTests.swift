import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Cards, however they are written.
@Suite struct MonicaCardReadingTests {
    /// What other programs write, line by line.
    @Test(arguments: [
        // A card within a card is about something else.
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
    func cardsAreReadHoweverTheyAreWritten(_ lines: String, _ name: String, _ job: String?) async throws {
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

    @Test(arguments: [
        ("BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-04", "--0304"), ("BDAY:1980-10-10T08:00:00Z", "19801010"),
        ("BDAY:--03-04", "--0304"), ("BDAY:1980-10", "1980"), ("BDAY:1980", "1980"),
        ("BDAY:0000-01-01", nil as String?),
        ("BDAY:2001-02-29", nil), ("BDAY;VALUE=text:19801010", nil), ("BDAY:--0229", "--0229"), ("BDAY:x", nil),
    ])
    func birthdaysAreReadHoweverTheyAreWritten(_ line: String, _ written: String?) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let file = "BEGIN:VCARD\nFN:Jane\n\(line)\nEND:VCARD\n"
            let result = try await host.service.importVCards(Array(file.utf8), into: "alice")
            let cards = try await host.cards(of: "alice")
            let birthday = cards.split(separator: "\r\n").first { $0.hasPrefix("BDAY:") }?.dropFirst(5)
            #expect(birthday.map(String.init) == written)
            #expect(result.leftOut.isEmpty == (written != nil && line != "BDAY:1980-10"))
        }
    }

    @Test func whatIsNoAddressIsSaid() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let lines = ["URL:not a website", "URL:https://example.com", "EMAIL:a b@example.com", "TEL:", "ADR:;;;;;;"]
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
