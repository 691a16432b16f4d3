import Contract
import Foundation
import MonicaClient
import MonicaService
import Testbed
import Testing

/// Files of vCards, in and out.
@Suite struct MonicaVCardTests {
    private static func contacts(_ host: MonicaHost, _ account: String) async throws -> [Monica.ExportedContact] {
        try #require(try await host.service.exportJSON(of: account)).contacts
    }

    @Test(arguments: Stack.Engine.available)
    func cardsBecomeContacts(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let text = """
                BEGIN:VCARD\r
                VERSION:3.0\r
                N:Doe;John;Michael;Dr.;Jr.\r
                FN:Dr. John\r
                  Doe\r
                item1.EMAIL;TYPE="home,x":john@example.com\r
                EMAIL:mailto:doe@example.com\r
                BDAY:1980-10-10\r
                NOTE:a\\nb\\, c\\; d\\\\e\r
                NOTE:\(String(repeating: "long ", count: 100))\r
                CATEGORIES:Family,Work\\, old\r
                ORG:ACME\\, Inc.;Dept\r
                TITLE:Boss\r
                UID:urn:uuid:6F1A2B3C-4D5E-4F60-8A1B-2C3D4E5F6071\r
                END:VCARD\r
                BEGIN:VCARD
                VERSION:2.1
                N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;Jos=C3=A9;;;
                TITLE;ENCODING=QUOTED-PRINTABLE:one=20=
                two
                BDAY:--0229
                DEATHDATE:1999
                END:VCARD
                BEGIN:VCARD
                VERSION:4.0
                N:;;;;
                FN:
                END:VCARD
                BEGIN:VCARD
                VERSION:4.0
                FN:👩‍👩‍👧 🎉
                DEATHDATE;VALUE=text:unknown
                BDAY;VALUE=text:circa 1800
                END:VCARD

                """
            let result = try await host.service.importVCards(Array(text.utf8), into: "alice")
            #expect(result.contacts == 3)
            #expect(result.nameless == [24])
            let contacts = try await Self.contacts(host, "alice")
            let (john, jose, family) = (contacts[0].contact, contacts[1].contact, contacts[2].contact)
            #expect(john.completeName == "John Michael Doe")
            #expect(john.uuid == "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
            #expect(john.contactFields?.map(\.content) == ["john@example.com", "doe@example.com"])
            #expect(john.information.dates.birthdate == .init(Day("1980-10-10")!))
            #expect(john.description == "a\nb, c; d\\e")
            #expect(john.statistics.numberOfNotes == 1)
            #expect(john.tags.map(\.name) == ["Family", "Work, old"])
            #expect(john.information.career == .init(job: "Boss", company: "ACME, Inc."))
            #expect(jose.completeName == "José Müller")
            #expect(jose.information.career.job == "one two")
            #expect(jose.information.dates.birthdate.isYearUnknown == true)
            #expect(jose.information.dates.deceasedDate == .init(Day("1999-01-01")!, isAgeBased: true))
            #expect(family.completeName == "👩‍👩‍👧 🎉")
            #expect(family.isDead)
            #expect(family.information.dates.deceasedDate == .init())
        }
    }

    @Test(arguments: Stack.Engine.available)
    func whatIsExportedIsImportedTheSame(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            var generator = CardGenerator(seed: 7)
            let cards = (0..<200).map { _ in generator.card() }.joined()
            _ = try await host.service.importVCards(Array(cards.utf8), into: "alice")
            let first = try #require(try await host.service.exportVCards(of: "alice"))
            for line in first.split(separator: "\r\n") where line.utf8.count > 75 { Issue.record("too long: \(line)") }
            let again = try await host.service.importVCards(Array(first.utf8), into: "bob")
            #expect(again.nameless.isEmpty)
            #expect(try await host.service.exportVCards(of: "bob") == first)
            // The same file twice changes nothing.
            let known = try await host.service.importVCards(Array(first.utf8), into: "bob")
            #expect(known.contacts == 0)
            #expect(known.known == again.contacts)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func fiveThousandAreListedAndFound(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            var generator = CardGenerator(seed: 5000)
            let cards = (0..<5000).map { _ in generator.card() }.joined()
            let result = try await host.service.importVCards(Array(cards.utf8), into: "first")
            #expect(result.contacts + result.nameless.count == 5000)
            let client = try await host.client()
            var listed: [Monica.Contact] = []
            for try await contact in client.contacts() { listed.append(contact) }
            #expect(listed.count == result.contacts)
            #expect(listed.map(\.id) == listed.map(\.id).sorted())
            for contact in listed.shuffled(using: &generator.random).prefix(50) {
                // Any word of a name finds it.
                let word = try #require(contact.completeName.split(whereSeparator: \.isWhitespace).last)
                let found = try await client.listContacts(page: 1, limit: 100, query: word.uppercased())
                let total = found.meta?.total ?? 0
                #expect(total > 100 || found.data.contains { $0.id == contact.id }, "\(word)")
            }
        }
    }

    @Test(arguments: [
        ("hello", "line 1: expected BEGIN:VCARD, found \"hello\""),
        ("BEGIN:VCARD\nFN:x\nEND:VCARD\nBEGIN:VCARD\nFN:y\n", "line 4: BEGIN:VCARD without END:VCARD"),
        ("BEGIN:VCARD\nFN:x\nEND:VCARD\nEND:VCARD", "line 4: END:VCARD without BEGIN:VCARD"),
        ("BEGIN:VCARD\nFN:x\nno colon\nEND:VCARD", "line 3: no property: \"no colon\""),
    ])
    func whatIsNoVCardImportsNothing(_ text: String, _ words: String) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            _ = try await host.token("alice")
            let refusal = try await #require(throws: MonicaService.ImportRefused.self) {
                try await host.service.importVCards(Array(text.utf8), into: "alice")
            }
            #expect(refusal.description == words)
            let contacts = try await Self.contacts(host, "alice")
            #expect(contacts.isEmpty)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anImportThatFailsHalfWayLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            // More tags than an account may have.
            let cards = (0..<11).map { card -> String in
                let tags = (0..<100).map { "t\(card)x\($0)" }.joined(separator: ",")
                return "BEGIN:VCARD\nVERSION:4.0\nFN:N\(card)\nCATEGORIES:\(tags)\nEND:VCARD\n"
            }.joined()
            _ = try await host.token("alice")
            await #expect(throws: MonicaService.ImportRefused.self) {
                try await host.service.importVCards(Array(cards.utf8), into: "alice")
            }
            let export = try #require(try await host.service.exportJSON(of: "alice"))
            #expect(export.contacts.isEmpty)
            #expect(export.tags.isEmpty)
            let client = try await host.client("alice")
            let list = try await client.listContacts(page: 1, limit: 50, query: nil)
            #expect(list.meta?.total == 0)
        }
    }
}

