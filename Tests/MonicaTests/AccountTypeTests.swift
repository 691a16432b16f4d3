import Contract
import Database
import Foundation
import MonicaClient
import Testbed
import Testing

/// Genders and types of activities keep their limits, and what refers to them stays whole, whatever happens at the same time.
@Suite(.timeLimit(.minutes(30))) struct MonicaAccountTypeTests {
    @Test(arguments: Stack.Engine.available)
    func anAccountHasAHundredGendersAtMost(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<110 {
                    group.addTask {
                        do {
                            try await client.create(Monica.GenderDraft(name: "\(number)", type: .other))
                            return true
                        } catch MonicaAPIError.rejected(422, "The genders may not have more than 100 items.") {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            // It began with three.
            #expect(made == 97)
            #expect(try await client.send(Monica.ListGenders()).data.count == 100)
        }
    }

    @Test(arguments: Stack.Engine.available)
    func usesMeetDeletions(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            let john = try await host.contact("John").id
            for round in 0..<8 {
                let gender = try await client.create(Monica.GenderDraft(name: "\(round)", type: .male)).id
                let category = try await client.create(Monica.ActivityTypeCategoryDraft(name: "\(round)")).id
                let type = try await client.create(Monica.ActivityTypeDraft(name: "\(round)", categoryID: category)).id
                let dinner = Monica.ActivityDraft(
                    summary: "x", happenedAt: Day(daysSince1970: 0), contacts: [john], activityTypeID: type)
                let activity = try await client.create(dinner).id
                let requests: [@Sendable () async throws -> Void] = [
                    { try await client.create(Monica.ContactDraft(firstName: "Jane", genderID: gender)) },
                    { try await client.update(john, Monica.ContactDraft(firstName: "John", genderID: gender)) },
                    { try await client.delete(Monica.Gender.self, id: gender) },
                    { try await client.create(dinner) }, { try await client.update(activity, dinner) },
                    { try await client.create(Monica.ActivityTypeDraft(name: "x", categoryID: category)) },
                    {
                        if round % 2 == 0 { try await client.delete(Monica.ActivityType.self, id: type) }
                        try await client.delete(Monica.ActivityTypeCategory.self, id: category)
                    },
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for request in (requests + requests).shuffled() {
                        group.addTask {
                            do { try await request() } catch MonicaAPIError.notFound {
                            } catch MonicaAPIError.rejected(422, _) {}
                        }
                    }
                    try await group.waitForAll()
                }
                try? await client.delete(Monica.ActivityTypeCategory.self, id: category)
            }
            let counts = try await host.database.read { db in
                try [
                    "SELECT COUNT(*) FROM contacts WHERE gender_id IS NOT NULL",
                    "SELECT COUNT(*) FROM activities WHERE type_id IS NOT NULL",
                ].map { try db.value(SQL(trusted: $0), as: Int.self) }
            }
            #expect(counts == [0, 0])
        }
    }
}
