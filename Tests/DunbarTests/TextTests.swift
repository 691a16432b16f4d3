import Contract
import ContractCheck
import DunbarAPI
import DunbarCheck
import Testbed
import Testing

/// Every text of every request is held to what it is for, and every body to its form.
@Suite(.timeLimit(.minutes(30))) struct DunbarTextTests {
    private static let fields: [TextClass: [String]] = [
        .needed: ["POST /login username", "POST /posts content", "POST /posts/{id}/comments content"],
        .optional: [
            "PATCH /users/{id} bio", "POST /posts/{id}/report details", "POST /users/{id}/report details",
            "POST /comments/{id}/report details",
        ],
        .name: ["POST /register displayName", "PATCH /users/{id} displayName"],
        .identity: ["POST /register username", "POST /register email", "POST /account/email email"],
        .search: ["GET /users/search q"],
        .opaque: [
            "GET /users/{id}/followers include", "GET /users/{id}/following include", "GET /blocks include",
            "GET /users/search include",
            "POST /register acceptedTerms", "POST /register invitationCode",
            "POST /login password", "POST /register password", "POST /register confirmPassword",
            "POST /forgot-password email", "POST /reset-password token", "POST /reset-password newPassword",
            "POST /account/delete password", "POST /login deviceName", "POST /register deviceName",
            "POST /account/password currentPassword", "POST /account/password newPassword",
            "POST /account/email password",
        ],
    ]

    @Test func everyTextIsHeldToItsClass() async {
        await DunbarLawTests.laws.checkTexts(of: await Described.api.description, Self.fields)
    }

    @Test func wordsAreRefusedWhereStrangersReadThem() async {
        DunbarLawTests.laws.checkPublishedTexts(
            of: await Described.api.description, Self.fields,
            except: [
                "POST /login username", "POST /register email", "POST /account/email email",
                "POST /posts/{id}/report details", "POST /users/{id}/report details",
                "POST /comments/{id}/report details",
            ])
    }

    @Test(arguments: Stack.Engine.available)
    func aServerAnswersInTheSameWords(_ engine: Stack.Engine) async throws {
        try await withDunbar(on: Stack(engine, .inProcess)) { host in
            let ann = try await host.world().person()
            let post = try await ann.publish()
            #expect(ann.id.rawValue == post.id.rawValue, "the law has one id for both")
            try await DunbarLawTests.laws.checkTexts(
                of: await Described.api.description, Self.fields, ids: ["id": .string("\(post.id)")]
            ) {
                try await ann.raw($0, $1, body: $2)
            }
        }
    }

    @Test(arguments: Stack.all)
    func everyBodyIsPlainAndHasNoKeyTwice(_ stack: Stack) async throws {
        try await withDunbar(on: stack) { host in
            let ann = try await host.world().person()
            try await DunbarLawTests.laws.checkBodies { try await ann.raw($0, $1, headers: $2, body: $3) }
        }
    }

    @Test func everyFileHasACleanName() async throws { try await DunbarLawTests.laws.checkFileNames() }
}
