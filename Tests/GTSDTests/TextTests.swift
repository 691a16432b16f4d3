import Contract
import ContractCheck
import GTSDAPI
import GTSDCheck
import Testbed
import Testing

/// Every text of every request is held to what it is for, and every body to its form.
@Suite(.timeLimit(.minutes(30))) struct GTSDTextTests {
    private static let fields: [TextClass: [String]] = [
        .needed: [
            "POST /v1/evidence data.text", "POST /v1/onboarding gender", "POST /v1/onboarding dietaryPreferences.*",
            "POST /v1/onboarding allergies.*",
        ],
        .optional: ["POST /v1/evidence notes"],
        .name: ["POST /auth/signup name", "PATCH /auth/me name"],
        .fileName: ["POST /v1/progress/photo/presign fileName"],
        .identity: [
            "POST /auth/signup email", "POST /auth/login email", "POST /auth/forgot-password email",
            "POST /auth/email email",
        ],
        .opaque: [
            "POST /auth/signup password", "POST /auth/signup timezone", "POST /auth/login password",
            "POST /auth/refresh refreshToken", "POST /auth/logout refreshToken", "DELETE /auth/me password",
            "POST /v1/evidence data.photoUrl", "POST /v1/progress/photo/confirm fileKey",
            "POST /v1/onboarding timezone", "POST /auth/signup deviceName", "POST /auth/login deviceName",
            "PATCH /auth/me timezone", "POST /auth/password currentPassword", "POST /auth/password newPassword",
            "POST /auth/reset-password token", "POST /auth/reset-password newPassword", "POST /auth/email password",
            "POST /auth/verify-email token", "POST /auth/signup acceptedTerms", "POST /auth/signup invitationCode",
        ],
    ]

    @Test func everyTextIsHeldToItsClass() async {
        await GTSDLawTests.laws.checkTexts(of: await Described.api.description, Self.fields)
    }

    @Test(arguments: Stack.Engine.available)
    func aServerAnswersInTheSameWords(_ engine: Stack.Engine) async throws {
        try await withGTSD(on: Stack(engine, .inProcess)) { host in
            let anna = try await host.world().person()
            try await GTSDLawTests.laws.checkTexts(of: await Described.api.description, Self.fields) {
                try await anna.raw($0, $1, body: $2)
            }
        }
    }

    @Test(arguments: Stack.all)
    func everyBodyIsPlainAndHasNoKeyTwice(_ stack: Stack) async throws {
        try await withGTSD(on: stack) { host in
            let anna = try await host.world().person()
            try await GTSDLawTests.laws.checkBodies { try await anna.raw($0, $1, headers: $2, body: $3) }
        }
    }

    /// The names and texts of metrics have no place in an example's path.
    @Test func aMetricHasAName() throws {
        for (name, isFine) in [("km", true), ("", false), (" ", false), ("\u{200B}", false), ("\u{2800}", false)] {
            let request = GTSD.SubmitEvidence.metrics([name: 1], for: 1)
            #expect(((try? request.validate()) != nil) == isFine, "\(name)")
        }
    }
}
