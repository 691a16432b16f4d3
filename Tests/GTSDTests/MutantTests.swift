import ContractCheck
import GTSDCheck
import GTSDExamples
import Testbed
import Testing

/// The checker is useful: for servers that break one promise each, some scenario that uses the operation fails.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct GTSDMutantTests {
    /// The mutants that a run of the checker cannot notice, each with the reason.
    static let survivors: [String: String] = [
        "GET /auth/sessions: another data.sessions.[].address": "a server need not know where a client is",
        "GET /auth/sessions: null for data.sessions.[].address": "a server need not know where a client is",
        "POST /auth/login: answers 400 for “Account is deactivated”": "only the operator deactivates: SignInTests",
        "POST /auth/login: words “Account is deactivated” otherwise": "only the operator deactivates: SignInTests",
        "POST /auth/login: succeeds in place of “Account is deactivated”": "only the operator deactivates: SignInTests",
        "POST /auth/refresh: answers 400 for “Account is deactivated”": "only the operator deactivates: SignInTests",
        "POST /auth/refresh: words “Account is deactivated” otherwise": "only the operator deactivates: SignInTests",
        "POST /auth/refresh: succeeds in place of “Account is deactivated”":
            "only the operator deactivates: SignInTests",
        "GET /v1/badges/available: another data.badges.[].name": "the contract does not say the texts",
        "GET /v1/badges/available: another data.badges.[].description": "the contract does not say the texts",
        "POST /v1/streaks/check-compliance: reversed data.newlyAwardedBadges": "the contract does not say the order",
        "POST /v1/progress/photo/presign: answers 409 for “Invalid filename: photo.jpg”":
            "a key is too long for no name that is left when it is cleaned",
        "POST /v1/progress/photo/presign: words “Invalid filename: photo.jpg” otherwise":
            "a key is too long for no name that is left when it is cleaned",
        "POST /v1/progress/photo/presign: succeeds in place of “Invalid filename: photo.jpg”":
            "a key is too long for no name that is left when it is cleaned",
    ].merging(Mutant.ofDoors(in: GTSDExamples.all)) { own, _ in own }

    @Test func theCheckerNoticesEveryMutant() async throws {
        try await MutantRun(
            "GTSD", Mutant.derived(from: GTSDExamples.all) + Mutant.gtsd, survivors: Self.survivors,
            scenarios: GTSDScenarios.all + GTSDScenarios.operated, examples: GTSDExamples.all
        ) { route, body in
            try await withGTSD(on: Stack(.sqlite, .inProcess), clock: TestClock(step: 2)) { host in
                try await body(
                    GTSDWorld(
                        route.server(host.baseURL, host.transport, host.sockets), operator: host.operator))
            }
        }.run()
    }
}