/// Makes vCards as varied and nasty as those of the world.
struct CardGenerator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let firstNames = [
        "John", "Jane", "José", "Zoë", "Łukasz", "Αλέξανδρος", "Мария", "美咲", "محمد", "אבי", "Anne-Marie", "D'Arcy",
        "👩‍👩‍👧", "İpek", "Straße", "e\u{301}mile",
    ]
    private static let lastNames = [
        "Doe", "Müller", "O'Brien", "van der Berg", "Nguyễn", "Škvorecký", "山田", "García Márquez", "Smith; Jr.",
        "A,B", "back\\slash", "100%", "under_score",
    ]

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func pick<T>(_ elements: [T]) -> T { elements[Int.random(in: 0..<elements.count, using: &random)] }

    /// Text without control characters, so that what comes back is what went in.
    private mutating func text(upTo maximum: Int) -> String {
        String(
            String.UnicodeScalarView(
                random.text(upTo: maximum).unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }

    private static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing(",", with: "\\,").replacing(";", with: "\\;")
            .replacing("\n", with: "\\n")
    }

    mutating func card() -> String {
        let end = pick(["\r\n", "\n"])
        var lines = [pick(["BEGIN:VCARD", "begin:vcard"]), "VERSION:" + pick(["3.0", "4.0"])]
        let (first, last) = (pick(Self.firstNames), pick(Self.lastNames))
        switch Int.random(in: 0..<20, using: &random) {
        case 0: lines += ["N:;;;;", "FN:"]
        case 1: lines += ["FN:" + Self.escape(first + " " + last)]
        case 2: lines += ["N:\(Self.escape(last));;;;", "FN:\(Self.escape(last))"]
        case 3:
            lines += [
                "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:"
                    + Self.quotedPrintable("\(Self.escape(last));\(Self.escape(first));;;")
            ]
        default:
            let middle = chance(20) ? Self.escape(text(upTo: 12)) : ""
            lines += [
                "N:\(Self.escape(last));\(Self.escape(first));\(middle);;", "FN:\(Self.escape(first + " " + last))",
            ]
        }
        if chance(30) { lines.append("NICKNAME:" + Self.escape(text(upTo: 20))) }
        if chance(50) {
            lines.append("item1.EMAIL;TYPE=INTERNET:n\(Int.random(in: 0..<9999, using: &random))@example.com")
        }
        if chance(20) { lines.append("TEL;TYPE=\"cell,voice\":+1 555 0100") }
        if chance(40) {
            lines.append(
                pick([
                    "BDAY:1980-10-10", "BDAY:19801010", "BDAY:--0229", "BDAY:1970", "BDAY:unknown",
                    "BDAY;VALUE=date:2001-02-30",
                ]))
        }
        if chance(5) { lines.append(pick(["DEATHDATE:20200101", "DEATHDATE;VALUE=text:unknown"])) }
        if chance(30) { lines.append("NOTE:" + Self.escape(text(upTo: 400))) }
        if chance(30) { lines.append("CATEGORIES:" + pick(["Family", "Friends,Work", "Été à Paris", "a\\,b"])) }
        if chance(20) { lines.append("ORG:" + Self.escape(text(upTo: 30)) + ";Department") }
        if chance(20) { lines.append("TITLE:" + Self.escape(text(upTo: 300))) }
        if chance(5) { lines.append("PHOTO;ENCODING=b;TYPE=JPEG:" + String(repeating: "QUJD", count: 200) + "=") }
        if chance(10) { lines.append("") }
        lines.append("END:VCARD")
        return lines.map { fold($0, end) }.joined(separator: end) + end
    }

    /// Folded at any place, as old programs do; never between the halves of a character.
    private mutating func fold(_ line: String, _ end: String) -> String {
        guard line.utf8.count > 75 || (line.utf8.count > 10 && chance(5)), !line.contains("QUOTED") else { return line }
        var folded = ""
        for (index, scalar) in line.unicodeScalars.enumerated() {
            if index > 0, index % 60 == 0 { folded += end + pick([" ", "\t"]) }
            folded.unicodeScalars.append(scalar)
        }
        return folded
    }

    private static func quotedPrintable(_ text: String) -> String {
        text.utf8.map { byte in
            byte == 0x3D || byte > 0x7E || byte < 0x20
                ? "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) : String(Unicode.Scalar(byte))
        }.joined()
    }
}
