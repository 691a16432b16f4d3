import Contract
import Foundation
import MonicaClient
import Testbed
import Testing

/// Changes and deletions at the same time are safe: the second one is answered 404.
@Suite(.timeLimit(.minutes(30))) struct MonicaRaceTests {
    /// Makes a request that may be answered 404 for a deleted resource, but never with a 5xx.
    private static func attempt(_ request: () async throws -> Void) async throws {
        do {
            try await request()
        } catch MonicaAPIError.notFound {
        } catch MonicaAPIError.serverError(let code) {
            Issue.record("\(code)")
        }
    }

    @Test(arguments: Stack.Engine.available)
    func deletedResourcesAre404NeverAFailure(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            for round in 0..<12 {
                let person = try await client.create(Monica.ContactDraft(firstName: "Ann"))
                let introducer = try await client.create(Monica.ContactDraft(firstName: "Bob"))
                let activity = try await client.create(
                    Monica.ActivityDraft(summary: "x", happenedAt: Day("2024-10-20")!, contacts: [person.id]))
                let note = try await client.create(Monica.NoteDraft(contactID: person.id, body: "x"))
                let gift = try await client.create(Monica.GiftDraft(contactID: person.id, name: "x"))
                let tag = try await client.create(Monica.TagDraft(name: "tag \(round)"))
                let changes: [@Sendable () async throws -> Void] = [
                    {
                        try await client.update(
                            activity.id,
                            Monica.ActivityDraft(
                                summary: "y", happenedAt: Day("2024-10-20")!, contacts: [introducer.id]))
                    },
                    { try await client.send(Monica.SetTags(id: person.id, names: ["tag \(round)", "new \(round)"])) },
                    {
                        try await client.send(
                            Monica.SetIntroduction(id: person.id, generalInformation: nil, metThrough: introducer.id))
                    },
                    { try await client.update(note.id, Monica.NoteDraft(contactID: person.id, body: "y")) },
                    { try await client.update(gift.id, Monica.GiftDraft(contactID: person.id, name: "y")) },
                    { try await client.update(tag.id, Monica.TagDraft(name: "renamed \(round)")) },
                ]
                let deletions: [@Sendable () async throws -> Void] = [
                    { try await client.delete(Monica.Activity.self, id: activity.id) },
                    { try await client.delete(Monica.Contact.self, id: person.id) },
                    { try await client.delete(Monica.Contact.self, id: introducer.id) },
                    { try await client.delete(Monica.Tag.self, id: tag.id) },
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for request in (changes + changes + deletions).shuffled() {
                        group.addTask { try await Self.attempt(request) }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
