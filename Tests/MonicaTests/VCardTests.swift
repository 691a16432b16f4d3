import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Files of vCards are imported and exported.
@Suite(.timeLimit(.minutes(30))) struct MonicaVCardTests {
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
                EMAIL:nobody\r
                TEL;TYPE=cell:+1 555 0100\r
                TEL;VALUE=uri:tel:+1-555-0101\r
                TEL:+1 555 0100\r
                URL:https://example.com/?a,b;c\r
                item2.ADR;TYPE=HOME,pref:PO 5;;1 Main St\\, rear;Springfield;IL;62701;USA\r
                item2.X-ABLabel:Somewhere\r
                ADR;TYPE=dom:;;;;;;\r
                GENDER:M;he\r
                NICKNAME:Johnny,J\r
                PHOTO;ENCODING=b:QUJD\r
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
            #expect(result.nameless == [35])
            #expect(
                result.leftOut == [
                    "N (prefix, suffix)": 1, "EMAIL": 1, "EMAIL (type)": 1, "TEL (type)": 1, "X-ABLABEL": 1,
                    "GENDER (words)": 1, "PHOTO": 1, "ORG (department)": 1, "BDAY (no date)": 1,
                ])
            let contacts = try await host.export(of: "alice").contacts
            let (john, jose, family) = (contacts[0].contact, contacts[1].contact, contacts[2].contact)
            #expect(john.completeName == "John Michael Doe")
            #expect(john.uuid == "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
            #expect(
                john.contactFields?.map { "\($0.contactFieldType.protocol ?? "")\($0.content)" } == [
                    "mailto:john@example.com", "mailto:doe@example.com", "tel:+1 555 0100", "tel:+1-555-0101",
                    "https://example.com/?a,b;c",
                ])
            #expect(
                john.contactFields?.map(\.contactFieldType.name) == ["Email", "Email", "Phone", "Phone", "Website"])
            let home = try #require(john.addresses.first)
            #expect(john.addresses.count == 1)
            #expect([home.name, home.street] == ["home", "PO 5, 1 Main St, rear"])
            #expect(
                [home.city, home.province, home.postalCode, home.country?.name] == [
                    "Springfield", "IL", "62701", "USA",
                ])
            #expect(john.genderType == "M")
            #expect(john.nickname == "Johnny, J")
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
    func exportedCardsAreImportedUnchanged(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            var generator = CardGenerator(seed: 7)
            let cards = (0..<300).map { _ in generator.card() }.joined()
            let first = try await host.service.importVCards(Array(cards.utf8), into: "alice")
            #expect(first.groups > 0 && first.leftOut["IMPP"] != nil)
            let exported = try await host.cards(of: "alice")
            for line in exported.split(separator: "\r\n") where line.utf8.count > 75 {
                Issue.record("too long: \(line)")
            }
            // A later day changes only the time of the revision.
            host.clock.advance(by: .seconds(86_400 * 400))
            let second = try await host.service.importVCards(Array(exported.utf8), into: "bob")
            #expect(second == .init(contacts: first.contacts))
            let again = try await host.cards(of: "bob")
            #expect(Self.withoutRevisions(again) == Self.withoutRevisions(exported))
            // Both accounts could lack the same properties, so the properties themselves are compared.
            let originals = try await host.export(of: "alice").contacts.map(\.contact)
            let copies = try await host.export(of: "bob").contacts.map(\.contact)
            #expect(originals.map(\.addresses.count) == copies.map(\.addresses.count))
            #expect(
                originals.map { $0.contactFields?.map(\.content) } == copies.map { $0.contactFields?.map(\.content) })
            #expect(originals.contains { !$0.addresses.isEmpty })
            let notes = (try await host.export(of: "alice").notes, try await host.export(of: "bob").notes)
            #expect(!notes.0.isEmpty)
            #expect(notes.0.map(\.body) == notes.1.map(\.body))
            #expect(notes.0.map(\.createdAt) == notes.1.map(\.createdAt))
        }
    }

    private static func withoutRevisions(_ cards: String) -> [Substring] {
        cards.split(separator: "\r\n").filter { !$0.hasPrefix("REV:") }
    }

    @Test(arguments: Stack.Engine.available)
    func theSameFileTwiceAddsNothing(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            func file(_ revision: String) -> [UInt8] {
                let cards = [
                    "FN:By Nothing\nREV:\(revision)\nPRODID:\(revision)",
                    "FN:By UUID\nUID:6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071",
                    "FN:By Another ID \(revision)\nUID:https://example.com/people/1", "FN:By Nothing\nTEL:1",
                ]
                return Array(cards.map { "BEGIN:VCARD\nVERSION:4.0\n\($0)\nEND:VCARD\n" }.joined().utf8)
            }
            let first = try await host.service.importVCards(file("20240101"), into: "alice")
            #expect(first == .init(contacts: 4))
            let second = try await host.service.importVCards(file("20250101"), into: "alice")
            #expect(second == .init(contacts: 0, known: 2, repeated: 2))
            // An exported file adds nothing, either.
            let exported = try await host.cards(of: "alice")
            let third = try await host.service.importVCards(Array(exported.utf8), into: "alice")
            #expect(third == .init(contacts: 0, known: 4))
            // Another account has none of these contacts.
            let other = try await host.service.importVCards(file("20240101"), into: "bob")
            #expect(other == .init(contacts: 4))
            // A deleted contact is imported again.
            let client = try await host.client("alice")
            let id = try await client.listContacts(page: 1, limit: 1, query: "another").data.map(\.id)
            try await client.delete(Monica.Contact.self, id: try #require(id.first))
            let fourth = try await host.service.importVCards(file("20240101"), into: "alice")
            #expect(fourth == .init(contacts: 1, known: 1, repeated: 2))
        }
    }

    @Test func notesKeepTheirTimeButNoneIsOfTheFuture() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let now = Monica.Timestamp(milliseconds: host.clock.source.milliseconds())
            let file = """
                BEGIN:VCARD
                FN:Jane
                NOTE;CREATED=20010203T040506Z:old
                NOTE:plain
                NOTE;CREATED=29990203T040506Z:new
                NOTE;CREATED=yesterday:odd
                END:VCARD

                """
            _ = try await host.service.importVCards(Array(file.utf8), into: "alice")
            let notes = try await host.export(of: "alice").notes
            #expect(notes.map(\.body) == ["old", "plain", "new", "odd"])
            #expect(
                notes.map(\.createdAt.description) == ["2001-02-03T04:05:06Z"]
                    + Array(repeating: now.description, count: 3))
            let contact = try await host.export(of: "alice").contacts.first?.contact
            #expect(contact?.description == nil)
        }
    }

    @Test func entriesMadeDuringAnExportAreNotInIt() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let client = try await host.client()
            let (kept, gone) = (try await host.contact("Kept"), try await host.contact("Gone"))
            _ = try await client.create(Monica.NoteDraft(contactID: gone.id, body: "x"))
            var (bytes, isFirst): ([UInt8], Bool) = ([], true)
            _ = try await host.service.export(.json, of: "first", audit: .test) { piece in
                bytes += piece
                guard isFirst else { return }
                isFirst = false
                let new = try await host.contact("New")
                _ = try await client.create(Monica.NoteDraft(contactID: new.id, body: "y"))
                try await client.delete(Monica.Contact.self, id: gone.id)
            }
            let export = try JSONDecoder().decode(Monica.Export.self, from: Data(bytes))
            // References name existing contacts only.
            #expect(export.contacts.map(\.contact.id) == [kept.id])
            #expect(export.notes.isEmpty)
        }
    }

    @Test func anImportReportsItsProgress() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let cards = (0..<5).map { "BEGIN:VCARD\nFN:N\($0)\nEND:VCARD\n" }.joined()
            let (told, continuation) = AsyncStream.makeStream(of: [Int].self)
            _ = try await host.service.importVCards(Array(cards.utf8), into: "alice") { continuation.yield([$0, $1]) }
            continuation.finish()
            var steps: [[Int]] = []
            for await step in told { steps.append(step) }
            #expect(steps.last == [5, 5])
            #expect(steps == steps.sorted { $0[0] < $1[0] })
        }
    }

    @Test func aLongTextIsTruncatedAndReported() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let (name, note) = (String(repeating: "é", count: 300), String(repeating: "x", count: 100_001))
            let cards = ["FN:A\nTITLE:\(name)", "FN:B\nNOTE:\(note)", "FN:C\nCATEGORIES:\(name),ok"]
            let text = cards.map { "BEGIN:VCARD\n\($0)\nEND:VCARD\n" }.joined()
            let result = try await host.service.importVCards(Array(text.utf8), into: "alice")
            #expect(
                result
                    == .init(
                        contacts: 3,
                        cut: [
                            .init(line: 1, name: "A", words: "TITLE (300 characters, 255 kept)"),
                            .init(line: 5, name: "B", words: "NOTE (100001 characters, 100000 kept)"),
                        ], leftOut: ["CATEGORIES (too long)": 1]))
            let export = try await host.export(of: "alice")
            #expect(export.contacts[0].contact.information.career.job?.unicodeScalars.count == 255)
            #expect(export.notes.map(\.body.count) == [100_000])
            #expect(export.contacts[2].contact.tags.map(\.name) == ["ok"])
        }
    }

    /// The contacts are listed through the SDK, and with curl.
    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")),
        arguments: Stack.Engine.available)
    func fiveThousandAreListedAndFound(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .live), limits: MonicaService.Limits()) { host in
            var generator = CardGenerator(seed: 5000)
            let cards = (0..<5000).map { _ in generator.card() }.joined()
            let result = try await host.service.importVCards(Array(cards.utf8), into: "first")
            #expect(result.contacts + result.nameless.count + result.groups + result.doubled.count == 5000)
            #expect(result.contacts > 4500)
            let (lists, searches) = (try await host.client(), try await host.client())
            var listed: [Monica.Contact] = []
            for try await contact in lists.contacts() { listed.append(contact) }
            #expect(listed.count == result.contacts)
            #expect(listed.map(\.id) == listed.map(\.id).sorted())
            var found: [String] = []
            for contact in listed.shuffled(using: &generator.random).prefix(50) {
                // Every word of a name finds the contact.
                let word = try #require(contact.completeName.split(whereSeparator: \.isWhitespace).last)
                let page = try await searches.listContacts(page: 1, limit: 100, query: word.uppercased())
                let total = try #require(page.meta?.total)
                #expect(total > 100 || page.data.contains { $0.id == contact.id }, "\(word)")
                if total <= 100 { found.append("\(contact.id)\t\(total)\t\(word)") }
            }
            for query in ["nguyen", "strasse", "JOSE muller", "100%", "garcia marquez", "Αλεξανδρος doe", "👩‍👩‍👧"] {
                let page = try await searches.listContacts(page: 1, limit: 100, query: query)
                let first = page.data.first.map { String($0.id) } ?? "-"
                found.append("\(first)\t\(page.meta?.total ?? -1)\t\(query)")
            }
            try await withTemporaryFolder { folder in
                try Data(found.suffix(25).joined(separator: "\n").utf8)
                    .write(to: URL(fileURLWithPath: folder + "/searches"))
                let session = try await StockTools.run(
                    "/bin/bash",
                    [
                        StockTools.package + "/Tests/StockClient/monica-session", host.baseURL.absoluteString,
                        try await host.token(), String(result.contacts), folder,
                    ])
                print("\(engine):\n\(session.output)")
                #expect(session.status == 0, "\(session.output)")
                #expect(session.output.contains("session: as the contract says"))
            }
        }
    }

    @Test(arguments: Stack.all)
    func anExportIsWrittenAPieceAtATime(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            // This makes more than two batches of a hundred.
            var generator = CardGenerator(seed: 3)
            let cards = (0..<250).map { _ in generator.card() }.joined()
            let result = try await host.service.importVCards(Array(cards.utf8), into: "first")
            let client = try await host.client()
            let contact = try #require(try await client.listContacts(page: 1).data.first)
            let partial = try await client.create(Monica.ContactDraft(firstName: "Partial", isPartial: true))
            let note = try await client.create(Monica.NoteDraft(contactID: contact.id, body: "x"))
            let task = try await client.create(Monica.TaskDraft(title: "x"))
            let gift = try await client.create(
                Monica.GiftDraft(contactID: contact.id, name: "x", recipientID: partial.id))
            let activity = try await client.create(
                Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [contact.id, partial.id]))
            var sizes: [Int] = []
            _ = try await host.service.export(.json, of: "first", audit: .test) { sizes.append($0.count) }
            #expect(sizes.count > 250)
            let export = try await client.send(Monica.ExportJSON())
            #expect(export == (try await host.export(of: "first")))
            #expect(export.contacts.count == result.contacts + 1)
            #expect(export.contacts.map(\.contact.id) == export.contacts.map(\.contact.id).sorted())
            #expect(export.notes.last == note)
            #expect(export.tasks == [task])
            #expect(export.gifts == [gift])
            #expect(export.activities == [activity])
            let exported = try await client.send(Monica.ExportVCard()).rawValue
            #expect(exported == (try await host.cards(of: "first")))
            #expect(exported.components(separatedBy: "BEGIN:VCARD").count - 1 == result.contacts)
            #expect(!exported.contains("FN:Partial"))
            let nobodys = try await host.written(.json, of: "nobody")
            #expect(nobodys.isEmpty)
            // An account without data has empty lists.
            let empty = try await host.client("empty")
            let nothing = try await empty.send(Monica.ExportJSON())
            #expect(nothing.contacts.isEmpty && nothing.notes.isEmpty && nothing.activityTypes.count == 13)
            let none = try await empty.send(Monica.ExportVCard())
            #expect(none.rawValue.isEmpty)
        }
    }

    @Test(arguments: [
        ("hello", "line 1: expected BEGIN:VCARD, found \"hello\""),
        ("BEGIN:VCARD\nFN:x\nEND:VCARD\nBEGIN:VCARD\nFN:y\n", "line 4: BEGIN:VCARD without END:VCARD"),
        ("BEGIN:VCARD\nFN:x\nEND:VCARD\nEND:VCARD", "line 4: END:VCARD without BEGIN:VCARD"),
        ("BEGIN:VCARD\nFN:x\nno colon\nEND:VCARD", "line 3: no property: \"no colon\""),
    ])
    func otherFilesImportNothing(_ text: String, _ words: String) async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            _ = try await host.token("alice")
            let refusal = try await #require(throws: MonicaService.ImportRefused.self) {
                try await host.service.importVCards(Array(text.utf8), into: "alice")
            }
            #expect(refusal.description == words)
            let contacts = try await host.export(of: "alice").contacts
            #expect(contacts.isEmpty)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anImportThatFailsHalfWayLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            // There are more tags than an account may have.
            let cards = (0..<11).map { card -> String in
                let tags = (0..<100).map { "t\(card)x\($0)" }.joined(separator: ",")
                return "BEGIN:VCARD\nVERSION:4.0\nFN:N\(card)\nCATEGORIES:\(tags)\nEND:VCARD\n"
            }.joined()
            _ = try await host.token("alice")
            await #expect(throws: MonicaService.ImportRefused.self) {
                try await host.service.importVCards(Array(cards.utf8), into: "alice")
            }
            let export = try await host.export(of: "alice")
            #expect(export.contacts.isEmpty)
            #expect(export.tags.isEmpty)
            let client = try await host.client("alice")
            let list = try await client.listContacts(page: 1, limit: 50, query: nil)
            #expect(list.meta?.total == 0)
        }
    }
}
