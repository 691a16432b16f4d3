import Contract
import Database
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Imports run in batches. They are invisible until they end, and failed ones leave nothing.
@Suite(.timeLimit(.minutes(30))) struct MonicaImportTests {
    private static func card(_ name: String, _ more: String...) -> String {
        "BEGIN:VCARD\n" + (["FN:\(name)"] + more).joined(separator: "\n") + "\nEND:VCARD\n"
    }

    private static func read(_ cards: String...) throws -> [CardReading] {
        try CardFile(Array(cards.joined().utf8)).cards
    }

    private static func rows(of host: MonicaHost) async throws -> [Int?] {
        try await host.database.read { db in
            try [
                "contacts", "contact_fields", "contact_field_types", "addresses", "notes", "tags", "contact_tags",
                "imports",
                "import_updates",
            ].map { try db.value("SELECT COUNT(*) FROM \(SQL(trusted: $0))") }
        }
    }

    private struct Interrupted: Error {}

    /// Cards with data for every table.
    private static let full = card(
        "Ann Full", "EMAIL:a@example.com", "ADR:;;1 Main St;Paris;;;France", "NOTE;CREATED=20200101T000000Z:hidden",
        "CATEGORIES:Family,Friends", "SOCIALPROFILE;SERVICE-TYPE=Mastodon:https://m.example/@ann")

    @Test(arguments: Stack.all)
    func nothingIsSeenBeforeTheEnd(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let client = try await host.client("alice")
            let before = try await client.create(Monica.ContactDraft(firstName: "Before"))
            let kept = try await client.create(Monica.NoteDraft(contactID: before.id, body: "kept"))
            var (batches, during): ([[CardReading]], [Monica.Contact]) = (
                [try Self.read(Self.full), try Self.read(Self.card("Bob Full", "CATEGORIES:Family"))], []
            )
            let result = try await host.service.importCards(into: "alice") {
                guard !batches.isEmpty else { return nil }
                if batches.count == 1 {
                    // The first batch is stored.
                    let hidden = before.id + 1
                    let list = try await client.listContacts(page: 1, limit: 50, query: nil)
                    #expect(list.data.map(\.id) == [before.id])
                    #expect(list.meta?.total == 1)
                    let found = try await client.listContacts(page: 1, limit: 50, query: "full")
                    #expect(found.data.isEmpty && found.meta?.total == 0)
                    let tags = try await client.listTags().data
                    let notes = try await client.listNotes(contactId: nil, page: 1, limit: 10)
                    #expect(tags.isEmpty)
                    let types = try await client.send(Monica.ListContactFieldTypes()).data
                    #expect(types.map(\.name) == ["Email", "Phone", "Website"])
                    let fields = try await client.send(Monica.List<Monica.ContactField>())
                    let addresses = try await client.send(Monica.List<Monica.Address>())
                    #expect(fields.meta?.total == 0 && addresses.meta?.total == 0)
                    #expect(notes.data == [kept] && notes.meta?.total == 1)
                    let export = try await host.export(of: "alice")
                    #expect(export.contacts.map(\.contact.id) == [before.id])
                    #expect(export.notes == [kept] && export.tags.isEmpty)
                    let cards = try await host.cards(of: "alice")
                    #expect(!cards.contains("Full"))
                    await #expect(throws: MonicaAPIError.self) { try await client.getContact(id: hidden) }
                    await #expect(throws: MonicaAPIError.self) {
                        try await client.create(Monica.NoteDraft(contactID: hidden, body: "x"))
                    }
                    await #expect(throws: MonicaAPIError.self) {
                        try await client.delete(Monica.Contact.self, id: hidden)
                    }
                    await #expect(throws: MonicaAPIError.self) {
                        try await client.delete(Monica.Note.self, id: kept.id + 1)
                    }
                    // Other requests write meanwhile, to this account and to another.
                    during.append(try await client.create(Monica.ContactDraft(firstName: "During")))
                    try await host.client("bob").create(Monica.ContactDraft(firstName: "Elsewhere"))
                    // A tag with the name of a hidden one is merged with it. An existing tag can be renamed to a hidden
                    // one's name.
                    _ = try await client.send(Monica.SetTags(id: before.id, names: ["FAMILY"]))
                    let other = try await client.create(Monica.TagDraft(name: "Other"))
                    try await client.update(other.id, Monica.TagDraft(name: "Friends"))
                    let both = try await client.listTags().data.map(\.name)
                    #expect(both == ["FAMILY", "Friends"])
                }
                return batches.removeFirst()
            }
            #expect(result.contacts == 2)
            let list = try await client.listContacts(page: 1, limit: 50, query: nil)
            #expect(list.data.map(\.completeName) == ["Before", "Ann Full", "During", "Bob Full"])
            #expect(list.data.map(\.id) == list.data.map(\.id).sorted())
            #expect(list.meta?.total == 4)
            #expect(during.count == 1)
            let found = try await client.listContacts(page: 1, limit: 50, query: "full")
            #expect(found.meta?.total == 2)
            let ann = list.data[1]
            #expect(ann.tags.map(\.name) == ["FAMILY", "Friends"])
            #expect(ann.addresses.map(\.country?.name) == ["France"])
            let fields = try await client.send(Monica.ListOfContact<Monica.ContactField>(contact: ann.id)).data
            #expect(fields.map(\.contactFieldType.name) == ["Email", "Mastodon"])
            let addresses = try await client.send(Monica.ListOfContact<Monica.Address>(contact: ann.id)).data
            #expect(addresses.map(\.country?.id) == ["FR"])
            #expect(ann.statistics.numberOfNotes == 1)
            let notes = try await client.listNotes(contactId: nil, page: 1, limit: 10)
            #expect(Set(notes.data.map(\.body)) == ["kept", "hidden"])
            #expect(try await client.listTags().data.count == 2)
            #expect(try await Self.rows(of: host).suffix(2) == [0, 0])
        }
    }

    /// The process was killed, so only the next clean-up can remove the import.
    @Test(arguments: Stack.Engine.available)
    func theRowsOfADeadImportAreRemoved(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client("alice")
            try await client.create(Monica.ContactDraft(firstName: "Before"))
            let empty = try await Self.rows(of: host)
            for account in ["alice", "nobody yet"] {
                var run = try await ImportRun(host.service, into: account, overwriting: false)
                try await run.add(try Self.read(Self.full, Self.card("Jane")))
            }
            // Only one import runs at a time.
            await #expect(throws: MonicaService.ImportRefused.self) {
                try await host.service.importCards(into: "alice") { nil }
            }
            try await host.service.cleanUpImports()
            let kept = try await Self.rows(of: host)
            #expect(kept.first == 5)
            host.clock.advance(by: .seconds(31))
            try await host.service.cleanUpImports()
            let (left, written) = (try await Self.rows(of: host), try await host.written(.json, of: "nobody yet"))
            #expect(left == empty)
            #expect(written.isEmpty)
            let list = try await client.listContacts(page: 1, limit: 50, query: nil)
            #expect(list.meta?.total == 1)
            let found = try await client.listContacts(page: 1, limit: 50, query: "jane")
            #expect(found.meta?.total == 0)
            // Another import can begin.
            let again = try await host.service.importCards(into: "alice") { nil }
            #expect(again == .init())
        }
    }

    /// An import that continues after it was given up adds nothing more.
    @Test func anAbandonedImportIsRefused() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            var run = try await ImportRun(host.service, into: "alice", overwriting: false)
            try await run.add(try Self.read(Self.full))
            host.clock.advance(by: .seconds(31))
            try await host.service.cleanUpImports()
            await #expect(throws: MonicaService.ImportRefused.self) {
                try await run.add(try Self.read(Self.card("Jane")))
            }
            await #expect(throws: MonicaService.ImportRefused.self) { try await run.end() }
            let left = try await Self.rows(of: host)
            #expect(left.allSatisfy { $0 == 0 })
        }
    }

    @Test(arguments: Stack.Engine.available)
    func anImportThatIsInterruptedLeavesNothing(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            var isFirst = true
            await #expect(throws: Interrupted.self) {
                try await host.service.importCards(into: "alice") {
                    defer { isFirst = false }
                    guard isFirst else { throw Interrupted() }
                    return try Self.read(Self.full)
                }
            }
            let (left, written) = (try await Self.rows(of: host), try await host.written(.json, of: "alice"))
            #expect(left.allSatisfy { $0 == 0 })
            #expect(written.isEmpty)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aNewerCardChangesTheContactUnlessItWasEditedHere(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let uid = "UID:6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071"
            func file(_ name: String, _ revision: String, _ more: String...) -> [UInt8] {
                let jane = ["BEGIN:VCARD", "FN:\(name)", uid, "REV:\(revision)"] + more + ["END:VCARD", ""]
                let joe = Self.card("Joe \(name)", "UID:joe@example.com", "REV:\(revision)")
                return Array((jane.joined(separator: "\n") + joe).utf8)
            }
            let client = try await host.client("alice")
            func names() async throws -> [String] {
                try await host.export(of: "alice").contacts.map(\.contact.completeName)
            }
            let first = try await host.service.importVCards(
                file("Jane One", "20200101", "EMAIL:a@example.com", "TITLE:Boss", "CATEGORIES:x", "NOTE:old"),
                into: "alice")
            #expect(first == .init(contacts: 2))
            let id = try #require(try await client.listContacts(page: 1, limit: 1, query: nil).data.first?.id)
            try await client.create(Monica.NoteDraft(contactID: id, body: "mine"))

            // The first revision is not newer and changes nothing; the second one is.
            let same = try await host.service.importVCards(file("Jane Zero", "20200101"), into: "alice")
            #expect(same == .init(known: 2))
            host.clock.advance(by: .seconds(60))
            let second = try await host.service.importVCards(
                file("Jane Two", "20200102", "EMAIL:b@example.com", "CATEGORIES:y"), into: "alice")
            #expect(second == .init(updated: 2))
            #expect(try await names() == ["Jane Two", "Joe Jane Two"])
            let jane = try await client.send(Monica.GetContact(id: id, with: .contactFields)).data
            #expect(jane.uuid == "6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071")
            #expect(jane.contactFields?.map(\.content) == ["b@example.com"])
            #expect(jane.tags.map(\.name) == ["y"])
            #expect(jane.information.career.job == nil && jane.description == nil)
            #expect(jane.notes?.map(\.body) == ["mine"])
            #expect(try await client.listContacts(page: 1, limit: 50, query: "two").data.first?.id == id)

            // An exported file has no newer revisions.
            let exported = try await host.cards(of: "alice")
            let back = try await host.service.importVCards(Array(exported.utf8), into: "alice")
            #expect(back == .init(known: 2))

            // A contact that was edited here is reported, or overwritten if the operator asks for that.
            _ = try await client.send(Monica.SetWork(id: id, job: "Chief", company: nil))
            let third = try await host.service.importVCards(file("Jane Three", "20200103"), into: "alice")
            #expect(third == .init(updated: 1, edited: [.init(line: 1, name: "Jane Three")]))
            #expect(try await names() == ["Jane Two", "Joe Jane Three"])
            let forced = try await host.service.importVCards(
                file("Jane Four", "20200104"), into: "alice", overwriting: true)
            #expect(forced == .init(updated: 2))
            #expect(try await names() == ["Jane Four", "Joe Jane Four"])
            let fifth = try await host.service.importVCards(file("Jane Five", "20200105"), into: "alice")
            #expect(fifth == .init(updated: 2))
        }
    }

    /// Once an import has ended, its changes are made even if its process dies.
    @Test func changesOfAnImportThatDiedAtItsEndAreMade() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let uid = "UID:6f1a2b3c-4d5e-4f60-8a1b-2c3d4e5f6071"
            _ = try await host.service.importVCards(
                Array(Self.card("Jane", uid, "REV:20200101").utf8), into: "alice")
            var run = try await ImportRun(host.service, into: "alice", overwriting: false)
            try await run.add(try Self.read(Self.card("Janet", uid, "REV:20200102"), Self.card("Joe")))
            let marker = run.marker
            try await host.database.write { [time = host.clock.source] db in
                try Imports.end(marker, count: 1, hasUpdates: true, at: time.milliseconds(), in: db)
            }
            host.clock.advance(by: .seconds(31))
            try await host.service.cleanUpImports()
            let names = try await host.export(of: "alice").contacts.map(\.contact.completeName)
            #expect(names == ["Janet", "Joe"])
            #expect(try await Self.rows(of: host).suffix(2) == [0, 0])
        }
    }
}
