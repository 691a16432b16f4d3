import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

@testable import MonicaService

/// Contact fields and addresses agree with vCards, and their limits hold.
@Suite(.timeLimit(.minutes(30))) struct MonicaContactFieldTests {
    /// An export is imported elsewhere with everything: the owner's own types, names of addresses, texts with signs that
    /// cards escape.
    @Test(arguments: Stack.Engine.available)
    func anExportKeepsFieldsAndAddresses(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let (client, other) = (try await host.client(), try await host.client("second"))
            let john = try await client.create(Monica.ContactDraft(firstName: "John"))
            var types = try await client.send(Monica.ListContactFieldTypes()).data.map(\.id)
            for (name, word) in [("My \"odd\", name", nil), ("Work phone", "phone")] {
                types.append(try await client.create(Monica.ContactFieldTypeDraft(name: name, type: word)).id)
            }
            let contents = ["j@example.com", "+1 555", "https://example.com", "a; b, c\\d\ne", "+2 555"]
            for (type, content) in zip(types, contents) {
                try await client.create(
                    Monica.ContactFieldDraft(contactID: john.id, typeID: type, content: content))
            }
            for name in [nil, "home", "Summer; \"house\""] {
                try await client.create(
                    Monica.AddressDraft(contactID: john.id, name: name, street: "1; rue", country: "fr"))
            }
            let cards = try await host.cards(of: "first")
            let result = try await host.service.importVCards(Array(cards.utf8), into: "second")
            #expect(result.contacts == 1 && result.leftOut.isEmpty)
            let export = try await host.export(of: "second")
            let copy = try #require(export.contacts.first?.contact)
            #expect(Set(copy.contactFields?.map(\.content) ?? []) == Set(contents))
            let own = copy.contactFields?.filter(\.contactFieldType.delible).map(\.contactFieldType.name)
            #expect(own == ["My 'odd',name"])
            #expect(copy.addresses.map(\.name) == [nil, "home", "Summer; 'house'"])
            #expect(copy.addresses.map(\.country?.name) == ["France", "France", "France"])
            // What a user has changed, a newer card does not.
            let field = try #require(copy.contactFields?.first)
            var draft = Monica.ContactFieldDraft(field)
            draft.content = "new@example.com"
            try await other.update(field.id, draft)
            let newer = cards.replacing(#/REV:[0-9TZ]+/#, with: "REV:20990101T000000Z")
            #expect(try await host.service.importVCards(Array(newer.utf8), into: "second").edited.count == 1)
            // A card that knows no social networks leaves those of the contact.
            let phone = newer.replacing(#/SOCIALPROFILE[^\r]*\r\n/#, with: "").replacing("209901", with: "209902")
            let overwritten = try await host.service.importVCards(Array(phone.utf8), into: "second", overwriting: true)
            #expect(overwritten.updated == 1)
            let left = try await other.send(Monica.ListOfContact<Monica.ContactField>(contact: copy.id)).data
            #expect(Set(left.map(\.content)) == Set(contents))
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aTypeOfTheBeginningStaysWhatItIs(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let email = try #require(try await client.send(Monica.ListContactFieldTypes()).data.first)
            let changed = try await client.update(email.id, Monica.ContactFieldTypeDraft(name: "Mail", type: "x"))
            #expect(changed.name == "Mail" && changed.type == "email" && !changed.delible)
            #expect(changed.protocol == nil && changed.fontawesomeIcon == nil)
            let draft = Monica.ContactDraft(firstName: "John", email: "j@example.com")
            let john = try await client.create(draft)
            let fields = try await client.send(Monica.GetContact(id: john.id, with: .contactFields)).data.contactFields
            #expect(fields?.map(\.contactFieldType) == [changed])
        }
    }

    /// A node of a version that did not know the address's account has added one during an upgrade.
    @Test(arguments: Stack.Engine.available)
    func anAddressWithoutItsAccountGetsIt(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John").id
            let address = try await client.create(Monica.AddressDraft(contactID: john, city: "Paris"))
            try await host.database.write { try $0.run("UPDATE addresses SET account_id = NULL") }
            #expect(try await client.send(Monica.List<Monica.Address>()).data.isEmpty)
            try await host.service.sweep()
            await client.forgetAnswers()
            #expect(try await client.send(Monica.List<Monica.Address>()).data.map(\.id) == [address.id])
        }
    }

    @Test func aContactAndAnAccountHaveNoMoreThanTheirLimit() async throws {
        try await withMonica(on: Stack(.sqlite, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John")
            let limits: [(String, Monica.Form, Int)] = [
                ("contactfields", Monica.ContactFieldDraft(contactID: john.id, typeID: 2, content: "1").form, 100),
                ("addresses", Monica.AddressDraft(contactID: john.id).form, 100),
                ("contactfieldtypes", Monica.ContactFieldTypeDraft(name: "x").form, 97),
            ]
            let owner = try await host.world().raw.signed(token: client.configuration.token)
            for (path, form, room) in limits {
                for _ in 0..<room {
                    #expect(try await owner.send(.post, "/" + path, body: form.description).status == 201)
                }
                let answer = try await owner.send(.post, "/" + path, body: form.description)
                #expect(answer.status == 422)
                #expect(answer.text.contains("may not have more than 100 items."), "\(answer.text)")
            }
        }
    }
}
