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

    /// A tag that many contacts have is listed by the index of the order, and one that few have by sorting them.
    @Test(arguments: Stack.Engine.available)
    func eachTagIsListedInEachOrder(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            // "many" is a tag of 30 contacts and "few" of 3; others have none.
            func card(_ number: Int) -> String {
                let tag = number % 4 > 0 ? "many" : number > 28 ? "few" : ""
                return "BEGIN:VCARD\nFN:P\(number)\nCATEGORIES:\(tag)\nEND:VCARD\n"
            }
            for account in ["bob", "alice"] {
                var cards = (1...40).map(card).joined()
                _ = try await host.service.importCards(into: account) {
                    defer { cards = "" }
                    return cards.isEmpty ? nil : try CardFile(Array(cards.utf8)).cards
                }
            }
            let client = try await host.client("alice")
            let contacts = try await client.listContacts(page: 1, limit: 50, query: nil).data.map(\.id)
            try #require(contacts.count == 40)
            let partial = try await client.create(Monica.ContactDraft(firstName: "Part", isPartial: true)).id
            for id in [5, 2, 31, 17, 0, 4].map({ contacts[$0] }) {
                host.clock.advance(by: .seconds(10))
                try await client.send(Monica.SetWork(id: id, job: "Baker", company: nil))
            }
            // A contact without a tag, one that lists leave out, and one of another account have changed last.
            host.clock.advance(by: .seconds(10))
            try await client.send(Monica.SetWork(id: contacts[3], job: "x", company: nil))
            try await client.send(Monica.SetTags(id: partial, names: ["many", "few"]))
            let other = try await host.client("bob")
            let theirs = try #require(try await other.listContacts(page: 1, limit: 1, query: nil).data.first).id
            try await other.send(Monica.SetWork(id: theirs, job: "x", company: nil))
            try await Self.expectTags(of: host)
            var cards = ["many", "few"].map { "BEGIN:VCARD\nFN:Jim\nCATEGORIES:\($0)\nEND:VCARD\n" }
            _ = try await host.service.importCards(into: "alice") {
                try await Self.expectTags(of: host)
                return cards.isEmpty ? nil : try CardFile(Array(cards.removeFirst().utf8)).cards
            }
            try await Self.expectTags(of: host, of: [31, 4])
        }
    }

    /// Holds the list of each tag, in each order and in pages of several lengths, against the list of all contacts.
    private static func expectTags(of host: MonicaHost, of counts: [Int] = [30, 3]) async throws {
        // A client shares an answer for five seconds.
        let client = try await host.client("alice")
        let contacts = try await client.listContacts(page: 1, limit: 50, query: nil).data
        let tags = try await client.send(Monica.ListTags()).data
        for (name, count) in zip(["many", "few"], counts) {
            let tag = try #require(tags.first { $0.name == name }).id
            let byID = contacts.filter { $0.tags.contains { $0.name == name } }
            #expect(byID.count == count, "\(name)")
            let byChange = byID.sorted {
                ($0.updatedAt.milliseconds, $0.id) < ($1.updatedAt.milliseconds, $1.id)
            }
            let orders: [(Monica.Sort<Monica.ContactOrder>?, [Int])] = [
                (nil, byID.map(\.id)), (.ascending(.updatedAt), byChange.map(\.id)),
                (.descending(.updatedAt), byChange.reversed().map(\.id)),
            ]
            for (sort, expected) in orders {
                for limit in [1, 7, 50] {
                    var listed: [Int] = []
                    for page in 1...(count + limit - 1) / limit {
                        let answer = try await client.send(
                            Monica.ListContactsOfTag(tag: tag, page: page, limit: limit, sort: sort))
                        #expect(answer.meta?.total == count)
                        listed += answer.data.map(\.id)
                    }
                    #expect(listed == expected, "\(name), \(sort?.rawValue ?? "no order"), \(limit)")
                }
            }
        }
    }
}
