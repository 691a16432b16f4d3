import MonicaAPI
import MonicaCheck
import Testbed
import Testing

/// Additions to the published contract are marked, and lists say what a large `limit` does.
@Suite(.timeLimit(.minutes(30))) struct MonicaAdditionTests {
    private static let contact =
        "id first_name last_name nickname gender_id is_partial is_dead created_at updated_at"
    private static let pages = "meta(total current_page per_page) links(first last prev next)"

    /// The names in the published contract, which has no fields of most resources but the id.
    private static let contract = PublishedContract(
        """
        GET /contacts > query page limit < data(\(contact)) \(pages)
        GET /contacts/{id} < data(\(contact))
        GET /activities > contact_id page limit < data(id) \(pages)
        GET /activities/{id} < data(id)
        GET /notes > contact_id page limit < data(id) \(pages)
        GET /tasks > contact_id page limit < data(id) \(pages)
        GET /gifts > contact_id page limit < data(id) \(pages)
        GET /tags < data(id)
        failure error(message code)
        """)

    @Test func theMarksAreTheContracts() async {
        MonicaLawTests.laws.checkAdditions(to: Self.contract)
        MonicaLawTests.laws.checkAdditions(in: await Described.api.description, to: Self.contract)
    }

    @Test(arguments: Stack.all)
    func theDescriptionSaysWhatALimitDoes(_ stack: Stack) async throws {
        try await withMonica(on: stack) { host in
            let owner = try await host.world().owner()
            let contact = try await owner.contact("John").id
            let tag = try await owner.client.create(Monica.TagDraft(name: "Family")).id
            let lists = [
                "activities", "notes", "tasks", "gifts", "contactfields", "addresses", "calls", "reminders", "debts",
                "pets", "conversations", "photos", "documents",
            ]
            var targets = Dictionary(
                uniqueKeysWithValues: lists.map { ("GET /contacts/{id}/\($0)", "/contacts/\(contact)/\($0)") })
            targets["GET /tags/{id}/contacts"] = "/tags/\(tag)/contacts"
            try await MonicaLawTests.laws.checkLimits(in: await Described.api.description, at: targets) {
                try await owner.raw(.get, $0)
            }
        }
    }
}
