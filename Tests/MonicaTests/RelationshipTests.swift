import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

/// Both sides of a relationship agree, whatever happens at the same time.
@Suite(.timeLimit(.minutes(30))) struct MonicaRelationshipTests {
    @Test(arguments: Stack.Engine.available)
    func manyAtOnceMakeOne(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let types = try await client.relationshipTypes()
            let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<12 {
                    let (name, contact, other) = index % 2 == 0 ? ("parent", john, jane) : ("child", jane, john)
                    let draft = Monica.RelationshipDraft(
                        contactIs: contact, typeID: try #require(types[name]), ofContact: other)
                    group.addTask {
                        do {
                            try await client.create(draft)
                            return true
                        } catch MonicaAPIError.rejected(422, "The relationship already exists.") {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(made == 1)
            for (contact, name) in [(john, "parent"), (jane, "child")] {
                let relations = try await client.getContact(id: contact).data.information.relationships
                #expect(relations.family.total == 1 && relations.love.total == 0)
                #expect(relations.family.contacts.map(\.relationship.name) == [name])
            }
        }
    }

    /// A change or a deletion of one side meets that of the other, and the deletion of a contact.
    @Test(arguments: Stack.Engine.available)
    func changesMeetDeletions(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let types = try await client.relationshipTypes()
            for round in 0..<8 {
                let (john, jane) = (try await host.contact("John").id, try await host.contact("Jane").id)
                let parent = try #require(types["parent"])
                let made = try await client.create(
                    Monica.RelationshipDraft(contactIs: john, typeID: parent, ofContact: jane))
                let other = try #require(try await client.send(Monica.ListRelationships(contact: jane)).data.first)
                var draft = Monica.RelationshipDraft(made)
                draft.typeID = try #require(types["uncle"])
                let changed = draft
                let requests: [@Sendable () async throws -> Void] = [
                    { try await client.update(made.id, changed) },
                    { try await client.update(other.id, Monica.RelationshipDraft(other)) },
                    { try await client.delete(Monica.Relationship.self, id: round % 2 == 0 ? made.id : other.id) },
                    { if round % 4 > 1 { try await client.delete(Monica.Contact.self, id: jane) } },
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for request in (requests + requests).shuffled() {
                        group.addTask { do { try await request() } catch MonicaAPIError.notFound {} }
                    }
                    try await group.waitForAll()
                }
                #expect(try await client.send(Monica.ListRelationships(contact: john)).data.isEmpty)
            }
            let left = try await host.database.read { try $0.value("SELECT COUNT(*) FROM relationships", as: Int.self) }
            #expect(left == 0)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func aContactHasAHundredAtMost(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let friend = try #require(try await client.relationshipTypes()["friend"])
            let hub = try await host.contact("Hub").id
            for number in 0..<100 {
                try await client.create(
                    Monica.RelationshipDraft(
                        contactIs: hub, typeID: friend, ofContact: try await host.contact("\(number)").id))
            }
            let more = try await host.contact("More").id
            for (contact, other) in [(hub, more), (more, hub)] {
                let error = try await #require(throws: MonicaAPIError.self) {
                    try await client.create(
                        Monica.RelationshipDraft(contactIs: contact, typeID: friend, ofContact: other))
                }
                #expect(error.errorDescription == "The relationships may not have more than 100 items.")
            }
            #expect(try await client.send(Monica.ListRelationships(contact: hub)).meta?.total == 100)
            #expect(try await client.send(Monica.ListRelationships(contact: more)).data.isEmpty)
            #expect(try await client.getContact(id: hub).data.information.relationships.friend.contacts.count == 100)
        }
    }
}

extension MonicaAPIClient {
    /// Returns the ids of the types of relationships by their names.
    fileprivate func relationshipTypes() async throws -> [String: Int] {
        let types = try await send(Monica.ListRelationshipTypes()).data
        return Dictionary(uniqueKeysWithValues: types.map { ($0.name, $0.id) })
    }
}
