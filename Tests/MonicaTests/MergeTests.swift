import Contract
import ContractCheck
import ContractClient
import Database
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// A merge is undone for thirty days, and leaves nothing behind afterwards.
@Suite(.timeLimit(.minutes(30))) struct MonicaMergeTests {
    private static func count(_ table: SQL, of host: MonicaHost) async throws -> Int? {
        try await host.database.read { try $0.value("SELECT COUNT(*) FROM \(table)") }
    }

    @Test(arguments: Stack.Engine.available)
    func aMergeCanBeUndoneForThirtyDays(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
            try await client.send(Monica.MergeContacts(id: john, other: jane))
            host.clock.advance(by: .seconds(30 * 86_400 - 1))
            try await host.service.sweep()
            let merge = try #require(try await client.send(Monica.ListMerges(contact: john)).data.first)
            let lifetime = merge.expiresAt.milliseconds - merge.createdAt.milliseconds
            #expect(lifetime == 30 * 86_400_000)
            try await client.send(Monica.UndoMerge(id: merge.id))
            #expect(try await client.getContact(id: jane).data.firstName == "Jane")

            try await client.send(Monica.MergeContacts(id: john, other: jane))
            let second = try #require(try await client.send(Monica.ListMerges(contact: john)).data.first)
            host.clock.advance(by: .seconds(31 * 86_400))
            await client.forgetAnswers()
            #expect(try await client.send(Monica.ListMerges(contact: john)).data.isEmpty)
            await #expect(throws: MonicaAPIError.self) { try await client.send(Monica.UndoMerge(id: second.id)) }
            #expect(try await Self.count("merges", of: host) == 1)
            try await host.service.sweep()
            #expect(try await Self.count("merges", of: host) == 0)
        }
    }

    /// Photos go with their contact, as its picture and on its gifts, and come back with it.
    @Test(arguments: Stack.Engine.available)
    func picturesMoveAndComeBack(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
            let jpeg = Upload(.bytes(SampleImage.jpeg(width: 8, height: 8)), filename: "a.jpg")
            let (own, janes) = (
                try await client.store(photo: jpeg, of: john).id, try await client.store(photo: jpeg, of: jane).id
            )
            let gift = try await client.create(Monica.GiftDraft(contactID: jane, name: "a")).id
            try await client.send(Monica.AddPhotoToGift(gift: gift, photo: janes))
            try await client.send(Monica.SetAvatar(id: jane, .photo(janes)))
            func avatar(_ contact: Int) async throws -> String? {
                await client.forgetAnswers()
                let avatar = try await client.getContact(id: contact).data.information.avatar
                #expect((avatar.url != nil) == (avatar.source == "photo"))
                return avatar.url?.split(separator: "?").first.map(String.init)
            }
            func photos() async throws -> [Int] {
                await client.forgetAnswers()
                return try await client.send(Monica.Get<Monica.Gift>(id: gift)).data.photos.map(\.id)
            }
            func merge() async throws -> Int {
                try await client.send(Monica.MergeContacts(id: john, other: jane))
                await client.forgetAnswers()
                return try #require(try await client.send(Monica.ListMerges(contact: john)).data.first?.id)
            }
            let picture = try await avatar(jane)
            let first = try await merge()
            #expect(try await avatar(john) == picture && picture != nil)
            #expect(try await photos() == [janes])
            try await client.send(Monica.UndoMerge(id: first))
            #expect(try await avatar(john) == nil)
            #expect(try await avatar(jane) == picture)
            #expect(try await photos() == [janes])

            // A picture that was chosen after the merge stays with the contact that owns the photo.
            let second = try await merge()
            try await client.send(Monica.SetAvatar(id: john, .photo(own)))
            try await client.send(Monica.AddPhotoToGift(gift: gift, photo: own))
            let chosen = try await avatar(john)
            #expect(chosen != picture)
            #expect(try await photos().sorted() == [own, janes].sorted())
            try await client.send(Monica.UndoMerge(id: second))
            #expect(try await avatar(john) == chosen)
            #expect(try await avatar(jane) == picture)
            #expect(try await photos() == [janes])

            // A contact that has a picture of its own keeps it.
            let third = try await merge()
            #expect(try await avatar(john) == chosen)
            try await client.send(Monica.UndoMerge(id: third))
            #expect(try await avatar(john) == chosen)
            #expect(try await avatar(jane) == picture)
        }
    }

    /// A merge from a time ahead of the clock is brought back, and does not last for longer.
    @Test func aMergeFromTheFutureEndsAsWell() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let client = try await host.client()
            let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
            try await client.send(Monica.MergeContacts(id: john, other: jane))
            try await host.database.write { try $0.run("UPDATE merges SET merged_at = merged_at + 8640000000") }
            try await host.service.sweep()
            host.clock.advance(by: .seconds(31 * 86_400))
            try await host.service.sweep()
            #expect(try await Self.count("merges", of: host) == 0)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aContactHasNoMoreThanItMay(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let phone = try #require(
                try await client.send(Monica.ListContactFieldTypes()).data.first { $0.type == "phone" }?.id)
            let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
            for (contact, numbers) in [(john, 0..<60), (jane, 19..<60)] {
                for number in numbers {
                    try await client.create(
                        Monica.ContactFieldDraft(contactID: contact, typeID: phone, content: "\(number)"))
                    try await client.create(Monica.AddressDraft(contactID: contact, city: "\(contact) \(number)"))
                }
            }
            // 41 of the numbers are the same, and no address is.
            let error = try await #require(throws: MonicaAPIError.self) {
                try await client.send(Monica.MergeContacts(id: john, other: jane))
            }
            #expect(error.errorDescription == "The addresses may not have more than 100 items.")
            for contact in [john, jane] {
                #expect(try await client.getContact(id: contact).data.addresses.count == (contact == john ? 60 : 41))
            }
            let spare = try await client.getContact(id: jane).data.addresses[0].id
            try await client.delete(Monica.Address.self, id: spare)
            try await client.send(Monica.MergeContacts(id: john, other: jane))
            #expect(try await client.getContact(id: john).data.addresses.count == 100)
            let fields = try await client.send(Monica.ListOfContact<Monica.ContactField>(contact: john, limit: 100))
            #expect(fields.meta?.total == 60)
        }
    }

    /// Long descriptions are both kept, too.
    @Test(arguments: Stack.Engine.available)
    func aDescriptionThatHasNoRoomIsANote(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let texts = ["a", "b"].map { String(repeating: $0, count: 200) }
            let john = try await client.create(Monica.ContactDraft(firstName: "John", description: texts[0]))
            let jane = try await client.create(Monica.ContactDraft(firstName: "Jane", description: texts[1]))
            let merged = try await client.send(Monica.MergeContacts(id: john.id, other: jane.id)).data
            #expect(merged.description == texts[0])
            let notes = try await client.listNotes(contactId: john.id, page: 1, limit: 10).data
            #expect(notes.map(\.body) == [texts[1]])
            let merge = try #require(try await client.send(Monica.ListMerges(contact: john.id)).data.first)
            let back = try await client.send(Monica.UndoMerge(id: merge.id)).data
            #expect(back.description == texts[1])
            await client.forgetAnswers()
            #expect(try await client.listNotes(contactId: john.id, page: 1, limit: 10).data.isEmpty)
        }
    }

    /// A contact that comes back may name others that are gone.
    @Test(arguments: Stack.Engine.available)
    func whatIsGoneDoesNotComeBack(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let gender = try await client.create(Monica.GenderDraft(name: "Agender", type: .other))
            let (john, joe) = (try await host.contact("John").id, try await host.contact("Joe").id)
            let jim = try await host.contact("Jim").id
            let jane = try await client.create(Monica.ContactDraft(firstName: "Jane", genderID: gender.id)).id
            try await client.send(Monica.SetIntroduction(id: jane, generalInformation: nil, metThrough: joe))
            for contact in [john, jane] {
                for other in [joe, jim] {
                    try await client.create(
                        Monica.RelationshipDraft(contactIs: contact, typeID: 18, ofContact: other))
                }
            }
            try await client.send(Monica.MergeContacts(id: john, other: jane))
            try await client.delete(Monica.Gender.self, id: gender.id)
            // One of the two is deleted, and the other one is another contact now.
            try await client.delete(Monica.Contact.self, id: joe)
            let double = try await host.contact("James").id
            try await client.send(Monica.MergeContacts(id: double, other: jim))
            let merge = try #require(try await client.send(Monica.ListMerges(contact: john)).data.first)
            let back = try await client.send(Monica.UndoMerge(id: merge.id)).data
            #expect(back.genderID == nil)
            #expect(back.information.howYouMet.firstMetThroughContact == nil)
            await client.forgetAnswers()
            for contact in [john, jane] {
                let friends = try await client.send(Monica.ListRelationships(contact: contact)).data.map(\.ofContact.id)
                #expect(friends == [double])
            }
            let sides = try await client.send(Monica.ListRelationships(contact: double)).data.map(\.ofContact.id)
            #expect(Set(sides) == [john, jane])
        }
    }

    /// A card of the merged contact was imported before it came back.
    @Test func anImportedContactKeepsItsUUID() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let client = try await host.client("alice")
            let john = try await client.create(Monica.ContactDraft(firstName: "John"))
            let jane = try await client.create(Monica.ContactDraft(firstName: "Jane"))
            try await client.send(Monica.MergeContacts(id: john.id, other: jane.id))
            let card = "BEGIN:VCARD\nVERSION:4.0\nUID:urn:uuid:\(jane.uuid)\nFN:Jane\nEND:VCARD\n"
            _ = try await host.service.importVCards(Array(card.utf8), into: "alice")
            let merge = try #require(try await client.send(Monica.ListMerges(contact: john.id)).data.first)
            let back = try await client.send(Monica.UndoMerge(id: merge.id)).data
            #expect(back.id == jane.id && back.uuid != jane.uuid)
            await client.forgetAnswers()
            let found = try await client.listContacts(page: 1, limit: 10, query: "Jane")
            #expect(found.meta?.total == 2)
            #expect(try await client.listContacts(page: 1, limit: 10, query: nil).meta?.total == 3)
        }
    }

    /// Merges in both directions meet notes and deletions: every note is one of the remaining contact.
    @Test(arguments: Stack.Engine.available)
    func mergesMeetOtherWrites(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            for round in 0..<6 {
                let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
                var requests: [@Sendable () async throws -> Void] = [
                    { try await client.send(Monica.MergeContacts(id: john, other: jane)) },
                    { try await client.send(Monica.MergeContacts(id: jane, other: john)) },
                    { if round % 3 == 2 { try await client.delete(Monica.Contact.self, id: jane) } },
                ]
                for contact in [john, jane, john, jane, john, jane] {
                    requests.append { try await client.create(Monica.NoteDraft(contactID: contact, body: "x")) }
                }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for request in requests.shuffled() {
                        group.addTask { do { try await request() } catch MonicaAPIError.notFound {} }
                    }
                    try await group.waitForAll()
                }
            }
            let lost = try await host.database.read {
                try $0.value(
                    "SELECT COUNT(*) FROM notes WHERE contact_id NOT IN (SELECT id FROM contacts)", as: Int.self)
            }
            #expect(lost == 0)
            let (listed, counted) = try await host.database.read {
                (
                    try $0.value("SELECT COUNT(*) FROM contacts", as: Int.self),
                    try $0.value("SELECT SUM(contact_count) FROM accounts", as: Int.self)
                )
            }
            #expect(listed == counted)
        }
    }
}
