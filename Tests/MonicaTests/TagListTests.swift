import ContractCheck
import MonicaClient
import MonicaTestHost
import Testbed
import Testing

@testable import MonicaService

/// The list of a tag's contacts leaves out what other lists of contacts leave out.
@Suite(.timeLimit(.minutes(30))) struct MonicaTagListTests {
    @Test(arguments: Stack.Engine.available)
    func partialAndHiddenContactsAreNotListed(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client("alice")
            var made: [Int] = []
            for (name, isPartial) in [("John", false), ("Part", true), ("Jane", false)] {
                let draft = Monica.ContactDraft(firstName: name, isPartial: isPartial)
                made.append(try await client.create(draft).id)
            }
            let (john, jane) = (made[0], made[2])
            var tags: [Monica.Tag] = []
            for id in made { tags = try await client.send(Monica.SetTags(id: id, names: ["x"])).data.tags }
            let tag = try #require(tags.first).id
            host.clock.advance(by: .seconds(10))
            try await client.send(Monica.SetWork(id: john, job: "Baker", company: nil))
            @Sendable func listed(_ sort: Monica.Sort<Monica.ContactOrder>?) async throws -> [Int] {
                // A client shares an answer for five seconds.
                let page = try await host.client("alice").send(
                    Monica.ListContactsOfTag(tag: tag, page: 1, limit: 10, sort: sort))
                #expect(page.meta?.total == page.data.count)
                return page.data.map(\.id)
            }
            #expect(try await listed(nil) == [john, jane])
            #expect(try await listed(.ascending(.updatedAt)) == [jane, john])
            #expect(try await listed(.descending(.updatedAt)) == [john, jane])
            // A contact of an import in progress is hidden until its end.
            var cards = ["BEGIN:VCARD\nFN:Jim\nCATEGORIES:x\nEND:VCARD\n", "BEGIN:VCARD\nFN:Joe\nEND:VCARD\n"]
            let result = try await host.service.importCards(into: "alice") {
                if cards.count < 2 {
                    #expect(try await listed(nil) == [john, jane])
                    #expect(try await listed(.ascending(.updatedAt)) == [jane, john])
                }
                guard !cards.isEmpty else { return nil }
                return try CardFile(Array(cards.removeFirst().utf8)).cards
            }
            #expect(result.contacts == 2)
            #expect(try await listed(nil).count == 3)
        }
    }
}
