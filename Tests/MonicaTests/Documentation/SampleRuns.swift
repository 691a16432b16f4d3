import ContractCheck
import ContractClient
import Foundation
import MonicaCheck
import MonicaClient
import MonicaMocks
import Testbed
import Testing

/// The samples work on a real server. Those of Testing.md are tests themselves.
@Suite(.timeLimit(.minutes(30))) struct MonicaSampleRuns {
    private static let stack = Stack(.sqlite, .live)

    @Test func overview() async throws {
        try await withMonica(on: Self.stack) { host in
            let token = try await host.token()
            let (monica, none) = try await OverviewSamples.begin(host.baseURL, token: token)
            #expect(none.isEmpty)
            try await OverviewSamples.create(monica)
            let (_, found) = try await OverviewSamples.begin(host.baseURL, token: token)
            #expect(found.map(\.firstName) == ["John"])
            let notes = try await monica.listNotes(contactId: found.first?.id, page: 1, limit: 10).data
            #expect(notes.map(\.body) == ["Likes tea"])
        }
    }

    @Test func reading() async throws {
        try await withMonica(on: Self.stack) { host in
            let token = try await host.token()
            var shown: [String] = []
            for token in [token, "nonsense"] {
                try await ReadingSamples.signIn(address: host.baseURL.absoluteString, token: token) {
                    shown.append($0)
                }
            }
            let monica = try await host.client()
            let john = try await monica.create(Monica.ContactDraft(firstName: "John", lastName: "Doe"))
            try await monica.create(Monica.ContactDraft(firstName: "John", lastName: "Smith"))
            for index in 0..<12 { try await monica.create(Monica.NoteDraft(contactID: john.id, body: "\(index)")) }
            try await monica.create(
                Monica.ActivityDraft(summary: "Had dinner", happenedAt: Day(daysSince1970: 0), contacts: [john.id]))
            try await monica.create(Monica.TaskDraft(title: "Send a card", contactID: john.id))
            try await ReadingSamples.contacts(monica) { shown.append($0.completeName) }
            try await ReadingSamples.page(monica) { shown.append($0) }
            #expect(shown == ["Welcome!", "That token is not valid.", "John Doe", "2 of 12"])
            shown = []
            try await ReadingSamples.contact(monica, id: john.id) { shown.append($0) }
            #expect(shown == ["John Doe"] + (0..<12).reversed().map(String.init) + ["Had dinner", "Send a card"])
        }
    }

    /// The server does not answer any more when the second client asks.
    @Test func offline() async throws {
        try await withTemporaryFolder { folder in
            let folder = URL(fileURLWithPath: folder)
            var shown: [String] = []
            var configuration: APIConfiguration?
            try await withMonica(on: Self.stack) { host in
                let there = APIConfiguration(baseURL: host.baseURL, token: try await host.token(), retryCount: 0)
                _ = try await ReadingSamples.offline(there, folder: folder) { shown.append($0) }
                configuration = there
            }
            #expect(shown.isEmpty)
            let gone = try #require(configuration)
            let monica = try await ReadingSamples.offline(gone, folder: folder) { shown.append($0) }
            #expect(shown == ["You are offline. This is what was known."])
            await ReadingSamples.signOut(monica)
            await #expect(throws: MonicaAPIError.self) { try await monica.listTags() }
        }
    }

    @Test func writing() async throws {
        try await withMonica(on: Self.stack) { host in
            let monica = try await host.client()
            let john = try await WritingSamples.create(monica, today: Day(daysSince1970: 20_000))
            let found = try await monica.getContact(id: john.id).data
            #expect(found.tags.map(\.name) == ["Family"])
            #expect(try await monica.listActivities(contactId: john.id, page: 1, limit: 10).data.count == 1)
            #expect(try await monica.listGifts(contactId: john.id, page: 1, limit: 10).data.map(\.name) == ["Teapot"])
            #expect(try await WritingSamples.change(monica, john: john))
            #expect(try await monica.listTasks(contactId: john.id, page: 1, limit: 10).data.isEmpty)
            var shown: [String] = []
            try await WritingSamples.reach(monica, john: john) { shown.append($0) }
            #expect(shown == ["Phone: +1 555 0100", "Telegram: johnny"])
            try await WritingSamples.move(monica, john: john)
            let addresses = try await monica.getContact(id: john.id).data.addresses
            #expect(addresses.map { "\($0.city ?? ""), \($0.country?.name ?? "")" } == ["Lyon, France"])
            shown = []
            let called = Monica.Timestamp(milliseconds: 0)
            try await WritingSamples.call(monica, john: john, called: called) { shown.append($0) }
            #expect(shown == ["\(called.date): About the party"])
            shown = []
            try await WritingSamples.talk(monica, john: john, written: called) { shown.append($0) }
            #expect(shown == ["me: Are you coming?"])
            shown = []
            let today = Day(host.clock.date, in: .gmt)
            try await WritingSamples.remind(monica, john: john, today: today) { shown.append($0) }
            #expect(shown.count == 1 && shown[0].hasSuffix(": Water his plants"))
            shown = []
            try await WritingSamples.write(monica) { shown.append($0) }
            #expect(shown == ["\(today): A good day"])
            try await WritingSamples.lend(monica, john: john)
            let debts = try await monica.send(Monica.ListOfContact<Monica.Debt>(contact: john.id)).data
            #expect(debts.map { "\($0.amountWithCurrency) \($0.status.rawValue)" } == ["$12.50 completed"])
            shown = []
            try await WritingSamples.keep(monica, john: john) { shown.append($0) }
            #expect(shown == ["Tom: cat"])
            shown = []
            try await WritingSamples.merge(monica, john: john) { shown.append($0) }
            #expect(shown.count == 1 && shown[0].hasPrefix("Jonny, until "))
            shown = []
            try await WritingSamples.relate(monica, john: john) { shown.append($0) }
            #expect(shown == ["child of \(john.completeName)"])
            shown = []
            try await WritingSamples.live(monica, john: john, when: called) { shown.append($0) }
            #expect(shown == ["Moved: To Lyon"])
            shown = []
            try await withTemporaryFolder { folder in
                let (picture, contract) = (folder + "/me.jpg", folder + "/contract.txt")
                try Data(SampleImage.jpeg(width: 8, height: 8)).write(to: URL(fileURLWithPath: picture))
                try Data("a contract".utf8).write(to: URL(fileURLWithPath: contract))
                try await WritingSamples.picture(
                    monica, john: john, picture: URL(fileURLWithPath: picture),
                    contract: URL(fileURLWithPath: contract)
                ) { shown.append($0) }
            }
            #expect(shown.count == 2 && shown[0].contains("/photos/"))
            #expect(shown[1].hasPrefix("contract.txt: 10 bytes, http"))
            try await WritingSamples.sort(monica, john: john, today: today)
            #expect(try await monica.getContact(id: john.id).data.gender == "Agender")
            let activities = try await monica.listActivities(contactId: john.id, page: 1, limit: 10).data
            #expect(activities.contains { $0.activityType?.activityTypeCategory?.name == "Baking" })
            let first = try await WritingSamples.once(monica, john: john, key: "a key")
            let second = try await WritingSamples.once(monica, john: john, key: "a key")
            #expect(first == second)
            #expect(try await WritingSamples.export(monica).contains("FN:John Doe"))
            try await withTemporaryFolder { folder in
                let place = URL(fileURLWithPath: folder + "/archive.zip")
                try await WritingSamples.archive(monica, to: place) { #expect($0 == place) }
            }
        }
    }

    @Test func errors() async throws {
        try await withMonica(on: Self.stack) { host in
            let monica = try await host.client()
            let john = try await monica.create(Monica.ContactDraft(firstName: "John"))
            let stranger = MonicaAPIClient(configuration: APIConfiguration(baseURL: host.baseURL, token: "nonsense"))
            var shown: [String] = []
            for (client, id) in [(monica, john.id), (monica, 99), (stranger, john.id)] {
                await ErrorsSamples.read(client, id: id) {
                    shown.append($0)
                } showSignIn: {
                    shown.append("sign in")
                }
            }
            #expect(shown == ["John", "Contact #99 was not found.", "sign in"])
            let patient = ErrorsSamples.patient(monica.configuration)
            #expect(patient.configuration.retryCount == 5)
            #expect(try await patient.validateToken())
        }
    }
}
