import ContractCheck
import MonicaClient
import MonicaTestHost
import Testbed
import Testing

@testable import MonicaService

/// Pages of the first half of a list are read from its beginning and the others from its end.
@Suite(.timeLimit(.minutes(30))) struct MonicaListOrderTests {
    private static let lists = [
        "/tasks?", "/tasks?sort=created_at&", "/tasks?sort=-updated_at&", "/tasks?sort=completed_at&",
        "/tasks?sort=-completed_at&", "/notes?sort=favorited_at&", "/notes?sort=-favorited_at&", "/contacts?",
        "/contacts?sort=-created_at&", "/contacts?sort=updated_at&", "/journal?sort=-updated_at&",
    ]

    @Test(arguments: Stack.Engine.available)
    func thePagesAreTheListInParts(_ engine: Stack.Engine) async throws {
        try await withMonica(on: Stack(engine, .inProcess)) { host in
            let client = try await host.client()
            for number in 1...7 {
                let contact = try await host.contact("P\(number)")
                let task = try await client.create(Monica.TaskDraft(title: "\(number)"))
                if number.isMultiple(of: 3) {
                    try await client.send(Monica.Update<Monica.Task>(id: task.id, .init(title: "x", completed: true)))
                }
                try await client.create(
                    Monica.NoteDraft(contactID: contact.id, body: "x", isFavorited: number.isMultiple(of: 3)))
                try await client.create(Monica.JournalDraft(title: "x", post: "x"))
                if number.isMultiple(of: 2) { host.clock.advance(by: .seconds(1)) }
            }
            // The list of contacts has none that is partial, deleted or of an import in progress.
            let gone = try await host.contact("P8")
            try await client.send(Monica.Delete<Monica.Contact>(id: gone.id))
            let hidden = try await host.contact("P9")
            try await client.send(
                Monica.Update<Monica.Contact>(id: hidden.id, .init(firstName: "P9", isPartial: true)))
            try await client.create(Monica.ContactDraft(firstName: "P10", isPartial: true))
            let raw = RawClient(baseURL: host.baseURL, transport: host.transport)
            let token = try await host.token()
            @Sendable func ids(_ path: String) async throws -> [Int64] {
                let answer = try await raw.send(.get, path, token: token)
                #expect(answer.status == 200, "\(path) \(answer.text)")
                return try answer.json()["data"]?.elements.compactMap { $0["id"]?.integer } ?? []
            }
            @Sendable func expectPages() async throws {
                for path in Self.lists {
                    let all = try await ids(path + "limit=50")
                    #expect(all.count == 7, "\(path)")
                    for limit in 1...8 {
                        var pages: [Int64] = []
                        for page in 1...(7 + limit - 1) / limit {
                            pages += try await ids("\(path)limit=\(limit)&page=\(page)")
                        }
                        #expect(pages == all, "\(path) in pages of \(limit)")
                        #expect(try await ids("\(path)limit=\(limit)&page=8").isEmpty, "\(path)")
                    }
                }
            }
            try await expectPages()
            var cards = ["BEGIN:VCARD\nFN:Jim\nEND:VCARD\n"]
            _ = try await host.service.importCards(into: "first") {
                if cards.isEmpty { try await expectPages() }
                return cards.isEmpty ? nil : try CardFile(Array(cards.removeFirst().utf8)).cards
            }
        }
    }
}
