import ContractCheck
import DunbarCheck
import DunbarExamples
import Testbed
import Testing

/// The checker is useful: for servers that break one promise each, some scenario that uses the operation fails.
@Suite(.timeLimit(.minutes(Mutant.minutes))) struct DunbarMutantTests {
    /// The mutants that a run of the checker cannot notice, each with the reason.
    static let survivors: [String: String] = [
        "GET /sessions: null for [].address": "a server need not know where a client is",
        "GET /sessions: another [].address": "a server need not know where a client is",
        "POST /posts: answers 409 for “Image too large (max 40 megapixels)”": "images are not decoded here: FileTests",
        "POST /posts: words “Image too large (max 40 megapixels)” otherwise": "images are not decoded here: FileTests",
        "POST /posts: succeeds in place of “Image too large (max 40 megapixels)”":
            "images are not decoded here: FileTests",
        "POST /users/{id}/photo: answers 409 for “Image too large (max 40 megapixels)”":
            "images are not decoded here: FileTests",
        "POST /users/{id}/photo: words “Image too large (max 40 megapixels)” otherwise":
            "images are not decoded here: FileTests",
        "POST /users/{id}/photo: succeeds in place of “Image too large (max 40 megapixels)”":
            "images are not decoded here: FileTests",
        "GET /verify-email/{token}: still shows what is gone": "takes a day: VerificationTests",
    ].merging(Mutant.ofDoors(in: DunbarExamples.all)) { own, _ in own }

    @Test func theCheckerNoticesEveryMutant() async throws {
        try await MutantRun(
            "Dunbar", Mutant.derived(from: DunbarExamples.all) + Mutant.dunbar, survivors: Self.survivors,
            scenarios: DunbarScenarios.all + DunbarScenarios.operated, examples: DunbarExamples.all
        ) { route, body in
            try await withDunbar(on: Stack(.sqlite, .inProcess), .init(clock: TestClock(step: 20))) { host in
                try await body(
                    DunbarWorld(route.server(host.baseURL, host.transport, host.sockets), operator: host.operator))
            }
        }.run()
    }
}
