import Contract
import ContractCheck
import MessengerAPI
import MessengerCheck
import Testbed
import Testing

/// Every text of every request is held to what it is for, and every body to its form.
@Suite(.timeLimit(.minutes(30))) struct TextTests {
    private static let fields: [TextClass: [String]] = [
        .needed: [
            "POST /auth/login username", "GET /users/search q", "POST /chats/{id}/messages content",
            "PUT /chats/{id}/messages/{msgId} content", "POST /reports reason",
        ],
        .optional: ["PUT /me bio", "POST /reports details"],
        .name: ["PUT /me display_name", "POST /chats name"],
        .optionalName: ["POST /auth/register display_name"],
        .identity: ["POST /auth/register username", "POST /auth/register email", "POST /me/email email"],
        .opaque: [
            "POST /auth/register password",
            "POST /auth/register accepted_terms", "POST /auth/register invitation_code", "POST /auth/login password",
            "POST /auth/refresh refresh_token",
            "POST /auth/logout refresh_token", "DELETE /me password", "POST /devices token", "GET /chats include",
            "GET /chats/{id}/messages include", "POST /auth/login device_name", "POST /me/password current_password",
            "POST /me/password new_password", "POST /auth/forgot-password email", "POST /auth/reset-password token",
            "POST /auth/reset-password new_password", "POST /me/email password", "POST /auth/verify-email token",
        ],
    ]

    @Test func everyTextIsHeldToItsClass() async {
        await LawTests.laws.checkTexts(of: await Described.api.description, Self.fields)
    }

    @Test func wordsAreRefusedWhereStrangersReadThem() async {
        LawTests.laws.checkPublishedTexts(
            of: await Described.api.description, Self.fields,
            except: [
                "GET /users/search q", "POST /auth/login username", "POST /auth/register email", "POST /me/email email",
                "POST /reports reason",
                "POST /reports details",
            ])
    }

    @Test(arguments: Stack.Engine.available)
    func aServerAnswersInTheSameWords(_ engine: Stack.Engine) async throws {
        try await withMessenger(on: Stack(engine, .inProcess)) { host in
            let alice = try await host.world().person()
            try await LawTests.laws.checkTexts(of: await Described.api.description, Self.fields) {
                try await alice.raw($0, $1, body: $2)
            }
        }
    }

    @Test(arguments: Stack.all)
    func everyBodyIsPlainAndHasNoKeyTwice(_ stack: Stack) async throws {
        try await withMessenger(on: stack) { host in
            let alice = try await host.world().person()
            try await LawTests.laws.checkBodies { try await alice.raw($0, $1, headers: $2, body: $3) }
        }
    }

    @Test func everyFileHasACleanName() async throws { try await LawTests.laws.checkFileNames() }
}
