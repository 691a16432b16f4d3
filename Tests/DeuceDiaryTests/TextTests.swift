import Contract
import ContractCheck
import DeuceDiaryAPI
import DeuceDiaryCheck
import Testbed
import Testing

/// Every text of every request is held to what it is for, and every body to its form.
@Suite(.timeLimit(.minutes(30))) struct DeuceDiaryTextTests {
    private static let fields: [TextClass: [String]] = [
        .needed: [
            "POST /api/deuces location", "POST /api/entries/{entryId}/reactions emoji",
            "DELETE /api/entries/{entryId}/reactions emoji", "POST /api/users/{userId}/report reason",
            "POST /api/entries/{entryId}/report reason",
        ],
        .optional: [
            "POST /api/groups description", "POST /api/deuces thoughts", "POST /api/users/{userId}/report details",
            "POST /api/entries/{entryId}/report details",
        ],
        .name: ["POST /api/groups name", "POST /api/locations name"],
        .identity: ["PUT /api/auth/user username"],
        .opaque: [
            "GET /api/groups before", "GET /api/groups/{groupId} before", "GET /api/groups/{groupId}/invites before",
            "POST /api/deuces groupIds.*", "GET /api/deuces groupId", "GET /api/deuces before",
        ],
    ]

    @Test func everyTextIsHeldToItsClass() async {
        await DeuceDiaryLawTests.laws.checkTexts(of: await Described.api.description, Self.fields)
    }

    @Test func wordsAreRefusedWhereStrangersReadThem() async {
        DeuceDiaryLawTests.laws.checkPublishedTexts(
            of: await Described.api.description, Self.fields,
            except: [
                // One of a few signs.
                "POST /api/entries/{entryId}/reactions emoji", "DELETE /api/entries/{entryId}/reactions emoji",
                "POST /api/users/{userId}/report reason", "POST /api/users/{userId}/report details",
                "POST /api/entries/{entryId}/report reason", "POST /api/entries/{entryId}/report details",
            ])
    }

    @Test(arguments: Stack.Engine.available)
    func aServerAnswersInTheSameWords(_ engine: Stack.Engine) async throws {
        try await withDeuceDiary(on: Stack(engine, .inProcess)) { host in
            let john = try await host.world().person()
            try await DeuceDiaryLawTests.laws.checkTexts(of: await Described.api.description, Self.fields) {
                try await john.raw($0, $1, body: $2)
            }
        }
    }

    @Test(arguments: Stack.all)
    func everyBodyIsPlainAndHasNoKeyTwice(_ stack: Stack) async throws {
        try await withDeuceDiary(on: stack) { host in
            let john = try await host.world().person()
            try await DeuceDiaryLawTests.laws.checkBodies { try await john.raw($0, $1, headers: $2, body: $3) }
        }
    }

    @Test func everyFileHasACleanName() async throws { try await DeuceDiaryLawTests.laws.checkFileNames() }
}
