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

    /// The contacts of a tag that has many are found by the index of their order.
    @Test(arguments: Stack.Engine.available)
    func manyContactsComeInTheirOrder(_ engine: Stack.Engine) async throws {
        let many = 1010
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            var cards = (0..<many).map { "BEGIN:VCARD\nFN:P\($0)\nCATEGORIES:x\nEND:VCARD\n" }.joined()
            _ = try await host.service.importCards(into: "alice") {
                defer { cards = "" }
                return cards.isEmpty ? nil : try CardFile(Array(cards.utf8)).cards
            }
            let client = try await host.client("alice")
            let tag = try #require(try await client.send(Monica.ListTags()).data.first).id
            @Sendable func page(_ number: Int, _ sort: Monica.Sort<Monica.ContactOrder>?) async throws -> [Int] {
                // A client shares an answer for five seconds.
                let page = try await host.client("alice").send(
                    Monica.ListContactsOfTag(tag: tag, page: number, limit: 10, sort: sort))
                #expect(page.meta?.total == many)
                return page.data.map(\.id)
            }
            let first = try await page(1, nil)
            let partial = try await client.create(Monica.ContactDraft(firstName: "Part", isPartial: true))
            try await client.send(Monica.SetTags(id: partial.id, names: ["x"]))
            host.clock.advance(by: .seconds(10))
            try await client.send(Monica.SetWork(id: first[3], job: "Baker", company: nil))
            #expect(try await page(1, .descending(.updatedAt)).first == first[3])
            #expect(try await page(many / 10, .ascending(.updatedAt)).last == first[3])
            let unchanged = try await first.filter { $0 != first[3] } + page(2, nil).prefix(1)
            #expect(try await page(1, .ascending(.updatedAt)) == unchanged)
            #expect(try await page(many / 10 + 1, .ascending(.updatedAt)).isEmpty)
        }
    }
}
